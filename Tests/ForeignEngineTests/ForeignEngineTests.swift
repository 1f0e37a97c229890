import Purchases
import Synchronization
import Testing
import TransactionStore
import TransactionStoreConformance

/// These tests see only what is public (`packageAccess: false`), as another package does.
@Suite("An engine outside the package keeps the rules of every engine")
struct ForeignEngineTests {
    private static let memory = StoreEngine(name: "memory") {
        let place = MemoryPlace()
        return StorePlace(open: { MemoryStore(place) }, remove: {})
    }

    @Test(arguments: StoreConformance.rules)
    func conforms(_ rule: StoreRule) async throws { try await rule.check(Self.memory) }

    /// An engine that loses the second of two purchases.
    private actor Forgetful: CompleteTransactionStore {
        let store = MemoryStore(MemoryPlace())

        func apply(_ sets: [FactSet]) async throws -> AppliedFacts { try await store.apply(Array(sets.prefix(1))) }
        func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
            try await store.customer(identities, in: scope)
        }
        func hasProcessed(notificationUUID: String) async throws -> Bool {
            try await store.hasProcessed(notificationUUID: notificationUUID)
        }
        func counts() async throws -> StoreCounts { try await store.counts() }
        func checkReadiness() async throws { try await store.checkReadiness() }
        func close() async throws { try await store.close() }
        func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry] {
            try await store.changes(after: position, limit: limit)
        }
        func entries(
            ofPurchases originalTransactionIds: [String], in scope: StoreScope
        ) async throws -> [LedgerEntry] {
            try await store.entries(ofPurchases: originalTransactionIds, in: scope)
        }
        func acknowledge(_ position: Int64, by consumer: String) async throws {
            try await store.acknowledge(position, by: consumer)
        }
        func acknowledgedPosition(of consumer: String) async throws -> Int64 {
            try await store.acknowledgedPosition(of: consumer)
        }
        func lease(_ consumer: String, to holder: String, for milliseconds: Int64) async throws -> ConsumerLease {
            try await store.lease(consumer, to: holder, for: milliseconds)
        }
        func endLease(of consumer: String, by holder: String) async throws {
            try await store.endLease(of: consumer, by: holder)
        }
        func consumers() async throws -> [LedgerConsumer] { try await store.consumers() }
        func removeConsumer(_ name: String) async throws -> Bool { try await store.removeConsumer(name) }
        func removeEntries(before date: Int64, evenUnread: Bool) async throws -> LedgerRemoval {
            try await store.removeEntries(before: date, evenUnread: evenUnread)
        }
        func recordEndings(by date: Int64, limit: Int) async throws -> RecordedEndings {
            try await store.recordEndings(by: date, limit: limit)
        }
        func recordTermEnds(by date: Int64, limit: Int, catalogs: TermCatalogs) async throws -> RecordedEndings {
            try await store.recordTermEnds(by: date, limit: limit, catalogs: catalogs)
        }
        func removeNotifications(signedBefore date: Int64) async throws -> Int64 {
            try await store.removeNotifications(signedBefore: date)
        }
        func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
            try await store.removeReceipts(signedBefore: date)
        }
        func newestSignedDate(orFrom date: Int64) async throws -> Int64? {
            try await store.newestSignedDate(orFrom: date)
        }
        func erase(
            _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
        ) async throws -> ErasedRows {
            try await store.erase(identities, in: scope, quarantined: quarantined, leavingHashes: leavingHashes)
        }
        func rowsToErase(
            _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
        ) async throws -> ErasedRows {
            try await store.rowsToErase(identities, in: scope, quarantined: quarantined, leavingHashes: leavingHashes)
        }
        func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> Int64 {
            try await store.removeLeftHashes(of: identities, in: scope)
        }
        func openConsumptionTasks(after task: ConsumptionTask?, limit: Int) async throws -> [ConsumptionTask] {
            try await store.openConsumptionTasks(after: task, limit: limit)
        }
        func closeConsumptionTasks(_ uuids: [String], as outcome: ConsumptionTask.Outcome) async throws -> Int {
            try await store.closeConsumptionTasks(uuids, as: outcome)
        }
        func claimConsumptionTasks(
            _ uuids: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
        ) async throws -> ConsumptionClaim? {
            try await store.claimConsumptionTasks(uuids, for: milliseconds, renewing: claim)
        }
        func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) async throws {
            try await store.endClaim(claim, maybeAnswered: maybeAnswered)
        }
        func countMissedConsumptionTasks(
            requestedAfter start: Int64, upTo end: Int64
        ) async throws -> MissedConsumptionTasks {
            try await store.countMissedConsumptionTasks(requestedAfter: start, upTo: end)
        }
        func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
            try await store.takePermits(count, of: budget)
        }
        func remember(_ transactions: [UnknownTransaction]) async throws { try await store.remember(transactions) }
        func unknownTransactions(_ ids: [String], in scope: StoreScope) async throws -> [UnknownTransaction] {
            try await store.unknownTransactions(ids, in: scope)
        }
        func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) async throws {
            try await store.forgetUnknownTransactions(ids, in: scope)
        }
        func unknownTransactionCount() async throws -> Int64 { try await store.unknownTransactionCount() }
        func scopes() async throws -> [StoreScope] { try await store.scopes() }
        func customers(in scope: StoreScope, after identity: CustomerIdentity?, limit: Int) async throws -> [Customer] {
            try await store.customers(in: scope, after: identity, limit: limit)
        }
        func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] {
            try await store.identities(of: reference, limit: limit)
        }
        func apply(_ step: MigrationStep) async throws -> AppliedFacts { try await store.apply(step) }
        func checkpoint(of migration: String) async throws -> MigrationCheckpoint? {
            try await store.checkpoint(of: migration)
        }
        func checkpoints(after migration: String?, limit: Int) async throws -> [MigrationCheckpoint] {
            try await store.checkpoints(after: migration, limit: limit)
        }
        func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] {
            try await store.verifiedReceipts(keys)
        }
        func users(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> [UserClaim] {
            try await store.users(of: identities, in: scope)
        }
        func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord] {
            try await store.quarantine(after: key, limit: limit)
        }
    }

    @Test("The error of a broken rule names the rule, its source and the found value; its place is removed")
    func failureNamesTheRule() async throws {
        let removed = Mutex(0)
        let forgetful = StoreEngine(name: "forgetful") {
            StorePlace(open: { Forgetful() }, remove: { removed.withLock { $0 += 1 } })
        }
        var failures: [ConformanceFailure] = []
        for rule in StoreConformance.rules.prefix(9) {
            do { try await rule.check(forgetful) } catch let failure as ConformanceFailure { failures.append(failure) }
        }
        let failure = try #require(failures.first { $0.rule == "applying the same document again changes nothing" })
        #expect(failure.message == "found 4, expected 8")
        #expect(
            failure.description.hasPrefix(
                "forgetful breaks the rule \"applying the same document again changes nothing\": "))
        #expect(failure.file == "TransactionStoreConformance/FactRules.swift" && failure.line > 0)
        #expect(removed.withLock { $0 } == 9)
    }
}
