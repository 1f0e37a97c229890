import AppStoreModels
import Synchronization
import Testing
import TransactionStore
import VerifyReceiptServer

@Suite struct CircuitBreakerTests {
    private static func broken(at now: Int64 = 0) -> CircuitBreaker {
        let breaker = CircuitBreaker()
        for _ in 0..<CircuitBreaker.failureLimit { breaker.failed(now: now) }
        return breaker
    }

    @Test func itOpensAfterSoManyFailuresInARow() {
        let breaker = CircuitBreaker()
        for _ in 1..<CircuitBreaker.failureLimit { breaker.failed(now: 0) }
        breaker.succeeded()
        for _ in 1..<CircuitBreaker.failureLimit { breaker.failed(now: 0) }
        #expect(breaker.permit(now: 0) == .go)
        breaker.failed(now: 0)
        #expect(breaker.permit(now: CircuitBreaker.pause - 1) == .wait)
    }

    @Test func afterThePauseOneTriesAndItsOutcomeDecides() {
        let breaker = Self.broken()
        #expect(breaker.permit(now: CircuitBreaker.pause) == .go)
        #expect(breaker.permit(now: CircuitBreaker.pause) == .wait)
        breaker.failed(now: CircuitBreaker.pause)
        #expect(breaker.permit(now: 2 * CircuitBreaker.pause - 1) == .wait)
        #expect(breaker.permit(now: 2 * CircuitBreaker.pause) == .go)
        breaker.succeeded()
        #expect(breaker.permit(now: 2 * CircuitBreaker.pause) == .go)
        #expect(breaker.permit(now: 2 * CircuitBreaker.pause) == .go)
    }

    @Test func aServerThatNamesATimeIsLeftAloneUntilThen() {
        let breaker = CircuitBreaker()
        breaker.failed(now: 0, until: 5_000)
        #expect(breaker.permit(now: 4_999) == .wait)
        #expect(breaker.permit(now: 5_000) == .go)
    }

    @Test func aServerThatIsWrongAboutTheTimeLocksNobodyOutForDays() {
        let breaker = CircuitBreaker()
        breaker.failed(now: 0, until: .max)
        #expect(breaker.permit(now: 10 * CircuitBreaker.pause) == .go)
    }
}

@Suite struct RefreshMemoryTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example")

    private static func identity(_ number: Int) -> CustomerIdentity {
        CustomerIdentity(.originalTransactionId, "\(number + 1)")
    }

    @Test func anyIdentityFindsTheNewestTime() {
        let memory = RefreshMemory()
        memory.note([Self.identity(1), Self.identity(2)], in: Self.scope, at: 10)
        memory.note([Self.identity(3)], in: Self.scope, at: 20)
        #expect(memory.time([Self.identity(2), Self.identity(3)], in: Self.scope) == 20)
        #expect(memory.time([Self.identity(2)], in: Self.scope) == 10)
        #expect(memory.time([Self.identity(4)], in: Self.scope) == nil)
        let other = StoreScope(environment: .sandbox, bundleId: "com.example")
        #expect(memory.time([Self.identity(2)], in: other) == nil)
    }

    @Test func itIsBoundedAndForgetsTheOldestFirst() {
        let memory = RefreshMemory(capacity: 10)
        for number in 0..<25 { memory.note([Self.identity(number)], in: Self.scope, at: Int64(number)) }
        let kept = (0..<25).filter { memory.time([Self.identity($0)], in: Self.scope) != nil }
        #expect(kept == Array(10..<25))
    }
}

@Suite struct SharedWorkTests {
    private struct Failure: Error {}

    @Test func anyNumberOfCallersWaitForOnePieceOfWork() async throws {
        let work = SharedWork<String, Int>(maximum: 1)
        let begun = Mutex(0)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await work.value(for: "a", patience: .seconds(60)) {
                begun.withLock { $0 += 1 }
                for await _ in gate { break }
                return 7
            }
        }
        while begun.withLock({ $0 }) == 0 { await Task.yield() }
        let others = (0..<100).map { _ in
            Task { try await work.value(for: "a", patience: .seconds(60)) { 8 } }
        }
        // They have all joined once each has run: the work cannot end before the gate opens.
        await Task.yield()
        #expect(work.count == 1)
        await #expect(throws: SharedWork<String, Int>.Full.self) {
            try await work.value(for: "b", patience: .seconds(60)) { 9 }
        }
        open.yield()
        #expect(try await first.value == 7)
        for other in others { #expect([7, 8].contains(try await other.value)) }
        #expect(begun.withLock { $0 } == 1)
    }

    @Test func aCallerWithoutPatienceLeavesAndTheWorkGoesOn() async throws {
        let work = SharedWork<String, Int>(maximum: 1)
        let (gate, open) = AsyncStream<Void>.makeStream()
        await #expect(throws: SharedWork<String, Int>.TooSlow.self) {
            try await work.value(for: "a", patience: .milliseconds(1)) {
                for await _ in gate { break }
                return 7
            }
        }
        #expect(work.count == 1)
        let patient = Task { try await work.value(for: "a", patience: .seconds(60)) { 8 } }
        await Task.yield()
        open.yield()
        #expect([7, 8].contains(try await patient.value))
    }

    @Test func aFailureGoesToAllAndIsNotKept() async throws {
        let work = SharedWork<String, Int>(maximum: 1)
        await #expect(throws: Failure.self) {
            try await work.value(for: "a", patience: .seconds(60)) { throw Failure() }
        }
        #expect(try await work.value(for: "a", patience: .seconds(60)) { 7 } == 7)
    }
}
