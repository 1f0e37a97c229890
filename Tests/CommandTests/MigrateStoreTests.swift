import AppStoreModels
import Foundation
import ReceiptForge
import SQLiteTransactionStore
import Testing
import TransactionStore

@Suite("migrate: store", .timeLimit(.minutes(5)))
struct MigrateStoreTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.orchard")

    private func migrate(into store: String, _ output: String, in folder: Folder) async throws -> Outcome {
        try await folder.migrate("in", "--output", output, "--store", store)
    }

    @Test("What the receipts state is in the store, and a second time changes nothing")
    func loading() async throws {
        let folder = try Folder.withRoot()
        for name in ["auto-renewable", "ios6-v2-production", "xcode", "plain-text"] {
            try folder.write("in/\(name)", Forged.named(name).bytes)
        }
        let address = "sqlite:" + folder.path("purchases.sqlite")
        let first = try await migrate(into: address, "out", in: folder)
        #expect(first.status == 1)
        #expect(first.output.contains(" facts of ") && first.output.contains(" are new, 0 were known"))
        let second = try await migrate(into: address, "out2", in: folder)
        #expect(second.output.contains(": 0 facts of "))
        #expect(try folder.bytes("out/transactions.ndjson") == folder.bytes("out2/transactions.ndjson"))

        let store = try SQLiteTransactionStore.open(path: folder.path("purchases.sqlite"))
        let signed = try folder.payloads("out/transactions.ndjson")
        #expect(!signed.isEmpty)
        #expect(
            try await store.counts().transactions
                == Int64(Set(signed.compactMap { $0["transactionId"] as? String }).count))
        for transaction in signed where transaction["bundleId"] as? String == Self.scope.bundleId {
            let original = try #require(transaction["originalTransactionId"] as? String)
            let customer = try await store.customer([.init(.originalTransactionId, original)], in: Self.scope)
            let found = try #require(
                customer?.transactions.first {
                    $0.payload.transactionId == transaction["transactionId"] as? String
                })
            #expect(found.isSigned && found.payload.productId == transaction["productId"] as? String)
            #expect(found.payload.expiresDate == (transaction["expiresDate"] as? NSNumber)?.int64Value)
        }
        try await store.close()
    }

    @Test("The ledger calls upgraded what the migrated line calls upgraded")
    func upgraded() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/upgraded", Forged.named("upgraded").bytes)
        let outcome = try await migrate(into: "sqlite:" + folder.path("purchases.sqlite"), "out", in: folder)
        #expect(outcome.status == 0)
        let migrated = try folder.payloads("out/transactions.ndjson").first {
            $0["transactionId"] as? String == "530001234568037"
        }
        #expect(migrated?["isUpgraded"] as? Bool == true)
        let store = try SQLiteTransactionStore.open(path: folder.path("purchases.sqlite"))
        let entries = try await store.changes(after: 0, limit: 100)
        try await store.close()
        let old = entries.filter { $0.transactionId == "530001234568037" }
        #expect(old.map(\.event) == [.upgraded])
        #expect(old.first?.transaction.payload.isUpgraded == true)
        #expect(old.first?.transaction.payload.revocationDate == nil)
        #expect(!entries.contains { $0.event == .revoked })
    }

    @Test("A recorded reply is stored as what it is: signed by nobody")
    func recorded() async throws {
        let folder = try Folder.withRoot()
        let row =
            #"{"product_id":"a.b","transaction_id":"530001239999999","original_transaction_id":"530001239999999","quantity":"1","purchase_date_ms":"1710498030000"}"#
        let reply =
            #"{"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.orchard","in_app":[\#(row)]}}"#
        try folder.write("in/reply.json", Array(reply.utf8))
        let outcome = try await migrate(into: "sqlite:" + folder.path("purchases.sqlite"), "out", in: folder)
        #expect(outcome.status == 0)
        let store = try SQLiteTransactionStore.open(path: folder.path("purchases.sqlite"))
        let customer = try await store.customer([.init(.originalTransactionId, "530001239999999")], in: Self.scope)
        #expect(customer?.transactions.map(\.isSigned) == [false])
        try await store.close()
    }

    @Test("A store that cannot be used ends the migration with 2, names no password, and completes nothing")
    func unusable() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/receipt", Forged.named("auto-renewable").bytes)
        for address in ["mysql://user:hush@host/x", "sqlite:" + folder.path("no/such/folder/x.sqlite"), ""] {
            let outcome = try await migrate(into: address, "out", in: folder)
            #expect(outcome.status == 2 && outcome.error.contains("The store cannot be used"))
            #expect(!outcome.error.contains("hush"))
            #expect(folder.names("out").isEmpty)
        }
    }

    @Test("A server that is away ends the migration with 2 and completes nothing")
    func away() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/receipt", Forged.named("auto-renewable").bytes)
        let outcome = try await migrate(
            into: "postgres://user:hush@127.0.0.1:1/x?connect_timeout=2", "out", in: folder)
        #expect(outcome.status == 2 && !outcome.error.contains("hush") && !outcome.error.isEmpty)
        #expect(!folder.names("out").contains("summary.json"))
    }
}
