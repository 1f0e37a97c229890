import Foundation
import GRDB
import PostgreSQLTransactionStore
import Purchases
import TestDatabase
import TestSupport
import Testing
import TransactionStore

@Suite("store", .timeLimit(.minutes(10)))
struct StoreCommandTests {
    private func store(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(["store"] + arguments, in: folder)
    }

    private func damage(_ sql: String, in folder: Folder) throws {
        let queue = try DatabaseQueue(path: folder.file("store.sqlite"))
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test("check finds no damage in a store, and counts what it has")
    func check() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await store("check", "--store", "sqlite:store.sqlite", in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("customers of ") && !$0.hasSuffix(": 0") }, "\(outcome.output)")
        #expect(lines.contains { $0.hasPrefix("transactions: ") && !$0.hasSuffix(": 0") })
    }

    @Test("check names what cannot be read, and exits with 1")
    func damaged() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        try damage("UPDATE transactions SET payload = X'7B'", in: folder)
        let outcome = try await store("check", "--store", "sqlite:store.sqlite", in: folder)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.error.contains("ledger: ") && outcome.output.contains("transactions: "), "\(outcome)")
    }

    @Test("check of a file that is not there makes none")
    func missing() async throws {
        let folder = try Folder()
        #expect(try await store("check", "--store", "sqlite:none.sqlite", in: folder).status == 2)
        #expect(folder.names("").isEmpty)
    }

    @Test("backup writes a store with the same content, which only its owner can read")
    func backup() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await store("backup", "--store", "sqlite:store.sqlite", "--to", "copy.sqlite", in: folder)
        #expect(outcome.status == 0 && outcome.output == "Wrote and checked copy.sqlite.\n", "\(outcome)")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("copy.sqlite"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(!folder.names("").contains { $0.contains(".new-") })
        for name in ["store", "copy"] { try await export("sqlite:\(name).sqlite", to: name, in: folder) }
        #expect(folder.names("store") == folder.names("copy"))
        for name in folder.names("store") {
            #expect(try folder.bytes("store/\(name)") == folder.bytes("copy/\(name)"), "\(name)")
        }
    }

    @Test("backup works while another program writes, and has what was committed before")
    func whileInUse() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: folder.file("store.sqlite"), configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE; DELETE FROM transactions") }
        let outcome = try await store("backup", "--store", "sqlite:store.sqlite", "--to", "copy.sqlite", in: folder)
        try queue.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try queue.close()
        #expect(outcome.status == 0, "\(outcome)")
        let check = try await store("check", "--store", "sqlite:copy.sqlite", in: folder)
        #expect(check.status == 0 && !check.output.contains("\ntransactions: 0\n"), "\(check)")
    }

    @Test("backup never replaces a file, and leaves nothing of a store that is none")
    func refused() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("copy.sqlite", "mine")
        let taken = try await store("backup", "--store", "sqlite:store.sqlite", "--to", "copy.sqlite", in: folder)
        #expect(taken.status == 2 && taken.error.contains("replaces no file"), "\(taken)")
        #expect(try folder.text("copy.sqlite") == "mine")
        try folder.write("text", "not a database, but long enough to have a header of a hundred bytes".utf8)
        let other = try await store("backup", "--store", "sqlite:text", "--to", "new.sqlite", in: folder)
        #expect(other.status == 2, "\(other)")
        #expect(!folder.names("").contains { $0.hasPrefix("new.sqlite") })
        let url = "postgres://user:hush@127.0.0.1:1/x?connect_timeout=2"
        let server = try await store("backup", "--store", url, "--to", "new.dump", in: folder)
        #expect(server.status == 2 && !server.error.contains("hush"), "\(server)")
        #expect(!folder.names("").contains { $0.hasPrefix("new.dump") })
    }

    @Test("stats counts what is there and names the consumers that have unread entries")
    func stats() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        for (name, position) in [("slow", "1"), ("shop", "7")] {
            let done = try await Command.run(
                [
                    "ledger", "acknowledge", "--store", "sqlite:store.sqlite", "--consumer", name, "--position",
                    position,
                ], in: folder)
            #expect(done.status == 0, "\(done)")
        }
        let outcome = try await store("stats", "--store", "sqlite:store.sqlite", in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        let lines = Set(outcome.output.split(separator: "\n"))
        #expect(
            lines.isSuperset(of: [
                "app: \(StoredPurchases.bundleId), Production", "transactions: 7",
                "ledger consumer shop: has read everything, position 7",
                "ledger consumer slow: has unread entries, position 1",
            ]), "\(outcome.output)")
        let json = try await store("stats", "--store", "sqlite:store.sqlite", "--json", in: folder)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(object["transactions"] as? Int == 7)
        let consumers = try #require(object["ledgerConsumers"] as? [[String: Any]])
        #expect(consumers.map { $0["hasUnread"] as? Bool } == [false, true])
    }

    @Test("prune removes old notifications and receipts, and no purchase")
    func prune() async throws {
        let folder = try Folder()
        let receipt = KnownReceipt(form: .app, bytes: Array("receipt".utf8), signedDate: 1_600_000_000_000)
        let known = FactSet(
            scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
            transactions: [StoredPurchases.fact("900", original: "900", 0, 1)], receipt: receipt,
            notification: ProcessedNotification(
                notificationUUID: "old", notificationType: "TEST", subtype: nil, signedDate: 1_600_000_000_000,
                body: Array("{}".utf8)))
        try await StoredPurchases.makeStore(StoredPurchases.sets + [known], in: folder)
        let address = ["--store", "sqlite:store.sqlite"]
        let outcome = try await Command.run(
            ["store", "prune"] + address
                + ["--notifications-before", "2021-01-01", "--receipts-before", "2021-01-01"], in: folder)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output == "notifications removed: 1\nreceipts removed: 1\n", "\(outcome)")
        #expect(try await Command.run(["customer", "900"] + address, in: folder).status == 0)
        for arguments in [[], ["--notifications-before", "2999-01-01"]] {
            let refused = try await Command.run(["store", "prune"] + address + arguments, in: folder)
            #expect(refused.status == 2 && refused.error.contains("--notifications-before"), "\(refused)")
        }
    }

    @Test(
        "backup of PostgreSQL is a dump from which pg_restore makes the same store",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func backupOfPostgreSQL() async throws {
        let folder = try Folder()
        let server = try #require(PostgreSQLServer.shared)
        // A name that is a pattern of pg_dump, beside a schema that the pattern matches.
        let (schema, other) = ("Backup*\(UUID().uuidString)", "Backup_other")
        let url = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
        func drop() throws {
            try server.sql(
                "SET client_min_messages TO error; DROP SCHEMA IF EXISTS \"\(schema)\", \"\(other)\" CASCADE")
        }
        try drop()
        defer { try? drop() }
        try server.sql("CREATE SCHEMA \"\(other)\"; CREATE TABLE \"\(other)\".theirs (id int4)")
        let loaded = try await PostgreSQLTransactionStore.open(url: url)
        for set in StoredPurchases.sets { _ = try await loaded.apply([set]) }
        try await loaded.close()
        let outcome = try await store("backup", "--store", url, "--to", "copy.dump", in: folder)
        #expect(outcome.status == 0 && outcome.output == "Wrote and checked copy.dump.\n", "\(outcome)")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("copy.dump"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(!folder.names("").contains { $0.contains(".new-") })
        try await export(url, to: "before", in: folder)
        try drop()
        let restored = try await Command.shell(
            "pg_restore --exit-on-error --no-owner --dbname '\(server.url)' copy.dump", in: folder)
        #expect(restored.status == 0, "\(restored)")
        try await export(url, to: "after", in: folder)
        for name in folder.names("before") {
            #expect(try folder.bytes("before/\(name)") == folder.bytes("after/\(name)"), "\(name)")
        }
        #expect(try server.sql("SELECT to_regnamespace('\"\(other)\"') IS NULL") == "t")
        let again = try await store("backup", "--store", url, "--to", "copy.dump", in: folder)
        #expect(again.status == 2 && again.error.contains("replaces no file"), "\(again)")
    }

    private func export(_ store: String, to name: String, in folder: Folder) async throws {
        let outcome = try await Command.run(
            ["export", "--store", store, "--to", name, "--at", "2026-01-01"], in: folder)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(!folder.names(name).isEmpty)
    }
}
