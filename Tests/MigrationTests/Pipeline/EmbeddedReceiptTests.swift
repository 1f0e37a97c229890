import AppStoreModels
import Encodings
import Foundation
import LegacyReceipts
import Migration
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

/// Receipts inside replies and notifications whose rows were migrated without them.
@Suite("Receipts inside migrated records")
struct EmbeddedReceiptTests {
    private static let bought = ForgedInstant(2023, 8, 1)
    private static let row: [String: String] = [
        "product_id": "coins", "transaction_id": "530000000000001", "original_transaction_id": "530000000000001",
        "purchase_date_ms": "1690848000000", "original_purchase_date_ms": "1690848000000", "quantity": "1",
        "is_trial_period": "false",
    ]

    /// A receipt with the purchase of ``row``, and one that no row states.
    @inline(never)
    private static func receipt() throws -> String {
        let receipt = ForgedAppReceipt.production(bundleId: "com.example.app", created: ForgedInstant(2023, 9, 1)).with
        {
            $0.purchases = ["530000000000001", "530000000000002"].map {
                ForgedPurchase(.consumable, product: "coins", id: $0, at: bought)
            }
        }
        return Base64.encode(try receipt.signedData(.g5).encoded())
    }

    private static func reply(_ latestReceipt: String) -> [String: Any] {
        [
            "status": 0, "environment": "Production", "latest_receipt": latestReceipt,
            "receipt": ["bundle_id": "com.example.app", "in_app": [row]],
        ]
    }

    private static func notification(_ latestReceipt: String) -> [String: Any] {
        [
            "notification_type": "INTERACTIVE_RENEWAL", "environment": "PROD", "bid": "com.example.app", "bvrs": "1",
            "unified_receipt": [
                "status": 0, "environment": "Production", "latest_receipt": latestReceipt, "latest_receipt_info": [row],
            ],
        ]
    }

    /// A store and its migrations.
    private struct Shop {
        let folder: TemporaryFolder
        let store: SQLiteTransactionStore

        init() throws {
            folder = try TemporaryFolder()
            store = try SQLiteTransactionStore.open(
                path: folder.file("store.sqlite"), options: .init(durability: .normal))
        }

        @inline(never)
        private func migration(
            _ trust: TrustPolicy, _ change: (inout MigrationOptions) -> Void = { _ in }
        ) -> StoreMigration {
            var options = MigrationOptions(trust: trust)
            change(&options)
            return StoreMigration(options: StoreMigration.Options(migration: options, date: 1_790_000_000_000))
        }

        @inline(never)
        func migrate(
            _ records: [[String: Any]], _ name: String = "records", trust: TrustPolicy = .apple,
            _ change: (inout MigrationOptions) -> Void = { _ in }
        ) async throws -> MigrationSummary {
            let lines = try records.map { try JSONSerialization.data(withJSONObject: $0) + [0x0A] }
            let path = try folder.write("\(name).ndjson", lines.flatMap { [UInt8]($0) })
            return try await migration(trust, change).run(inputs: [path], into: store).records
        }

        @inline(never)
        func retry(
            trust: TrustPolicy, _ change: (inout MigrationOptions) -> Void = { _ in }
        ) async throws -> MigrationSummary {
            try await migration(trust, change).retry(store).records
        }

        func files() async throws -> [String: [UInt8]] { try await StoreMigrationTests.export(store, folder) }

        func rows(_ table: String) async throws -> [JSONValue] {
            try StoreMigrationTests.rows(try await files(), table)
        }
    }

    private static func trust() throws -> TrustPolicy {
        TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
    }

    private static func texts(_ rows: [JSONValue], _ column: String) -> [String] {
        rows.map { $0[column]?.string ?? "-" }
    }

    @Test("belong to the customers whose purchases they state, also without a user beside them")
    func customers() async throws {
        let shop = try Shop()
        _ = try await shop.migrate([["body": Self.reply(try Self.receipt())]])
        func keys(_ id: String) async throws -> Int {
            let identities = [CustomerIdentity(.originalTransactionId, id)]
            return try await CustomerQuarantine.keys(of: identities, users: [], userColumn: nil, in: shop.store).count
        }
        #expect(try await keys("530000000000001") == 1)
        #expect(try await keys("530000000000002") == 1)
        #expect(try await keys("530000000000003") == 0)
        try await shop.store.close()
    }

