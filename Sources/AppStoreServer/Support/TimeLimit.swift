/// Runs work, and cancels it when it takes longer than a limit.
/// - Throws: the error of the work; `tooSlow` after the limit; `CancellationError` if the caller is canceled.
package func within<Value: Sendable>(
    _ limit: Duration, else tooSlow: any Error, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw tooSlow
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
