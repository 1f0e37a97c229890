import AppStoreModels
import Encodings
import Foundation
import LegacyReceipts
import Migration
import ProductCatalog
import ReceiptForge
import TestSupport
import Testing

/// Unsigned documents in a record with verified receipts: the receipts decide first.
struct ConfirmationTests {
    private static let created = ForgedInstant(2023, 9, 1)
    private static let bought = ForgedInstant(2023, 8, 1)

    private static func receipt(
        _ purchases: [ForgedPurchase], bundleId: String = "com.example.app", at created: ForgedInstant = created,
        sandbox: Bool = false
    ) throws -> String {
        let receipt: ForgedAppReceipt =
            sandbox ? .sandbox(bundleId: bundleId, created: created) : .production(bundleId: bundleId, created: created)
        return Base64.encode(try receipt.with { $0.purchases = purchases }.signedData(.g5).encoded())
    }

    private static let coins = ForgedPurchase(.consumable, product: "coins", id: "530000000000001", at: bought)

    /// The same purchase as a row of a reply.
    private static func row(_ changes: [String: Any] = [:]) -> [String: Any] {
        let ms = "1690848000000"
        let row: [String: Any] = [
            "product_id": "coins", "transaction_id": "530000000000001", "original_transaction_id": "530000000000001",
            "purchase_date_ms": ms, "original_purchase_date_ms": ms, "quantity": "1", "is_trial_period": "false",
        ]
        return row.merging(changes) { $1 }
    }

    private static func reply(
        _ rows: [[String: Any]], latestReceipt: String, bundleId: String = "com.example.app",
        environment: String = "Production"
    ) -> [String: Any] {
        [
            "status": 0, "environment": environment, "latest_receipt": latestReceipt,
            "receipt": ["bundle_id": bundleId, "in_app": rows],
        ]
    }

    private struct Result {
        var transactions: [JSONValue]
        var apps: [JSONValue]
        var summary: MigrationSummary
        var quarantine: [JSONValue]
    }

