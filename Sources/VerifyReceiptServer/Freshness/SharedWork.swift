import Synchronization

/// Lets any number of callers wait for one piece of work with the same key.
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// There is too much under way already.
    package struct Full: Error, CustomStringConvertible {
        package let description = "too many customers are being asked about"
    }
    /// The caller's patience is over. The work goes on for those who come later.
    package struct TooSlow: Error, CustomStringConvertible { package let description = "no answer in time" }

    private let maximum: Int
    private let running = Mutex<[Key: Task<Value, any Error>]>([:])

    /// - Parameter maximum: how many keys may be worked on at once.
    package init(maximum: Int) { self.maximum = maximum }

    /// How many keys are being worked on.
    package var count: Int { running.withLock { $0.count } }

    /// The outcome of the work for this key, which is begun only if it is not under way.
    ///
    /// - Throws: what the work throws, ``Full``, ``TooSlow``, or `CancellationError` if the caller is cancelled.
    package func value(
        for key: Key, patience: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = try running.withLock { running in
            if let task = running[key] { return task }
            guard running.count < maximum else { throw Full() }
            let task = Task.detached { [self] in
                defer { finished(key) }
                return try await work()
            }
            running[key] = task
            return task
        }
        return try await Self.outcome(of: task, within: patience)
    }

    private func finished(_ key: Key) { running.withLock { _ = $0.removeValue(forKey: key) } }

    /// Ends when the first of the two does; the task itself is not cancelled.
    private static func outcome(of task: Task<Value, any Error>, within patience: Duration) async throws -> Value {
        let (outcomes, continuation) = AsyncStream<Result<Value, any Error>>.makeStream(
            bufferingPolicy: .bufferingOldest(1))
        let waiter = Task { continuation.yield(await task.result) }
        let timer = Task {
            try await Task.sleep(for: patience)
            continuation.yield(.failure(TooSlow()))
        }
        defer {
            waiter.cancel()
            timer.cancel()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw CancellationError()
    }
}
