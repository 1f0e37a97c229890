package import Purchases

/// Combines calls that arrive while work is under way into one batch, so that many callers share one commit or one
/// round trip. Each call still succeeds or fails individually.
package actor CallQueue<Input: Sendable, Output: Sendable> {
    private struct Call {
        let input: Input
        let since: ContinuousClock.Instant
        let continuation: CheckedContinuation<Output, any Error>
    }

    private let maximumPieces: Int
    private let maximumWait: Duration?
    private let maximumWeight: Int
    private let weight: @Sendable (Input) -> Int
    private let failsAll: @Sendable (any Error) -> Bool
    private let work: @Sendable ([Input]) async throws -> [Output]
    private var waiting: [Call] = []
    private var pieces = 0
    private var isWatched = false
    private var isClosed = false
    private var closing: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - maximumPieces: how many batches may run at once.
    ///   - maximumWait: how long a call waits before its batch begins. After that it fails with `busy`.
    ///   - maximumWeight: the maximum total weight of a batch. A single call may weigh more.
    ///   - weight: the weight of a call.
    ///   - failsAll: whether an error of a batch is not caused by one of its calls. After any other error each call is
    ///     tried alone, so that one bad call does not fail the others.
    ///   - work: does the work of several calls, all or nothing, and returns one result per call.
    package init(
        maximumPieces: Int = 1, maximumWait: Duration? = nil, maximumWeight: Int,
        weight: @escaping @Sendable (Input) -> Int, failsAll: @escaping @Sendable (any Error) -> Bool,
        _ work: @escaping @Sendable ([Input]) async throws -> [Output]
    ) {
        self.maximumPieces = maximumPieces
        self.maximumWait = maximumWait
        self.maximumWeight = maximumWeight
        self.weight = weight
        self.failsAll = failsAll
        self.work = work
    }

    /// - Throws: what the work throws; ``TransactionStoreError`` `closed` after ``close()``.
    package func call(_ input: Input) async throws -> Output {
        guard !isClosed else { throw TransactionStoreError(.closed, "The store was closed.") }
        return try await withCheckedThrowingContinuation { continuation in
            waiting.append(Call(input: input, since: .now, continuation: continuation))
            guard pieces < maximumPieces else { return watch() }
            pieces += 1
            // The work may wait for a disk.
            Task(executorPreference: BlockingThreads.shared) { await self.workOnWaiting() }
        }
    }

    /// Rejects new calls and returns when the last call is done.
    package func close() async {
        isClosed = true
        guard pieces > 0 else { return }
        await withCheckedContinuation { closing.append($0) }
    }

    private func workOnWaiting() async {
        while !waiting.isEmpty {
            let calls = takeCalls()
            do {
                let results = try await work(calls.map(\.input))
                for (call, result) in zip(calls, results) { call.continuation.resume(returning: result) }
            } catch {
                await workOneByOne(calls, after: error)
            }
        }
        pieces -= 1
        guard pieces == 0 else { return }
        for continuation in closing { continuation.resume() }
        closing = []
    }

    private func workOneByOne(_ calls: [Call], after error: any Error) async {
        let failsAll = calls.count == 1 || failsAll(error)
        for call in calls {
            guard !failsAll else {
                call.continuation.resume(throwing: error)
                continue
            }
            do {
                guard let result = try await work([call.input]).first else { throw error }
                call.continuation.resume(returning: result)
            } catch {
                call.continuation.resume(throwing: error)
            }
        }
    }

    /// Starts one timer for all waiting calls.
    private func watch() {
        guard let maximumWait, !isWatched else { return }
        isWatched = true
        Task {
            while !waiting.isEmpty {
                try? await Task.sleep(for: maximumWait / 10)
                let overdue = waiting.prefix { $0.since.duration(to: .now) >= maximumWait }
                waiting.removeFirst(overdue.count)
                for call in overdue {
                    call.continuation.resume(
                        throwing: TransactionStoreError(.busy, "the store finished no other call within \(maximumWait)")
                    )
                }
            }
            isWatched = false
        }
    }

    private func takeCalls() -> [Call] {
        var weight = 0
        var count = 0
        for call in waiting {
            weight += self.weight(call.input)
            if count > 0, weight > maximumWeight { break }
            count += 1
        }
        let calls = Array(waiting.prefix(count))
        waiting.removeFirst(count)
        return calls
    }
}

/// Writes the sets of many calls in one transaction.
package typealias WriteQueue = CallQueue<[FactSet], AppliedFacts>

extension WriteQueue {
    /// - Parameters:
    ///   - factsPerTransaction: the maximum number of facts for one transaction of several calls. A single call may be
    ///     larger.
    ///   - write: applies the sets of several calls in one transaction, all or nothing, and returns one result per
    ///     call.
    package init(
        factsPerTransaction: Int, _ write: @escaping @Sendable ([[FactSet]]) async throws -> [AppliedFacts]
    ) {
        self.init(
            maximumWeight: factsPerTransaction,
            weight: { $0.reduce(0) { $0 + $1.transactions.count + 1 } },
            // If the store is down or busy, trying each call alone would only fail again later.
            failsAll: { ($0 as? TransactionStoreError)?.isTransient ?? false }, write)
    }
}
