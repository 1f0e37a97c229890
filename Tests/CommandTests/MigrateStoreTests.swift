import AppStoreModels
import Foundation
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import Testing
import TransactionStore

@Suite("migrate: store", .timeLimit(.minutes(10)))
struct MigrateStoreTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.orchard")

    /// Migrates the folder `in` into a store, and each of its records alone into the files of another folder.
    private func migrate(into store: String, _ output: String, in folder: Folder) async throws -> Outcome {
        _ = try await folder.stream("in", to: output)
        return try await folder.migrate("in", "--into", store)
    }

    @Test("The purchases of the receipts are in the store, and a second run changes nothing")
    func loading() async throws {
        let folder = try Folder.withRoot()
        for name in ["auto-renewable", "ios6-v2-production", "xcode", "plain-text"] {
            try folder.write("in/\(name)", Forged.named(name).bytes)
        }
        let address = "sqlite:" + folder.file("purchases.sqlite")
        let first = try await migrate(into: address, "out", in: folder)
        #expect(first.status == 1)
        #expect(first.output.contains("facts it had            0"), "\(first.output)")
        let second = try await migrate(into: address, "out2", in: folder)
        #expect(second.output.contains("facts new to the store  0"), "\(second.output)")
        #expect(second.output.contains("4 of the records were migrated by an earlier run and not again."))
        #expect(try folder.bytes("out/transactions.ndjson") == folder.bytes("out2/transactions.ndjson"))

        let store = try SQLiteTransactionStore.open(path: folder.file("purchases.sqlite"))
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
        let outcome = try await migrate(into: "sqlite:" + folder.file("purchases.sqlite"), "out", in: folder)
        #expect(outcome.status == 0)
        let migrated = try folder.payloads("out/transactions.ndjson").first {
            $0["transactionId"] as? String == "530001234568037"
        }
        #expect(migrated?["isUpgraded"] as? Bool == true)
        let store = try SQLiteTransactionStore.open(path: folder.file("purchases.sqlite"))
        let entries = try await store.changes(after: 0, limit: 100)
        try await store.close()
        let old = entries.filter { $0.transactionId == "530001234568037" }
        #expect(old.map(\.event) == [.upgraded])
        #expect(old.first?.transaction.payload.isUpgraded == true)
        #expect(old.first?.transaction.payload.revocationDate == nil)
        #expect(!entries.contains { $0.event == .revoked })
    }

    /// The rules of Documentation/Migrate.md, "What a merge takes over", step by step.
    private static func merged(_ lines: [[String: Any]]) -> [String: Any]? {
        func number(_ value: Any?) -> Int64 { (value as? NSNumber)?.int64Value ?? .min }
        func signedDate(_ line: [String: Any]) -> Int64? {
            if line["standing"] as? String == "verifiedReceipt" { return number(line["asOf"]) }
            return ((line["source"] as? [String: Any])?["confirmedAsOf"]).map(number)
        }
        let lines = lines.filter { ($0["notes"] as? [String])?.contains("contradictsSignedReceipt") != true }
        let signed = lines.filter { signedDate($0) != nil }.max { signedDate($0) ?? 0 < signedDate($1) ?? 0 }
        let recorded =
            lines.filter { $0["standing"] as? String == "recorded" }
            .max { number($0["asOf"]) < number($1["asOf"]) }?["transaction"] as? [String: Any]
        guard let signed, var result = signed["transaction"] as? [String: Any] else { return recorded }
        let provenance = signed["provenance"] as? [String: String] ?? [:]
        for (field, source) in provenance where source.hasPrefix("recorded reply") || source.hasPrefix("notification") {
            result[field] = nil
        }
        guard let recorded else { return result }
        let fillers = [
            "originalTransactionId", "originalPurchaseDate", "purchaseDate", "quantity", "appAccountToken",
            "subscriptionGroupIdentifier",
        ]
        for field in fillers where result[field] == nil { result[field] = recorded[field] }
        if result["offerType"] == nil, recorded["offerType"] as? Int == 3 {
            for field in ["offerType", "offerIdentifier", "offerDiscountType"] { result[field] = recorded[field] }
        }
        if result["revocationDate"] != nil, recorded["isUpgraded"] as? Bool == true {
            result["isUpgraded"] = recorded["isUpgraded"]
            for field in ["revocationDate", "revocationReason"] { result[field] = nil }
        }
        return result
    }

    @Test("Lines merged as the guide describes equal the store, in any order of reading")
    func oneMergeRule() async throws {
        let folder = try Folder.withRoot()
        let bought = ForgedInstant(2023, 8, 1)
        func receipt(_ month: Int64, cancelled: Set<String> = []) throws -> String {
            let ids = ["530000000000001", "530000000000002", "530000000000003"]
            let purchases = ids.map { id in
                ForgedPurchase(.autoRenewable, product: "a.b", id: id, at: bought).with {
                    $0.expiresDate = .seconds(bought.adding(minutes: 60 * 24 * 30))
                    if cancelled.contains(id) { $0.cancellationDate = .seconds(bought.adding(minutes: 90)) }
                }
            }
            let receipt = ForgedAppReceipt.production(
                bundleId: Self.scope.bundleId, created: ForgedInstant(2023, month, 1))
            return Forged.base64(try receipt.with { $0.purchases = purchases }.signedData(.g5).encoded())
        }
        func row(_ id: String, _ more: String = "") -> String {
            #"{"product_id":"a.b","transaction_id":"\#(id)","original_transaction_id":"\#(id)","quantity":"1","purchase_date_ms":"1690848000000","expires_date_ms":"1693440000000"\#(more)}"#
        }
        func reply(_ rows: [String], at date: String) -> String {
            #"{"status":0,"environment":"Production","receipt":{"bundle_id":"\#(Self.scope.bundleId)","request_date_ms":"\#(date)","in_app":[]},"latest_receipt_info":[\#(rows.joined(separator: ","))]}"#
        }
        let group = #","subscription_group_identifier":"20456789""#
        let upgraded = group + #","is_upgraded":"true","cancellation_date_ms":"1690853400000""#
        let records = [
            // The first was cancelled in between and is not any more; the second is cancelled, and was an upgrade by
            // a reply; the third is only unsigned in what is new.
            "{\"receipt\":\"\(try receipt(10, cancelled: ["530000000000001"]))\"}",
            "{\"receipt\":\"\(try receipt(9))\"}",
            "{\"receipt\":\"\(try receipt(12, cancelled: ["530000000000002"]))\"}",
            "{\"receipt\":\"\(try receipt(11))\"}",
            reply([row("530000000000001", group), row("530000000000002", upgraded)], at: "1701600000000"),
            reply([row("530000000000002"), row("530000000000009", group)], at: "1697000000000"),
            reply([row("530000000000009", #","app_account_token":"x""#)], at: "1699000000000"),
            "{\"receipt\":\"\(try receipt(8))\",\"response\":\(reply([row("530000000000003", group), row("530000000000001", #","quantity":"7""#)], at: "1698000000000"))}",
        ]
        let shared = [
            "transactionId", "originalTransactionId", "productId", "purchaseDate", "originalPurchaseDate",
            "expiresDate",
            "quantity", "revocationDate", "isUpgraded", "subscriptionGroupIdentifier", "appAccountToken", "offerType",
        ]
        for (turn, order) in [records, records.reversed(), Array(records[4...] + records[..<4])].enumerated() {
            try folder.write("in/dump.ndjson", Array((order.joined(separator: "\n") + "\n").utf8))
            let address = "sqlite:" + folder.file("merge\(turn).sqlite")
            let outcome = try await migrate(into: address, "merge\(turn)", in: folder)
            // One row contradicts the receipt beside it.
            #expect(outcome.status == 1, "\(outcome.output) \(outcome.error)")
            var groups: [String: [[String: Any]]] = [:]
            for line in try folder.lines("merge\(turn)/transactions.ndjson") {
                let id = (line["transaction"] as? [String: Any])?["transactionId"] as? String ?? ""
                groups[id, default: []].append(line)
            }
            #expect(groups.count == 4)
            let store = try SQLiteTransactionStore.open(path: folder.file("merge\(turn).sqlite"))
            for (id, lines) in groups {
                let customer = try await store.customer([.init(.originalTransactionId, id)], in: Self.scope)
                let stored = try #require(customer?.transactions.first { $0.payload.transactionId == id }?.payload)
                var writer = JSONWriter()
                writer.model(stored)
                let object = try #require(
                    JSONSerialization.jsonObject(with: Data(writer.finish())) as? [String: Any])
                let merged = try #require(Self.merged(lines))
                for field in shared {
                    #expect("\(merged[field] ?? "-")" == "\(object[field] ?? "-")", "\(id) \(field), turn \(turn)")
                }
            }
            try await store.close()
        }
    }

    @Test("A recorded reply is stored as unsigned")
    func recorded() async throws {
        let folder = try Folder.withRoot()
        let row =
            #"{"product_id":"a.b","transaction_id":"530001239999999","original_transaction_id":"530001239999999","quantity":"1","purchase_date_ms":"1710498030000"}"#
        let reply =
            #"{"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.orchard","in_app":[\#(row)]}}"#
        try folder.write("in/reply.json", Array(reply.utf8))
        let outcome = try await migrate(into: "sqlite:" + folder.file("purchases.sqlite"), "out", in: folder)
        #expect(outcome.status == 0)
        let store = try SQLiteTransactionStore.open(path: folder.file("purchases.sqlite"))
        let customer = try await store.customer([.init(.originalTransactionId, "530001239999999")], in: Self.scope)
        #expect(customer?.transactions.map(\.isSigned) == [false])
        try await store.close()
    }

    @Test("A store that cannot be used ends the migration with 2, names no password, and completes nothing")
    func unusable() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/receipt", Forged.named("auto-renewable").bytes)
        for address in ["mysql://user:hush@host/x", "sqlite:" + folder.file("no/such/folder/x.sqlite"), ""] {
            let outcome = try await folder.migrate("in", "--into", address, "--summary", "summary.json")
            #expect(outcome.status == 2 && outcome.error.contains("The store cannot be used"), "\(outcome)")
            #expect(!outcome.error.contains("hush"))
            #expect(!folder.names("").contains("summary.json"))
        }
    }

    @Test("A server that is away ends the migration with 2 and completes nothing")
    func away() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/receipt", Forged.named("auto-renewable").bytes)
        let outcome = try await folder.migrate(
            "in", "--into", "postgres://user:hush@127.0.0.1:1/x?connect_timeout=2", "--summary", "summary.json")
        #expect(outcome.status == 2 && !outcome.error.contains("hush") && !outcome.error.isEmpty)
        #expect(!folder.names("").contains("summary.json"))
    }
}
