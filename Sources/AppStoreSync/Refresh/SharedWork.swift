internal import Synchronization

/// Deduplicates work: callers with the same key wait for one piece of work, which may have several keys. The work is
/// cancelled when its last caller stops waiting.
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Too much work is in progress, or too many callers wait.
    package struct Full: Error, CustomStringConvertible {
        package let description = "too many requests wait for its answer"
    }
    /// The work took longer than the caller's timeout.
    package struct TooSlow: Error, CustomStringConvertible { package let description = "no answer in time" }

    private typealias Work = Task<Result<Value, any Error>, Never>

    private struct Piece {
        let task: Work
        let keys: [Key]
        var callers: Int
    }

    private struct State {
        /// The piece of work that new callers with a key join.
        var running: [Key: Int] = [:]
        /// Pieces of work by number, including cancelled pieces that have not ended.
        var pieces: [Int: Piece] = [:]
        var callers = 0
        var lastNumber = 0

        mutating func forgetKeys(of number: Int) {
            for key in pieces[number]?.keys ?? [] where running[key] == number { running[key] = nil }
        }
    }

    private let maximum: Int
    private let maximumCallers: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximum: pieces of work at the same time.
    ///   - maximumCallers: waiting callers at the same time.
    package init(maximum: Int, maximumCallers: Int = .max) {
        self.maximum = maximum
        self.maximumCallers = maximumCallers
    }

    /// How many pieces of work are in progress.
    package var count: Int { state.withLock { $0.pieces.count } }

    /// Joins the work in progress under the first of these keys that matches. If there is none, starts `work` under all of
    /// them.
    ///
    /// - Throws: what the work throws, ``Full``, ``TooSlow``, or `CancellationError` if the caller is cancelled.
    package func value(
        for keys: [Key], timeout: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard timeout > .zero else { throw TooSlow() }
        let (number, task) = try state.withLock { state -> (Int, Work) in
            guard state.callers < maximumCallers else { throw Full() }
            for key in keys {
                guard let number = state.running[key], let task = state.pieces[number]?.task else { continue }
                state.pieces[number]?.callers += 1
                state.callers += 1
                return (number, task)
            }
            guard state.pieces.count < maximum else { throw Full() }
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Work.detached { [self] in
                defer { finished(number) }
                do { return .success(try await work()) } catch { return .failure(error) }
            }
            state.pieces[number] = Piece(task: task, keys: keys, callers: 1)
            state.callers += 1
            for key in keys { state.running[key] = number }
            return (number, task)
        }
        defer { left(number) }
        guard let outcome = await withTimeout(timeout, waitingFor: task) else {
            try Task.checkCancellation()
            throw TooSlow()
        }
        return try outcome.get()
    }

    /// A caller stopped waiting.
    private func left(_ number: Int) {
        let abandoned = state.withLock { state -> Work? in
            state.callers -= 1
            state.pieces[number]?.callers -= 1
            guard let piece = state.pieces[number], piece.callers == 0 else { return nil }
            // New callers start new work.
            state.forgetKeys(of: number)
            return piece.task
        }
        abandoned?.cancel()
    }

    private func finished(_ number: Int) {
        state.withLock { state in
            state.forgetKeys(of: number)
            state.pieces[number] = nil
        }
    }
}
