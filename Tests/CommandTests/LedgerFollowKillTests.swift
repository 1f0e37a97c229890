import AppStoreModels
import Foundation
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TestDatabase
import Testing
import TransactionStore

/// `ledger follow --acknowledge-on-exit-0` with a process, or a command, that is killed at random moments.
@Suite("ledger follow, killed", .timeLimit(.minutes(10)), .serialized)
struct LedgerFollowKillTests {
    private static let rounds = 12
    private static let customers = 5

    /// Appends the lines one by one, so that a kill can hit it between two of them.
    private static let deliver = """
        echo $$ >command.new && mv command.new command
        while read -r line; do printf '%s\\n' "$line" >>got; done
        """

    @Test("Each entry is delivered at least once and in order, whatever is killed: SQLite")
    func sqlite() async throws {
        let folder = try Folder()
        let path = folder.file("store.sqlite")
        try await check("sqlite:\(path)", in: folder) { try SQLiteTransactionStore.open(path: path) }
    }

    @Test(
        "Each entry is delivered at least once and in order, whatever is killed: PostgreSQL",
        .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"))
    func followedOnPostgreSQL() async throws {
        let folder = try Folder()
        try await PostgreSQLServer.with { server in
            try await check(server.url, in: folder) { try await PostgreSQLTransactionStore.open(url: server.url) }
        }
    }

    private func check(
        _ address: String, in folder: Folder, _ open: () async throws -> any CompleteTransactionStore
    ) async throws {
        let store = try await open()
        try folder.write("deliver", Self.deliver.utf8)
        try folder.write("got", "")
        let arguments = [
            "--store", address, "--consumer", "shop", "--batch", "7", "--poll-seconds", "0.05", "--lease-seconds", "1",
            "--acknowledge-on-exit-0", "sh deliver",
        ]
        var next = 1_000
        for round in 0..<Self.rounds {
            let process = try Following(arguments, in: folder)
            for _ in 0..<10 {
                // The same customers again and again.
                let original = 1_000 + next % Self.customers
                _ = try await store.apply([
                    StoredPurchases.set([StoredPurchases.fact("\(next)", original: "\(original)", 0, 1)])
                ])
                next += 1
            }
            // Long enough for the lease of the process before, now and then.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...(round % 2 == 0 ? 300 : 1_800))))
            let command = (try? folder.text("command")).flatMap { Int32($0.trimmingCharacters(in: .newlines)) }
            // The command alone, the process alone, or both.
            if round % 3 != 1, let command { kill(-command, SIGKILL) }
            if round % 3 == 0 { try await Task.sleep(for: .milliseconds(Int.random(in: 0...200))) }
            let errors = try folder.text("err")
            try #require(process.isRunning, "it ended by itself: \(errors)")
            #expect(try await process.end(SIGKILL) == 128 + SIGKILL)
        }
        let rest = try await Command.run(["ledger", "follow", "--once"] + arguments, in: folder)
        #expect(rest.status == 0, "\(rest.error)")

        let entries = try await store.changes(after: 0, limit: 10_000)
        #expect(entries.count == Self.rounds * 10)
        #expect(try await store.acknowledgedPosition(of: "shop") == entries.last?.position)
        try await store.close()
        let got = try folder.lines("got")
        let positions = try got.map { try #require($0["position"] as? Int) }
        var seen: Set<Int> = []
        let firsts = positions.filter { seen.insert($0).inserted }
        #expect(firsts == entries.map { Int($0.position) }, "an entry is missing, or came before an earlier one")
        for customer in 0..<Self.customers {
            let own = got.filter {
                ($0["transaction"] as? [String: Any])?["originalTransactionId"] as? String == "\(1_000 + customer)"
            }
            var seen: Set<String> = []
            let ids = own.compactMap { $0["transactionId"] as? String }.filter { seen.insert($0).inserted }
            #expect(ids == (1_000..<next).filter { $0 % Self.customers == customer }.map(String.init))
        }
    }
}
