/// Puts the calls that wait while a transaction is being committed into one next transaction, so that many callers pay for
/// one commit. Each call still succeeds or fails on its own.
package actor WriteQueue {
    private struct Call {
        let sets: [FactSet]
        let continuation: CheckedContinuation<AppliedFacts, any Error>
    }

    private let factsPerTransaction: Int
    private let write: @Sendable ([[FactSet]]) async throws -> [AppliedFacts]
    private var waiting: [Call] = []
    private var isWriting = false
    private var isClosed = false
    private var closing: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - factsPerTransaction: how many facts one transaction takes from waiting calls; a single call may be larger.
    ///   - write: applies the sets of several calls in one transaction, all or nothing, and returns one result per call.
    package init(
        factsPerTransaction: Int, _ write: @escaping @Sendable ([[FactSet]]) async throws -> [AppliedFacts]
    ) {
        self.factsPerTransaction = factsPerTransaction
        self.write = write
    }

    /// - Throws: what writing throws; ``TransactionStoreError`` `closed` after ``close()``.
    package func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        guard !isClosed else { throw TransactionStoreError(.closed, "The store was closed.") }
        return try await withCheckedThrowingContinuation { continuation in
            waiting.append(Call(sets: sets, continuation: continuation))
            guard !isWriting else { return }
            isWriting = true
            // What writes may wait for a disk.
            Task(executorPreference: BlockingThreads.shared) { await self.writeWaiting() }
        }
    }

    /// Refuses new calls and returns when the last one is written.
    package func close() async {
        isClosed = true
        guard isWriting else { return }
        await withCheckedContinuation { closing.append($0) }
    }

    private func writeWaiting() async {
        while !waiting.isEmpty {
            let calls = takeCalls()
            do {
                let results = try await write(calls.map(\.sets))
                for (call, result) in zip(calls, results) { call.continuation.resume(returning: result) }
            } catch {
                await writeOneByOne(calls, after: error)
            }
        }
        isWriting = false
        for continuation in closing { continuation.resume() }
        closing = []
    }

    /// What one call did wrong must not make the others fail. Where the store cannot be reached at all it is nobody's
    /// fault, and each would wait for it in vain.
    private func writeOneByOne(_ calls: [Call], after error: any Error) async {
        let isNobodysFault = (error as? TransactionStoreError)?.isTransient ?? false
        for call in calls {
            guard calls.count > 1, !isNobodysFault else {
                call.continuation.resume(throwing: error)
                continue
            }
            do {
                let results = try await write([call.sets])
                call.continuation.resume(returning: results.first ?? AppliedFacts())
            } catch {
                call.continuation.resume(throwing: error)
            }
        }
    }

    private func takeCalls() -> [Call] {
        var facts = 0
        var count = 0
        for call in waiting {
            facts += call.sets.reduce(0) { $0 + $1.transactions.count + 1 }
            if count > 0, facts > factsPerTransaction { break }
            count += 1
        }
        let calls = Array(waiting.prefix(count))
        waiting.removeFirst(count)
        return calls
    }
}
