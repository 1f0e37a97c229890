import Synchronization

/// Fills the app transactions that an upgrade left, on a connection of its own.
final class BackgroundFill: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isStopped = false
    }

    private let schema: Schema
    private let connection: PostgreSQLConnection
    private let state = Mutex(State())

    init(_ schema: Schema, _ connection: PostgreSQLConnection) {
        self.schema = schema
        self.connection = connection
    }

    /// Begins, unless it has begun. After a failure the next new connection of the pool begins again.
    func start() {
        state.withLock { state in
            guard state.task == nil, !state.isStopped else { return }
            state.task = Task {
                do { try await run() } catch {
                    // The server is away, for example. The position is kept.
                }
                self.state.withLock { $0.task = nil }
            }
        }
    }

    private func run() async throws {
        let schema = schema
        try await connection.perform { session in
            session.isWaitCanceled = { Task.isCancelled }
            try schema.fill(session)
        }
        await connection.close()
    }

    /// Stops after the statement that runs, and begins no more.
    func stop() async {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task
        }
        task?.cancel()
        await task?.value
        await connection.close()
    }
}