    private func migrate(
        _ document: Any, options change: (inout MigrationOptions) -> Void = { _ in }, pretty: Bool = false
    ) async throws -> Result {
        let folder = try TemporaryFolder()
        let input = try folder.write(
            "input.json", JSONSerialization.data(withJSONObject: document, options: pretty ? .prettyPrinted : []))
        var options = MigrationOptions(trust: TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER]))
        change(&options)
        let output = folder.url.appending(path: "output")
        let summary = try await streamRecords(options, inputs: [input], to: output.path)
        func lines(_ name: String) throws -> [JSONValue] {
            try [UInt8](Data(contentsOf: output.appending(path: name))).split(separator: 0x0A).map {
                try JSONValue.parse($0)
            }
        }
        return Result(
            transactions: try lines("transactions.ndjson"), apps: try lines("app-transactions.ndjson"),
            summary: summary,
            quarantine: try lines("quarantine.ndjson"))
    }

    private func payload(_ line: JSONValue, _ key: String) -> JSONValue? { line["transaction"]?[key] }

    @Test(
        "A row that agrees with the signed receipt is confirmed, and gets what only the receipt says, with its provenance"
    )
    func confirmed() async throws {
        let result = try await migrate(Self.reply([Self.row()], latestReceipt: Self.receipt([Self.coins])))
        try #require(result.transactions.count == 1)
        let line = result.transactions[0]
        #expect(line["source"]?["confirmedBy"]?.string?.count == 64)
        #expect(line["standing"]?.string == "recorded")
        #expect(payload(line, "type")?.string == "Consumable")
        #expect(line["provenance"]?["type"]?.string == "attribute 1707")
        #expect(line["provenance"]?["productId"]?.string == "attribute 1702")
        #expect(result.summary.confirmedByEmbeddedReceipt == 1)
    }

    @Test(
        "A row that contradicts the signed receipt is not confirmed, and the signed statement stands beside it",
        arguments: [
            ["quantity": "1000"], ["in_app_ownership_type": "FAMILY_SHARED"], ["web_order_line_item_id": "7"],
            ["original_transaction_id": "530000000000000"], ["purchase_date_ms": "1690848001000"],
        ])
    func contradicted(changes: [String: String]) async throws {
        let signed = Self.coins.with {
            $0.ownershipType = 0
            $0.webOrderLineItemId = 5
        }
        let result = try await migrate(Self.reply([Self.row(changes)], latestReceipt: Self.receipt([signed])))
        try #require(result.transactions.count == 2)
        #expect(result.transactions.allSatisfy { $0["source"]?["confirmedBy"] == nil })
        #expect(result.transactions[0]["notes"]?.array?.contains(.string("contradictsSignedReceipt")) == true)
        #expect(result.transactions[1]["standing"]?.string == "verifiedReceipt")
        #expect(payload(result.transactions[1], "quantity")?.integer == 1)
    }

    @Test(
        "A row whose trial flag, product or cancellation contradicts the signed receipt is not confirmed, and is noted",
        arguments: [
            ["is_trial_period": "true"], ["product_id": "gems"], ["cancellation_date_ms": "1690847999000"],
            ["is_in_intro_offer_period": "true"],
        ])
    func contradictedFlags(changes: [String: String]) async throws {
        let signed = Self.coins.with { $0.isInIntroOfferPeriod = false }
        let result = try await migrate(Self.reply([Self.row(changes)], latestReceipt: Self.receipt([signed])))
        try #require(result.transactions.count == 2)
        #expect(result.summary.confirmedByEmbeddedReceipt == 0)
        #expect(result.transactions[0]["notes"]?.array?.contains(.string("contradictsSignedReceipt")) == true)
        #expect(result.transactions[1]["standing"]?.string == "verifiedReceipt")
        #expect(payload(result.transactions[1], "productId")?.string == "coins")
        #expect(payload(result.transactions[1], "revocationDate") == nil)
    }

    @Test("A signed trial that a row denies is a contradiction; what a row does not state is none")
    func trials() async throws {
        let trial = Self.coins.with {
            $0.isTrialPeriod = true
            $0.isInIntroOfferPeriod = false
        }
        let receipt = try Self.receipt([trial])
        let denied = try await migrate(Self.reply([Self.row()], latestReceipt: receipt))
        #expect(denied.summary.confirmedByEmbeddedReceipt == 0)
        // Of a free trial the introductory flag says either, depending on the year.
        for intro in ["true", "false"] {
            let row = Self.row(["is_trial_period": "true", "is_in_intro_offer_period": intro])
            let agreed = try await migrate(Self.reply([row], latestReceipt: receipt))
            #expect(agreed.summary.confirmedByEmbeddedReceipt == 1)
        }
        var silent = Self.row()
        silent["is_trial_period"] = nil
        #expect(
            try await migrate(Self.reply([silent], latestReceipt: receipt)).summary.confirmedByEmbeddedReceipt == 1)
    }

    @Test("A cancellation after the purchase that the receipt is too old for contradicts nothing")
    func laterCancellation() async throws {
        let row = Self.row(["cancellation_date_ms": "1690848060000"])
        let result = try await migrate(Self.reply([row], latestReceipt: Self.receipt([Self.coins])))
        #expect(result.transactions.count == 1)
        #expect(result.summary.confirmedByEmbeddedReceipt == 1)
    }

    @Test("A cancellation in a row that is older than the receipt does not count, as in a store")
    func olderCancellation() async throws {
        let row = Self.row(["cancellation_date_ms": "1690848060000"])
        let receipt = try Self.receipt([Self.coins], at: Self.bought.adding(minutes: 60))
        for (date, counts) in [(Self.bought.adding(minutes: 59), false), (Self.bought.adding(minutes: 60), true)] {
            let reply: [String: Any] = [
                "status": 0, "environment": "Production",
                "receipt": [
                    "bundle_id": "com.example.app", "in_app": [row], "request_date_ms": String(date.milliseconds),
                ] as [String: Any],
            ]
            let result = try await migrate([["receipt": receipt, "reply": reply] as [String: Any]])
            try #require(result.transactions.count == 1)
            #expect((payload(result.transactions[0], "revocationDate") != nil) == counts)
            #expect(result.summary.confirmedByEmbeddedReceipt == 1)
        }
    }

    @Test("A confirmed row says of when both are: the reply, and the receipt that confirms it")
    func datesOfBoth() async throws {
        var reply = try Self.reply([Self.row()], latestReceipt: Self.receipt([Self.coins]))
        let undated = try await migrate(reply)
        let created = try #require(undated.apps.first?["appTransaction"]?["receiptCreationDate"]?.integer)
        #expect(undated.transactions[0]["source"]?["confirmedAsOf"]?.integer == created)
        #expect(undated.transactions[0]["asOf"]?.integer == created, "a reply is not older than the receipt in it")
        #expect(undated.transactions[0]["asOfKind"]?.string == "recordedNotBefore")
        reply["receipt"] =
            [
                "bundle_id": "com.example.app", "in_app": [Self.row()], "request_date_ms": "1700000000000",
            ] as [String: Any]
        let dated = try await migrate(reply)
        #expect(dated.transactions[0]["asOf"]?.integer == 1_700_000_000_000)
        #expect(dated.transactions[0]["asOfKind"]?.string == "recorded")
        #expect(dated.apps.first?["asOfKind"]?.string == "signed")
    }

    @Test("A reply that holds nothing but a genuine receipt is migrated by that; without one, it is quarantined")
    func replyOfAReceipt() async throws {
        let reply: [String: Any] = [
            "status": 0, "environment": "Production", "latest_receipt": try Self.receipt([Self.coins]),
        ]
        let result = try await migrate(reply)
        #expect(result.summary.migrated == 1)
        #expect(result.transactions.map { $0["standing"]?.string } == ["verifiedReceipt"])
        let placeholder = try await migrate(
            ["status": 0, "environment": "Production", "latest_receipt": "removed"] as [String: Any])
        #expect(placeholder.quarantine.map { $0["reason"]?.string } == ["nothingInside"])
    }

    @Test("A reply that granted nothing beside a genuine receipt is counted, and the receipt counts")
    func silentReply() async throws {
        let record: [String: Any] = ["receipt": try Self.receipt([Self.coins]), "response": ["status": 21007]]
        let result = try await migrate([record])
        #expect(result.summary.migrated == 1 && result.quarantine.isEmpty)
        #expect(result.summary.notes["replyNotRead"] == 1)
        #expect(result.summary.documentsQuarantined == 0)
    }

    @Test("The genuine receipt inside a reply that granted nothing counts, and the reply is counted")
    func receiptInSilentReply() async throws {
        let reply: [String: Any] = ["status": 21002, "latest_receipt": try Self.receipt([Self.coins])]
        let result = try await migrate(reply)
        #expect(result.summary.migratedByKind == ["appReceipt": 1] && result.quarantine.isEmpty)
        #expect(result.transactions.map { $0["standing"]?.string } == ["verifiedReceipt"])
        #expect(result.summary.notes["replyNotRead"] == 1)
        let excluded = try await migrate(reply) { $0.environments = [.sandbox] }
        #expect(excluded.summary.quarantinedByReason == ["otherEnvironment": 1])
        // Two excluded receipts exclude the reply once.
        var both = reply
        both["latest_expired_receipt"] = try Self.receipt([Self.coins], bundleId: "com.example.other")
        let beside = try await migrate(["reply": both, "own": try Self.receipt([Self.coins], sandbox: true)]) {
            $0.environments = [.sandbox]
        }
        #expect(beside.summary.migrated == 1 && beside.summary.documentsQuarantined == 1)
        let untrusted = try await migrate(reply) { $0.trust = .apple }
        #expect(untrusted.summary.quarantinedByReason == ["statusNotAccepted": 1])
        #expect(untrusted.summary.embeddedReceiptsByOutcome == ["untrustedRoot": 1])
    }

    @Test("A row beside a signed document is evidence of its own for a purchase that the document does not state")
    func rowBeside() async throws {
        let receipt = try Self.receipt([Self.coins])
        func record(_ id: String, _ changes: [String: Any] = [:]) -> [String: Any] {
            let row = Self.row([
                "transaction_id": id, "original_transaction_id": id, "product_id": "gems", "user_id": "u",
                "receipt": receipt,
            ])
            return row.merging(changes) { $1 }
        }
        for document: Any in [record("530000000000009"), ["rows": [record("530000000000009")]]] {
            let result = try await migrate(document)
            #expect(result.summary.migratedByKind == ["appReceipt": 1] && result.quarantine.isEmpty)
            let lines = result.transactions.sorted { $0["standing"]?.string ?? "" < $1["standing"]?.string ?? "" }
            #expect(lines.map { payload($0, "transactionId")?.string } == ["530000000000009", "530000000000001"])
            #expect(lines.map { $0["standing"]?.string } == ["recorded", "verifiedReceipt"])
            // The row states neither; the receipt beside it does.
            #expect(payload(lines[0], "bundleId")?.string == "com.example.app")
            #expect(payload(lines[0], "environment")?.string == "Production")
        }
        let stated = try await migrate(record("530000000000001"))
        #expect(stated.transactions.map { $0["standing"]?.string } == ["verifiedReceipt"])
        let unread = try await migrate(record("530000000000009", ["purchase_date_ms": "yesterday"]))
        #expect(unread.transactions.count == 1 && unread.summary.notes["rowNotRead"] == 1)
        let signedOnly = try await migrate(record("530000000000009")) { $0.acceptsRecorded = false }
        #expect(signedOnly.transactions.count == 1 && signedOnly.summary.notes["recordedRowsLeftOut"] == 1)
        #expect(signedOnly.quarantine.isEmpty)
        let other = try await migrate(record("530000000000009", ["store": "PLAY_STORE"]))
        #expect(other.transactions.map { $0["standing"]?.string } == ["verifiedReceipt"])
        // Nothing is left of a record whose receipt is refused: it is quarantined with the row.
        let refused = try await migrate(record("530000000000009")) { $0.trust = .apple }
        #expect(refused.transactions.isEmpty && refused.summary.quarantined == 1)
    }

    @Test("A row that may be a period of the receipt's subscription is read only with its original transaction id")
    func periodBeside() async throws {
        let month = ForgedPurchase(.autoRenewable, product: "month", id: "530000000000001", at: Self.bought).with {
            $0.expiresDate = .seconds(ForgedInstant(2023, 9, 1))
        }
        let receipt = try Self.receipt([month])
        let original = ["original_transaction_id": "530000000000001"]
        let expiry = ["expires_date_ms": "1696118400000"]
        let cases: [(product: String, changes: [String: String], isRead: Bool)] = [
            ("month", [:], false), ("month", original, true), ("year", expiry, false),
            ("year", expiry.merging(original) { $1 }, true), ("gems", [:], true),
        ]
        for (product, changes, isRead) in cases {
            let row: [String: Any] = [
                "product_id": product, "transaction_id": "530000000000009", "purchase_date_ms": "1693526400000",
                "receipt": receipt,
            ]
            let result = try await migrate(row.merging(changes as [String: Any]) { $1 })
            #expect(result.transactions.count == (isRead ? 2 : 1), "\(product) \(changes)")
            #expect(result.summary.notes["rowNotRead"] == (isRead ? nil : 1), "\(product) \(changes)")
        }
    }

    @Test("A row of a non-renewing subscription is read beside a receipt of the product, also with a catalog")
    func termBeside() async throws {
        let product = "com.example.orchard.season.pass"
        let pass = ForgedPurchase(.nonRenewing, product: product, id: "530000000000001", at: Self.bought)
        let row: [String: Any] = [
            "product_id": product, "transaction_id": "530000000000009", "purchase_date_ms": "1693526400000",
            "receipt": try Self.receipt([pass]),
        ]
        let known = try ProductCatalog.load(paths: [FixtureStore.root.appending(path: "products.yaml").path])
        for catalog in [nil, known] {
            let result = try await migrate(row) { $0.catalog = catalog }
            #expect(result.transactions.count == 2 && result.summary.notes["rowNotRead"] == nil)
        }
    }

    @Test("A reply cannot move a signed purchase to another app or environment")
    func otherApp() async throws {
        let result = try await migrate(
            Self.reply(
                [Self.row()], latestReceipt: Self.receipt([Self.coins], sandbox: true), bundleId: "com.victim.app"))
        #expect(result.transactions.count == 2)
        #expect(result.transactions.allSatisfy { $0["source"]?["confirmedBy"] == nil })
    }

    @Test("A cancellation that Apple signed does not vanish because a row lacks it")
    func signedCancellation() async throws {
        let cancelled = Self.coins.with { $0.cancellationDate = .seconds(Self.bought.adding(minutes: 60)) }
        let result = try await migrate(Self.reply([Self.row()], latestReceipt: Self.receipt([cancelled])))
        let signed = result.transactions.filter { $0["standing"]?.string == "verifiedReceipt" }
        #expect(signed.count == 1)
        #expect(signed.allSatisfy { payload($0, "revocationDate") != nil })
        #expect(result.summary.confirmedByEmbeddedReceipt == 0)
    }

    @Test("A refund that Apple signed cannot be called an upgrade of something that is no subscription")
    func refundCalledUpgrade() async throws {
        let cancelled = Self.coins.with { $0.cancellationDate = .seconds(Self.bought.adding(minutes: 60)) }
        let row = Self.row(["is_upgraded": "true"])
        let result = try await migrate(Self.reply([row], latestReceipt: Self.receipt([cancelled])))
        #expect(result.summary.confirmedByEmbeddedReceipt == 0)
        #expect(result.transactions.contains { payload($0, "revocationDate") != nil })
    }

    @Test("Of two receipts in one record the newer one decides, in any order")
    func theNewestReceiptOfARecordDecides() async throws {
        let cancelled = Self.coins.with { $0.cancellationDate = .seconds(Self.bought.adding(minutes: 60)) }
        let older = try Self.receipt([Self.coins], at: Self.bought.adding(minutes: 1))
        let newer = try Self.receipt([cancelled])
        let reply: [String: Any] = [
            "status": 0, "latest_receipt": newer, "receipt": ["bundle_id": "com.example.app", "in_app": []],
        ]
        let result = try await migrate([["user": 1, "receipt-data": older, "response": reply]])
        try #require(result.summary.migrated == 1, "\(result.quarantine)")
        #expect(result.transactions.count == 1)
        #expect(payload(result.transactions[0], "revocationDate") != nil)
        #expect(result.apps.count == 1, "one line for one app in one record")
    }

    @Test("Of two receipts of one second the one with a cancellation decides, in any order")
    func equalDates() async throws {
        let gems = ForgedPurchase(.consumable, product: "gems", id: "530000000000002", at: Self.bought)
        func cancelled(_ purchase: ForgedPurchase) -> ForgedPurchase {
            purchase.with { $0.cancellationDate = .seconds(Self.bought.adding(minutes: 60)) }
        }
        let receipts = [
            try Self.receipt([Self.coins, cancelled(gems)]), try Self.receipt([cancelled(Self.coins), gems]),
        ]
        for receipts in [receipts, receipts.reversed()] {
            let result = try await migrate([["user": 1, "receipts": receipts] as [String: Any]])
            #expect(Set(result.transactions.map { payload($0, "productId")?.string }) == ["coins", "gems"])
            #expect(result.transactions.count == 2)
            #expect(result.transactions.allSatisfy { payload($0, "revocationDate") != nil })
            #expect(result.apps.count == 1)
        }
    }

    @Test(
        "An upgrade that only the signed receipt states reaches the row that it confirms, and a cancellation is no refund then",
        arguments: [false, true])
    func signedUpgrade(isCancelled: Bool) async throws {
        let replaced = ForgedInstant(2023, 8, 20)
        let year = ForgedPurchase(.autoRenewable, product: "year", id: "530000000000001", at: Self.bought).with {
            $0.expiresDate = .seconds(ForgedInstant(2024, 8, 1))
            if isCancelled { $0.cancellationDate = .seconds(replaced) }
        }
        let month = ForgedPurchase(
            .autoRenewable, product: "month", id: "530000000000002", at: replaced, originalId: "530000000000001",
            originallyAt: Self.bought
        ).with { $0.expiresDate = .seconds(ForgedInstant(2023, 9, 20)) }
        let receipt = try Self.receipt([year, month])
        var row = Self.row(["product_id": "year", "expires_date_ms": "1722470400000"])
        if isCancelled { row["cancellation_date_ms"] = "1692489600000" }
        let reply: [String: Any] = ["status": 0, "environment": "Production", "latest_receipt_info": [row]]
        let alone = try await migrate([["receipt": receipt]])
        let result = try await migrate([["receipt": receipt, "reply": reply] as [String: Any]])
        for lines in [alone.transactions, result.transactions] {
            let old = lines.filter { payload($0, "productId")?.string == "year" }
            try #require(old.count == 1)
            #expect(payload(old[0], "isUpgraded") == .bool(true))
            #expect(payload(old[0], "revocationDate") == nil)
            #expect(old[0]["provenance"]?["isUpgraded"]?.string?.hasPrefix("inferred: ") == true)
        }
        #expect(result.summary.confirmedByEmbeddedReceipt == 1)
    }

    @Test(
        "Thousands of recorded documents beside a receipt with thousands of purchases are read in linear time",
        .timeLimit(.minutes(2)))
    func manyDocuments() async throws {
        let ids = (0..<6_000).map { String(530_000_000_000_001 + $0) }
        let receipt = try Self.receipt(
            ids.map { ForgedPurchase(.consumable, product: "coins", id: $0, at: Self.bought) })
        let replies = ids.map { id -> [String: Any] in
            let row = Self.row(["transaction_id": id, "original_transaction_id": id])
            return ["status": 0, "environment": "Production", "latest_receipt_info": [row]]
        }
        let result = try await migrate(["receipt": receipt, "replies": replies] as [String: Any])
        #expect(result.summary.confirmedByEmbeddedReceipt == ids.count)
        #expect(result.transactions.count == ids.count && result.quarantine.isEmpty)
    }

    @Test("An upgrade that only the signed receipt states reaches a row that does not state its subscription")
    func signedUpgradeOfRowWithoutOriginal() async throws {
        func period(_ product: String, _ id: String, at date: ForgedInstant, until end: ForgedInstant) -> ForgedPurchase
        {
            ForgedPurchase(
                .autoRenewable, product: product, id: id, at: date, originalId: "530000000000001",
                originallyAt: Self.bought
            ).with { $0.expiresDate = .seconds(end) }
        }
        let replaced = ForgedInstant(2023, 8, 20)
        let receipt = try Self.receipt([
            period("month", "530000000000002", at: Self.bought, until: ForgedInstant(2023, 9, 1)),
            period("year", "530000000000003", at: replaced, until: ForgedInstant(2024, 8, 20)), Self.coins,
        ])
        var row = Self.row([
            "product_id": "month", "transaction_id": "530000000000002", "expires_date_ms": "1693526400000",
        ])
        row["original_transaction_id"] = nil
        let reply: [String: Any] = ["status": 0, "environment": "Production", "latest_receipt_info": [row]]
        let result = try await migrate([["receipt": receipt, "reply": reply] as [String: Any]])
        let old = result.transactions.filter { payload($0, "productId")?.string == "month" }
        try #require(old.count == 1 && result.transactions.count == 3)
        #expect(old[0]["source"]?["confirmedBy"] != nil)
        #expect(payload(old[0], "isUpgraded") == .bool(true))
    }

    @Test("Receipts inside nested rows are verified, each")
    func receiptsInNestedRows() async throws {
        let gems = ForgedPurchase(.consumable, product: "gems", id: "530000000000002", at: Self.bought)
        let rows: [[String: Any]] = [
            ["product_id": "x", "transaction_id": "530000000000011", "receipt": try Self.receipt([Self.coins])],
            ["product_id": "y", "transaction_id": "530000000000012", "receipt": try Self.receipt([gems])],
        ]
        let result = try await migrate([["user": 1, "purchases": rows] as [String: Any]])
        #expect(result.transactions.map { $0["standing"]?.string } == ["verifiedReceipt", "verifiedReceipt"])
        #expect(Set(result.transactions.map { payload($0, "productId")?.string }) == ["coins", "gems"])
        // The rows state other purchases, without a date.
        #expect(result.summary.notes["rowNotRead"] == 2)
    }

    @Test("Two purchases with one transaction id are two, in a bare receipt and in a document")
    func sameId() async throws {
        let gems = ForgedPurchase(.consumable, product: "gems", id: "530000000000001", at: Self.bought)
        let receipt = try Self.receipt([Self.coins, gems])
        #expect(try await migrate([["receipt": receipt]]).transactions.count == 2)
        let document: [String: Any] = [
            "status": 0, "latest_receipt": receipt, "receipt": ["bundle_id": "com.example.app", "in_app": []],
        ]
        #expect(try await migrate(document).transactions.count == 2)
    }

    @Test("A filter keeps out the documents of other apps and environments, and migrates the others of the record")
    func filteredDocuments() async throws {
        let own = try Self.receipt([Self.coins])
        let foreign = try Self.receipt([Self.coins], bundleId: "com.attacker.app", sandbox: true)
        let info: [String: Any] = [
            "originalTransactionId": "530000000000109", "environment": "Sandbox", "autoRenewStatus": 1,
            "autoRenewProductId": "premium", "signedDate": 1_700_000_000_000,
        ]
        let options: [(inout MigrationOptions) -> Void] = [
            { $0.bundleIds = ["com.example.app"] }, { $0.environments = [.production] },
        ]
        for (options, reason) in zip(options, ["otherBundleId", "otherEnvironment"]) {
            let mixed = try await migrate(["old": foreign, "new": own], options: options)
            #expect(mixed.transactions.count == 1)
            #expect(mixed.quarantine.map { $0["reason"]?.string } == [reason])
            #expect(mixed.quarantine.first?["source"]?["path"]?.string == "old")
            // Nothing else of the record states the app of the renewal information.
            let alone = try await migrate(["receipt": foreign, "renewal": info], options: options)
            #expect(alone.transactions.isEmpty && alone.summary.renewalInfos == 0)
            #expect(alone.quarantine.map { $0["reason"]?.string } == [reason])
        }
    }

    @Test("The app of a document counts for the filters, also next to a receipt of another app")
    func filteredClaims() async throws {
        let own = try Self.receipt([Self.coins])
        let renewal: [String: Any] = [
            "original_transaction_id": "530000000000109", "product_id": "premium", "auto_renew_product_id": "premium",
            "auto_renew_status": "1",
        ]
        let reply: [String: Any] = [
            "status": 0, "environment": "Production", "pending_renewal_info": [renewal],
            "receipt": ["bundle_id": "com.attacker.app", "receipt_type": "Production", "in_app": []] as [String: Any],
        ]
        let beside = try await migrate(["receipt": own, "reply": reply]) { $0.bundleIds = ["com.example.app"] }
        #expect(beside.transactions.count == 1 && beside.summary.renewalInfos == 0)
        #expect(beside.quarantine.map { $0["reason"]?.string } == ["otherBundleId"])
        // Copies of one transaction are documents of their own, beside which other users can stand.
        let foreign: [String: Any] = [
            "transactionId": "530000000000201", "originalTransactionId": "530000000000201", "productId": "premium",
            "bundleId": "com.attacker.app", "environment": "Production", "type": "Non-Consumable",
            "purchaseDate": 1_700_000_000_000, "originalPurchaseDate": 1_700_000_000_000, "quantity": 1,
            "inAppOwnershipType": "PURCHASED", "signedDate": 1_700_000_000_000,
        ]
        let copies = ["first": foreign, "second": foreign, "receipt": own] as [String: Any]
        let kept = try await migrate(copies) { $0.bundleIds = ["com.example.app"] }
        #expect(kept.transactions.count == 1)
        #expect(kept.quarantine.map { $0["reason"]?.string } == ["otherBundleId", "otherBundleId"])
    }

    @Test("A filter sees every receipt of a reply: one of another app keeps the whole reply out")
    func filters() async throws {
        let own = try Self.receipt([Self.coins])
        let foreign = try Self.receipt([Self.coins], bundleId: "com.attacker.app", sandbox: true)
        let document: [String: Any] = [
            "status": 0, "latest_receipt": own, "latest_expired_receipt": foreign,
            "receipt": ["bundle_id": "com.example.app", "in_app": []],
        ]
        let result = try await migrate(document) { $0.bundleIds = ["com.example.app"] }
        #expect(result.transactions.isEmpty)
        #expect(result.quarantine.first?["reason"]?.string == "otherBundleId")
        let other = try await migrate(document) { $0.environments = [.production] }
        #expect(other.quarantine.first?["reason"]?.string == "otherEnvironment")
    }

    @Test(
        "A filter sees every row of a document: one of another app or environment keeps it out, wherever it stands",
        arguments: [0, 1, 2, nil])
    func filtersSeeEveryRow(strangersPlace: Int?) async throws {
        func document(_ stranger: [String: Any]) -> [String: Any] {
            let rows = (0..<3).map { index in
                let id = index == strangersPlace ? stranger["id"] ?? "" : "53000000000010\(index)"
                let bundleId = index == strangersPlace ? stranger["bid"] ?? "" : "com.example.app"
                return Self.row(["transaction_id": id, "original_transaction_id": id, "bid": bundleId])
            }
            return ["status": 0, "environment": "Production", "latest_receipt_info": rows]
        }
        let foreign = document(["id": "530000000000109", "bid": "com.attacker.app"])
        let sandbox = document(["id": "2000000012345678", "bid": "com.example.app"])
        for (document, reason) in [(foreign, "otherBundleId"), (sandbox, "otherEnvironment")] {
            let result = try await migrate(document) {
                ($0.bundleIds, $0.environments) = (["com.example.app"], [.production])
            }
            #expect(result.transactions.count == (strangersPlace == nil ? 3 : 0), "\(reason)")
            let reasons = result.quarantine.map { $0["reason"]?.string }
            #expect(reasons == (strangersPlace == nil ? [] : [reason]))
        }
    }

    @Test("The caller's own members stay on one line, however the input was laid out")
    func carriedJSONOnOneLine() async throws {
        let evil: [String: Any] = ["x": [["transaction": ["transactionId": "EVIL"], "standing": "verifiedReceipt"]]]
        let result = try await migrate([["receipt": try Self.receipt([Self.coins]), "user": evil]], pretty: true)
        try #require(result.transactions.count == 1)
        #expect(payload(result.transactions[0], "transactionId")?.string == "530000000000001")
        #expect(result.transactions[0]["record"]?["user"]?["x"]?.array?.count == 1)
    }

    @Test("With only signed facts wanted, rows are left out and counted, and the receipts stay")
    func signedOnly() async throws {
        let stranger = Self.row(["transaction_id": "530000000000009", "original_transaction_id": "530000000000009"])
        let reply = try Self.reply([Self.row(), stranger], latestReceipt: Self.receipt([Self.coins]))
        let result = try await migrate(reply) { $0.acceptsRecorded = false }
        #expect(result.transactions.map { $0["standing"]?.string } == ["verifiedReceipt"])
        #expect(result.summary.notes["recordedRowsLeftOut"] == 2)
    }
}
