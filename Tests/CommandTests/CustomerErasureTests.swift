import AppStoreModels
import Foundation
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore

@Suite("customer --erase", .timeLimit(.minutes(10)))
struct CustomerErasureTests {
    private static let id = "770000123456789"

    private func customer(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(["customer", "--store", "sqlite:store.sqlite"] + arguments, in: folder)
    }

    /// A store with the usual customers, and one with an id that is found in its bytes.
    private func folder() async throws -> Folder {
        let folder = try Folder()
        let set = StoredPurchases.set([StoredPurchases.fact(Self.id, original: Self.id, 0, 1)])
        try await StoredPurchases.makeStore(StoredPurchases.sets + [set], in: folder)
        return folder
    }

    private func files(with text: String, in folder: Folder) throws -> [String] {
        try folder.names("").filter { name in
            Data(try folder.bytes(name)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test("Without --yes it prints the rows, and removes nothing")
    func plan() async throws {
        let folder = try await folder()
        let outcome = try await customer(Self.id, "--erase", in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        #expect(
            outcome.output.contains(
                "In the store: com.example.app, Production: ids 1, transactions 1, renewal infos 1, app transactions 0, "
            ),
            "\(outcome)")
        #expect(outcome.output.contains("records in quarantine 0.\nNothing was removed."), "\(outcome)")
        #expect(try await customer(Self.id, in: folder).status == 0)
    }

    /// Runs `body` with the address of a new schema of PostgreSQL, and removes the schema.
    @inline(never)
    private func withSchema(_ body: (_ url: String, _ schema: String) async throws -> Void) async throws {
        let server = try #require(PostgreSQLServer.shared)
        let schema = "erase_\(UUID().uuidString.prefix(8).lowercased())"
        defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(schema) CASCADE") }
        try await body(server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)", schema)
    }

    /// Adds the usual customers, and one with a row of every kind.
    @inline(never)
    private static func fill(_ store: any CompleteTransactionStore) async throws {
        let set = StoredPurchases.set([StoredPurchases.fact(id, original: id, 0, 1)]) {
            $0.expirationIntent = .cancelled
        }
        let scope = set.scope
        let request = FactSet(
            scope: scope,
            transactions: [StoredPurchases.fact(id, original: id, 0, 1)],
            notification: ProcessedNotification(
                notificationUUID: "request", notificationType: "CONSUMPTION_REQUEST", subtype: nil,
                signedDate: StoredPurchases.month(1), body: Array("{\"id\":\"\(id)\"}".utf8)))
        let old = TransactionFact(
            payload: StoredPurchases.fact(id, original: id, 0, 1).payload, legacy: nil,
            origin: FactOrigin(source: .receipt, signedDate: StoredPurchases.month(0)))
        let receipt = FactSet(
            scope: scope, transactions: [old],
            receipt: KnownReceipt(form: .app, bytes: [1, 2, 3], signedDate: StoredPurchases.month(0)))
        for set in StoredPurchases.sets + [set, request, receipt] { _ = try await store.apply([set]) }
        let identity = CustomerIdentity(.originalTransactionId, id)
        let line =
            #"{"reason":"unknownForm","verdict":"notAReceipt","message":"m","source":{"input":"a","line":1},"#
            + #""record":{"user_id":"u1"},"original":"x"}"#
        _ = try await store.apply(
            MigrationStep(
                users: [UserClaim(scope: scope, identity: identity, userId: "u1", carried: "{}")],
                quarantined: [QuarantinedRecord(line: Array(line.utf8))]))
        try await store.remember([UnknownTransaction(scope: scope, transactionId: id, answeredDate: 1)])
    }

    /// Erases the customer of ``fill(_:)`` from a store and from a spool: first only as a plan.
    @inline(never)
    private func checkPlan(_ address: String, in folder: Folder) async throws {
        let waiting = try SQLiteFactSpool.open(path: folder.file("spool.sqlite"), maximumBytes: 1 << 20)
        try await waiting.append(StoredPurchases.set([StoredPurchases.fact(Self.id, original: Self.id, 0, 1)]))
        try await waiting.close()

        let arguments = ["customer", "--store", address, Self.id, "--erase"]
        let options = ["--spool", "spool.sqlite", "--leave-hashes"]
        func numbers(_ outcome: Outcome) -> [Substring] {
            let text = outcome.output.replacing("com.example.app, Production: ", with: "")
            return text.split(separator: "\n").prefix(2).compactMap { $0.split(separator: ": ").last }
        }
        let plan = try await Command.run(arguments + options, in: folder)
        let again = try await Command.run(arguments + options, in: folder)
        #expect(plan.status == 0 && plan.output == again.output, "\(plan) \(again)")
        #expect(plan.output.hasPrefix("In spool.sqlite: documents 1.\nIn the store: "), "\(plan)")
        let erased = try await Command.run(arguments + options + ["--yes"], in: folder)
        #expect(erased.status == 0 && numbers(plan) == numbers(erased), "\(plan) \(erased)")
        for count in [
            "ids 1, ", "transactions 2", "receipts 1", "notifications 1", "ledger entries 3", "consumption requests 1",
            "unknown to the App Store 1", "users 1", "records in quarantine 1",
        ] {
            #expect(erased.output.contains(count), "\(count): \(erased)")
        }
    }

    @Test("Without --yes it prints the numbers that --yes prints, of everything in a store and a spool")
    func planIsResult() async throws {
        let folder = try Folder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await Self.fill(store)
        try await store.close()
        try await checkPlan("sqlite:store.sqlite", in: folder)
    }

    /// The tables of a schema that contain a text, which they have as bytes.
    @inline(never)
    private static func tables(with text: String, in schema: String) throws -> [Substring] {
        let server = try #require(PostgreSQLServer.shared)
        let hex = text.utf8.map { String($0, radix: 16) }.joined()
        let tables = try server.sql("SELECT tablename FROM pg_tables WHERE schemaname = '\(schema)' ORDER BY 1")
        return try tables.split(separator: "\n").filter { table in
            let count = "SELECT count(*) FROM \(schema).\(table) AS found WHERE position('\(hex)' IN found::text) > 0"
            return try server.sql(count) != "0"
        }
    }

    @Test(
        "On PostgreSQL, nothing of the customer is left in the store and in a spool, and others keep everything",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func onPostgreSQL() async throws {
        try await withSchema { url, schema in
            let folder = try Folder()
            let store = try await PostgreSQLTransactionStore.open(url: url)
            try await Self.fill(store)
            try await store.close()
            let written = try Self.tables(with: Self.id, in: schema)
            #expect(written.contains("transactions") && written.contains("user_claims"), "\(written)")
            func customer(_ arguments: String...) async throws -> Outcome {
                try await Command.run(["customer", "--store", url] + arguments, in: folder)
            }
            let others = try await customer("201", "--json", "--at", "2023-03-20").output
            try await checkPlan(url, in: folder)
            #expect(try Self.tables(with: Self.id, in: schema) == [])
            #expect(try files(with: Self.id, in: folder) == [])
            for id in [Self.id, "u1"] { #expect(try await customer(id).status == 1, "\(id)") }
            #expect(try await customer("201", "--json", "--at", "2023-03-20").output == others)
            let check = try await Command.run(["store", "check", "--store", url], in: folder)
            #expect(check.status == 0, "\(check)")

            // The hash keeps later documents out until it is removed.
            let again = try await PostgreSQLTransactionStore.open(url: url)
            let late = StoredPurchases.set([StoredPurchases.fact(Self.id, original: Self.id, 0, 2)])
            #expect(try await again.apply([late]).changed == 0)
            let removed = try await customer(Self.id, "--remove-hashes")
            #expect(removed.status == 0 && removed.output.contains("Hashes removed: 1."), "\(removed)")
            #expect(try await again.apply([late]).changed > 0)
            try await again.close()
            let found = try await customer(Self.id, "--erase", "--yes")
            #expect(found.status == 0 && found.output.hasPrefix("Removed from the store: ids 1, "), "\(found)")
        }
    }

    @Test("Records in quarantine go with their user, by the name of the column or by --user-column")
    func quarantine() async throws {
        let folder = try Folder.withRoot()
        let receipt = Forged.base64(Forged.bulk[0])
        func line(_ user: String, _ rest: String) -> String { "{\"user_id\":\"\(user)\",\"team\":\"red\",\(rest)}\n" }
        let dump =
            line("u1", "\"receipt\":\"\(receipt)\"") + line("u1", "\"receipt\":\"MIIC-u1\"")
            + line("u2", "\"receipt\":\"MIIC-u2\"") + line("u3", "\"receipt\":\"MIIC-u3\"")
        try folder.write("dump.ndjson", Array(dump.utf8))
        #expect(try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite").status == 1)
        let plan = try await customer("u1", "--erase", in: folder)
        #expect(plan.output.contains("records in quarantine 1.\nNothing was removed."), "\(plan)")
        #expect(try await customer("u1", "--erase", "--yes", in: folder).output.contains("records in quarantine 1."))
        #expect(try files(with: "MIIC-u1", in: folder) == ["dump.ndjson"])
        // Nothing but a quarantined record names this user.
        let quarantined = try await customer("u2", in: folder)
        #expect(quarantined.status == 1 && quarantined.output.isEmpty)
        #expect(quarantined.error.contains("Records of the id in quarantine: 1. --json prints them"), "\(quarantined)")
        let alone = try await customer("u2", "--erase", "--yes", in: folder)
        #expect(alone.status == 0 && alone.output.contains("records in quarantine 1."), "\(alone)")
        let none = try await customer("u2", "--erase", "--yes", in: folder)
        #expect(none.status != 0 && none.output.isEmpty, "\(none)")
        let team = try await customer("red", "--erase", "--user-column", "team", in: folder)
        #expect(team.output.contains("records in quarantine 1"), "\(team)")
        #expect(!(try files(with: "MIIC-u3", in: folder).filter { $0 != "dump.ndjson" }.isEmpty))
    }

    @Test("With --yes nothing of the customer is left, not even in the bytes of the files, and others keep everything")
    func erased() async throws {
        let folder = try await folder()
        #expect(try !files(with: Self.id, in: folder).isEmpty)
        let others = try await customer("201", "--json", "--at", "2023-03-20", in: folder).output
        let outcome = try await customer(Self.id, "--erase", "--yes", in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        #expect(outcome.output.hasPrefix("Removed from the store: ids 1, transactions 1, "), "\(outcome)")
        #expect(outcome.output.contains("ledger entries 1"), "\(outcome)")
        #expect(try files(with: Self.id, in: folder) == [])
        #expect(try await customer(Self.id, in: folder).status == 1)
        #expect(try await customer("201", "--json", "--at", "2023-03-20", in: folder).output == others)
        #expect(try await customer(Self.id, "--erase", "--yes", in: folder).status == 1)
        let check = try await Command.run(["store", "check", "--store", "sqlite:store.sqlite"], in: folder)
        #expect(check.status == 0, "\(check)")
    }

    @Test("The documents of the customer leave the spool too, and those of others stay")
    func spool() async throws {
        let folder = try await folder()
        let path = folder.file("spool.sqlite")
        let waiting = try SQLiteFactSpool.open(path: path, maximumBytes: 1 << 20)
        for (id, month) in [(Self.id, Int64(2)), ("880000123456789", 1)] {
            try await waiting.append(StoredPurchases.set([StoredPurchases.fact(id, original: id, 0, month)]))
        }
        try await waiting.close()
        let outcome = try await customer(Self.id, "--erase", "--yes", "--spool", "spool.sqlite", in: folder)
        #expect(outcome.status == 0 && outcome.output.contains("Removed from spool.sqlite: documents 1."), "\(outcome)")
        #expect(try files(with: Self.id, in: folder) == [])
        let opened = try SQLiteFactSpool.open(path: path, maximumBytes: 1 << 20)
        #expect(opened.state.entries == 1)
        try await opened.close()
    }

    @Test("A customer who is only in a spool is found there by any id, with the data of other documents")
    func onlyInSpool() async throws {
        let folder = try await folder()
        let path = folder.file("store.sqlite.spool")
        let waiting = try SQLiteFactSpool.open(path: path, maximumBytes: 1 << 20)
        func fact(_ id: String, _ original: String) -> TransactionFact {
            StoredPurchases.fact(id, original: original, 0, 1)
        }
        try await waiting.append(StoredPurchases.set([fact("771", "770")]))
        try await waiting.append(StoredPurchases.set([fact("770", "770"), fact("780", "780")]))
        try await waiting.append(StoredPurchases.set([fact("780", "780")]))
        try await waiting.append(StoredPurchases.set([fact("790", "790")]))
        try await waiting.close()
        // Without the option the spool is not read, and that is said.
        let unread = try await customer("771", "--erase", "--yes", in: folder)
        #expect(unread.status == 1 && unread.error.contains("--spool store.sqlite.spool"), "\(unread)")
        let spool = "store.sqlite.spool"
        let plan = try await customer("771", "--erase", "--spool", spool, in: folder)
        #expect(plan.status == 0 && plan.output.contains("In store.sqlite.spool: documents 3."), "\(plan)")
        let outcome = try await customer("771", "--erase", "--yes", "--spool", spool, in: folder)
        #expect(outcome.output.contains("Removed from store.sqlite.spool: documents 3."), "\(outcome)")
        let opened = try SQLiteFactSpool.open(path: path, maximumBytes: 1 << 20)
        #expect(opened.state.entries == 1)
        try await opened.close()
        #expect(try await customer("771", "--erase", "--yes", "--spool", spool, in: folder).status == 1)
    }

    /// Two customers whom only a document in a spool connects, and a record in quarantine that names no purchase, of the
    /// user of the second one.
    @inline(never)
    private static func fillConnected(_ store: any CompleteTransactionStore) async throws {
        func fact(_ id: String) -> TransactionFact { StoredPurchases.fact(id, original: id, 0, 1) }
        for facts in [[fact("770")], [fact("780"), fact("790")]] {
            _ = try await store.apply([StoredPurchases.set(facts)])
        }
        let claim = UserClaim(
            scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
            identity: CustomerIdentity(.originalTransactionId, "790"), userId: "anna")
        let line =
            #"{"reason":"unknownForm","verdict":"notAReceipt","message":"m","source":{"input":"a","line":1},"#
            + #""record":{"user_id":"anna"},"original":"x"}"#
        _ = try await store.apply(
            MigrationStep(users: [claim], quarantined: [QuarantinedRecord(line: Array(line.utf8))]))
    }

    @inline(never)
    private func checkConnected(_ address: String, in folder: Folder) async throws {
        func fact(_ id: String) -> TransactionFact { StoredPurchases.fact(id, original: id, 0, 1) }
        let waiting = try SQLiteFactSpool.open(path: folder.file("spool.sqlite"), maximumBytes: 1 << 20)
        for set in [[fact("770"), fact("780")], [fact("790")], [fact("800")]] {
            try await waiting.append(StoredPurchases.set(set))
        }
        try await waiting.close()
        func customer(_ arguments: String...) async throws -> Outcome {
            try await Command.run(["customer", "--store", address] + arguments, in: folder)
        }
        let outcome = try await customer("770", "--erase", "--yes", "--spool", "spool.sqlite")
        #expect(outcome.output.contains("Removed from spool.sqlite: documents 2."), "\(outcome)")
        #expect(outcome.output.contains("records in quarantine 1"), "\(outcome)")
        #expect(try await customer("790").status == 1)
        #expect(try await customer("800", "--erase", "--spool", "spool.sqlite").status == 0)
    }

    @Test("Data that a document in a spool connects with a customer is removed from the store and from the spool")
    func connectedBySpool() async throws {
        let folder = try Folder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await Self.fillConnected(store)
        try await store.close()
        try await checkConnected("sqlite:store.sqlite", in: folder)
    }

    @Test(
        "On PostgreSQL, data that a document in a spool connects with a customer is removed too",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func connectedBySpoolOnPostgreSQL() async throws {
        try await withSchema { url, _ in
            let store = try await PostgreSQLTransactionStore.open(url: url)
            try await Self.fillConnected(store)
            try await store.close()
            try await checkConnected(url, in: try Folder())
        }
    }

    @Test("A spool that a server uses, or that is missing, stops it before anything is removed")
    func spoolInUse() async throws {
        let folder = try await folder()
        let waiting = try SQLiteFactSpool.open(path: folder.file("spool.sqlite"), maximumBytes: 1 << 20)
        for name in ["spool.sqlite", "none.sqlite"] {
            let outcome = try await customer(Self.id, "--erase", "--yes", "--spool", name, in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome)")
        }
        try await waiting.close()
        #expect(try await customer(Self.id, in: folder).status == 0)
    }

    @Test("An id of several customers removes none of them and names each")
    func several() async throws {
        let folder = try Folder()
        let sets = ["770000123456789", "880000123456789"].map { id in
            let scope = StoreScope(
                environment: id.hasPrefix("7") ? .production : .sandbox, bundleId: StoredPurchases.bundleId)
            return FactSet(scope: scope, transactions: [StoredPurchases.fact("55", original: id, 0, 1)])
        }
        try await StoredPurchases.makeStore(sets, in: folder)
        let outcome = try await customer("55", "--erase", "--yes", in: folder)
        #expect(outcome.status == 2, "\(outcome)")
        for id in ["770000123456789", "880000123456789"] {
            #expect(outcome.error.contains(id), "\(outcome)")
            #expect(try await customer(id, in: folder).status == 0)
        }
    }

    @Test(
        "--leave-hashes leaves hashes that identify no customer; migrate and merge store nothing of the customer; --remove-hashes undoes it"
    )
    func leaveHashes() async throws {
        let folder = try Folder.withRoot()
        let receipt = Forged.base64(Forged.bulk[0])
        let dump = "{\"user_id\":\"u1\",\"receipt\":\"\(receipt)\"}\n"
        try folder.write("dump.ndjson", Array(dump.utf8))
        #expect(try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite").status == 0)
        #expect(try await folder.migrate("dump.ndjson", "--into", "sqlite:old.sqlite").status == 0)
        let json = try await customer("u1", "--json", "--at", "2026-01-01", in: folder).output
        let rows = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let match = try #require((rows?["matches"] as? [[String: Any]])?.first)
        let ids = try #require(match["customer_identities"] as? [[String: Any]]).compactMap { $0["value"] as? String }
        let id = try #require(ids.first)

        let outcome = try await customer("u1", "--erase", "--yes", "--leave-hashes", in: folder)
        #expect(outcome.status == 0 && outcome.output.contains("Hashes left: \(ids.count)."), "\(outcome)")
        let stats = try await Command.run(["store", "stats", "--store", "sqlite:store.sqlite"], in: folder)
        #expect(stats.output.contains("hashes of erased customers: \(ids.count)"), "\(stats)")
        let names = ["dump.ndjson", "old.sqlite"]
        for value in ids {
            #expect(try files(with: value, in: folder).filter { !names.contains($0) } == [], "\(value)")
        }

        let again = try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite", "--start-over")
        #expect(again.status == 0 && again.output.contains("not stored, of erased customers"), "\(again)")
        let merged = try await Command.run(
            ["merge", "old.sqlite", "--into", "sqlite:store.sqlite", "--json"], in: folder)
        #expect(merged.status == 0 && !merged.output.contains("\"erased\":0"), "\(merged)")
        for value in [id, "u1"] { #expect(try await customer(value, in: folder).status == 1) }

        // The other way around: the store with the hashes is merged into the old one.
        let taken = try await Command.run(
            ["merge", "store.sqlite", "--into", "sqlite:old.sqlite", "--json"], in: folder)
        #expect(taken.status == 0 && taken.output.contains("\"leftHashes\":\(ids.count)"), "\(taken)")
        for value in [id, "u1"] {
            let found = try await Command.run(["customer", value, "--store", "sqlite:old.sqlite"], in: folder)
            #expect(found.status == 1, "\(found)")
        }

        let none = try await customer("4711", "--remove-hashes", in: folder)
        #expect(none.status == 1 && none.error.contains("no hash"), "\(none)")
        for value in ids {
            let removed = try await customer(value, "--remove-hashes", in: folder)
            #expect(removed.status == 0 && removed.output.contains("Hashes removed: 1."), "\(removed)")
        }
        #expect(try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite", "--start-over").status == 0)
        #expect(try await customer("u1", in: folder).status == 0)
    }

    @Test("Options that mean nothing together are refused")
    func usage() async throws {
        let folder = try await folder()
        for arguments in [
            ["--yes"], ["--spool", "a"], ["--erase", "--json"], ["--leave-hashes"], ["--erase", "--remove-hashes"],
        ] {
            let outcome = try await Command.run(
                ["customer", "--store", "sqlite:store.sqlite", Self.id] + arguments, in: folder)
            #expect(outcome.status == 2 && outcome.error.contains("--erase"), "\(outcome)")
        }
    }
}
