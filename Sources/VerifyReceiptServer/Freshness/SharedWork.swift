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
    private let running = Mutex<[Key: Task<Result<Value, any Error>, Never>]>([:])

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
                do { return Result<Value, any Error>.success(try await work()) } catch { return .failure(error) }
            }
            running[key] = task
            return task
        }
        guard let outcome = await Patience.value(of: task, within: patience) else {
            try Task.checkCancellation()
            throw TooSlow()
        }
        return try outcome.get()
    }

    private func finished(_ key: Key) { running.withLock { _ = $0.removeValue(forKey: key) } }
}
