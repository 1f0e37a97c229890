import TransactionStore

/// Lends each connection to one call at a time. When all connections are in use, further calls wait in order.
actor ConnectionPool {
    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<PostgreSQLConnection, any Error>
    }

    private let maximum: Int
    private let timeouts: PostgreSQLTimeouts
    private let make: @Sendable () -> PostgreSQLConnection
    private var idle: [PostgreSQLConnection] = []
    private var lent = 0
    private var waiters: [Waiter] = []
    private var nextWaiter: UInt64 = 0
    private var isClosed = false
    private var closing: [CheckedContinuation<Void, Never>] = []

    init(maximum: Int, timeouts: PostgreSQLTimeouts, make: @escaping @Sendable () -> PostgreSQLConnection) {
        self.maximum = maximum
        self.timeouts = timeouts
        self.make = make
    }

    private static let closedError = TransactionStoreError(.closed, "the store was closed")

    func checkOpen() throws { if isClosed { throw Self.closedError } }

    func acquire() async throws -> PostgreSQLConnection {
        try checkOpen()
        if let connection = idle.popLast() {
            lent += 1
            return connection
        }
        if lent < maximum {
            lent += 1
            return make()
        }
        nextWaiter += 1
        let id = nextWaiter
        let limit = Task {
            try await Task.sleep(for: .milliseconds(timeouts.acquire))
            giveUp(id)
        }
        defer { limit.cancel() }
        return try await withCheckedThrowingContinuation { waiters.append(Waiter(id: id, continuation: $0)) }
    }

    private func giveUp(_ id: UInt64) {
        guard let position = waiters.firstIndex(where: { $0.id == id }) else { return }
        waiters.remove(at: position).continuation.resume(
            throwing: TransactionStoreError(
                .busy, "no PostgreSQL connection became free within \(timeouts.acquire) ms"))
    }

    /// Takes a connection back and gives it to the call that has waited longest.
    func release(_ connection: PostgreSQLConnection) {
        if !waiters.isEmpty {
            waiters.removeFirst().continuation.resume(returning: connection)
            return
        }
        lent -= 1
        idle.append(connection)
        if isClosed, lent == 0 {
            for waiting in closing { waiting.resume() }
            closing = []
        }
    }

    /// Rejects new calls, waits for running calls, and closes the connections.
    func close() async {
        isClosed = true
        for waiter in waiters { waiter.continuation.resume(throwing: Self.closedError) }
        waiters = []
        if lent > 0 { await withCheckedContinuation { closing.append($0) } }
        for connection in idle { await connection.close() }
        idle = []
    }
}
