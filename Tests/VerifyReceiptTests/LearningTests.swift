import Synchronization
import Testing
import TransactionStore
import VerifyReceipt

/// What a store that takes nothing in, or not soon, does to answers.
@Suite(.timeLimit(.minutes(2))) struct LearningTests {
    @Test func aWriteThatDoesNotEndHoldsNoAnswerUp() async throws {
        let store = SlowStore()
        let octets = try appReceipt([month(0), month(1)])
        let endpoint = try testEndpoint(store: store) { $0.learningLimit = .milliseconds(250) }
        // Nothing releases the store: without a limit this would wait for ever.
        let reply = try await endpoint.ask(body(octets))
        #expect(reply.reply.body == (try await testEndpoint().ask(body(octets))).reply.body)
        #expect(reply.reply.facts.storeFailed && !reply.reply.facts.learningSkipped)
        #expect(reply.reply.facts.reason?.contains("longer") == true)
        store.release()
    }

    @Test func afterASlowWriteLearningIsSkippedForAWhileAndThenTriedAgain() async throws {
        let store = SlowStore()
        let octets = try appReceipt([month(0)])
        let endpoint = try testEndpoint(store: store) { $0.learningLimit = .milliseconds(250) }
        _ = try await endpoint.ask(body(octets))
        for _ in 0..<3 {
            let reply = try await endpoint.ask(body(octets))
            #expect(reply.status == 0 && reply.latest?.count == 1)
            #expect(reply.reply.facts.learningSkipped && !reply.reply.facts.storeFailed)
        }
        #expect(store.begun == 1)
        // While the late write goes on no other is begun, however long ago it was.
        #expect(try await endpoint.ask(body(octets), now: requestDate + 60_000).reply.facts.learningSkipped)
        store.release()
        // The pause is over; who tries again learns, and so does everybody after.
        var late = try await endpoint.ask(body(octets), now: requestDate + 5_000)
        while late.reply.facts.learningSkipped {
            late = try await endpoint.ask(body(octets), now: requestDate + 5_000)
        }
        #expect(!late.reply.facts.storeFailed)
        let next = try await endpoint.ask(body(octets))
        #expect(!next.reply.facts.learningSkipped && store.ended == 3)
    }

    @Test func afterAFailedWriteLearningIsSkippedForAWhile() async throws {
        let store = FailingStore(applying: TransactionStoreError(.busy, "on purpose"))
        let endpoint = try testEndpoint(store: store)
        let octets = try appReceipt([month(0)])
        #expect(try await endpoint.ask(body(octets)).reply.facts.storeFailed)
        #expect(try await endpoint.ask(body(octets), now: requestDate + 4_999).reply.facts.learningSkipped)
        // The one that tries fails again, and another pause begins.
        #expect(try await endpoint.ask(body(octets), now: requestDate + 5_000).reply.facts.storeFailed)
        #expect(try await endpoint.ask(body(octets), now: requestDate + 5_001).reply.facts.learningSkipped)
        // A clock that was set back does not prolong it.
        #expect(try await endpoint.ask(body(octets), now: 0).reply.facts.storeFailed)
    }

    @Test func dataThatCannotBeReadStopsNoLearning() async throws {
        let store = FailingStore(applying: TransactionStoreError(.corrupt, "on purpose"))
        let endpoint = try testEndpoint(store: store)
        for _ in 0..<2 {
            #expect(try await endpoint.ask(body(appReceipt([month(0)]))).reply.facts.storeFailed)
        }
    }
}

/// A store whose writes do not end before it is told so; reading is quick and finds nobody.
private final class SlowStore: TransactionStore {
    private struct State {
        var isReleased = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var begun = 0
        var ended = 0
    }

    private let state = Mutex(State())

    var begun: Int { state.withLock { $0.begun } }
    var ended: Int { state.withLock { $0.ended } }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                state.begun += 1
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
        state.withLock { $0.ended += 1 }
        return AppliedFacts()
    }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? { nil }
    func hasProcessed(notificationUUID: String) async throws -> Bool { false }
    func counts() async throws -> StoreCounts {
        StoreCounts(
            transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
    }
    func checkReadiness() async throws {}
    func close() async throws {}
}
