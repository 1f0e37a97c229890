import Foundation
import GRDB
import TestSupport
import Testing

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

    @Test("check reads everything and counts it")
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
        for name in ["store", "copy"] {
            let exported = try await Command.run(
                ["export", "--store", "sqlite:\(name).sqlite", "--to", name, "--at", "2026-01-01"], in: folder)
            #expect(exported.status == 0, "\(exported)")
        }
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
        #expect(taken.status == 2 && taken.error.contains("never replaces"), "\(taken)")
        #expect(try folder.text("copy.sqlite") == "mine")
        try folder.write("text", "not a database, but long enough to have a header of a hundred bytes".utf8)
        let other = try await store("backup", "--store", "sqlite:text", "--to", "new.sqlite", in: folder)
        #expect(other.status == 2, "\(other)")
        #expect(!folder.names("").contains { $0.hasPrefix("new.sqlite") })
        let server = try await store("backup", "--store", "postgres://db/shop", "--to", "new.sqlite", in: folder)
        #expect(server.status == 2 && server.error.contains("pg_dump"), "\(server)")
    }
}
