import AppStoreModels
import AppStoreSync
import Purchases
import Synchronization
import TestSupport
import Testing
import TransactionStore

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

    @Test func aWrongServerTimeDoesNotBlockCallsForDays() {
        let breaker = CircuitBreaker()
        breaker.failed(now: 0, until: .max)
        #expect(breaker.permit(now: 10 * CircuitBreaker.pause) == .go)
    }

    @Test func afterARateLimitCallsPauseForTheStatedTime() {
        let breaker = CircuitBreaker()
        breaker.held(now: 0, until: 2_400_000)
        #expect(breaker.permit(now: 2_399_999) == .wait)
        #expect(breaker.permit(now: 2_400_000) == .go)
        breaker.held(now: 2_400_000, until: .max)
        #expect(breaker.permit(now: 2_400_000 + CircuitBreaker.maximumPause - 1) == .wait)
        #expect(breaker.permit(now: 2_400_000 + CircuitBreaker.maximumPause) == .go)
    }

    @Test func anInconclusiveAttemptKeepsTheBreakerHalfOpen() {
        let breaker = Self.broken()
        #expect(breaker.permit(now: CircuitBreaker.pause) == .go)
        breaker.endedInconclusively()
        #expect(breaker.permit(now: CircuitBreaker.pause) == .go)
        #expect(breaker.permit(now: CircuitBreaker.pause) == .wait)
    }

    @Test func aClockThatWasSetBackDoesNotBlockCalls() {
        let breaker = Self.broken(at: 1 << 50)
        #expect(breaker.permit(now: 0) == .go)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func theClockMayShowAnything(now: Int64) {
        let breaker = Self.broken(at: now)
        breaker.held(now: now, until: .min)
        breaker.held(now: now, until: .max)
        _ = breaker.permit(now: .min)
        _ = breaker.permit(now: .max)
    }
}

@Suite struct RefreshMemoryTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example")

    private static func known(_ time: Int64) -> AppStoreAnswer { .init(time: time, isKnown: true) }

    @Test func eachPurchaseHasItsOwnAnswer() {
        let memory = RefreshMemory()
        memory.note(["1", "2"], in: Self.scope, Self.known(10))
        memory.note(["3", "1"], in: Self.scope, .init(time: 20, isKnown: false))
        #expect(memory.answer("1", in: Self.scope, now: 20) == .init(time: 20, isKnown: false))
        #expect(memory.answer("2", in: Self.scope, now: 20) == Self.known(10))
        #expect(memory.answer("4", in: Self.scope, now: 20) == nil)
        let other = StoreScope(environment: .sandbox, bundleId: "com.example")
        #expect(memory.answer("2", in: other, now: 20) == nil)
    }

    @Test func notesFromBeforeTheClockWasSetBackDoNotCount() {
        let memory = RefreshMemory()
        memory.note(["1"], in: Self.scope, Self.known(20))
        #expect(memory.answer("1", in: Self.scope, now: 19) == nil)
    }

    @Test func itIsBoundedAndForgetsTheOldestFirst() {
        let memory = RefreshMemory(capacity: 10)
        for number in 0..<25 { memory.note(["\(number)"], in: Self.scope, Self.known(Int64(number))) }
        let kept = (0..<25).filter { memory.answer("\($0)", in: Self.scope, now: 25) != nil }
        #expect(kept == Array(10..<25))
    }
}

/// A value that several tasks see.
private final class Flag: Sendable {
    private let state: Mutex<Bool>
    init(_ value: Bool) { state = Mutex(value) }
    var value: Bool { state.withLock { $0 } }
    func set(_ value: Bool) { state.withLock { $0 = value } }
}

@Suite struct SharedWorkTests {
    private struct Failure: Error {}

