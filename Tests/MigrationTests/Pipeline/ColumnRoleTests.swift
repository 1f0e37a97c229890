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

/// The caller's own columns: whose the documents are, and what the documents themselves do not state.
@Suite("Roles of columns")
struct ColumnRoleTests {
    private static let date: Int64 = 1_790_000_000_000
    private static let appId = "com.example.orchard"

    private static func receipt(_ name: String = "auto-renewable") throws -> String {
        let file = FixtureStore.root.appending(path: "\(name)/receipt.b64")
        return try String(contentsOf: file, encoding: .utf8).filter { !$0.isNewline }
    }

    private static func migration(
        trust: TrustPolicy? = nil, user: String? = nil, carry: Set<String> = [], columns: DocumentColumns = .init(),
        defaults: DocumentDefaults = .init(), table: TableOptions = TableOptions(), receipts: [String] = []
    ) throws -> StoreMigration {
        StoreMigration(
            options: StoreMigration.Options(
                migration: MigrationOptions(
                    trust: try trust ?? FixtureTrust.withIntermediates(), receiptColumns: receipts,
                    documentColumns: columns, documentDefaults: defaults, table: table),
                userColumn: user, carriedColumns: carry, date: date))
    }

    /// Migrates records into a new store, and returns what it exports.
    private static func migrated(
        _ records: String, name: String = "records.ndjson", _ migration: StoreMigration,
        retry: StoreMigration? = nil, _ look: (SQLiteTransactionStore) async throws -> Void = { _ in }
    ) async throws -> (summary: StoreMigrationSummary, files: [String: [UInt8]]) {
        let folder = try TemporaryFolder()
        let input = folder.file(name)
        try Data(records.utf8).write(to: URL(fileURLWithPath: input))
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        var summary = try await migration.run(inputs: [input], into: store)
        try await look(store)
        if let retry { summary = try await retry.retry(store) }
        let files = try await StoreMigrationTests.export(store, folder)
        try await store.close()
        return (summary, files)
    }

    private static func users(_ files: [String: [UInt8]]) throws -> [String: [JSONValue]] {
        var users: [String: [JSONValue]] = [:]
        for row in try StoreMigrationTests.rows(files, "customer_users") {
            users[row["userId"]?.string ?? ""] = row["carried"]?.array ?? []
        }
        return users
    }

    // MARK: Users

    @Test("The keys of an object are users with the option, also after a retry without options")
    func userKeys() async throws {
        let receipt = try Self.receipt()
        let export = """
            {"users":{"u1":{"receipt":"\(receipt)","country":"DE"},"u2":{"receipts":["\(receipt)"]},"u3":{"country":"FR"}}}
            """
        let kept = try Self.migration(user: "users.*", carry: ["country"])
        let first = try Self.migration(trust: .apple, user: "users.*", carry: ["country"])
        let again = try Self.migration()
        for (migration, retry) in [(kept, nil), (first, again)] as [(StoreMigration, StoreMigration?)] {
            let (summary, files) = try await Self.migrated(export, name: "export.json", migration, retry: retry)
            #expect(summary.records.migrated == 1)
            let users = try Self.users(files)
            #expect(users.keys.sorted() == ["u1", "u2"])
            #expect(users["u1"]?.first?["country"]?.string == "DE")
        }
    }

    @Test("With keys that are users, a named column is in their values, and no record without it stops the others")
    func columnOfUserKeys() async throws {
        let receipt = try Self.receipt()
        let records = [("u1", "receipt"), ("u2", "receipt"), ("u3", "data")].map { user, column in
            #"{"users":{"\#(user)":{"\#(column)":"\#(receipt)","n":1}}}"#
        }
        let (summary, files) = try await Self.migrated(
            records.joined(separator: "\n"), try Self.migration(user: "users.*", receipts: ["receipt"]))
        #expect(summary.records.migrated == 2)
        #expect(summary.records.quarantinedByReason == ["missingColumn": 1])
        #expect(try Self.users(files).keys.sorted() == ["u1", "u2"])
        #expect(summary.records.missing(receiptColumns: ["receipt", "body"], ["users.*"]) == ["body"])
    }

    @Test("A quarantined record keeps the names of the columns: a retry without options stores its user")
    func retry() async throws {
        let table = "konto;signed_up;receipt\nk1;2020;\(try Self.receipt())\n"
        let (summary, files) = try await Self.migrated(
            table, name: "table.csv", try Self.migration(trust: .apple, user: "konto", carry: ["signed_up"]),
            retry: try Self.migration())
        #expect(summary.records.migrated == 1)
        let users = try Self.users(files)
        #expect(users.keys.sorted() == ["k1"] && users["k1"]?.first?["signed_up"]?.string == "2020")
    }

    private static let long = String(repeating: "x", count: 1 << 20)

    private static func reply(purchases: Int) -> String {
        let rows = (1...purchases).map {
            #"{"product_id":"p","transaction_id":"\#($0)","purchase_date_ms":"1690848000000"}"#
        }
        let receipt = #"{"bundle_id":"com.example.app","in_app":[\#(rows.joined(separator: ","))]}"#
        return #"{"status":0,"environment":"Sandbox","receipt":\#(receipt)}"#
    }

    @Test("A record whose purchases would repeat a long user id or kept column a hundred times is quarantined")
    func longColumns() async throws {
        let cases: [(column: String, carry: Set<String>, isStored: Bool)] = [
            ("user_id", [], false), ("note", ["note"], false), ("note", [], true),
        ]
        for (column, carry, isStored) in cases {
            let record = #"{"\#(column)":"\#(Self.long)","reply":\#(Self.reply(purchases: 100))}"#
            let (summary, _) = try await Self.migrated(record, try Self.migration(carry: carry))
            #expect(summary.records.migrated == (isStored ? 1 : 0), "\(column)")
            #expect(summary.records.quarantinedByReason == (isStored ? [:] : ["tooManyColumns": 1]), "\(column)")
        }
    }

    @Test("A record whose unverified receipts would repeat a long user id a hundred times is quarantined once")
    func longColumnsOfReceipts() async throws {
        var receipt = try #require(Data(base64Encoded: try Self.receipt()))
        let silent = (0..<100).map { number in
            // The end of the signature, which is not checked: the root is not trusted.
            receipt[receipt.count - 1] = UInt8(number)
            return #"{"status":0,"latest_receipt":"\#(receipt.base64EncodedString())"}"#
        }
        let replies = ([Self.reply(purchases: 1)] + silent).joined(separator: ",")
        let record = #"{"user_id":"\#(Self.long)","replies":[\#(replies)]}"#
        let (summary, _) = try await Self.migrated(record, try Self.migration(trust: .apple))
        #expect(summary.records.quarantinedByReason == ["tooManyColumns": 1])
        #expect(summary.records.documentsQuarantined == 0)
    }

    @Test("A row beside a receipt is stored with its user, once, and a row that the receipt states adds nothing")
    func rowBesideReceipt() async throws {
        let ids = ["530009000000001", "530001234567000"]
        let table = "user_id,product_id,transaction_id,purchase_date_ms,receipt\n"
        let rows = try ids.map { "u1,com.example.orchard.coins,\($0),1700000000000,\(try Self.receipt())\n" }.joined()
        let (summary, files) = try await Self.migrated(table + rows, name: "rows.csv", try Self.migration())
        #expect(summary.records.migratedByKind == ["appReceipt": 2])
        let receipt = "receipt\n\(try Self.receipt())\n"
        let (_, alone) = try await Self.migrated(receipt, name: "rows.csv", try Self.migration())
        func lines(_ files: [String: [UInt8]]) throws -> [String?: String?] {
            Dictionary(
                try StoreMigrationTests.rows(files, "transactions").map {
                    ($0["transactionId"]?.string, $0["evidence"]?.string)
                }, uniquingKeysWith: { first, _ in first })
        }
        var expected = try lines(alone)
        expected[ids[0]] = "recorded"
        #expect(try lines(files) == expected)
        #expect(try Self.purchases(files)["u1"]?.contains(ids[0]) == true)
    }

