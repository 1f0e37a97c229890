import ForgedTrust
import Foundation
import Purchases
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// What a store that takes nothing in, or not soon, does to answers and to what they rest on.
@Suite(.timeLimit(.minutes(10))) struct LearningTests {
    /// A spool in a folder of its own, and what the writer reported.
    private final class Spooling: Sendable {
        let spool: SQLiteFactSpool
        let writer: StoreWriter
        private let seen: Seen
        private let folder: TemporaryFolder
        private let draining: Task<Void, Never>

        private final class Seen: Sendable {
            let events = Mutex<[String]>([])
        }

        init(_ store: any TransactionStore, maximumBytes: Int64 = 1 << 20) throws {
            folder = try TemporaryFolder()
            spool = try SQLiteFactSpool.open(path: folder.file("spool"), maximumBytes: maximumBytes)
            let seen = Seen()
            self.seen = seen
            let writer = StoreWriter(store: store, spool: spool) { event in
                seen.events.withLock { $0.append("\(event)") }
            }
            self.writer = writer
            draining = Task { await writer.drain() }
        }

        var events: String { seen.events.withLock { $0.joined(separator: "\n") } }

        /// Whether the spool took longer than the writer waits for it, on a disk that other tests keep busy. Then receipts that
        /// it would have kept are refused, which says nothing.
        var isTooSlow: Bool { events.contains("Neither did the spool: it took longer than") }

        func end() async throws {
            draining.cancel()
            try await spool.close()
        }
    }

    private func endpoint(
        _ store: any TransactionStore, _ writer: StoreWriter?,
        _ change: (inout EndpointConfiguration) -> Void = { _ in }
    ) throws -> VerifyReceiptEndpoint {
        var configuration = EndpointConfiguration(trust: try forgedTrust())
        configuration.learningLimit = .milliseconds(250)
        change(&configuration)
        return try VerifyReceiptEndpoint(configuration: configuration, store: store, writer: writer)
    }

    private func receipts(_ count: Int) throws -> [[UInt8]] {
        try (0..<Int64(count)).map { try appReceipt([month($0)]) }
    }

    /// The endpoint answers each of the receipts, and `store` takes none of them: they wait in the spool.
    private func answered(_ receipts: [[UInt8]], without store: PickyStore) async throws -> Spooling {
        var found: Spooling?
        try await eventually("the spool takes each in time") {
            let spooling = try Spooling(store)
            let endpoint = try endpoint(store, spooling.writer)
            var statuses: [Int] = []
            for bytes in receipts { statuses.append(try await endpoint.ask(body(bytes)).status) }
            if spooling.isTooSlow {
                try await spooling.end()
                return false
            }
            #expect(statuses.allSatisfy { $0 == 0 }, "\(statuses)")
            found = spooling
            return true
        }
        return try unwrap(found)
    }

    @Test func aWriteThatDoesNotEndDelaysNoAnswer() async throws {
        let store = SlowStore()
        let bytes = try appReceipt([month(0), month(1)])
        // Nothing releases the store: without a limit this would wait for ever.
        let reply = try await endpoint(store, nil).ask(body(bytes))
        #expect(reply.reply.body == (try await testEndpoint().ask(body(bytes))).reply.body)
        #expect(reply.reply.facts.storeFailed && reply.reply.facts.isNotKept)
        #expect(reply.reply.facts.reason?.contains("longer") == true)
        store.release()
    }

    @Test func aWriteThatTimesOutIsSpooledAndStoredLater() async throws {
        try await eventually("the spool takes each in time") { try await isRemembered() }
    }

    /// - Returns: false if the spool was too slow.
    @inline(never)
    private func isRemembered() async throws -> Bool {
        let store = SlowStore()
        let spooling = try Spooling(store)
        let endpoint = try endpoint(store, spooling.writer)
        let receipts = try receipts(6)
        var replies: [ReadReply] = []
        for bytes in receipts { replies.append(try await endpoint.ask(body(bytes))) }
        if spooling.isTooSlow {
            store.release()
            try await spooling.end()
            return false
        }
        for reply in replies {
            #expect(reply.status == 0 && reply.latest?.count == 1)
            #expect(reply.reply.facts.isSpooled && !reply.reply.facts.isNotKept)
        }
        // The one that is late, and one batch of the spool, which waits as the store does.
        #expect(store.begun <= 2)
        #expect(spooling.spool.state.entries == Int64(receipts.count))
        #expect(spooling.writer.counts.spooled == UInt64(receipts.count))
        store.release()
        try await eventually("everything is in the store") { spooling.spool.state.entries == 0 }
        let known = Set(store.receipts)
        #expect(receipts.allSatisfy(known.contains))
        try await eventually("it is reported") { spooling.events.contains("drained(\(receipts.count))") }
        #expect(spooling.events.contains("spooling") && !spooling.writer.isInTrouble)
        // The store takes receipts at once again.
        let slowEndpoint = try self.endpoint(store, spooling.writer) { $0.learningLimit = .seconds(60) }
        let last = try await slowEndpoint.ask(body(try appReceipt([month(7)])))
        #expect(!last.reply.facts.isSpooled && !last.reply.facts.storeFailed)
        try await spooling.end()
        return true
    }

    @Test(
        "A receipt of an erased customer has the reply that it has without a store, and is not stored, nor by the spool"
    )
    func erased() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let spooling = try Spooling(store)
        let endpoint = try endpoint(store, spooling.writer) { $0.learningLimit = .seconds(60) }
        let bytes = try appReceipt([month(0), month(1)])
        let expected = try await endpoint.ask(body(bytes)).reply.body
        let scope = try #require(try await store.scopes().first)
        let customer = try #require(try await store.customers(in: scope, after: nil, limit: 2).first)
        let left = try await store.erase(customer.identities, in: scope, quarantined: [], leavingHashes: true)
        #expect(left.transactions == 2 && left.leftHashes > 0)
        for turn in 1...2 {
            let reply = try await endpoint.ask(body(bytes))
            #expect(reply.reply.body == expected)
            #expect(!reply.reply.facts.storeFailed && !reply.reply.facts.isNotKept)
            #expect(try await store.counts().customers == 0)
            #expect(spooling.writer.counts.erasedFacts == UInt64(4 * turn))
        }
        try await spooling.end()
        // The receipt waited in the spool while the customer was erased.
        let spool = try SQLiteFactSpool.open(path: folder.file("spool"), maximumBytes: 1 << 20)
        for set in customer.factSets { try await spool.append(set) }
        let writer = StoreWriter(store: store, spool: spool)
        let draining = Task { await writer.drain() }
        try await eventually("the spool is empty") { spool.state.entries == 0 && writer.counts.drained == 1 }
        #expect(writer.counts.erasedFacts == 4)
        draining.cancel()
        try await spool.close()
        #expect(try await store.counts().customers == 0)
        try await store.close()
    }

    @Test func receiptsThatAreAnsweredWithoutReadingTheStoreAreRememberedToo() async throws {
        let failing = FailingStore(
            applying: TransactionStoreError(.unavailable, "on purpose"),
            reading: TransactionStoreError(.unavailable, "on purpose"))
        let spooling = try Spooling(failing)
        let receiptOnly = try endpoint(failing, spooling.writer) { $0.whenStoreFails = .receiptOnly }
        let local = try endpoint(failing, spooling.writer) { $0.freshness.source = .local }
        let refusing = try endpoint(failing, spooling.writer)
        let receipts = try receipts(3)
        #expect(try await receiptOnly.ask(body(receipts[0])).status == 0)
        #expect(spooling.spool.state.entries == 1)
        #expect(try await local.ask(body(receipts[1])).status == 0)
        #expect(spooling.spool.state.entries == 2)
        // What is not answered need not be remembered.
        #expect(try await refusing.ask(body(receipts[2])).status == 21005)
        #expect(spooling.spool.state.entries == 2)
        try await spooling.end()
    }

    @Test(arguments: EndpointConfiguration.SpoolFailure.allCases)
    func whereNeitherTakesTheReceiptTheConfigurationDecides(_ whenFull: EndpointConfiguration.SpoolFailure) async throws
    {
        let store = FailingStore(applying: TransactionStoreError(.notWritable, "on purpose"))
        let spooling = try Spooling(store, maximumBytes: 1)
        let endpoint = try endpoint(store, spooling.writer) { $0.whenSpoolIsFull = whenFull }
        for _ in 0..<2 {
            let reply = try await endpoint.ask(body(appReceipt([month(0)])))
            #expect(reply.status == (whenFull == .answer ? 0 : 21005))
            #expect(reply.reply.facts.isNotKept)
        }
        #expect(spooling.writer.counts.refused == 2)
        #expect(spooling.events.components(separatedBy: "refusing").count == 2, "it is said once: \(spooling.events)")
        try await spooling.end()
    }

    /// One receipt that the store will never take must not keep the others from it.
    @Test func aReceiptThatTheStoreRefusesIsSetAside() async throws {
        let receipts = try receipts(4)
        let store = PickyStore(refused: receipts[1])
        store.isAway = true
        let spooling = try await answered(receipts, without: store)
        #expect(spooling.spool.state.entries == 4)
        store.isAway = false
        // An entry leaves the spool before it is counted.
        try await eventually("the others are stored") { spooling.writer.counts.drained == 3 }
        #expect(spooling.spool.state.entries == 0)
        #expect(Set(store.receipts) == Set(receipts.indices.filter { $0 != 1 }.map { receipts[$0] }))
        #expect(spooling.spool.state.setAside == 1)
        #expect(spooling.writer.counts.setAside == 1)
        #expect(spooling.events.contains("setAside(receipt: \"\(VerifyReceiptEndpoint.receiptName(receipts[1]))\""))
        try await spooling.end()
    }

    /// A store that is damaged as a whole refuses each of them, and is mended some day.
    @Test func aStoreThatTakesNothingAtAllSetsNothingAside() async throws {
        let receipts = try receipts(3)
        let store = PickyStore(refused: nil)
        store.isDamaged = true
        let spooling = try await answered(receipts, without: store)
        try await eventually("it was tried") { store.checks > 1 }
        #expect(spooling.spool.state.entries == 3 && spooling.spool.state.setAside == 0)
        store.isDamaged = false
        try await eventually("they are stored") { spooling.spool.state.entries == 0 }
        #expect(Set(store.receipts) == Set(receipts))
        try await spooling.end()
    }

    /// Another program holds the rows of one customer.
    @Test func aReceiptThatTheStoreRejectsForNowDelaysNoOther() async throws {
        let receipts = try receipts(4)
        let store = PickyStore(refused: nil)
        store.isAway = true
        let spooling = try await answered(receipts, without: store)
        store.locked = receipts[0]
        store.isAway = false
        try await eventually("the others are stored") { spooling.spool.state.entries == 1 }
        #expect(Set(store.receipts) == Set(receipts.dropFirst()))
        #expect(spooling.writer.isInTrouble && !spooling.events.contains("drained"), "one waits")
        #expect(spooling.spool.state.setAside == 0)
        store.locked = nil
        try await eventually("it is stored") { spooling.spool.state.entries == 0 }
        #expect(Set(store.receipts) == Set(receipts))
        try await eventually("it is reported") { spooling.events.contains("drained(4)") }
        try await spooling.end()
    }

    @Test func anEntrySpooledTooLateIsStoredToo() async throws {
        let store = PickyStore(refused: nil)
        store.isAway = true
        let spool = SlowSpool()
        let writer = StoreWriter(store: store, spool: spool)
        let draining = Task { await writer.drain() }
        defer { draining.cancel() }
        let bytes = try appReceipt([month(0)])
        #expect(try await endpoint(store, writer).ask(body(bytes)).status == 21005)
        store.isAway = false
        spool.release()
        try await eventually("it is stored") { store.receipts == [bytes] }
    }

    @Test func entriesOfAnEarlierRunGoToTheStoreByThemselves() async throws {
        let receipts = try receipts(3)
        let away = PickyStore(refused: nil)
        away.isAway = true
        let spooling = try await answered(receipts, without: away)
        #expect(spooling.spool.state.entries == 3)
        let store = PickyStore(refused: nil)
        let next = StoreWriter(store: store, spool: spooling.spool)
        let draining = Task { await next.drain() }
        try await eventually("they are stored") { spooling.spool.state.entries == 0 }
        #expect(Set(store.receipts) == Set(receipts))
        draining.cancel()
        try await spooling.end()
    }
}

