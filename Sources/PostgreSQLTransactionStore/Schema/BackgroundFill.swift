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

    /// The pause after a failed attempt doubles, up to the longest pause.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    init(_ schema: Schema, _ connection: PostgreSQLConnection) {
        self.schema = schema
        self.connection = connection
    }

    /// Begins, unless it has begun.
    func start() {
        state.withLock { state in
            guard state.task == nil, !state.isStopped else { return }
            state.task = Task { await run() }
        }
    }

    /// Until nothing is left. An attempt ends early while the server is away or refuses it, and while another program does
    /// the work, which may be killed.
    private func run() async {
        var pause = Self.firstPause
        while !Task.isCancelled {
            let isLeft = (try? await attempt()) ?? true
            await connection.close()
            guard isLeft else { return }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func attempt() async throws -> Bool {
        let schema = schema
        return try await connection.perform { session in
            session.isWaitCanceled = { Task.isCancelled }
            return try schema.fill(session)
        }
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
