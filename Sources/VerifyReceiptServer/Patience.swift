/// Waiting that ends, whatever is waited for does.
package enum Patience {
    /// The value of a task, or nil if it takes longer. The task is not cancelled: it may be one that does not care.
    package static func value<Value: Sendable>(of task: Task<Value, Never>, within patience: Duration) async -> Value? {
        let (stream, continuation) = AsyncStream<Value?>.makeStream()
        let waiting = Task { continuation.yield(await task.value) }
        let timer = Task {
            try? await Task.sleep(for: patience)
            continuation.yield(nil)
        }
        defer {
            waiting.cancel()
            timer.cancel()
        }
        for await value in stream { return value }
        return nil
    }
}