extension VerifyReceiptEndpoint {
    /// What logs call a receipt.
    fileprivate static func receiptName(_ bytes: [UInt8]) -> String {
        String(KnownReceipt(form: .app, bytes: bytes, signedDate: 0).digest.prefix(12))
    }
}

/// A store that takes everything but one receipt, unless it is away or damaged.
private final class PickyStore: TransactionStore {
    private struct State {
        var isAway = false
        var isDamaged = false
        var locked: [UInt8]?
        var receipts: [[UInt8]] = []
        var checks = 0
    }

    private let refused: [UInt8]?
    private let state = Mutex(State())

    init(refused: [UInt8]?) { self.refused = refused }

    var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set { state.withLock { $0.isAway = newValue } }
    }
    var isDamaged: Bool {
        get { state.withLock { $0.isDamaged } }
        set { state.withLock { $0.isDamaged = newValue } }
    }
    /// The receipt that is not taken for now, while others are.
    var locked: [UInt8]? {
        get { state.withLock { $0.locked } }
        set { state.withLock { $0.locked = newValue } }
    }
    var receipts: [[UInt8]] { state.withLock { $0.receipts } }
    var checks: Int { state.withLock { $0.checks } }

    private func check() throws {
        try state.withLock { state in
            if state.isAway { throw TransactionStoreError(.busy, "on purpose") }
            if state.isDamaged { throw TransactionStoreError(.corrupt, "on purpose") }
        }
    }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        try check()
        let receipts = sets.compactMap(\.receipt?.bytes)
        if let locked, receipts.contains(locked) { throw TransactionStoreError(.busy, "this one") }
        if let refused, receipts.contains(refused) { throw TransactionStoreError(.corrupt, "this one") }
        state.withLock { $0.receipts += receipts }
        return AppliedFacts()
    }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? { nil }
    func hasProcessed(notificationUUID: String) async throws -> Bool { false }
    func counts() async throws -> StoreCounts {
        StoreCounts(
            transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
    }
    func checkReadiness() async throws {
        state.withLock { $0.checks += 1 }
        try check()
    }
    func close() async throws {}
}

