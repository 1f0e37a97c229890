import AppStoreModels
import Foundation
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TestDatabase
import TestSupport
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

    @Test("Each entry is delivered at least once and in order, after any kill: SQLite")
    func sqlite() async throws {
        let folder = try Folder()
        let path = folder.file("store.sqlite")
        try await check("sqlite:\(path)", in: folder) { try SQLiteTransactionStore.open(path: path) }
    }

    @Test(
        "Each entry is delivered at least once and in order, after any kill: PostgreSQL",
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

    @Test("A standby continues after the lease of a killed process ends, and no entry is missing: SQLite")
    func standbyOnSQLite() async throws {
        let folder = try Folder()
        let path = folder.file("store.sqlite")
        try await checkStandby("sqlite:\(path)", in: folder) { try SQLiteTransactionStore.open(path: path) }
    }

    @Test(
        "A standby continues after the lease of a killed process ends, and no entry is missing: PostgreSQL",
        .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"))
    func standbyOnPostgreSQL() async throws {
        let folder = try Folder()
        try await PostgreSQLServer.with { server in
            try await checkStandby(server.url, in: folder) {
                try await PostgreSQLTransactionStore.open(url: server.url)
            }
        }
    }

    /// Both processes are standbys: on a machine that stands still for longer than a lease, they can change their places.
    @inline(never)
    private func checkStandby(
        _ address: String, in folder: Folder, _ open: () async throws -> any CompleteTransactionStore
    ) async throws {
        let store = try await open()
        _ = try await store.apply(
            (1_000..<1_010).map {
                StoredPurchases.set([StoredPurchases.fact("\($0)", original: "\($0)", 0, 1)])
            })
        let last = try unwrap(try await store.changes(after: 0, limit: 100).last).position
        // The command of the second batch runs until the file `free` exists, so the batch is not acknowledged before. It also ends
        // when the folder is removed.
        try folder.write("got", "")
        try folder.write(
            "deliver",
            """
            while read -r line; do printf '%s\\n' "$line" >>got; done
            if ! grep -q '"1003"' got; then exit 0; fi
            while [ -e got ] && [ ! -e free ]; do sleep 0.05; done
            """.utf8)
        let arguments = [
            "--store", address, "--consumer", "shop", "--batch", "3", "--poll-seconds", "0.05", "--lease-seconds", "4",
            "--standby", "--acknowledge-on-exit-0", "sh deliver",
        ]
        let first = try Following(arguments, in: folder)
        try await eventually("the second batch is delivered") {
            String(decoding: try folder.bytes("got"), as: UTF8.self).contains("\"1005\"")
        }
        let second = try Following(arguments, in: folder, suffix: ".second")
        try await eventually("the second process stands by or follows") {
            if try second.errors.contains("This process stands by.") { return true }
            return try await holds(second, "shop", in: store)
        }
        try #require(first.isRunning && second.isRunning)
        let (killed, other) = try await holds(second, "shop", in: store) ? (second, first) : (first, second)
        #expect(try await killed.end(SIGKILL) == 128 + SIGKILL)
        try await eventually("the other process has the lease") { try await holds(other, "shop", in: store) }
        try folder.write("free", "")
        try await eventually("all is acknowledged") { try await store.acknowledgedPosition(of: "shop") == last }
        #expect(try await other.end(SIGTERM) == 0)
        try await store.close()

        let (firsts, counts) = try delivered(in: folder)
        #expect(firsts == (1_000..<1_010).map(String.init), "an entry is missing, or came before an earlier one")
        for id in ["1003", "1004", "1005"] {
            #expect(counts[id, default: 0] >= 2, "a batch that was not acknowledged was not delivered again")
        }
    }

    @Test("Several consumers follow at once, and the death of one changes nothing for the others: SQLite")
    func severalConsumersOnSQLite() async throws {
        let folder = try Folder()
        let path = folder.file("store.sqlite")
        try await checkSeveralConsumers("sqlite:\(path)", in: folder) { try SQLiteTransactionStore.open(path: path) }
    }

    @Test(
        "Several consumers follow at once, and the death of one changes nothing for the others: PostgreSQL",
        .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"))
    func severalConsumersOnPostgreSQL() async throws {
        let folder = try Folder()
        try await PostgreSQLServer.with { server in
            try await checkSeveralConsumers(server.url, in: folder) {
                try await PostgreSQLTransactionStore.open(url: server.url)
            }
        }
    }

    @inline(never)
    private func checkSeveralConsumers(
        _ address: String, in folder: Folder, _ open: () async throws -> any CompleteTransactionStore
    ) async throws {
        let store = try await open()
        let first = try await last(adding: 1_000..<1_010, to: store)
        var processes: [String: Following] = [:]
        for consumer in ["shop", "mail", "job"] {
            processes[consumer] = try follow(consumer, in: folder, address)
            try await eventually("\(consumer) has all") { try await store.acknowledgedPosition(of: consumer) == first }
        }
        let killed = try unwrap(processes["shop"])
        #expect(try await killed.end(SIGKILL) == 128 + SIGKILL)
        let second = try await last(adding: 1_010..<1_020, to: store)
        for consumer in ["mail", "job"] {
            try await eventually("\(consumer) goes on") { try await store.acknowledgedPosition(of: consumer) == second }
        }
        #expect(try await store.acknowledgedPosition(of: "shop") == first)
        processes["shop"] = try follow("shop", in: folder, address)
        try await eventually("shop goes on") { try await store.acknowledgedPosition(of: "shop") == second }
        for process in processes.values { #expect(try await process.end(SIGTERM) == 0) }
        try await store.close()
        for consumer in ["shop", "mail", "job"] {
            var seen: Set<String> = []
            let ids = try folder.lines("got.\(consumer)").compactMap { $0["transactionId"] as? String }.filter {
                seen.insert($0).inserted
            }
            #expect(ids == (1_000..<1_020).map(String.init), "\(consumer)")
        }
    }

    /// The position of the last entry after the purchases of new customers.
    @inline(never)
    private func last(adding ids: Range<Int>, to store: any CompleteTransactionStore) async throws -> Int64 {
        _ = try await store.apply(
            ids.map { StoredPurchases.set([StoredPurchases.fact("\($0)", original: "\($0)", 0, 1)]) })
        return try unwrap(try await store.changes(after: 0, limit: 100).last).position
    }

    /// Follows as a consumer. Waits for the lease of a killed process.
    @inline(never)
    private func follow(_ consumer: String, in folder: Folder, _ address: String) throws -> Following {
        try Following(
            [
                "--store", address, "--consumer", consumer, "--batch", "3", "--poll-seconds", "0.05", "--lease-seconds",
                "4", "--standby", "--acknowledge-on-exit-0", "cat >>got.\(consumer)",
            ], in: folder, suffix: ".\(consumer)")
    }

    /// The transactions in the order of their first delivery, and how often each was delivered.
    @inline(never)
    private func delivered(in folder: Folder) throws -> (firsts: [String], counts: [String: Int]) {
        var counts: [String: Int] = [:]
        let firsts = try folder.lines("got").compactMap { $0["transactionId"] as? String }.filter { id in
            counts[id, default: 0] += 1
            return counts[id] == 1
        }
        return (firsts, counts)
    }

    /// Whether a process has the lease of a consumer.
    @inline(never)
    private func holds(_ process: Following, _ consumer: String, in store: any DeliveryLedger) async throws -> Bool {
        let holder = try await store.consumers().first { $0.name == consumer }?.holder
        return holder?.hasPrefix("process \(process.identifier) on ") ?? false
    }

    @Test(
        "A process without an answer of PostgreSQL ends its command before its lease, and continues later",
        .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"))
    func cutOffFromPostgreSQL() async throws {
        let folder = try Folder()
        try await PostgreSQLServer.with { server in
            let store = try await PostgreSQLTransactionStore.open(url: server.url)
            try folder.write(
                "deliver",
                """
                echo started
                trap 'date +%s%3N >end; mv end ended; exit 1' TERM
                while [ -e deliver ] && [ ! -e free ]; do sleep 0.05; done
                cat >>got
                """.utf8)
            let process = try Following(
                [
                    "--store", server.url, "--consumer", "shop", "--poll-seconds", "0.05", "--lease-seconds", "12",
                    "--acknowledge-on-exit-0", "sh deliver",
                ], in: folder)
            var next = 1_000
            // A round in which the machine stood still says nothing about the time.
            try await eventually("the command ends before the lease", within: 400) {
                defer { next += 1 }
                return try await outage(of: server, store, process, next, in: folder)
            }
            #expect(process.isRunning)
            #expect(try delivered(in: folder).firsts == (1_000..<next).map(String.init))
            #expect(try await process.end(SIGTERM) == 0)
            try await store.close()
        }
    }

    /// Suspends the server while the command of an entry runs. Returns whether the command ended before the lease did.
    @inline(never)
    private func outage(
        of server: PostgreSQLServer, _ store: PostgreSQLTransactionStore, _ process: Following, _ id: Int,
        in folder: Folder
    ) async throws -> Bool {
        for name in ["free", "ended"] { try? FileManager.default.removeItem(atPath: folder.file(name)) }
        let before = try folder.text("out").count
        _ = try await store.apply([
            StoredPurchases.set([StoredPurchases.fact("\(id)", original: "\(id)", 0, 1)])
        ])
        let position = try unwrap(try await store.changes(after: 0, limit: 1_000).last).position
        try await eventually("the command runs") { try folder.text("out").count > before }
        let end = try unwrap(
            Int64(try server.sql("SELECT max(leased_until) FROM legacy_receipts.ledger_consumers")), "a lease")
        try await server.control("freeze")
        let wasEnded = folder.names("").contains("ended")
        if !wasEnded { try await eventually("the command is ended") { folder.names("").contains("ended") } }
        let ended = try unwrap(Int64(try folder.text("ended").trimmingCharacters(in: .newlines)), "a time")
        try folder.write("free", "")
        try await server.control("thaw")
        try await eventually("the process continues") {
            try #require(process.isRunning)
            return try await store.acknowledgedPosition(of: "shop") == position
        }
        return !wasEnded && ended < end
    }
}