    @Test func anyNumberOfCallersWaitForOnePieceOfWork() async throws {
        let work = SharedWork<String, Int>(maximum: 1)
        let begun = Mutex(0)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await work.value(for: ["a"], timeout: .seconds(60)) {
                begun.withLock { $0 += 1 }
                for await _ in gate { break }
                return 7
            }
        }
        try await eventually("the work has begun") { begun.withLock { $0 } > 0 }
        let others = (0..<100).map { _ in
            Task { try await work.value(for: ["a"], timeout: .seconds(60)) { 8 } }
        }
        // They have all joined once each has run: the work cannot end before the gate opens.
        await Task.yield()
        #expect(work.count == 1)
        await #expect(throws: SharedWork<String, Int>.Full.self) {
            try await work.value(for: ["b"], timeout: .seconds(60)) { 9 }
        }
        open.yield()
        #expect(try await first.value == 7)
        for other in others { #expect([7, 8].contains(try await other.value)) }
        #expect(begun.withLock { $0 } == 1)
    }

    /// Work that notes when it is cancelled, and a caller with a long timeout.
    private static func begun(
        _ work: SharedWork<String, Int>, _ keys: [String], _ cancelled: Flag
    ) async -> (caller: Task<Int, any Error>, open: AsyncStream<Void>.Continuation) {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (started, start) = AsyncStream<Void>.makeStream()
        let caller = Task {
            try await work.value(for: keys, timeout: .seconds(60)) {
                start.yield()
                for await _ in gate { return 7 }
                cancelled.set(Task.isCancelled)
                throw CancellationError()
            }
        }
        for await _ in started { break }
        return (caller, open)
    }

    @Test func workIsFoundByAnyOfItsKeysAndByNoneAfterwards() async throws {
        let work = SharedWork<String, Int>(maximum: 2)
        let (first, open) = await Self.begun(work, ["a", "b"], Flag(false))
        // These find it under way, by the second key as by the first, and leave it so.
        for keys in [["b", "c"], ["d", "a"]] {
            await #expect(throws: SharedWork<String, Int>.TooSlow.self) {
                try await work.value(for: keys, timeout: .milliseconds(1)) { 8 }
            }
        }
        #expect(try await work.value(for: ["c"], timeout: .seconds(60)) { 9 } == 9)
        open.yield()
        #expect(try await first.value == 7)
        try await eventually("the work is done") { work.count == 0 }
        #expect(try await work.value(for: ["a", "b"], timeout: .seconds(60)) { 10 } == 10)
    }

    @Test("Work whose last caller has left is cancelled, and a later caller begins anew")
    func abandoned() async throws {
        let work = SharedWork<String, Int>(maximum: 4, maximumCallers: 2)
        let cancelled = Flag(false)
        let (first, _) = await Self.begun(work, ["a"], cancelled)
        let second = Task<Int, any Error> {
            while true {
                // A third caller may have the second place for a moment.
                do { return try await work.value(for: ["a"], timeout: .seconds(60)) { 8 } } catch {
                    guard error is SharedWork<String, Int>.Full else { throw error }
                    await Task.yield()
                }
            }
        }
        try await eventually("two wait for it, so a third is rejected") {
            do {
                _ = try await work.value(for: ["a"], timeout: .milliseconds(1)) { 8 }
                return false
            } catch { return error is SharedWork<String, Int>.Full }
        }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(!cancelled.value && work.count == 1)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await eventually("the work is done") { work.count == 0 }
        #expect(cancelled.value)
        #expect(try await work.value(for: ["a"], timeout: .seconds(60)) { 9 } == 9)
    }

    @Test func onlySoManyCallersWait() async throws {
        let work = SharedWork<String, Int>(maximum: 4, maximumCallers: 1)
        let (first, open) = await Self.begun(work, ["a"], Flag(false))
        for key in ["a", "b"] {
            await #expect(throws: SharedWork<String, Int>.Full.self) {
                try await work.value(for: [key], timeout: .seconds(60)) { 8 }
            }
        }
        open.yield()
        #expect(try await first.value == 7)
    }

    @Test func aFailureGoesToAllAndIsNotKept() async throws {
        let work = SharedWork<String, Int>(maximum: 1)
        await #expect(throws: Failure.self) {
            try await work.value(for: ["a"], timeout: .seconds(60)) { throw Failure() }
        }
        #expect(try await work.value(for: ["a"], timeout: .seconds(60)) { 7 } == 7)
    }
}