    @Test("A row beside a reply is of the app and the environment that the reply states")
    func rowBesideReply() async throws {
        let stated = #"{"transaction_id":"530009000000002","product_id":"gems","purchase_date_ms":"1700000000000"}"#
        let record = """
            {"user_id":"u1","product_id":"coins","transaction_id":"530009000000001","purchase_date_ms":"1700000000000",\
            "reply":{"status":0,"environment":"Production","receipt":{"bundle_id":"\(Self.appId)","in_app":[\(stated)]}}}
            """
        let (summary, files) = try await Self.migrated(record, try Self.migration())
        #expect(summary.records.migratedByKind == ["verifyReceiptReply": 1])
        #expect(try StoreMigrationTests.rows(files, "quarantine").isEmpty)
        let transactions = try StoreMigrationTests.rows(files, "transactions")
        #expect(
            Set(transactions.compactMap { $0["transactionId"]?.string }) == ["530009000000001", "530009000000002"])
        #expect(transactions.allSatisfy { $0["bundleId"]?.string == Self.appId })
    }

    @Test("A row beside a receipt that may be a period of its subscription is not stored as another subscription")
    func periodBesideReceipt() async throws {
        let product = "com.example.orchard.premium.monthly"
        let table = "user_id,product_id,transaction_id,purchase_date_ms,receipt\n"
        let row = "u1,\(product),530009000000001,1700000000000,\(try Self.receipt())\n"
        // The second receipt is known.
        let (summary, files) = try await Self.migrated(table + row + row, name: "rows.csv", try Self.migration())
        #expect(summary.records.migratedByKind == ["appReceipt": 2] && summary.records.notes["rowNotRead"] == 2)
        let subscriptions = try StoreMigrationTests.rows(files, "subscriptions")
        #expect(subscriptions.compactMap { $0["originalTransactionId"]?.string } == ["530001234567000"])
    }

    /// Migrates records into a store with restricted options, and retries the quarantine with all options. Compares the
    /// store with that of one run with all options. Returns the numbers of the first run.
    @inline(never)
    private static func expectRetryLikeOneRun(
        _ records: String, name: String = "records.ndjson", restrict: (inout MigrationOptions) -> Void
    ) async throws -> (first: MigrationSummary, files: [String: [UInt8]]) {
        var options = MigrationOptions(trust: try trusting())
        func migration() -> StoreMigration {
            StoreMigration(options: StoreMigration.Options(migration: options, date: date))
        }
        let all = migration()
        restrict(&options)
        let (first, _) = try await migrated(records, name: name, migration())
        let (retried, files) = try await migrated(records, name: name, migration(), retry: all)
        #expect(retried.records.recordsRead == retried.records.migrated && retried.records.documentsQuarantined == 0)
        let (_, expected) = try await migrated(records, name: name, all)
        for file in expected.keys.sorted() where file != "export.json" {
            #expect(
                String(decoding: files[file] ?? [], as: UTF8.self)
                    == String(decoding: expected[file] ?? [], as: UTF8.self), "\(file)")
        }
        return (first.records, files)
    }

    /// A receipt with one purchase.
    @inline(never)
    private static func forged(
        _ id: String, created: ForgedInstant, isSandbox: Bool = false, purchases: Int = 1
    ) throws -> String {
        let receipt: ForgedAppReceipt =
            isSandbox
            ? .sandbox(bundleId: appId, created: created) : .production(bundleId: appId, created: created)
        let all = (0..<purchases).map {
            ForgedPurchase(.nonConsumable, product: "book.\($0)", id: id + String($0), at: created)
        }
        return Base64.encode(try receipt.with { $0.purchases = all }.signedData(.g5).encoded())
    }

    @Test("A row beside a receipt that a filter keeps out is not lost: a retry stores it as one run would")
    func filteredRowBesideReceipt() async throws {
        let receipt = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let table = """
            user_id,product_id,transaction_id,purchase_date_ms,environment,receipt
            u1,coins,530009000000001,1690848000000,Sandbox,\(receipt)

            """
        let (first, files) = try await Self.expectRetryLikeOneRun(table, name: "rows.csv") {
            $0.environments = [.production]
        }
        #expect(first.migrated == 1 && first.documentsQuarantinedByReason == ["otherEnvironment": 1])
        let row = try StoreMigrationTests.rows(files, "transactions").first {
            $0["transactionId"]?.string == "530009000000001"
        }
        // The row does not state its app.
        #expect(row?["bundleId"]?.string == Self.appId && row?["environment"]?.string == "Sandbox")
    }

    @Test("A document that a retry migrates in part keeps its path in the quarantine")
    func pathOfDocumentMigratedInPart() async throws {
        let receipt = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let record = """
            {"receipt":"\(receipt)","reply":{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\(Self.appId)",\
            "in_app":[\(Self.row("530001")),\(Self.row("5.3E14"))]}}}
            """
        var options = MigrationOptions(trust: try Self.trusting())
        let all = StoreMigration(options: StoreMigration.Options(migration: options, date: Self.date))
        options.environments = [.production]
        let restricted = StoreMigration(options: StoreMigration.Options(migration: options, date: Self.date))
        let (_, expected) = try await Self.migrated(record, all)
        let (summary, files) = try await Self.migrated(record, restricted, retry: all)
        #expect(summary.records.documentsQuarantinedByReason == ["notFiled": 1])
        let lines = try StoreMigrationTests.rows(files, "quarantine")
        #expect(lines.map { $0["path"]?.string } == ["reply"])
        let direct = try StoreMigrationTests.rows(expected, "quarantine")
        // Each run has its input in a folder of its own.
        for name in ["path", "reason", "message", "sha256", "original"] {
            #expect(lines.map { $0[name] } == direct.map { $0[name] }, "\(name)")
        }
    }

    @Test(
        "A filter does not move a row from the newest receipt to another: it keeps out the row with the receipt",
        arguments: [true, false])
    func rowBesideExcludedReceipt(isNewestExcluded: Bool) async throws {
        let older = try Self.forged(
            "5300090000001", created: ForgedInstant(2023, 8, 1), isSandbox: !isNewestExcluded)
        let newer = try Self.forged("5300090000002", created: ForgedInstant(2023, 9, 1), isSandbox: isNewestExcluded)
        let record = """
            {"user_id":"u1","product_id":"coins","transaction_id":"530009000000001","purchase_date_ms":"1690848000000",\
            "old":"\(older)","new":"\(newer)"}
            """
        let (first, files) = try await Self.expectRetryLikeOneRun(record) { $0.environments = [.production] }
        #expect(first.migrated == 1)
        #expect(first.documentsQuarantinedByReason == ["otherEnvironment": isNewestExcluded ? 2 : 1])
        let rows = try StoreMigrationTests.rows(files, "transactions").filter {
            $0["transactionId"]?.string == "530009000000001"
        }
        #expect(rows.map { $0["environment"]?.string } == [isNewestExcluded ? "Sandbox" : "Production"])
    }

    @Test("A receipt that a filter keeps out decides about a row, also from a reply with a value that cannot be read")
    func rowBesideUnreadableReply() async throws {
        let older = try Self.forged("5300090000001", created: ForgedInstant(2023, 8, 1))
        let newer = try Self.forged("5300090000002", created: ForgedInstant(2023, 9, 1), isSandbox: true)
        let reply = """
            {"status":0,"environment":"Sandbox","latest_receipt":"\(newer)","latest_receipt_info":[{"product_id":"p",\
            "transaction_id":"1","original_transaction_id":"1","expires_date_ms":"n/a"}]}
            """
        let record = """
            {"user_id":"u1","product_id":"book.0","transaction_id":"53000900000020","purchase_date_ms":"1693526400000",\
            "old":"\(older)","body":\(reply)}
            """
        var options = MigrationOptions(trust: TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER]))
        options.environments = [.production]
        let (summary, files) = try await Self.migrated(
            record, StoreMigration(options: StoreMigration.Options(migration: options, date: Self.date)))
        #expect(summary.records.migrated == 1 && summary.records.documentsQuarantinedByReason == ["badDate": 1])
        // In production, the purchase in the sandbox would grant access.
        let ids = try StoreMigrationTests.rows(files, "transactions").map { $0["transactionId"]?.string }
        #expect(ids == ["53000900000010"])
    }

    @Test(
        "A row waits for a receipt of its record that other options may verify, because the receipt may decide about it",
        arguments: [false, true])
    func rowWaitsForReceipt(isStatedByReceipt: Bool) async throws {
        let known = try Self.forged("5300090000001", created: ForgedInstant(2023, 8, 1))
        let large = try Self.forged(
            "5300090000002", created: ForgedInstant(2023, 9, 1), isSandbox: true, purchases: 200)
        let id = isStatedByReceipt ? "53000900000020" : "530009000000301"
        let record = """
            {"user_id":"u1","product_id":"book.0","transaction_id":"\(id)","purchase_date_ms":"1693526400000",\
            "old":"\(known)","new":"\(large)"}
            """
        let (first, files) = try await Self.expectRetryLikeOneRun(record) { $0.limits.maximumSize = 20_000 }
        #expect(first.migrated == 1 && first.documentsQuarantinedByReason == ["tooLarge": 2])
        let row = try StoreMigrationTests.rows(files, "transactions").first { $0["transactionId"]?.string == id }
        #expect(row?["evidence"]?.string == (isStatedByReceipt ? "signed" : "recorded"))
        #expect(row?["environment"]?.string == "Sandbox")
    }

    @Test("A row waits for a JWS of its record that other options may verify", arguments: [false, true])
    func rowWaitsForJWS(isStatedByJWS: Bool) async throws {
        let known = try Self.forged("5300090000001", created: ForgedInstant(2023, 8, 1))
        let signed = try Self.sign(Self.transaction("2000000000000001"))
        let id = isStatedByJWS ? "2000000000000001" : "530009000000301"
        let record = """
            {"user_id":"u1","product_id":"book.0","transaction_id":"\(id)","purchase_date_ms":"1693526400000",\
            "old":"\(known)","new":"\(signed)"}
            """
        let restricted = TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
        let (first, files) = try await Self.expectRetryLikeOneRun(record) { $0.trust = restricted }
        #expect(first.migrated == 1 && first.documentsQuarantinedByReason == ["jwsUntrustedRoot": 2])
        let row = try StoreMigrationTests.rows(files, "transactions").first { $0["transactionId"]?.string == id }
        #expect(row?["evidence"]?.string == (isStatedByJWS ? "signed" : "recorded"))
        #expect(row?["environment"]?.string == "Sandbox")
    }

    @Test("A row does not wait for a JWS that no option verifies")
    func rowBesideDamagedJWS() async throws {
        let known = try Self.forged("5300090000001", created: ForgedInstant(2023, 8, 1))
        var signed = Array(try Self.sign(Self.transaction("2000000000000001")))
        signed[signed.count - 9] = signed[signed.count - 9] == "A" ? "B" : "A"
        let record = """
            {"user_id":"u1","product_id":"book.0","transaction_id":"530009000000301",\
            "purchase_date_ms":"1693526400000","old":"\(known)","new":"\(String(signed))"}
            """
        let migration = try Self.migration(trust: try Self.trusting())
        let (summary, files) = try await Self.migrated(record, name: "record.json", migration)
        #expect(summary.records.documentsQuarantinedByReason == ["jwsSignatureMismatch": 1])
        let ids = try StoreMigrationTests.rows(files, "transactions").compactMap { $0["transactionId"]?.string }
        #expect(Set(ids) == ["53000900000010", "530009000000301"])
    }

    // MARK: Rows of a reply beside a receipt

    /// A reply that states neither its app nor its environment. Its row is a copy of the first purchase of the receipt of
    /// ``forged(_:created:isSandbox:purchases:)`` with the id `receipt`.
    private static func bareReply(of receipt: String) -> String {
        #"{"latest_receipt_info":[{\#(bareRow(of: receipt))}]}"#
    }

    private static func bareRow(of receipt: String) -> String {
        """
        "product_id":"book.0","transaction_id":"\(copyId)","original_transaction_id":"\(receipt)0",\
        "purchase_date_ms":"1693526400000"
        """
    }

    private static let copyId = "530009000000301"

    /// What the store has of the copy in ``bareReply(of:)``.
    @inline(never)
    private static func copies(_ files: [String: [UInt8]]) throws -> [String] {
        try StoreMigrationTests.rows(files, "transactions").filter { $0["transactionId"]?.string == copyId }.map {
            row in
            ["bundleId", "environment", "evidence"].map { row[$0]?.string ?? "-" }.joined(separator: " ")
        }
    }

    @Test("Rows of a reply that states no app are of the receipt beside it, as columns beside the receipt are")
    func replyBesideReceipt() async throws {
        let id = "5300090000001"
        let receipt = try Self.forged(id, created: ForgedInstant(2023, 8, 1), isSandbox: true)
        let reply = Self.bareReply(of: id)
        let records = [
            #"{"user_id":"u1",\#(Self.bareRow(of: id)),"receipt":"\#(receipt)"}"#,
            #"{"user_id":"u1","receipt":"\#(receipt)","reply":\#(reply)}"#,
            #"{"user_id":"u1","receipt":"\#(receipt)",\#(reply.dropFirst())"#,
        ]
        let migration = try Self.migration(trust: try Self.trusting())
        for record in records {
            let (summary, files) = try await Self.migrated(record, name: "record.json", migration)
            #expect(summary.records.documentsQuarantined == 0)
            #expect(try Self.copies(files) == ["\(Self.appId) Sandbox recorded"], "\(record.prefix(40))")
            #expect(try Self.purchases(files)["u1"]?.contains(id + "0") == true)
        }
    }

    @Test("Of several receipts, the one that shares a purchase with a reply states its app; without one, none does")
    func replyBesideReceipts() async throws {
        let production = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let sandbox = try Self.forged("5300090000002", created: ForgedInstant(2023, 8, 1), isSandbox: true)
        let migration = try Self.migration(trust: try Self.trusting())
        let expected: [(String, [String])] = [
            ("5300090000001", ["\(Self.appId) Production recorded"]),
            ("5300090000002", ["\(Self.appId) Sandbox recorded"]), ("5300090000003", []),
        ]
        for (id, copies) in expected {
            let record = #"{"a":"\#(production)","b":"\#(sandbox)","reply":\#(Self.bareReply(of: id))}"#
            let (summary, files) = try await Self.migrated(record, name: "record.json", migration)
            #expect(try Self.copies(files) == copies)
            #expect(summary.records.documentsQuarantinedByReason == (copies.isEmpty ? ["notFiled": 1] : [:]))
        }
    }

    @Test("A receipt of another app does not state the environment of a reply")
    func replyOfAnotherApp() async throws {
        let receipt = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let reply = #"{"status":0,"receipt":{"bundle_id":"com.example.other","in_app":[\#(Self.row("530001"))]}}"#
        let (summary, files) = try await Self.migrated(
            #"{"receipt":"\#(receipt)","reply":\#(reply)}"#, name: "record.json",
            try Self.migration(trust: try Self.trusting()))
        #expect(summary.records.documentsQuarantinedByReason == ["notFiled": 1])
        #expect(try !Self.scopes(files).contains { $0.hasPrefix("530001 ") })
    }

    @Test("A reply that needs a receipt of its record for its app is not lost: a retry stores it as one run would")
    func replyNeedsItsRecord() async throws {
        let known = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let large = try Self.forged(
            "5300090000002", created: ForgedInstant(2023, 8, 1), isSandbox: true, purchases: 200)
        let record = #"{"old":"\#(known)","new":"\#(large)","reply":\#(Self.bareReply(of: "5300090000002"))}"#
        let restrictions: [((inout MigrationOptions) -> Void, [String: Int])] = [
            ({ $0.limits.maximumSize = 20_000 }, ["tooLarge": 2]),
            ({ $0.environments = [.production] }, ["otherEnvironment": 2]),
            ({ $0.acceptsRecorded = false }, ["recordedNotAccepted": 1]),
        ]
        for (restrict, reasons) in restrictions {
            let (first, files) = try await Self.expectRetryLikeOneRun(record, restrict: restrict)
            #expect(first.migrated == 1 && first.documentsQuarantinedByReason == reasons)
            #expect(try Self.copies(files) == ["\(Self.appId) Sandbox recorded"])
        }
    }

    @Test("A retry without options reads all columns that had receipts, and no other")
    func retryOfSeveralColumns() async throws {
        let table = """
            user_id;old;receipt;new
            u1;\(try Self.receipt());\(try Self.receipt("ios6-v3-production"));\(try Self.receipt("non-renewing"))

            """
        func migration(_ trust: TrustPolicy, _ columns: [String]) -> StoreMigration {
            StoreMigration(
                options: StoreMigration.Options(
                    migration: MigrationOptions(trust: trust, receiptColumns: columns), date: Self.date))
        }
        let trust = try FixtureTrust.withIntermediates()
        let (summary, files) = try await Self.migrated(
            table, name: "table.csv", migration(.apple, ["old", "new"]), retry: migration(trust, []))
        #expect(summary.records.migratedByKind == ["appReceipt": 1])
        let (_, direct) = try await Self.migrated(table, name: "table.csv", migration(trust, ["new", "old"]))
        #expect(try StoreMigrationTests.rows(files, "quarantine").isEmpty)
        #expect(files["transactions.ndjson"] == direct["transactions.ndjson"])
    }

    @Test("A retry knows that the quotes in a table of MySQL are parts of its values")
    func retryWithoutQuotes() async throws {
        let table = "konto\tsigned_up\treceipt\n\"k1\t2020\t\(try Self.receipt())\nk2\t2021\t\(try Self.receipt())\n"
        let first = try Self.migration(
            trust: .apple, user: "konto", carry: ["signed_up"],
            table: TableOptions(dialect: .mysql, delimiter: "\t"))
        let (summary, files) = try await Self.migrated(
            table, name: "table.txt", first, retry: try Self.migration())
        #expect(summary.records.migrated == 2)
        #expect(try Self.users(files).keys.sorted() == ["\"k1", "k2"])
    }

    @Test("A retry with a dialect reads the rows in it that did not fit, and no others", arguments: [false, true])
    func retryInOtherDialect(isWider: Bool) async throws {
        let receipt = try Self.receipt()
        let plain = (1...200).map { "u\($0),\(receipt),C:\\new\n" }.joined()
        // Refused as too wide, or because of the quote after a backslash.
        let note = isWider ? "a\\\",\\\"b" : "a\\\"b"
        let escaped = (201...210).map { "\"u\($0)\",\"\(receipt)\",\"\(note)\"\n" }.joined()
        let table = "user_id,receipt,note\n\(plain)\(escaped)"
        @inline(never)
        func migration(_ trust: TrustPolicy? = nil, _ table: TableOptions = TableOptions()) throws -> StoreMigration {
            try Self.migration(trust: trust, user: "user_id", carry: ["note"], table: table)
        }
        let mysql = TableOptions(dialect: .mysql)
        let (summary, files) = try await Self.migrated(
            table, name: "table.csv", try migration(.apple), retry: try migration(nil, mysql)
        ) { store in
            let before = try await store.quarantine(after: nil, limit: 1_000)
            // A dialect in which they do not fit either leaves the lines as they are.
            let other = try await migration(.apple, TableOptions(delimiter: "|")).retry(store)
            #expect(other.records.quarantinedByReason[isWider ? "columnCount" : "unterminatedQuote"] == 10)
            #expect(try await store.quarantine(after: nil, limit: 1_000) == before)
            // A row that is quarantined again keeps the dialect in which it fits.
            let strict = try await migration(.apple, mysql).retry(store)
            #expect(strict.records.quarantined == 210 && strict.records.quarantinedByReason.count == 1)
        }
        #expect(summary.records.migrated == 210)
        #expect(try StoreMigrationTests.rows(files, "quarantine").isEmpty)
        let users = try Self.users(files)
        #expect(users.count == 210)
        #expect(users["u1"]?.first?["note"]?.string == "C:\\new")
        #expect(users["u210"]?.first?["note"]?.string == (isWider ? "a\",\"b" : "a\"b"))
    }

    @Test(
        "A retry with a dialect divides a line with several rows, or leaves the whole line", arguments: [false, true])
    func retryOfJoinedRows(isDamaged: Bool) async throws {
        let receipt = try Self.receipt()
        let extra = isDamaged ? ";z" : ""
        let rows = ["k1;\(receipt);\"open", "k2;\(receipt);x", "k3;\(receipt);\"y\"\(extra)"]
        let table = "konto;receipt;note\n\(rows.joined(separator: "\n"))\n"
        let (summary, files) = try await Self.migrated(
            table, name: "table.csv", try Self.migration(user: "konto"),
            retry: try Self.migration(table: TableOptions(dialect: .postgresql))
        ) { store in
            let lines = try await store.quarantine(after: nil, limit: 10)
            #expect(lines.count == 1)
        }
        #expect(summary.records.migrated == (isDamaged ? 0 : 3))
        #expect(try Self.users(files).keys.sorted() == (isDamaged ? [] : ["k1", "k2", "k3"]))
        let line = try StoreMigrationTests.rows(files, "quarantine").first
        #expect(line?["reason"]?.string == (isDamaged ? "columnCount" : nil))
        #expect(line?["table"]?["dialect"] == nil)
    }

    @Test("A retry with a dialect reads rows whose JSON is JSON only in it; one that is damaged in it too stays")
    func retryOfEscapedJSON() async throws {
        let receipt = try Self.receipt()
        let escaped = #"{\n"receipt":"\#(receipt)"}"#
        let table = "konto\tpayload\nC:\\x\t\(receipt)\nk2\t\(escaped)\nk3\t\(escaped.dropLast())\n"
        let (summary, files) = try await Self.migrated(
            table, name: "table.tsv", try Self.migration(user: "konto"),
            retry: try Self.migration(table: TableOptions(dialect: .mysql))
        ) { store in
            let lines = try await store.quarantine(after: nil, limit: 10)
            #expect(lines.count == 2)
        }
        #expect(summary.records.migrated == 1 && summary.records.quarantinedByReason == ["invalidJSON": 1])
        #expect(try Self.users(files).keys.sorted() == ["C:\\x", "k2"])
        let line = try StoreMigrationTests.rows(files, "quarantine").first
        #expect(line?["reason"]?.string == "invalidJSON" && line?["table"]?["dialect"] == nil)
    }

    @Test("A retry without options refuses a row with an open quote for the same reason, and its line stays")
    func retryOfOpenQuote() async throws {
        let receipt = try Self.receipt()
        let table = "konto;receipt;note\nk1;\(receipt);x\nk2;\(receipt);\"open\n"
        var before: [QuarantinedRecord] = []
        let (summary, files) = try await Self.migrated(
            table, name: "table.csv", try Self.migration(user: "konto"), retry: try Self.migration()
        ) { store in
            before = try await store.quarantine(after: nil, limit: 10)
            #expect(before.count == 1)
            let same = try await Self.migration().retry(store)
            #expect(same.records.quarantinedByReason == ["unterminatedQuote": 1])
            #expect(try await store.quarantine(after: nil, limit: 10) == before)
        }
        #expect(summary.records.migrated == 0 && summary.records.quarantinedByReason == ["unterminatedQuote": 1])
        #expect(try Self.users(files).keys.sorted() == ["k1"])
    }

    @Test("A retry with a dialect does not divide a line whose rows may be lines of a text")
    func retryOfText() async throws {
        let table = "konto;receipt;note\nk1;\(try Self.receipt());\"one\nthree; four; five\nsix; seven\";x\n"
        let (summary, files) = try await Self.migrated(
            table, name: "table.csv", try Self.migration(user: "konto"),
            retry: try Self.migration(table: TableOptions(dialect: .postgresql)))
        #expect(summary.records.quarantinedByReason == ["columnCount": 1])
        #expect(try Self.users(files).isEmpty)
    }

    @Test("A row that ends with an escaped line feed in the dialect of a retry is a part of a row, and stays")
    func retryOfPartOfRow() async throws {
        let receipt = try Self.receipt()
        let table = "konto;receipt;note\nk1;\(receipt);x\nk2;\(receipt);a\\;b\\\nmore\n"
        let (summary, files) = try await Self.migrated(
            table, name: "table.csv", try Self.migration(user: "konto", table: TableOptions(dialect: .csv)),
            retry: try Self.migration(table: TableOptions(dialect: .mysql)))
        #expect(summary.records.migrated == 0 && summary.records.quarantinedByReason == ["columnCount": 2])
        #expect(try Self.users(files).keys.sorted() == ["k1"])
    }

    @Test("A quarantined row of mysqldump is read again with its columns and escapes; a damaged one stays")
    func retryOfDump() async throws {
        let dump = """
            CREATE TABLE `r` (`konto` text, `signed_up` int, `receipt` text);
            INSERT INTO `r` VALUES ('k\\'1',2020,'\(try Self.receipt())'),('it's',2021,'\(try Self.receipt())');
            """
        let (summary, files) = try await Self.migrated(
            dump, name: "dump.sql", try Self.migration(trust: .apple, user: "konto", carry: ["signed_up"]),
            retry: try Self.migration())
        #expect(summary.records.migrated == 1)
        #expect(summary.records.quarantinedByReason == ["unterminatedQuote": 1])
        let users = try Self.users(files)
        #expect(users.keys.sorted() == ["k'1"] && users["k'1"]?.first?["signed_up"]?.string == "2020")
        let line = try StoreMigrationTests.rows(files, "quarantine").first
        #expect(line?["message"]?.string?.contains("byte 5") == true)
    }

    @Test("A retry with another user column uses that one, and a record that stays has the same line")
    func otherRetry() async throws {
        let table = "konto;account;receipt\nk1;a1;\(try Self.receipt())\nk2;a2;bm90aGluZw==\n"
        let first = try Self.migration(trust: .apple, user: "konto")
        var before: [QuarantinedRecord] = []
        let (again, _) = try await Self.migrated(
            table, name: "table.csv", first, retry: try Self.migration(trust: .apple)
        ) { store in
            before = try await store.quarantine(after: nil, limit: 10)
            let same = try await Self.migration(trust: .apple).retry(store)
            #expect(same.records.quarantined == 2)
            #expect(try await store.quarantine(after: nil, limit: 10) == before)
        }
        #expect(again.records.quarantined == 2 && before.count == 2)
        let (_, files) = try await Self.migrated(
            table, name: "table.csv", first, retry: try Self.migration(user: "account"))
        #expect(try Self.users(files).keys.sorted() == ["a1"])
    }

    @Test("After a retry, the quarantine still says that an input was cut off")
    func truncatedInput() async throws {
        let cut = "[{\"user_id\":\"u1\",\"receipt\":\"\(try Self.receipt())\"},"
        let (summary, files) = try await Self.migrated(
            cut, name: "cut.json", try Self.migration(), retry: try Self.migration())
        #expect(summary.records.quarantinedByReason == ["truncatedInput": 1])
        let line = try StoreMigrationTests.rows(files, "quarantine").first
        #expect(line?["message"]?.string?.contains("elements may be missing after element 1") == true)
    }

    @Test("A user beside a document inside the record counts, before one farther away")
    func nested() async throws {
        let rows = """
            {"rows":[{"user_id":"u1","plan":"a","receipt":"\(try Self.receipt())"},
            {"user_id":"u2","plan":"b","receipt":"\(try Self.receipt("non-renewing"))"}]}
            """
        let (_, files) = try await Self.migrated(rows, name: "rows.json", try Self.migration(carry: ["plan"]))
        let users = try Self.users(files)
        #expect(users.keys.sorted() == ["u1", "u2"] && users["u2"]?.first?["plan"]?.string == "b")
        let (_, owned) = try await Self.migrated(
            rows.replacing(#"{"rows""#, with: #"{"user_id":"owner","uid":"x","rows""#), name: "rows.json",
            try Self.migration())
        #expect(try Self.users(owned).keys.sorted() == ["u1", "u2"])
        // A better name counts before a nearer one: `uid` can be anything.
        let (_, outer) = try await Self.migrated(
            #"{"user_id":"owner","rows":[{"uid":"u1","receipt":"\#(try Self.receipt())"}]}"#, name: "rows.json",
            try Self.migration())
        #expect(try Self.users(outer).keys.sorted() == ["owner"])
    }

    @Test("A reply without purchases is filed as the app transaction that it states, with its user")
    func download() async throws {
        func reply(_ user: String, _ members: String) -> String {
            """
            {"user_id":"\(user)","reply":{"status":0,"environment":"Production","receipt":{"bundle_id":"\(appId)",\
            "original_application_version":"1.0",\(members)"in_app":[]}}}
            """
        }
        let appId = Self.appId
        let dates = #""original_purchase_date_ms":"1580000000000","receipt_creation_date_ms":"1590000000000","#
        let records = [reply("paid", dates), reply("also", ""), reply("again", "")].joined(separator: "\n")
        let (summary, files) = try await Self.migrated(records, try Self.migration())
        #expect(summary.records.migratedByKind == ["verifyReceiptReply": 3])
        #expect(try StoreMigrationTests.rows(files, "quarantine").isEmpty)
        let apps = try StoreMigrationTests.rows(files, "app_transactions")
        #expect(apps.count == 3)
        #expect(apps.allSatisfy { $0["originalApplicationVersion"]?.string == "1.0" })
        #expect(apps.allSatisfy { $0["evidence"]?.string == "recorded" && $0["environment"]?.string == "Production" })
        #expect(apps.compactMap { $0["originalPurchaseDate"]?.integer } == [1_580_000_000_000])
        let users = try StoreMigrationTests.rows(files, "customer_users")
        #expect(Set(users.compactMap { $0["userId"]?.string }) == ["paid", "also", "again"])
        #expect(Set(users.compactMap { $0["customer"]?.string }) == Set(apps.compactMap { $0["customer"]?.string }))
    }

    @Test("Each signed app transaction of a record has its own user")
    func usersOfSignedApps() async throws {
        let (first, second) = (try Self.signedApp("700000000000001"), try Self.signedApp("700000000000002"))
        let records = #"{"users":{"u1":{"app":"\#(first)"},"u2":{"app":"\#(second)"}}}"#
        let (summary, files) = try await Self.migrated(
            records, name: "export.json", try Self.migration(trust: try Self.trusting(), user: "users.*"))
        #expect(summary.records.migrated == 1 && summary.records.documentsQuarantined == 0)
        let users = try StoreMigrationTests.rows(files, "customer_users")
        #expect(users.compactMap { $0["userId"]?.string }.sorted() == ["u1", "u2"])
        #expect(Set(users.compactMap { $0["customer"]?.string }).count == 2)
    }

    @inline(never)
    private static func signedApp(_ id: String) throws -> String {
        try sign(
            AppTransaction {
                $0.receiptType = .sandbox
                $0.bundleId = appId
                $0.originalApplicationVersion = "1.0"
                $0.receiptCreationDate = 1_748_736_000_000
                $0.appTransactionId = id
            })
    }

    /// Signs a payload as the App Store does.
    private static func sign(_ payload: some Encodable) throws -> String {
        try TestSignedDataAuthority.standard.sign(payload: [UInt8](JSONEncoder().encode(payload)))
    }

    private static func trusting() throws -> TrustPolicy {
        TrustPolicy(additionalRoots: [
            TestSignedDataAuthority.standard.rootCertificate, try TestCertificateAuthority.rootDER,
        ])
    }

    private static func transaction(_ id: String) -> JWSTransactionDecodedPayload {
        JWSTransactionDecodedPayload {
            $0.originalTransactionId = id
            $0.transactionId = id
            $0.bundleId = appId
            $0.productId = "com.example.orchard.coins"
            $0.purchaseDate = 1_748_000_000_000
            $0.originalPurchaseDate = 1_748_000_000_000
            $0.quantity = 1
            $0.type = .consumable
            $0.inAppOwnershipType = .purchased
            $0.signedDate = 1_748_736_000_000
            $0.environment = .sandbox
        }
    }

    /// The original transaction ids of each user.
    private static func purchases(_ files: [String: [UInt8]]) throws -> [String: [String]] {
        var purchases: [String: [String]] = [:]
        for row in try StoreMigrationTests.rows(files, "customer_users") {
            let ids = (row["originalTransactionIds"]?.array ?? []).compactMap(\.string)
            purchases[row["userId"]?.string ?? "", default: []] += ids
        }
        return purchases
    }

    @Test(
        "In an array, each signed transaction, decoded one and row has the user beside it, not that of another element")
    func eachElement() async throws {
        let ids = [("u1", "2000000000000001"), ("u2", "2000000000000002")]
        let expected = ["u1": ["2000000000000001"], "u2": ["2000000000000002"]]
        let signed = try ids.map { #"{"user_id":"\#($0)","jws":"\#(try Self.sign(Self.transaction($1)))"}"# }
        let decoded = try ids.map { user, id in
            let json = String(decoding: try JSONEncoder().encode(Self.transaction(id)), as: UTF8.self)
            return #"{"user_id":"\#(user)","transaction":\#(json)}"#
        }
        let rows = ids.map { user, id in
            Self.row(id, #","user_id":"\#(user)","bundle_id":"\#(Self.appId)","environment":"Sandbox""#)
        }
        for elements in [signed, decoded, rows] {
            for text in ["[\(elements.joined(separator: ","))]", #"{"rows":[\#(elements.joined(separator: ","))]}"#] {
                for user in [nil, "user_id"] {
                    let migration = try Self.migration(trust: try Self.trusting(), user: user)
                    let (_, files) = try await Self.migrated(text, name: "record.json", migration)
                    #expect(try Self.purchases(files) == expected, "\(text.prefix(40))")
                }
            }
        }
    }

    @Test("Of several decoded transactions in a record, the one that cannot be filed is quarantined, and no other")
    func unfiledTransaction() async throws {
        let ids: [(String, String?)] = [
            ("2000000000000001", Self.appId), ("2000000000000002", nil), ("2000000000000003", Self.appId),
        ]
        let decoded = try ids.map { id, app in
            var transaction = Self.transaction(id)
            transaction.bundleId = app
            return String(decoding: try JSONEncoder().encode(transaction), as: UTF8.self)
        }
        let (summary, files) = try await Self.migrated(
            #"{"user_id":"u","items":[\#(decoded.joined(separator: ","))]}"#, name: "record.json", try Self.migration())
        #expect(summary.records.migrated == 1 && summary.records.documentsQuarantinedByReason == ["notFiled": 1])
        let lines = try StoreMigrationTests.rows(files, "quarantine")
        #expect(lines.first?["original"]?.string?.contains("2000000000000002") == true)
        #expect(try StoreMigrationTests.rows(files, "transactions").count == 2)
        #expect(try Self.purchases(files)["u"]?.sorted() == ["2000000000000001", "2000000000000003"])
    }

    @Test("The same receipt or transaction beside two users of one record is claimed by both, which is a conflict")
    func copies() async throws {
        let receipt = try Self.receipt()
        let jws = try Self.sign(Self.transaction("2000000000000001"))
        let json = String(decoding: try JSONEncoder().encode(Self.transaction("2000000000000001")), as: UTF8.self)
        for document in [#""receipt":"\#(receipt)""#, #""jws":"\#(jws)""#, #""transaction":\#(json)"#] {
            let text = #"{"rows":[{"user_id":"u1",\#(document)},{"user_id":"u2",\#(document)}]}"#
            let (_, files) = try await Self.migrated(
                text, name: "record.json", try Self.migration(trust: try Self.trusting()))
            #expect(try Self.users(files).keys.sorted() == ["u1", "u2"], "\(document.prefix(20))")
            #expect(try !StoreMigrationTests.rows(files, "conflicts").isEmpty)
        }
    }

    @Test(
        "A word in place of null names no user",
        arguments: ["NULL", "null", #"\\N"#, "nil", "None", "undefined", "nan"])
    func nullWords(word: String) async throws {
        let records = """
            {"user_id":"\(word)","receipt":"\(try Self.receipt())"}
            {"user_id":"u2","receipt":"\(try Self.receipt("non-renewing"))"}
            """
        let (summary, files) = try await Self.migrated(records, try Self.migration())
        #expect(summary.records.migrated == 2)
        #expect(try Self.users(files).keys.sorted() == ["u2"])
        let (empty, _) = try await Self.migrated(#"{"receipt":"\#(word)"}"#, try Self.migration())
        #expect(empty.records.quarantinedByReason == ["empty": 1])
    }

    @Test("An object that describes the user names the user by its id; one without an id is counted")
    func userObjects() async throws {
        let receipts = try ["auto-renewable", "non-renewing", "consumable", "non-consumable"].map(Self.receipt)
        let records = """
            {"user":{"id":"u1","email":"a@example.com"},"receipt":"\(receipts[0])"}
            {"data":{"user":{"_id":7,"name":"x"},"receipt":"\(receipts[1])"}}
            {"user":{"objectId":"u3"},"receipt":"\(receipts[2])"}
            {"user":["u4"],"receipt":"\(receipts[3])"}
            """
        for user in [nil, "user"] {
            let (summary, files) = try await Self.migrated(records, try Self.migration(user: user))
            #expect(summary.records.migrated == 4 && summary.records.notes["userNotRead"] == 1)
            #expect(try Self.users(files).keys.sorted() == ["7", "u1", "u3"])
        }
    }

    @Test("Exports of databases with types around their values give the user and the date beside a document")
    func databaseJSON() async throws {
        let records = """
            {"Item":{"user_id":{"S":"u1"},"receipt":{"S":"\(try Self.receipt())"}}}
            {"user":{"__type":"Pointer","className":"_User","objectId":"u2"},"receipt":"\(try Self.receipt("non-renewing"))"}
            {"user_id":{"$oid":"5f1b2c3d"},"bundle_id":"\(Self.appId)","environment":"Sandbox",\
            "verified_at":{"$date":{"$numberLong":"1709287200000"}},"row":\(Self.row("530001"))}
            """
        let (summary, files) = try await Self.migrated(records, try Self.migration())
        #expect(summary.records.migrated == 3 && summary.records.unreadColumns.isEmpty)
        #expect(try Self.users(files).keys.sorted() == ["5f1b2c3d", "u1", "u2"])
        let row = try StoreMigrationTests.rows(files, "transactions").first { $0["transactionId"]?.string == "530001" }
        #expect(row?["asOf"]?.integer == 1_709_287_200_000)
    }

    @Test("The same receipt before and after a change of its row is claimed by both users")
    func changedRow() async throws {
        let receipt = try Self.receipt()
        let change = """
            {"before":{"user_id":"old","receipt":"\(receipt)"},"after":{"user_id":"new","receipt":"\(receipt)"}}
            """
        let (summary, files) = try await Self.migrated(change, try Self.migration())
        #expect(summary.records.migrated == 1)
        #expect(try Self.users(files).keys.sorted() == ["new", "old"])
        #expect(try !StoreMigrationTests.rows(files, "conflicts").isEmpty)
    }

    @Test("A mistyped user column or --carry of NDJSON stops at once and names the member that is there")
    func typing() async throws {
        let records = try (1...3).map { #"{"user_id":"u\#($0)","country":"US","receipt":"\#(try Self.receipt())"}"# }
            .joined(separator: "\n")
        for (migration, name) in [
            (try Self.migration(user: "usr_id"), "user_id"), (try Self.migration(carry: ["contry"]), "country"),
            (try Self.migration(user: "userID"), "user_id"),
        ] {
            let error = await #expect(throws: MigrationError.self) { try await Self.migrated(records, migration) }
            #expect(error?.message.contains("but the member \(name)") == true)
        }
        // What another option names is there, and no mistake for this one.
        let tagged = records.replacing("country", with: "tag1")
        let (tags, _) = try await Self.migrated(tagged, try Self.migration(carry: ["tag1", "tag2"]))
        #expect(tags.records.migrated == 3)
        // A member that only later records have is no mistake. The summary names what no record has.
        let (summary, _) = try await Self.migrated(records, try Self.migration(user: "konto"))
        #expect(summary.records.migrated == 3 && summary.records.missing(["konto", "country"]) == ["konto"])
    }

    @Test(
        "Names differ by a typing error if at most two letters do",
        arguments: [
            ("user_id", "usr_id", true), ("userId", "user_id", true), ("country", "contry", true),
            ("uid", "gid", false), ("user_id", "app_id", false), ("konto", "account", false), ("id", "ip", false),
            ("КЛИЕНТ_ID", "клиентId", true),
        ])
    func names(_ left: String, _ right: String, _ isTyping: Bool) {
        #expect(SimilarNames.differByTyping(left, right) == isTyping)
        #expect(SimilarNames.differByTyping(right, left) == isTyping)
    }

    @Test("A column of users without a value gives way to one with a value")
    func emptyColumn() async throws {
        let records = """
            {"user_id":null,"account_id":"a7","receipt":"\(try Self.receipt())"}
            {"user_id":"u1","account_id":"a8","receipt":"\(try Self.receipt("consumable"))"}
            """
        let (_, files) = try await Self.migrated(records, try Self.migration())
        #expect(Set(try Self.users(files).keys) == ["a7", "u1"])
    }

    @Test("Users whose ids differ only in the Unicode form of a letter are two, and a conflict")
    func unicodeForms() async throws {
        let receipt = try Self.receipt("consumable")
        let records = """
            {"user_id":"caf\\u00e9","receipt":"\(receipt)"}
            {"user_id":"cafe\\u0301","receipt":"\(receipt)"}
            """
        let (_, files) = try await Self.migrated(records, try Self.migration())
        let conflicts = try StoreMigrationTests.rows(files, "conflicts")
        #expect(try StoreMigrationTests.rows(files, "customer_users").count == 2)
        #expect(!conflicts.isEmpty && conflicts.allSatisfy { $0["userIds"]?.array?.count == 2 })
    }

    @Test("The id of a row whose date cannot be read can be completed")
    func unreadableDate() async throws {
        let records = """
            user_id,bundle_id,environment,product_id,transaction_id,original_transaction_id,purchase_date
            u1,\(Self.appId),Production,coins,530001234567000,530001234567000,2020-07-22T17:39:08
            """
        let (summary, _) = try await Self.migrated(records, name: "rows.csv", try Self.migration()) { store in
            let page = try await BareTransactionIds().page(of: store, after: nil)
            #expect(page?.ids == ["530001234567000"])
        }
        #expect(summary.records.quarantinedByReason == ["badDate": 1])
    }

    // MARK: Elements of arrays

    @Test("Beside a document, an element of an array that is none is quarantined alone, and a bare id can be completed")
    func elements() async throws {
        let record = """
            {"user_id":"u","receipts":[{"receipt":"\(try Self.receipt())"},{"receipt":"see ticket 4711"},
            {"transaction_id":"530001234567000"},"530009999999999",null,""]}
            """
        let (summary, _) = try await Self.migrated(record, name: "record.json", try Self.migration()) { store in
            let page = try await BareTransactionIds().page(of: store, after: nil)
            #expect(page?.ids.sorted() == ["530001234567000", "530009999999999"])
        }
        #expect(summary.records.migrated == 1)
        #expect(summary.records.documentsQuarantinedByReason == ["bareTransactionId": 2, "unknownForm": 1])
    }

    // MARK: What documents do not state

    private static func row(_ id: String, _ more: String = "") -> String {
        """
        {"product_id":"com.example.orchard.coins","transaction_id":"\(id)","original_transaction_id":"\(id)",\
        "purchase_date_ms":"1700000000000","quantity":"1"\(more)}
        """
    }

    private static let defaults = DocumentDefaults(bundleId: appId, environment: .production)

    /// The app, the environment and the id of each transaction in a store, in the order of the ids.
    @inline(never)
    private static func scopes(_ files: [String: [UInt8]]) throws -> [String] {
        try StoreMigrationTests.rows(files, "transactions").map { row in
            ["transactionId", "bundleId", "environment"].map { row[$0]?.string ?? "-" }.joined(separator: " ")
        }.sorted()
    }

    @Test("The caller's defaults are the app and the environment of documents that do not state them")
    func defaults() async throws {
        let table = """
            user_id,product_id,transaction_id,original_transaction_id,purchase_date_ms,environment
            u1,com.example.orchard.coins,530001,530001,1700000000000,
            """
        let records = """
            {"user_id":"u1","row":\(Self.row("530001"))}
            {"user_id":"u1","reply":{"latest_receipt_info":[\(Self.row("530001"))]}}
            {"user_id":"u1","rows":[\(Self.row("530001")),\(Self.row("530001"))]}
            {"user_id":"u1","transactionId":"530001","originalTransactionId":"530001","productId":"com.example.orchard.coins",\
            "purchaseDate":1700000000000,"type":"Consumable","quantity":1}
            """
        for (text, name) in [(table, "rows.csv"), (records, "records.ndjson")] {
            let (without, _) = try await Self.migrated(text, name: name, try Self.migration())
            #expect(without.records.quarantinedByReason == ["notFiled": without.records.recordsRead])
            let (summary, files) = try await Self.migrated(
                text, name: name, try Self.migration(defaults: Self.defaults))
            #expect(summary.records.migrated == without.records.recordsRead)
            #expect(try Self.scopes(files) == ["530001 \(Self.appId) Production"])
            #expect(try Self.purchases(files) == ["u1": ["530001"]])
        }
    }

    @Test("A value of a document, a column or a receipt of the record counts, not the default of the caller")
    func statedBeforeDefaults() async throws {
        let other = DocumentDefaults(bundleId: "com.example.other", environment: .production)
        let receipt = try Self.forged("5300090000001", created: ForgedInstant(2023, 8, 1), isSandbox: true)
        let apart = "530009000000401"
        let records = [
            """
            {"bundle_id":"\(Self.appId)","environment":"Sandbox","row":\(Self.row(apart))}
            """,
            """
            {"reply":{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\(Self.appId)","in_app":[\(Self.row(apart))]}}}
            """,
            """
            {"receipt":"\(receipt)","reply":{"latest_receipt_info":[\(Self.row(apart))]}}
            """,
            """
            {"receipt":"\(receipt)","product_id":"coins","transaction_id":"\(apart)","purchase_date_ms":"1700000000000"}
            """,
        ]
        for record in records {
            let (_, files) = try await Self.migrated(
                record, name: "record.json", try Self.migration(trust: try Self.trusting(), defaults: other))
            #expect(try Self.scopes(files).contains("\(apart) \(Self.appId) Sandbox"), "\(record.prefix(40))")
            #expect(try !Self.scopes(files).contains { $0.contains("Production") })
        }
    }

    @Test("A row with a transaction id of the sandbox is in the sandbox, also if the default is production")
    func sandboxIdBesideDefault() async throws {
        let id = "2000000000000401"
        let migration = try Self.migration(defaults: Self.defaults)
        let (_, files) = try await Self.migrated(Self.row(id), name: "row.json", migration)
        #expect(try Self.scopes(files) == ["\(id) \(Self.appId) Sandbox"])
        let folder = try TemporaryFolder()
        let input = folder.file("row.json")
        try Data(Self.row(id).utf8).write(to: URL(fileURLWithPath: input))
        let lines = try await streamRecords(
            MigrationOptions(documentDefaults: Self.defaults), inputs: [input], to: folder.file("lines"))
        #expect(lines.notes["environmentContradiction"] == nil)
        // Decoded JSON is treated in the same way. A receipt of another environment in the record changes nothing.
        let receipt = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let beside = folder.file("beside.json")
        try Data(#"{"receipt":"\#(receipt)","reply":{"latest_receipt_info":[\#(Self.row(id))]}}"#.utf8)
            .write(to: URL(fileURLWithPath: beside))
        let both = try await streamRecords(
            MigrationOptions(trust: try Self.trusting()), inputs: [beside], to: folder.file("both"))
        #expect(both.notes["environmentContradiction"] == nil && both.documentsQuarantined == 0)
        let (_, decoded) = try await Self.migrated(Self.decoded(id), name: "record.json", migration)
        #expect(try Self.scopes(decoded) == ["\(id) \(Self.appId) Sandbox"])
        var renewal = Self.sandboxRenewal(of: id, "com.example.orchard.apple")
        renewal.environment = nil
        let text = String(decoding: try JSONEncoder().encode(renewal), as: UTF8.self)
        let (_, renewals) = try await Self.migrated(text, name: "record.json", migration)
        let stated = try StoreMigrationTests.rows(renewals, "renewal_infos").map { $0["environment"]?.string }
        #expect(stated == ["Sandbox"])
    }

    /// A decoded StoreKit 2 transaction that states neither its app nor its environment.
    private static func decoded(_ id: String, original: String? = nil, type: String = "Consumable") -> String {
        """
        {"transactionId":"\(id)","originalTransactionId":"\(original ?? id)","productId":"book.0",\
        "purchaseDate":1700000000000,"type":"\(type)","quantity":1}
        """
    }

    @Test("A default does not count for rows of a record with a sandbox transaction id, nor in a retry")
    func defaultsBesideSandboxId() async throws {
        let id = "2000000000000401"
        let rows = [Self.row("530001"), Self.row(id)]
        let records = [
            #"{"reply":{"latest_receipt_info":[\#(rows.joined(separator: ","))]}}"#,
            #"{"a":{"latest_receipt_info":[\#(rows[0])]},"b":{"latest_receipt_info":[\#(rows[1])]}}"#,
            #"{"a":\#(Self.decoded("530001")),"b":\#(Self.decoded(id))}"#,
        ]
        let migration = try Self.migration(defaults: Self.defaults)
        let sandbox = try Self.migration(defaults: DocumentDefaults(bundleId: Self.appId, environment: .sandbox))
        for record in records {
            for retry in [nil, migration] {
                let (summary, files) = try await Self.migrated(record, name: "record.json", migration, retry: retry)
                #expect(summary.records.documentsQuarantinedByReason == ["notFiled": 1], "\(record.prefix(60))")
                #expect(try Self.scopes(files) == ["\(id) \(Self.appId) Sandbox"], "\(record.prefix(60))")
            }
            let (_, files) = try await Self.migrated(record, name: "record.json", sandbox)
            #expect(try Self.scopes(files) == [id, "530001"].map { "\($0) \(Self.appId) Sandbox" })
        }
    }

    @Test("Decoded StoreKit 2 JSON without an app or environment gets those of the record's receipt, as rows do")
    func decodedBesideReceipt() async throws {
        let id = "5300090000001"
        let receipt = try Self.forged(id, created: ForgedInstant(2023, 8, 1), isSandbox: true)
        let decoded = Self.decoded(Self.copyId, original: id + "0", type: "Non-Consumable")
        let migration = try Self.migration(trust: try Self.trusting())
        let record = #"{"user_id":"u1","receipt":"\#(receipt)","decoded":\#(decoded)}"#
        let (summary, files) = try await Self.migrated(record, name: "record.json", migration)
        #expect(summary.records.documentsQuarantined == 0)
        #expect(try Self.copies(files) == ["\(Self.appId) Sandbox recorded"])
        #expect(try Self.purchases(files)["u1"]?.contains(id + "0") == true)
        // Of several receipts, the one that shares a purchase decides, also if it waits for other options.
        let known = try Self.forged("5300090000003", created: ForgedInstant(2023, 9, 1))
        let large = try Self.forged(id, created: ForgedInstant(2023, 8, 1), isSandbox: true, purchases: 200)
        let (first, waited) = try await Self.expectRetryLikeOneRun(
            #"{"old":"\#(known)","new":"\#(large)","decoded":\#(decoded)}"#
        ) { $0.limits.maximumSize = 20_000 }
        #expect(first.migrated == 1 && first.documentsQuarantinedByReason == ["tooLarge": 2])
        #expect(try Self.copies(waited) == ["\(Self.appId) Sandbox recorded"])
        let renewal = try JSONEncoder().encode(Self.sandboxRenewal(of: id + "0", "com.example.orchard.apple"))
        let (_, renewals) = try await Self.migrated(
            #"{"receipt":"\#(receipt)","renewal":\#(String(decoding: renewal, as: UTF8.self))}"#, name: "record.json",
            migration)
        let stated = try StoreMigrationTests.rows(renewals, "renewal_infos").map { $0["bundleId"]?.string }
        #expect(stated == [Self.appId])
    }

    @Test("A default does not replace a value that cannot be read, or an unknown environment in a document")
    func defaultsBesideUnreadValues() async throws {
        let columns = DocumentColumns([.bundleId: "app"])
        for record in [
            #"{"env":"staging","row":\#(Self.row("530001"))}"#, #"{"app":"the orchard","row":\#(Self.row("530001"))}"#,
            #"{"reply":{"environment":"Moon","latest_receipt_info":[\#(Self.row("530001"))]}}"#,
        ] {
            let (summary, _) = try await Self.migrated(
                record, name: "record.json", try Self.migration(columns: columns, defaults: Self.defaults))
            #expect(summary.records.quarantinedByReason == ["notFiled": 1], "\(record.prefix(40))")
        }
    }

    @Test("A default does not count while a receipt of the record waits for other options")
    func defaultsBesideUnverifiedReceipt() async throws {
        let large = try Self.forged(
            "5300090000002", created: ForgedInstant(2023, 8, 1), isSandbox: true, purchases: 200)
        let record = #"{"receipt":"\#(large)","reply":\#(Self.bareReply(of: "5300090000002"))}"#
        let (first, files) = try await Self.expectRetryLikeOneRun(record) {
            $0.limits.maximumSize = 20_000
            $0.documentDefaults = Self.defaults
        }
        #expect(first.quarantinedByReason == ["tooLarge": 1])
        #expect(try Self.copies(files) == ["\(Self.appId) Sandbox recorded"])
    }

    @Test("A default does not count in a stream either, if a receipt of the record was not verified")
    func defaultsBesideUnverifiedReceiptOfStream() async throws {
        let receipt = try Self.forged("5300090000002", created: ForgedInstant(2023, 8, 1), isSandbox: true)
        let folder = try TemporaryFolder()
        let input = folder.file("record.json")
        let record = #"{"receipt":"\#(receipt)","reply":\#(Self.bareReply(of: "5300090000002"))}"#
        try Data(record.utf8).write(to: URL(fileURLWithPath: input))
        let lines = folder.file("lines")
        // The root of the receipt is missing.
        let summary = try await streamRecords(
            MigrationOptions(documentDefaults: Self.defaults), inputs: [input], to: lines)
        #expect(summary.migrated == 1 && summary.documentsQuarantinedByReason == ["untrustedRoot": 1])
        let text = try String(contentsOfFile: lines + "/transactions.ndjson", encoding: .utf8)
        #expect(text.contains(Self.copyId) && !text.contains("--default-"), "\(text)")
    }

    /// Renewal information of the sandbox. It states no app, because Apple's has none.
    private static func sandboxRenewal(of id: String, _ product: String) -> JWSRenewalInfoDecodedPayload {
        JWSRenewalInfoDecodedPayload {
            $0.originalTransactionId = id
            $0.productId = product
            $0.autoRenewProductId = product
            $0.autoRenewStatus = .on
            $0.signedDate = 1_748_736_000_000
            $0.environment = .sandbox
        }
    }

    @Test("A default does not count where another document of the record states another environment, nor in a retry")
    func defaultsBesideOtherScopes() async throws {
        let production = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let sandbox = try Self.forged("5300090000002", created: ForgedInstant(2023, 8, 1), isSandbox: true)
        let renewal = try Self.sign(Self.sandboxRenewal(of: "530001", "com.example.orchard.coins"))
        let rows = "[\(Self.row("530001"))]"
        let decoded = Self.decoded("530001")
        let reply = """
            "status":0,"environment":"Sandbox","receipt":{"bundle_id":"\(Self.appId)","in_app":[\(Self.row("530003"))]}
            """
        let records = [
            #"{"renewal":"\#(renewal)","reply":{"latest_receipt_info":\#(rows)}}"#,
            #"{"a":"\#(production)","b":"\#(sandbox)","reply":{"latest_receipt_info":\#(rows)}}"#,
            #"{"a":"\#(production)","b":"\#(sandbox)","decoded":\#(decoded)}"#, "{\(reply),\"history\":\(rows)}",
            #"{"rows":\#(rows),"reply":{\#(reply)}}"#,
        ]
        let migration = try Self.migration(trust: try Self.trusting(), defaults: Self.defaults)
        for record in records {
            for retry in [nil, migration] {
                let (summary, files) = try await Self.migrated(record, name: "record.json", migration, retry: retry)
                #expect(summary.records.migrated == 1, "\(record.suffix(100))")
                #expect(summary.records.documentsQuarantinedByReason == ["notFiled": 1], "\(record.suffix(100))")
                #expect(try !Self.scopes(files).contains { $0.hasPrefix("530001 ") }, "\(record.suffix(100))")
            }
        }
    }

    @Test("A default counts beside documents of the same app and environment, also for decoded StoreKit 2 JSON")
    func defaultsBesideTheSameScope() async throws {
        let receipt = try Self.forged("5300090000001", created: ForgedInstant(2023, 9, 1))
        let record = """
            {"receipt":"\(receipt)","decoded":{"transactionId":"530001","originalTransactionId":"530001",\
            "productId":"com.example.orchard.coins","purchaseDate":1700000000000,"type":"Consumable","quantity":1}}
            """
        let migration = try Self.migration(trust: try Self.trusting(), defaults: Self.defaults)
        let (_, files) = try await Self.migrated(record, name: "record.json", migration)
        #expect(try Self.scopes(files).contains("530001 \(Self.appId) Production"))
    }

    @Test("A retry does not file rows that contradict a receipt of their record")
    func retryOfContradiction() async throws {
        let id = "5300090000001"
        let receipt = try Self.forged(id, created: ForgedInstant(2023, 8, 1), isSandbox: true)
        let row = Self.row(id + "0")
        let stated = """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.other","in_app":[\(row)]}}
            """
        let other = DocumentDefaults(bundleId: "com.example.other", environment: .production)
        let migration = try Self.migration(trust: try Self.trusting(), defaults: other)
        for reply in [#"{"latest_receipt_info":[\#(row)]}"#, stated] {
            let record = #"{"receipt":"\#(receipt)","reply":\#(reply)}"#
            for retry in [nil, migration] {
                let (summary, files) = try await Self.migrated(record, name: "record.json", migration, retry: retry)
                #expect(summary.records.documentsQuarantinedByReason == ["contradictsSignedReceipt": 1])
                #expect(try Self.scopes(files) == ["\(id)0 \(Self.appId) Sandbox"])
            }
        }
    }

    @Test("A retry with defaults files rows that were quarantined without them, and a quarantined record keeps them")
    func retryWithDefaults() async throws {
        let table = """
            user_id,product_id,transaction_id,original_transaction_id,purchase_date_ms
            u1,com.example.orchard.coins,530001,530001,1700000000000
            """
        let reply = #"{"user_id":"u1","latest_receipt_info":[\#(Self.row("530001"))]}"#
        for (text, name) in [(table, "rows.csv"), (reply, "reply.json")] {
            let (summary, files) = try await Self.migrated(
                text, name: name, try Self.migration(), retry: try Self.migration(defaults: Self.defaults))
            #expect(summary.records.migrated == 1)
            #expect(try Self.scopes(files) == ["530001 \(Self.appId) Production"])
        }
        // The first run knows only the app, and the retry only the environment.
        let (summary, files) = try await Self.migrated(
            table, name: "rows.csv", try Self.migration(defaults: DocumentDefaults(bundleId: Self.appId)),
            retry: try Self.migration(defaults: DocumentDefaults(environment: .sandbox)))
        #expect(summary.records.migrated == 1)
        #expect(try Self.scopes(files) == ["530001 \(Self.appId) Sandbox"])
    }

    @Test("Other defaults are another migration, which reads the records again; the same defaults continue")
    func defaultsOfARerun() async throws {
        let folder = try TemporaryFolder()
        let input = folder.file("row.json")
        try Data(Self.row("530001").utf8).write(to: URL(fileURLWithPath: input))
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        let runs: [(DocumentDefaults, Int, Int)] = [
            (DocumentDefaults(), 0, 0), (Self.defaults, 0, 1), (Self.defaults, 1, 1),
            (DocumentDefaults(bundleId: Self.appId, environment: .sandbox), 0, 1),
        ]
        for (defaults, before, migrated) in runs {
            let summary = try await Self.migration(defaults: defaults).run(inputs: [input], into: store)
            #expect(summary.recordsBefore == before && summary.records.migrated == migrated)
        }
        try await store.close()
    }

    @Test("Columns give rows and replies the app, environment, account token and date that they do not state")
    func surroundings() async throws {
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        let records = """
            {"bundle_id":"\(Self.appId)","environment":"production","account_token":"\(token)",\
            "recorded_at":"2024-03-01 10:00:00+00","row":\(Self.row("530001"))}
            {"bundle_id":"\(Self.appId)","environment":"Sandbox","latest_receipt_info":[\(Self.row("530002"))]}
            """
        let (summary, files) = try await Self.migrated(records, try Self.migration())
        #expect(summary.records.migrated == 2 && summary.records.documentsQuarantined == 0)
        let rows = try StoreMigrationTests.rows(files, "transactions")
        let first = try #require(rows.first { $0["transactionId"]?.string == "530001" })
        #expect(first["environment"]?.string == "Production" && first["bundleId"]?.string == Self.appId)
        #expect(first["appAccountToken"]?.string == token && first["asOf"]?.integer == 1_709_287_200_000)
        #expect(first["evidence"]?.string == "recorded")
        #expect(rows.count == 2 && rows.contains { $0["environment"]?.string == "Sandbox" })
    }

    @Test("A value of a document counts, not the column; a date before its newest purchase does not count")
    func statedFirst() async throws {
        let records = """
            {"app":"com.example.other","env":"sandbox","recorded_at":1600000000,"receipt":{"environment":"Production",\
            "status":0,"receipt":{"bundle_id":"\(Self.appId)","in_app":[\(Self.row("530003"))]}}}
            """
        let columns = DocumentColumns([.bundleId: "app", .environment: "env"])
        let (_, files) = try await Self.migrated(records, name: "record.json", try Self.migration(columns: columns))
        let row = try #require(try StoreMigrationTests.rows(files, "transactions").first)
        #expect(row["bundleId"]?.string == Self.appId && row["environment"]?.string == "Production")
        #expect(row["asOf"]?.integer == 1_700_000_000_000)
    }

    @Test("A date, an environment or an app in an unknown form is counted and does not count")
    func unreadColumns() async throws {
        let records = """
            {"bundle_id":"\(Self.appId)","environment":"Sandbox","recorded_at":"March 1, 2024","row":\(Self.row("530001"))}
            {"bundle_id":"\(Self.appId)","env":"staging","recorded_at":{"at":1},"row":\(Self.row("530002"))}
            {"app":"the orchard","app_id":17,"environment":"Sandbox","recorded_at":null,"row":\(Self.row("530003"))}
            """
        let migration = try Self.migration(columns: DocumentColumns([.bundleId: "app"]))
        let (summary, _) = try await Self.migrated(records, migration)
        let unread = summary.records.unreadColumns.map { "\($0.role?.rawValue ?? "user") \($0.count)" }
        #expect(unread == ["bundleId 1", "environment 1", "recordedAt 2"])
        #expect(summary.records.notes["recordedAtNotRead"] == 2)
        let (named, _) = try await Self.migrated(records, try Self.migration())
        let others = named.records.unreadColumns.map { "\($0.role?.rawValue ?? "user") \($0.count)" }
        #expect(others == ["environment 1", "recordedAt 2"])
    }

    @Test("An unknown environment that a document states is not replaced by a column")
    func unknownEnvironment() async throws {
        let record = """
            {"env":"sandbox","receipt":{"environment":"Moon","status":0,\
            "receipt":{"bundle_id":"\(Self.appId)","in_app":[\(Self.row("530003"))]}}}
            """
        let columns = DocumentColumns([.environment: "env"])
        let (summary, _) = try await Self.migrated(record, name: "record.json", try Self.migration(columns: columns))
        #expect(summary.records.quarantinedByReason == ["notFiled": 1])
    }

    @Test("A row that cannot be filed says what it lacks, and the option that names a column with it")
    func notFiled() async throws {
        for (columns, app, environment) in [
            ("", true, true), (#","bundle_id":"\#(Self.appId)""#, false, true), (#","env":"sandbox""#, true, false),
        ] {
            let (_, files) = try await Self.migrated(
                #"{"a":1\#(columns),"row":\#(Self.row("530003"))}"#, try Self.migration())
            let line = try #require(try StoreMigrationTests.rows(files, "quarantine").first)
            let message = line["message"]?.string ?? ""
            #expect(line["reason"]?.string == "notFiled")
            #expect(message.contains("--bundle-id-column") == app, "\(message)")
            #expect(message.contains("--environment-column") == environment, "\(message)")
            #expect(message.contains("--default-bundle-id") == app, "\(message)")
            #expect(message.contains("--default-environment") == environment, "\(message)")
        }
    }

    @Test(
        "A version is no bundle id, and the bundle id of an App ID is after the id of the team",
        arguments: [
            ("3.4.1", nil), ("1.0", nil), ("6001234567", nil), ("com.example.orchard", Self.appId),
            ("AB12C3D4E5.com.example.orchard", Self.appId), ("AB12C3D4E5.orchard", "AB12C3D4E5.orchard"),
        ] as [(String, String?)])
    func bundleIds(_ text: String, _ bundleId: String?) async throws {
        let record = #"{"app_id":"\#(text)","environment":"Sandbox","row":\#(Self.row("530003"))}"#
        let (_, files) = try await Self.migrated(record, try Self.migration())
        #expect(try StoreMigrationTests.rows(files, "transactions").first?["bundleId"]?.string == bundleId)
    }

    @Test(
        "Ids that a spreadsheet or database changed are not stored: they would be other purchases, or join customers",
        arguments: [
            ("5.3E14", "5.3E14"), ("530001234568037.0", "530001234568037"), (" 530001234568037", "530001234568037"),
            ("'530001234568037", "'530001234568037"), ("530001234568037", "NULL"), ("530001234568037", #"\\N"#),
        ])
    func changedIds(_ id: String, _ original: String) async throws {
        let row = Self.row(id).replacing(
            #""original_transaction_id":"\#(id)""#, with: #""original_transaction_id":"\#(original)""#)
        let record = #"{"bundle_id":"\#(Self.appId)","environment":"Sandbox","row":\#(row)}"#
        let (_, files) = try await Self.migrated(record, try Self.migration())
        #expect(try StoreMigrationTests.rows(files, "transactions").isEmpty)
        let line = try #require(try StoreMigrationTests.rows(files, "quarantine").first)
        #expect(line["reason"]?.string == "notFiled")
        #expect(line["message"]?.string?.contains("decimal numbers") == true)
    }

    @Test("Words in place of null in a table of rows are absent values", arguments: ["NULL", #"\N"#, "", "0"])
    func nullFields(null: String) async throws {
        let table = """
            user_id,product_id,transaction_id,original_transaction_id,purchase_date_ms,cancellation_date_ms,environment,bundle_id
            u1,com.example.orchard.coins,530003,530003,1700000000000,\(null),Sandbox,\(Self.appId)

            """
        let (summary, files) = try await Self.migrated(table, name: "rows.csv", try Self.migration())
        #expect(summary.records.migrated == 1)
        let row = try #require(try StoreMigrationTests.rows(files, "transactions").first)
        #expect(row["revocationDate"] == nil && row["purchaseDate"]?.integer == 1_700_000_000_000)
    }

    @Test("Signed renewal info alone is stored if a column or a default states its app, and quarantined if none does")
    func renewalInfo() async throws {
        let info = Self.sandboxRenewal(of: "2000000000000001", "com.example.orchard.apple")
        let jws = try Self.sign(info)
        let migration = try Self.migration(trust: try Self.trusting())
        let (summary, files) = try await Self.migrated(
            #"{"bundle_id":"\#(Self.appId)","jws":"\#(jws)"}"#, name: "record.json", migration)
        #expect(summary.records.migrated == 1)
        #expect(try StoreMigrationTests.rows(files, "renewal_infos").count == 1)
        var other = info
        other.originalTransactionId = "2000000000000009"
        let both = """
            {"rows":[{"bundle_id":"\(Self.appId)","jws":"\(jws)"},\
            {"bundle_id":"com.example.other","jws":"\(try Self.sign(other))"}]}
            """
        let (_, apps) = try await Self.migrated(both, name: "record.json", migration)
        let stated = try StoreMigrationTests.rows(apps, "renewal_infos").map { row in
            "\(row["bundleId"]?.string ?? "") \(row["originalTransactionId"]?.string ?? "")"
        }
        #expect(stated.sorted() == ["com.example.orchard 2000000000000001", "com.example.other 2000000000000009"])
        let (alone, _) = try await Self.migrated(#"{"jws":"\#(jws)"}"#, name: "record.json", migration)
        #expect(alone.records.quarantinedByReason == ["notFiled": 1])
        let (defaults, _) = try await Self.migrated(
            #"{"jws":"\#(jws)"}"#, name: "record.json",
            try Self.migration(trust: try Self.trusting(), defaults: Self.defaults))
        #expect(defaults.records.migrated == 1)
    }

    @Test("Signed renewal info gets the app of a receipt of its subscription, if both are of one environment")
    func renewalInfoBesideReceipt() async throws {
        let id = "5300090000001"
        let sandbox = try Self.forged(id, created: ForgedInstant(2023, 9, 1), isSandbox: true)
        let production = try Self.forged(id, created: ForgedInstant(2023, 9, 1))
        func renewal(_ id: String) throws -> String { try Self.sign(Self.sandboxRenewal(of: id, "book.0")) }
        let migration = try Self.migration(trust: try Self.trusting())
        for (receipt, renewal, isFiled) in [
            (sandbox, try renewal(id + "0"), true), (production, try renewal(id + "0"), false),
            (sandbox, try renewal("530009"), false),
        ] {
            let record = #"{"receipt":"\#(receipt)","renewal":"\#(renewal)"}"#
            let (summary, files) = try await Self.migrated(record, name: "record.json", migration)
            #expect(summary.records.migrated == 1)
            #expect(summary.records.documentsQuarantinedByReason == (isFiled ? [:] : ["notFiled": 1]))
            let apps = try StoreMigrationTests.rows(files, "renewal_infos").map { $0["bundleId"]?.string }
            #expect(apps == (isFiled ? [Self.appId] : []))
        }
    }

    @Test("A default is not the app of signed renewal info in a record with a document of another app, nor in a retry")
    func renewalInfoBesideAnotherApp() async throws {
        let jws = try Self.sign(Self.sandboxRenewal(of: "2000000000000001", "com.example.orchard.apple"))
        let migration = try Self.migration(
            trust: try Self.trusting(), defaults: DocumentDefaults(bundleId: Self.appId))
        func record(of app: String) -> String {
            let row = Self.row("2000000000000009")
            return """
                {"jws":"\(jws)","reply":{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\(app)","in_app":[\(row)]}}}
                """
        }
        for retry in [nil, migration] {
            let (summary, files) = try await Self.migrated(
                record(of: "com.example.other"), name: "record.json", migration, retry: retry)
            #expect(summary.records.documentsQuarantinedByReason == ["notFiled": 1])
            #expect(try StoreMigrationTests.rows(files, "renewal_infos").isEmpty)
            #expect(try Self.scopes(files) == ["2000000000000009 com.example.other Sandbox"])
        }
        let (_, same) = try await Self.migrated(record(of: Self.appId), name: "record.json", migration)
        #expect(try StoreMigrationTests.rows(same, "renewal_infos").count == 1)
    }

    @Test(
        "Dates of databases",
        arguments: [
            ("1709287200", 1_709_287_200_000), ("1709287200123", 1_709_287_200_123),
            ("2024-03-01T10:00:00Z", 1_709_287_200_000), ("2024-03-01 10:00:00", 1_709_287_200_000),
            ("2024-03-01 11:00:00.5+01", 1_709_287_200_500), ("2024-03-01 10:00:00.123456+00:00", 1_709_287_200_123),
            ("2024-03-01", 1_709_251_200_000), ("yesterday", nil), ("-1", nil), ("9223372036854775807", nil),
            ("1", nil), ("1709287200.5", 1_709_287_200_500), ("1709287200123456", 1_709_287_200_123),
            ("1709287200123456789", 1_709_287_200_123), ("2024-03-01 10:00:00 UTC", 1_709_287_200_000),
            ("2024-03-01 10:00:00.123456 UTC", 1_709_287_200_123), ("2024-03-01 02:00:00 -0800", 1_709_287_200_000),
            ("2024-03-01 02:00:00.5 -08:00", 1_709_287_200_500), ("2024-03-01 10:00:00 Etc/GMT", 1_709_287_200_000),
            ("2024-03-01 02:00:00 America/Los_Angeles", 1_709_287_200_000), ("2024-03-01 10:00", 1_709_287_200_000),
            ("2024-03-01T10:00Z", 1_709_287_200_000), (" 1709287200 ", 1_709_287_200_000),
            ("2024/03/01 10:00:00", 1_709_287_200_000), ("03/01/2024 10:00", nil), ("01.03.2024 10:00:00", nil),
            ("2024-13-01T10:00:00Z", nil), ("0000-00-00 00:00:00", nil), ("45352.4", nil), ("20240301", nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, _ date: Int64?) {
        #expect(DocumentColumns.date(text) == date)
    }
}