    @Test("are kept with their reason, and a retry verifies, files and releases them", arguments: [true, false])
    func retried(isReply: Bool) async throws {
        let document = isReply ? Self.reply(try Self.receipt()) : Self.notification(try Self.receipt())
        let records = [["user_id": "u-1", "signed_up": "2019", "body": document]]
        let (shop, whole) = (try Shop(), try Shop())
        let strict = try await shop.migrate(records)
        #expect(strict.recordsRead == 1 && strict.migrated == 1 && strict.quarantined == 0)
        #expect(strict.documentsQuarantinedByReason == ["untrustedRoot": 1])
        #expect(strict.embeddedReceiptsByOutcome == ["untrustedRoot": 1])
        #expect(Self.texts(try await shop.rows("transactions"), "evidence") == ["recorded"])
        let line = try #require(try await shop.rows("quarantine").first)
        #expect(line["path"]?.string == "(embedded receipt)" && line["kind"]?.string == "appReceipt")
        #expect(line["reason"]?.string == "untrustedRoot" && line["verdict"]?.string == "notGenuine")
        #expect(line["input"] == nil && line["byteOffset"] == nil)
        #expect(line["record"] == (try JSONValue.parse(Array(#"{"user_id":"u-1"}"#.utf8))))
        #expect(line["original"]?.string == (try Self.receipt()))

        let retried = try await shop.retry(trust: try Self.trust())
        #expect(retried.recordsRead == 1 && retried.migrated == 1 && retried.documentsQuarantined == 0)
        #expect(Self.texts(try await shop.rows("transactions"), "evidence") == ["signed", "signed"])
        #expect(try await shop.rows("quarantine").isEmpty)
        #expect(try await shop.retry(trust: try Self.trust()).recordsRead == 0)

        _ = try await whole.migrate(records, trust: try Self.trust())
        let (files, expected) = (try await shop.files(), try await whole.files())
        for name in expected.keys.sorted() where name != "export.json" {
            #expect(
                String(decoding: files[name] ?? [], as: UTF8.self)
                    == String(decoding: expected[name] ?? [], as: UTF8.self), "\(name)")
        }
    }

    @Test("are migrated from a reply with a value that cannot be read, and the reply is quarantined alone")
    func unreadableReply() async throws {
        var reply = Self.reply(try Self.receipt())
        reply["latest_receipt_info"] = [
            ["product_id": "p", "transaction_id": "1", "original_transaction_id": "1", "expires_date_ms": "n/a"]
        ]
        let records: [[String: Any]] = [["user_id": "u-1", "body": reply]]
        let (shop, strict) = (try Shop(), try Shop())
        let summary = try await shop.migrate(records, trust: try Self.trust())
        #expect(summary.migrated == 1 && summary.quarantined == 0)
        #expect(summary.documentsQuarantinedByReason == ["badDate": 1])
        #expect(Self.texts(try await shop.rows("transactions"), "evidence") == ["signed", "signed"])
        // A receipt that is not genuine stays in the record.
        let refused = try await strict.migrate(records)
        #expect(refused.quarantinedByReason == ["badDate": 1] && refused.documentsQuarantined == 0)
    }

    @Test("are kept once for each user, for all records, inputs and encodings")
    func once() async throws {
        let receipt = try Self.receipt()
        let inLines = receipt.enumerated().map { $0 > 0 && $0 % 64 == 0 ? "\r\n\($1)" : "\($1)" }.joined()
        let shop = try Shop()
        let records = [("u-1", receipt), ("u-1", inLines), ("u-2", receipt), ("u-2", receipt)].map {
            ["user_id": $0, "body": Self.reply($1)] as [String: Any]
        }
        let summary = try await shop.migrate(records)
        #expect(summary.migrated == 4 && summary.documentsQuarantined == 4)
        _ = try await shop.migrate([["user_id": "u-1", "body": Self.notification(receipt)]], "other")
        #expect(Set(Self.texts(try await shop.rows("quarantine"), "original")) == [receipt])
        let users = try await shop.rows("quarantine").map { $0["record"]?["user_id"]?.string ?? "-" }
        #expect(users.sorted() == ["u-1", "u-2"])
        let retried = try await shop.retry(trust: try Self.trust())
        #expect(retried.recordsRead == 2 && retried.migrated == 2)
        #expect(try await shop.rows("quarantine").isEmpty)
        #expect(Set(Self.texts(try await shop.rows("conflicts"), "originalTransactionId")).count == 2)
    }

    @Test("keep the columns of --carry, so that a retry without options stores them", arguments: ["u-1", nil])
    func carried(user: String?) async throws {
        let folder = try TemporaryFolder()
        // The row states a purchase that is not in the receipt.
        var reply = Self.reply(try Self.receipt())
        let other = "530000000000009"
        let row = Self.row.merging(["transaction_id": other, "original_transaction_id": other]) { $1 }
        reply["receipt"] = ["bundle_id": "com.example.app", "in_app": [row]] as [String: Any]
        var record: [String: Any] = ["country": "DE", "body": reply]
        record["user_id"] = user
        let path = try folder.write("records.ndjson", JSONSerialization.data(withJSONObject: record))
        func migration(_ trust: TrustPolicy, _ carry: Set<String>) -> StoreMigration {
            StoreMigration(
                options: StoreMigration.Options(
                    migration: MigrationOptions(trust: trust), carriedColumns: carry, date: 1_790_000_000_000))
        }
        let (shop, whole) = (try Shop(), try Shop())
        _ = try await migration(.apple, ["country"]).run(inputs: [path], into: shop.store)
        _ = try await migration(try Self.trust(), []).retry(shop.store)
        _ = try await migration(try Self.trust(), ["country"]).run(inputs: [path], into: whole.store)
        let users = try await whole.rows("customer_users")
        #expect(users.count == 2 && users.allSatisfy { $0["carried"]?.array?.count == 1 })
        #expect(try await shop.rows("customer_users") == users)
    }

    @Test("stay in the quarantine as they are while they cannot be verified")
    func kept() async throws {
        var forged = try #require(StoredReceipt.decoded(try Self.receipt()))
        forged[forged.count - 1] ^= 1
        let shop = try Shop()
        _ = try await shop.migrate([
            ["user_id": 7, "body": Self.reply(try Self.receipt())], ["body": Self.reply(Base64.encode(forged))],
        ])
        let before = try await shop.files()["quarantine.ndjson"]
        let again = try await shop.retry(trust: .apple)
        #expect(again.recordsRead == 2 && again.quarantined == 2)
        #expect(try await shop.files()["quarantine.ndjson"] == before)
        let retried = try await shop.retry(trust: try Self.trust())
        #expect(retried.migrated == 1 && retried.quarantinedByReason == ["signatureMismatch": 1])
        let rest = try await shop.rows("quarantine")
        #expect(Self.texts(rest, "reason") == ["signatureMismatch"])
        #expect(Self.texts(rest, "path") == ["(embedded receipt)"])
    }

    @Test("of other records, and placeholders, are not kept a second time")
    func others() async throws {
        let receipt = try Self.receipt()
        let shop = try Shop()
        let summary = try await shop.migrate([
            ["body": Self.reply("MIIT…")], ["body": Self.reply("removed")],
            ["receipt": receipt, "reply": Self.reply(receipt)],
        ])
        #expect(summary.migrated == 3 && summary.documentsQuarantined == 1)
        #expect(Self.texts(try await shop.rows("quarantine"), "path") == ["receipt"])
        // A record that is quarantined as a whole contains its receipt.
        let excluded = try await shop.migrate([["body": Self.reply(receipt)]], "excluded") {
            $0.environments = [.sandbox]
        }
        #expect(excluded.quarantined == 1 && excluded.documentsQuarantined == 0)
        #expect(try await shop.rows("quarantine").count == 2)
    }

    @Test("are kept if they are too large, for a retry with a higher limit")
    func tooLarge() async throws {
        let shop = try Shop()
        let strict = try await shop.migrate([["body": Self.reply(try Self.receipt())]], trust: try Self.trust()) {
            $0.limits.maximumSize = 1_000
        }
        #expect(strict.migrated == 1 && strict.documentsQuarantinedByReason == ["tooLarge": 1])
        #expect(try await shop.retry(trust: try Self.trust()).migrated == 1)
        #expect(Self.texts(try await shop.rows("transactions"), "evidence") == ["signed", "signed"])
    }

    @Test("of iOS 6 wait for their intermediate certificate")
    func transactionReceipt() async throws {
        let stored = try FixtureFolder("ios6-v3-production").receipt
        let shop = try Shop()
        let strict = try await shop.migrate([["body": Self.reply(String(decoding: stored, as: UTF8.self))]])
        #expect(strict.migrated == 1 && strict.documentsQuarantinedByReason == ["untrustedLeaf": 1])
        #expect(Self.texts(try await shop.rows("quarantine"), "kind") == ["transactionReceipt"])
        let retried = try await shop.retry(trust: try FixtureTrust.withIntermediates())
        #expect(retried.migratedByKind == ["transactionReceipt": 1])
        #expect(try await shop.rows("quarantine").isEmpty)
    }

    @Test("state the app transaction of a reply without purchases, if it agrees", arguments: [("1.2", 1), ("0.9", 2)])
    func download(version: String, customers: Int) async throws {
        let shop = try Shop()
        let summary = try await shop.migrate([["body": try Self.download(version)]], trust: try Self.trust())
        #expect(summary.migratedByKind == ["verifyReceiptReply": 1] && summary.documentsQuarantined == 0)
        let versions = Self.texts(try await shop.rows("app_transactions"), "originalApplicationVersion")
        #expect(Set(versions) == ["1.2", version] && versions.count == customers)
    }

    /// A receipt without purchases, and a reply to it that states the version in which the customer obtained the app.
    @inline(never)
    private static func download(_ version: String, isDamaged: Bool = false) throws -> [String: Any] {
        var receipt = try ForgedAppReceipt.production(bundleId: "com.example.app", created: ForgedInstant(2023, 9, 1))
            .signedData(.g5).encoded()
        if isDamaged { receipt[receipt.count - 1] ^= 1 }
        return [
            "status": 0, "environment": "Production", "latest_receipt": Base64.encode(receipt),
            "receipt": ["bundle_id": "com.example.app", "original_application_version": version, "in_app": []],
        ]
    }

    @Test(
        "keep a reply without purchases in the quarantine while options can verify them, so that a retry stores what one run would",
        arguments: ["1.2", "0.9"], [false, true])
    func retriedDownload(version: String, isBesideOthers: Bool) async throws {
        var record: [String: Any] = ["user_id": "u-1", "body": try Self.download(version)]
        if isBesideOthers { record["event"] = Self.notification("removed") }
        let strict = try await expectRetryLikeOneRun(record, downloads: version == "1.2" ? 1 : 2)
        #expect(strict.quarantinedByReason == (isBesideOthers ? [:] : ["untrustedRoot": 1]))
        #expect(strict.documentsQuarantinedByReason == (isBesideOthers ? ["untrustedRoot": 1] : [:]))
    }

    @Test(
        "and receipts in other members keep a reply without purchases in the quarantine, so that a retry stores what one run would",
        arguments: ["1.2", "0.9"], [false, true])
    func retriedDownloadOfPair(version: String, isBesideOthers: Bool) async throws {
        var reply = try Self.download(version)
        var record: [String: Any] = ["user_id": "u-1", "receipt": reply["latest_receipt"] ?? ""]
        reply["latest_receipt"] = nil
        record["body"] = reply
        if isBesideOthers { record["event"] = Self.notification("removed") }
        let strict = try await expectRetryLikeOneRun(record, downloads: version == "1.2" ? 1 : 2)
        #expect(strict.quarantinedByReason == (isBesideOthers ? [:] : ["untrustedRoot": 1]))
        // The receipt has a line of its own too.
        #expect(strict.documentsQuarantinedByReason == (isBesideOthers ? ["untrustedRoot": 2] : [:]))
    }

    @Test(
        "keep a reply without purchases in the quarantine although a JWS agrees with it, so that a retry stores what one run would"
    )
    func retriedDownloadBesideSignedApp() async throws {
        let (shop, whole) = (try Shop(), try Shop())
        let record = try Self.downloadBesideSignedApp()
        let authority = TestSignedDataAuthority.standard.rootCertificate
        let strict = try await shop.migrate([record], trust: TrustPolicy(additionalRoots: [authority]))
        #expect(strict.migrated == 1 && strict.documentsQuarantinedByReason == ["untrustedRoot": 1])
        let trust = TrustPolicy(additionalRoots: [authority, try TestCertificateAuthority.rootDER])
        let retried = try await shop.retry(trust: trust)
        #expect(retried.migrated == 1 && retried.documentsQuarantined == 0)
        _ = try await whole.migrate([record], trust: trust)
        #expect(try await whole.rows("app_transactions").count == 2)
        for table in ["app_transactions", "customer_users", "quarantine"] {
            #expect(try await shop.rows(table) == whole.rows(table), "\(table)")
        }
    }

    @Test("A reply without purchases waits for a JWS without its root too, so that a retry stores what one run would")
    func retriedDownloadBesideUnverifiedApp() async throws {
        let (shop, whole) = (try Shop(), try Shop())
        var record = try Self.downloadBesideSignedApp()
        var reply = try #require(record["body"] as? [String: Any])
        reply["latest_receipt"] = nil
        record["body"] = reply
        #expect(try await shop.migrate([record]).quarantinedByReason == ["jwsUntrustedRoot": 1])
        let trust = TrustPolicy(additionalRoots: [TestSignedDataAuthority.standard.rootCertificate])
        let retried = try await shop.retry(trust: trust)
        #expect(retried.migrated == 1 && retried.documentsQuarantined == 0)
        _ = try await whole.migrate([record], trust: trust)
        #expect(try await whole.rows("app_transactions").count == 1)
        for table in ["app_transactions", "customer_users", "quarantine"] {
            #expect(try await shop.rows(table) == whole.rows(table), "\(table)")
        }
    }

    @inline(never)
    private static func downloadBesideSignedApp() throws -> [String: Any] {
        let app = AppTransaction {
            $0.receiptType = .production
            $0.bundleId = "com.example.app"
            $0.originalApplicationVersion = "1.2"
            $0.receiptCreationDate = 1_748_736_000_000
            $0.appTransactionId = "700000000000001"
        }
        var reply = try Self.download("1.2")
        reply["receipt"] =
            [
                "receipt_type": "Production", "bundle_id": "com.example.app", "original_application_version": "1.2",
                "in_app": [] as [Any],
            ] as [String: Any]
        let jws = try TestSignedDataAuthority.standard.sign(payload: [UInt8](JSONEncoder().encode(app)))
        return ["user_id": "u-1", "app": jws, "body": reply]
    }

    /// Migrates a record without the root of its receipt, then again with the root. Returns the numbers of the first
    /// run.
    /// - Parameters:
    ///   - record: the record, with an embedded receipt.
    ///   - downloads: how many app transactions the store has at the end.
    @inline(never)
    private func expectRetryLikeOneRun(_ record: [String: Any], downloads: Int) async throws -> MigrationSummary {
        let (shop, whole) = (try Shop(), try Shop())
        let strict = try await shop.migrate([record])
        #expect(try await shop.rows("app_transactions").isEmpty)
        let retried = try await shop.retry(trust: try Self.trust())
        #expect(retried.recordsRead == retried.migrated && retried.documentsQuarantined == 0)
        _ = try await whole.migrate([record], trust: try Self.trust())
        #expect(try await whole.rows("app_transactions").count == downloads)
        let (files, expected) = (try await shop.files(), try await whole.files())
        for name in expected.keys.sorted() where name != "export.json" {
            #expect(
                String(decoding: files[name] ?? [], as: UTF8.self)
                    == String(decoding: expected[name] ?? [], as: UTF8.self), "\(name)")
        }
        return strict
    }

    @Test("do not keep a reply without purchases from the store if no option can verify them")
    func damagedDownload() async throws {
        let records = [["body": try Self.download("1.2", isDamaged: true)]]
        let (shop, whole) = (try Shop(), try Shop())
        let summary = try await whole.migrate(records, trust: try Self.trust())
        #expect(summary.migrated == 1 && summary.documentsQuarantinedByReason == ["signatureMismatch": 1])
        #expect(Self.texts(try await whole.rows("app_transactions"), "originalApplicationVersion") == ["1.2"])
        // Without the root, the signature is not checked.
        #expect(try await shop.migrate(records).quarantinedByReason == ["untrustedRoot": 1])
        let retried = try await shop.retry(trust: try Self.trust())
        #expect(retried.migrated == 1 && retried.documentsQuarantinedByReason == ["signatureMismatch": 1])
        for table in ["app_transactions", "quarantine"] {
            #expect(try await shop.rows(table) == whole.rows(table), "\(table)")
        }
    }

    @Test("count in the report as what they are")
    func report() async throws {
        let shop = try Shop()
        _ = try await shop.migrate([["body": Self.reply(try Self.receipt())], ["receipt": try Self.receipt()]])
        let report = try await StoreReport(shop.store, catalog: nil, date: 1_790_000_000_000)
        #expect(report.quarantined == 2 && report.embeddedReceiptsQuarantined == 1)
        #expect(report.quarantine.map(\.reason) == ["untrustedRoot"])
    }
}

/// Base64 as it was written.
private enum StoredReceipt {
    static func decoded(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { [UInt8]($0) } }
}
