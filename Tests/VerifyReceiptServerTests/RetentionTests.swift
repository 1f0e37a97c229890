import AppStoreModels
import Foundation
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceiptServer

@Suite("A server removes what its limits no longer keep")
struct RetentionTests {
    private static let day: Int64 = 86_400_000
    /// The ledger has the dates of the machine.
    private static let now = Int64(Date().timeIntervalSince1970 * 1_000)

    /// A purchase with its notification and a receipt, all of now.
    private static var purchase: FactSet {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = "1"
        payload.originalTransactionId = "1"
        payload.productId = "coins"
        payload.type = .consumable
        payload.purchaseDate = now
        let origin = FactOrigin(source: .notificationV2, signedDate: now)
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: "com.example.app"),
            transactions: [TransactionFact(payload: payload, legacy: nil, origin: origin)],
            receipt: KnownReceipt(form: .app, bytes: [1, 2, 3], signedDate: now),
            notification: ProcessedNotification(
                notificationUUID: "a", notificationType: "ONE_TIME_CHARGE", subtype: nil, signedDate: now, body: []))
    }

    private static let retention = retention(notificationDays: 200, receiptDays: 30, ledgerDays: 60)

    private static func retention(
        notificationDays: Int = 0, receiptDays: Int = 0, ledgerDays: Int
    ) -> VerifyReceiptServerConfiguration.Retention {
        var retention = VerifyReceiptServerConfiguration.Retention()
        retention.notificationDays = notificationDays
        retention.receiptDays = receiptDays
        retention.ledgerDays = ledgerDays
        return retention
    }

    /// A document that shows the store that this date has come.
    private static func document(of date: Int64) -> FactSet {
        FactSet(
            scope: StoreScope(environment: .production, bundleId: "com.example.app"),
            notification: ProcessedNotification(
                notificationUUID: "of \(date)", notificationType: "TEST", subtype: nil, signedDate: date, body: []))
    }

    private static func run(
        _ retention: VerifyReceiptServerConfiguration.Retention, at date: Int64, _ store: SQLiteTransactionStore,
        until condition: @escaping @Sendable (TestServer) async throws -> Bool
    ) async throws {
        let configuration = VerifyReceiptServerConfiguration.testing {
            $0.retention = retention
            $0.retention.firstPause = .zero
            $0.retention.pause = .milliseconds(20)
        }
        let clock: @Sendable () -> Int64 = { date }
        try await TestServer.run(configuration, store: store, clock: clock) { server in
            try await eventually("the limits are kept") { try await condition(server) }
        }
    }

    private static func isRemovedFromLedger(_ store: SQLiteTransactionStore) async -> Bool {
        do {
            _ = try await store.changes(after: 0, limit: 10)
            return false
        } catch {
            return (error as? TransactionStoreError)?.code == .entriesRemoved
        }
    }

    @Test("Notifications, receipts and entries of the ledger are removed once they are older than their limits")
    func limits() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply([Self.purchase])
        let removed = "retention_removed_total"
        // The receipt is too old, and nothing else.
        _ = try await store.apply([Self.document(of: Self.now + 40 * Self.day)])
        var retention = Self.retention
        try await Self.run(retention, at: Self.now + 40 * Self.day, store) { server in
            let receipts: Int? = server.metric(removed + #"{kind="receipts"}"#)
            return receipts == 1
        }
        #expect(try await store.hasProcessed(notificationUUID: "a"))
        let isRemoved = await Self.isRemovedFromLedger(store)
        #expect(!isRemoved)
        retention.receiptDays = 0
        _ = try await store.apply([Self.document(of: Self.now + 201 * Self.day)])
        try await Self.run(retention, at: Self.now + 201 * Self.day, store) { server in
            let notifications: Int? = server.metric(removed + #"{kind="notifications"}"#)
            let isRemoved = await Self.isRemovedFromLedger(store)
            return notifications == 1 && isRemoved
        }
        #expect(try await store.hasProcessed(notificationUUID: "a") == false)
        // What the documents state stays.
        let scope = StoreScope(environment: .production, bundleId: "com.example.app")
        let customer = try await store.customer([CustomerIdentity(.originalTransactionId, "1")], in: scope)
        #expect(customer?.transactions.count == 1)
        try await store.close()
    }

    @Test("Entries of the ledger that a consumer has not acknowledged stay, and without limits everything stays")
    func kept() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply([Self.purchase, Self.document(of: Self.now + 9_000 * Self.day)])
        _ = try await store.lease("shop", to: "process", for: 60_000)
        let log = "consumers keep old entries of the ledger"
        try await Self.run(Self.retention(ledgerDays: 60), at: Self.now + 9_000 * Self.day, store) { server in
            server.log.text.contains(log)
        }
        let isRemoved = await Self.isRemovedFromLedger(store)
        #expect(!isRemoved)
        #expect(try await store.hasProcessed(notificationUUID: "a"))
        #expect(try await store.removeReceipts(signedBefore: .max) == 1)
        try await store.close()
    }

    @Test("With a clock that is ahead, only data too old for the newest document is removed, and the log reports it")
    func wrongClock() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let old = Self.now - 210 * Self.day
        _ = try await store.apply([Self.purchase, Self.document(of: old)])
        let log = "old data is kept: no document in the store is as new as the clock of the server"
        try await Self.run(Self.retention, at: Self.now + 9_000 * Self.day, store) { server in
            // The second line shows that the first round is over.
            let rounds = server.log.text.components(separatedBy: log).count - 1
            let removed: Int? = server.metric(#"retention_removed_total{kind="notifications"}"#)
            let delay: Int? = server.metric("retention_delay_seconds")
            return rounds > 1 && removed == 1 && delay == 8_999 * 86_400
        }
        #expect(try await store.hasProcessed(notificationUUID: "of \(old)") == false)
        #expect(try await store.hasProcessed(notificationUUID: "a"))
        #expect(try await store.counts().receipts == 1)
        let isRemoved = await Self.isRemovedFromLedger(store)
        #expect(!isRemoved)
        try await store.close()
    }

    @Test("A store whose newest document has the earliest date possible is left alone")
    func earliestDate() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply([Self.document(of: .min)])
        try await Self.run(Self.retention(notificationDays: 200, ledgerDays: 60), at: Self.now, store) { server in
            server.log.text.components(separatedBy: "old data is kept").count > 2
        }
        #expect(try await store.hasProcessed(notificationUUID: "of \(Int64.min)"))
        try await store.close()
    }

    @Test("A store without any document is left alone")
    func withoutDocuments() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let purchase = Self.purchase
        _ = try await store.apply([FactSet(scope: purchase.scope, transactions: purchase.transactions)])
        try await Self.run(Self.retention(ledgerDays: 60), at: Self.now + 9_000 * Self.day, store) { server in
            server.log.text.components(separatedBy: "old data is kept").count > 2
        }
        let isRemoved = await Self.isRemovedFromLedger(store)
        #expect(!isRemoved)
        try await store.close()
    }
}