/// A spool that accepts nothing before it is released.
private final class SlowSpool: FactSpool {
    private struct State {
        var isReleased = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var entries: [SpooledFacts] = []
    }

    private let kept = Mutex(State())

    func release() {
        let waiting = kept.withLock { state in
            state.isReleased = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func append(_ set: FactSet) async throws {
        await withCheckedContinuation { continuation in
            let isReleased = kept.withLock { state in
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
        kept.withLock {
            $0.entries.append(SpooledFacts(id: Int64($0.entries.count + 1), name: "name", facts: .success(set)))
        }
    }

    func oldest(after: Int64, maximumCount: Int, maximumBytes: Int64) async throws -> [SpooledFacts] {
        kept.withLock { $0.entries.filter { $0.id > after } }
    }
    func remove(_ ids: [Int64]) async throws { kept.withLock { $0.entries.removeAll { ids.contains($0.id) } } }
    func setAside(_ id: Int64, reason: String) async throws {}
    var state: SpoolState {
        let count = Int64(kept.withLock { $0.entries.count })
        return SpoolState(entries: count, bytes: count, maximumBytes: 1_000, oldestDate: nil, setAside: 0)
    }
    func checkReadiness() async throws {}
    func close() async throws {}
}

/// A store whose writes do not end before it is released; reading is fast and finds no customer.
private final class SlowStore: TransactionStore {
    private struct State {
        var isReleased = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var begun = 0
        var receipts: [[UInt8]] = []
    }

    private let state = Mutex(State())

    var begun: Int { state.withLock { $0.begun } }
    var receipts: [[UInt8]] { state.withLock { $0.receipts } }

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
        state.withLock { $0.receipts += sets.compactMap(\.receipt?.bytes) }
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
