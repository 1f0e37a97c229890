/// The value of a task, or nil if the task takes longer than the timeout.
///
/// The task is not cancelled. This function returns in time even if the task ignores cancellation.
package func withTimeout<Value: Sendable>(_ timeout: Duration, waitingFor task: Task<Value, Never>) async -> Value? {
    let (stream, continuation) = AsyncStream<Value?>.makeStream()
    let waiting = Task { continuation.yield(await task.value) }
    let timer = Task {
        try? await Task.sleep(for: timeout)
        continuation.yield(nil)
    }
    defer {
        waiting.cancel()
        timer.cancel()
    }
    for await value in stream { return value }
    return nil
}
