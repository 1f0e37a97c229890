import Dispatch
import Foundation
import Purchases
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("A store with a deadline", .timeLimit(.minutes(15)))
struct BoundedStoreTests {
    private static func read(_ store: some TransactionStore) async -> TransactionStoreError.Code? {
        await storeErrorCode { _ = try await store.customer(original: "1") }
    }

    private static func reads(_ count: Int, _ store: BoundedTransactionStore) async -> [TransactionStoreError.Code?] {
        await withTaskGroup(of: TransactionStoreError.Code?.self) { group in
            for _ in 0..<count { group.addTask { await read(store) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func aStoreThatHangsFailsItsCallsAtTheDeadlineAndOthersAtOnceUntilItAnswers() async throws {
        let stub = HangingStore()
        let changes = Changes()
        let store = BoundedTransactionStore(stub, deadline: .milliseconds(500), onChange: { changes.add($0, $1) })
        // A busy machine may take longer than the deadline.
        try await condition("the store is used") { await Self.read(store) == nil }
        let earlier = changes.all.count
        stub.hang(true)
        let begin = ContinuousClock.now
        #expect(await Self.reads(20, store) == Array(repeating: .unavailable, count: 20))
        #expect(begin.duration(to: .now) >= .milliseconds(500))
        #expect(store.isHanging(.read) && !store.isHanging(.write))
        #expect(store.abandonedCalls > 0 && store.timeouts > 0)
        // Only one call at a time uses the store now.
        let before = stub.calls
        for _ in 0..<500 { #expect(await Self.read(store) == .unavailable) }
        #expect(stub.calls - before < 250)
        // Others hold up readers, not writers.
        try await condition("it is written to") {
            await storeErrorCode { _ = try await store.apply([Samples.set(Samples.fact("1"))]) } == nil
        }
        stub.hang(false)
        try await condition("the store is used again") { await Self.read(store) == nil }
        #expect(!store.isHanging(.read))
        try await condition("what was given up has ended") { store.abandonedCalls == 0 }
        #expect(changes.all.dropFirst(earlier) == ["read true", "read false"])
    }

    @Test func hangingWritersDelayNoReaders() async throws {
        let stub = HangingStore()
        let store = BoundedTransactionStore(stub, deadline: .milliseconds(500))
        stub.hang(true, writes: true)
        #expect(await storeErrorCode { _ = try await store.apply([Samples.set(Samples.fact("1"))]) } == .unavailable)
        #expect(store.isHanging(.write) && !store.isHanging(.read))
        try await condition("it is read") { await Self.read(store) == nil }
        stub.hang(false, writes: true)
        try await condition("it is written to again") {
            await storeErrorCode { try await store.checkReadiness() } == nil
        }
    }

    @Test func aStoreThatIsOnlySlowDoesNotHang() async throws {
        let changes = Changes()
        let store = BoundedTransactionStore(
            QueueingStore(.milliseconds(100)), deadline: .seconds(1), onChange: { changes.add($0, $1) })
        // The last one waits for longer than the deadline; on a slow machine for longer than one call may.
        let codes = await Self.reads(16, store)
        #expect(Set(codes).isSubset(of: [nil, .busy]))
        #expect(codes.contains(nil))
        #expect(changes.all.isEmpty)
    }

    @Test func anErrorOfTheStoreIsAnAnswer() async throws {
        let stub = HangingStore()
        stub.fail(TransactionStoreError(.unavailable, "refused"))
        let store = BoundedTransactionStore(stub, deadline: .seconds(30))
        for _ in 0..<50 { #expect(await Self.read(store) == .unavailable) }
        #expect(stub.calls == 50)
        #expect(!store.isHanging(.read) && store.timeouts == 0)
    }

    @Test func noMoreThanSoManyCallsWait() async throws {
        let stub = HangingStore()
        let store = BoundedTransactionStore(stub, deadline: .seconds(120))
        stub.hang(true)
        let maximum = BoundedTransactionStore.maximumCalls
        await withTaskGroup(of: TransactionStoreError.Code?.self) { group in
            for _ in 0...maximum { group.addTask { await Self.read(store) } }
            #expect(await group.next() == .some(.busy))
            stub.hang(false)
            for await code in group { #expect(code == nil) }
        }
        #expect(stub.calls == maximum)
    }

    /// A call to a hanging disk cannot be stopped. Its threads are blocked until the disk continues.
    @Test func aHangingDiskBlocksABoundedNumberOfThreadsAndNoCaller() async throws {
        let folder = try TemporaryFolder()
        let disk = HangingDisk()
        var options = SQLiteTransactionStore.Options()
        options.beforeLookUp = { disk.read() }
        let engine = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"), options: options)
        let store = BoundedTransactionStore(engine, deadline: .seconds(2))
        // Not by the store with a deadline: other tests keep the disk busy.
        _ = try await engine.apply([Samples.set(Samples.fact("1"))])
        #expect(try await engine.customer(original: "1") != nil)
        disk.hang(true)
        let count = BlockingThreads.sharedMaximum + 20
        #expect(await Self.reads(count, store) == Array(repeating: .unavailable, count: count))
        #expect(disk.waiting <= BlockingThreads.sharedMaximum - BlockingThreads.sharedReserve)
        // Of those that only waited for their turn none is left.
        try await condition("only threads are held up") { store.abandonedCalls == disk.waiting }
        // Others run on these threads, the requests of a server among them; and the file is written to.
        for _ in 0..<3 {
            #expect(await withTaskExecutorPreference(BlockingThreads.shared) { BlockingThreads.isCurrent })
        }
        try await condition("the file is written to") {
            await storeErrorCode { _ = try await store.apply([Samples.set(Samples.fact("2"))]) } == nil
        }
        disk.hang(false)
        try await condition("the disk is read again") { await Self.read(store) == nil }
        try await condition("no thread is held up") { store.abandonedCalls == 0 && disk.waiting == 0 }
        #expect(try await engine.customer(original: "2") != nil)
        try await store.close()
    }
}

private func condition(_ what: String, _ isTrue: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < deadline {
        if try await isTrue() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("never happened: \(what)")
}

private final class Changes: Sendable {
    private let state = Mutex<[String]>([])

    var all: [String] { state.withLock { $0 } }

    func add(_ kind: BoundedTransactionStore.CallKind, _ isHanging: Bool) {
        state.withLock { $0.append("\(kind.rawValue) \(isHanging)") }
    }
}

/// A store whose readers, or writers, wait until the test lets them continue. It ignores cancellation, as a disk does.
private final class HangingStore: TransactionStore {
    private struct State {
        var hangs: Set<Bool> = []
        var error: TransactionStoreError?
        var waiting: [Bool: [CheckedContinuation<Void, Never>]] = [:]
        var calls = 0
    }

    private let state = Mutex(State())

    var calls: Int { state.withLock { $0.calls } }

    func fail(_ error: TransactionStoreError) { state.withLock { $0.error = error } }

    func hang(_ hangs: Bool, writes: Bool = false) {
        let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            if hangs {
                state.hangs.insert(writes)
                return []
            }
            state.hangs.remove(writes)
            return state.waiting.removeValue(forKey: writes) ?? []
        }
        for continuation in released { continuation.resume() }
    }

    private func act(writes: Bool) async throws {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state -> Bool in
                state.calls += 1
                guard state.hangs.contains(writes) else { return true }
                state.waiting[writes, default: []].append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        if let error = state.withLock({ $0.error }) { throw error }
    }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        try await act(writes: true)
        return AppliedFacts()
    }
    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        try await act(writes: false)
        return nil
    }
    func hasProcessed(notificationUUID: String) async throws -> Bool {
        try await act(writes: false)
        return false
    }
    func counts() async throws -> StoreCounts { .none }
    func checkReadiness() async throws { try await act(writes: true) }
    func close() async throws {}
}

/// A store that answers one call after the other.
private final class QueueingStore: TransactionStore {
    private let queue = DispatchQueue(label: "QueueingStore")
    private let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    private func act() async {
        await withCheckedContinuation { continuation in
            queue.async { [duration] in
                usleep(UInt32(duration / .microseconds(1)))
                continuation.resume()
            }
        }
    }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts { AppliedFacts() }
    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        await act()
        return nil
    }
    func hasProcessed(notificationUUID: String) async throws -> Bool { false }
    func counts() async throws -> StoreCounts { .none }
    func checkReadiness() async throws {}
    func close() async throws {}
}

extension StoreCounts {
    fileprivate static let none = StoreCounts(
        transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
}

/// A disk whose readers wait, each with its thread, until the test lets them continue.
private final class HangingDisk: Sendable {
    private let state = Mutex((hangs: false, waiting: 0))

    var waiting: Int { state.withLock { $0.waiting } }

    func hang(_ hangs: Bool) { state.withLock { $0.hangs = hangs } }

    func read() {
        guard state.withLock({ $0.hangs }) else { return }
        state.withLock { $0.waiting += 1 }
        while state.withLock({ $0.hangs }) { usleep(2_000) }
        state.withLock { $0.waiting -= 1 }
    }
}
