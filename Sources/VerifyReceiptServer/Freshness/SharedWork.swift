import Synchronization

/// Lets any number of callers wait for one piece of work that is known by the same key. A piece of work may have several.
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// There is too much under way already.
    package struct Full: Error, CustomStringConvertible {
        package let description = "too many customers are being asked about"
    }
    /// The caller's patience is over. The work goes on for those who come later.
    package struct TooSlow: Error, CustomStringConvertible { package let description = "no answer in time" }

    private typealias Work = Task<Result<Value, any Error>, Never>

    private struct State {
        var running: [Key: Work] = [:]
        var count = 0
    }

    private let maximum: Int
    private let state = Mutex(State())

    /// - Parameter maximum: how many pieces of work may be under way at once.
    package init(maximum: Int) { self.maximum = maximum }

    /// How many pieces of work are under way.
    package var count: Int { state.withLock { $0.count } }

    /// The outcome of the work under way with any of these keys, those that come first before others. Only if there is none
    /// is this work begun, and known by all of them.
    ///
    /// - Throws: what the work throws, ``Full``, ``TooSlow``, or `CancellationError` if the caller is cancelled.
    package func value(
        for keys: [Key], patience: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard patience > .zero else { throw TooSlow() }
        let task = try state.withLock { state in
            for key in keys {
                if let task = state.running[key] { return task }
            }
            guard state.count < maximum else { throw Full() }
            let task = Work.detached { [self] in
                defer { finished(keys) }
                do { return .success(try await work()) } catch { return .failure(error) }
            }
            state.count += 1
            for key in keys { state.running[key] = task }
            return task
        }
        guard let outcome = await Patience.value(of: task, within: patience) else {
            try Task.checkCancellation()
            throw TooSlow()
        }
        return try outcome.get()
    }

    /// No other work can have begun with one of the keys.
    private func finished(_ keys: [Key]) {
        state.withLock { state in
            state.count -= 1
            for key in keys { state.running[key] = nil }
        }
    }
}
