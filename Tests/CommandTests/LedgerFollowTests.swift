import AppStoreModels
import Foundation
import GRDB
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

@Suite("ledger follow", .timeLimit(.minutes(10)))
struct LedgerFollowTests {
    /// `follow` with the shortest pause, as a part of a shell line.
    private let follow = "\"$COMMAND\" ledger follow --store sqlite:store.sqlite --consumer shop --poll-seconds 0.05"

    private func position(of consumer: String = "shop", in folder: Folder) async throws -> Int64 {
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let position = try await store.acknowledgedPosition(of: consumer)
        try await store.close()
        return position
    }

    private func words(_ name: String, in folder: Folder) throws -> [String] {
        try folder.lines(name).map { "\($0["transactionId"] ?? "") \($0["event"] ?? "")" }
    }

    @Test("New entries are printed as they are stored, from the acknowledged position on, and SIGTERM ends it with 0")
    func printing() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let acknowledged = try await Command.run(
            "ledger", "acknowledge", "--store", "sqlite:store.sqlite", "--consumer", "shop", "5", in: folder)
        #expect(acknowledged.output == "shop has acknowledged all entries up to 5.\n")
        let process = try Following(
            ["--store", "sqlite:store.sqlite", "--consumer", "shop", "--poll-seconds", "0.05"], in: folder)
        try await process.wait(forLines: 2)
        for id in ["900", "901"] {
            try await StoredPurchases.makeStore(
                [StoredPurchases.set([StoredPurchases.fact(id, original: id, 0, 1)])], in: folder)
            try await process.wait(forLines: id == "900" ? 3 : 4)
        }
        #expect(try await process.end(SIGTERM) == 0)
        #expect(
            try words("out", in: folder) == ["300 started", "400 started", "900 started", "901 started"])
        #expect(try folder.text("err").isEmpty)
        // What is printed is not acknowledged.
        #expect(try await position(in: folder) == 5)
    }

    @Test("Several consumers follow at once, each from its own position")
    func severalConsumers() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let acknowledged = try await Command.run(
            "ledger", "acknowledge", "--store", "sqlite:store.sqlite", "--consumer", "mail", "5", in: folder)
        #expect(acknowledged.status == 0)
        let arguments = ["--store", "sqlite:store.sqlite", "--poll-seconds", "0.05", "--consumer"]
        let shop = try Following(arguments + ["shop"], in: folder, suffix: ".shop")
        let mail = try Following(arguments + ["mail"], in: folder, suffix: ".mail")
        try await shop.wait(forLines: 7)
        try await mail.wait(forLines: 2)
        try await StoredPurchases.makeStore(
            [StoredPurchases.set([StoredPurchases.fact("900", original: "900", 0, 1)])], in: folder)
        try await shop.wait(forLines: 8)
        try await mail.wait(forLines: 3)
        #expect(try await shop.end(SIGTERM) == 0)
        #expect(try await mail.end(SIGTERM) == 0)
        let all = try words("out.shop", in: folder)
        #expect(all.count == 8 && all.last == "900 started")
        #expect(try words("out.mail", in: folder) == Array(all.suffix(3)))
    }

    @Test("The command gets each batch on standard input, and its success acknowledges the batch")
    func batches() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let line = "\(follow) --once --batch 3 --acknowledge-on-exit-0 'cat >>got && echo {} >>got'"
        let first = try await Command.shell(line, in: folder)
        #expect(first.status == 0 && first.error.isEmpty && first.output.isEmpty, "\(first.error)")
        let lines = try folder.lines("got").map { $0["transactionId"] as? String }
        #expect(lines == ["100", "101", "102", nil, "200", "201", "300", nil, "400", nil])
        #expect(try await position(in: folder) == 7)
        #expect(try await Command.shell(line, in: folder).status == 0)
        #expect(try folder.lines("got").count == lines.count)
    }

    @Test("A batch whose command fails is not acknowledged, and the command gets the same batch again")
    func failures() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        // It fails for 200, by a signal the first time.
        try folder.write(
            "deliver",
            """
            cat >batch
            number=$(ls | grep -c '^try')
            cp batch try$number
            if grep -q '"transactionId":"200"' batch; then
                [ $number = 1 ] && kill -9 $$
                exit 3
            fi
            exit 0
            """.utf8)
        let outcome = try await Command.shell(
            "\(follow) --once --batch 3 --attempts 2 --acknowledge-on-exit-0 'exec sh deliver'", in: folder)
        #expect(outcome.status == 1)
        #expect(
            outcome.error == """
                The command ended with 137 for the entries 4 to 6, attempt 1. The next attempt is in 1 s.
                The command ended with 3 for the entries 4 to 6, attempt 2. They are not acknowledged.

                """)
        #expect(folder.names("").filter { $0.hasPrefix("try") } == ["try0", "try1", "try2"])
        #expect(try folder.bytes("try1") == folder.bytes("try2"))
        #expect(try await position(in: folder) == 3)
    }

    @Test("A batch that another process acknowledges is not tried again")
    func skipping() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write(
            "deliver",
            """
            echo >>tries
            "$COMMAND" ledger acknowledge --store sqlite:store.sqlite --consumer shop 7 >&2
            exit 1
            """.utf8)
        let outcome = try await Command.shell(
            "\(follow) --once --acknowledge-on-exit-0 'sh deliver'", in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try folder.text("tries") == "\n")
    }

    @Test("Entries that are left out are passed over without a run of the command")
    func leftOut() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await Command.shell(
            "\(follow) --once --environment Sandbox --acknowledge-on-exit-0 'touch run'", in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(!folder.names("").contains("run"))
        #expect(try await position(in: folder) == 7)
    }

    @Test("The command need not read its input of any length, and has the usual signals")
    func unread() async throws {
        let folder = try Folder()
        let sets = (1_000..<1_600).map {
            StoredPurchases.set([StoredPurchases.fact("\($0)", original: "\($0)", 0, 1)])
        }
        try await StoredPurchases.makeStore(sets, in: folder)
        // With SIGPIPE ignored, `yes` would report an error instead of ending.
        let outcome = try await Command.shell(
            "\(follow) --once --batch 10000 --acknowledge-on-exit-0 'yes | head -n 1'", in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output == "y\n" && outcome.error.isEmpty, "\(outcome.error)")
        let all = try await Command.shell(
            "\(follow.replacing("shop", with: "all")) --once --batch 10000 --acknowledge-on-exit-0 'wc -l'", in: folder)
        #expect(all.output.trimmingCharacters(in: .whitespacesAndNewlines) == "600")
    }

    @Test("SIGTERM waits for the command, whose success is acknowledged")
    func graceful() async throws {
        // The command has ten seconds for its end. A round in which the machine was busy for longer says nothing.
        try await eventually("the command ends in its time") {
            let folder = try Folder()
            try await StoredPurchases.makeStore(in: folder)
            let process = try Following(
                [
                    "--store", "sqlite:store.sqlite", "--consumer", "shop", "--batch", "3", "--acknowledge-on-exit-0",
                    "echo started; sleep 1; cat >>got",
                ], in: folder)
            try await process.wait(forLines: 1)
            let end = ContinuousClock.now + .seconds(10)
            let status = try await process.end(SIGTERM)
            if status != 0, .now >= end { return false }
            #expect(status == 0)
            #expect(try words("got", in: folder) == ["100 started", "101 renewed", "102 renewed"])
            #expect(try await position(in: folder) == 3)
            return true
        }
    }

    @Test("A second process of one consumer is refused, and one of another consumer is not")
    func secondProcess() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let process = try Following(
            [
                "--store", "sqlite:store.sqlite", "--consumer", "shop", "--poll-seconds", "0.05", "--lease-seconds",
                "60",
            ], in: folder)
        try await process.wait(forLines: 7)
        let other = try await Command.shell("\(follow.replacing("shop", with: "mail")) --once | wc -l", in: folder)
        #expect(other.output.trimmingCharacters(in: .whitespacesAndNewlines) == "7")
        let second = try await Command.shell("\(follow) --once", in: folder)
        #expect(second.status == 2 && second.output.isEmpty)
        #expect(
            second.error.contains("The consumer shop is in use by process \(process.identifier) on "),
            "\(second.error)")
        #expect(try await process.end(SIGINT) == 0)
        // An orderly end frees the name at once.
        let third = try await Command.shell("\(follow) --once | wc -l", in: folder)
        #expect(third.output.trimmingCharacters(in: .whitespacesAndNewlines) == "7" && third.error.isEmpty)
    }

    @Test("A standby stays while another process follows, takes over after it, and says both once")
    func standby() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        // Counts the requests of the process for the lease.
        try await withoutWriters(
            in: folder,
            """
            CREATE TABLE looks (holder TEXT);
            CREATE TRIGGER look BEFORE INSERT ON ledger_consumers WHEN NEW.holder LIKE 'process %'
            BEGIN INSERT INTO looks VALUES (NEW.holder); END
            """
        ) {}
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        let file = try DatabaseQueue(path: folder.file("store.sqlite"), configuration: configuration)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        #expect(try await store.lease("shop", to: "the first one", for: 1_800_000).isGranted)
        let process = try Following(
            [
                "--store", "sqlite:store.sqlite", "--consumer", "shop", "--poll-seconds", "0.05", "--standby",
                "--acknowledge-on-exit-0", "cat",
            ], in: folder)
        let waiting = "The consumer shop is in use by the first one. This process stands by.\n"
        try await eventually("it stands by") { try process.errors == waiting }
        // A process without the option ends when it sees that the lease was renewed.
        #expect(try await store.lease("shop", to: "the first one", for: 3_600_000).isGranted)
        let before = try await looks(file)
        try await eventually("it has seen the renewed lease") {
            try #require(process.isRunning)
            return try await looks(file) >= before + 3
        }
        #expect(try process.errors == waiting)
        #expect(try folder.text("out").isEmpty)
        try await store.endLease(of: "shop", by: "the first one")
        try await process.wait(forLines: 7)
        #expect(try process.errors == waiting + "This process takes over the consumer shop.\n")
        try await eventually("the entries are acknowledged") { try await store.acknowledgedPosition(of: "shop") == 7 }
        #expect(try await process.end(SIGTERM) == 0)
        try await store.close()
        try file.close()
    }

    @inline(never)
    private func looks(_ file: DatabaseQueue) async throws -> Int {
        try await file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM looks") ?? 0 }
    }

    @Test("A signal, and a closed reader, end a process that stands by", arguments: [SIGTERM, SIGINT, nil])
    func endedStandby(signal: Int32?) async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        #expect(try await store.lease("shop", to: "the first one", for: 3_600_000).isGranted)
        if let signal {
            let process = try Following(
                ["--store", "sqlite:store.sqlite", "--consumer", "shop", "--standby"], in: folder)
            try await eventually("it stands by") { try process.errors.contains("stands by") }
            #expect(try await process.end(signal) == 0)
            #expect(try folder.text("out").isEmpty)
        } else {
            let outcome = try await Command.shell("{ \(follow) --standby; echo \"$?\" >status; } | true", in: folder)
            #expect(outcome.error.contains("stands by"))
            #expect(try folder.text("status") == "0\n")
        }
        // The lease is still that of the first one.
        #expect(try await store.consumers().first?.holder == "the first one")
        try await store.close()
    }

    @Test("A standby that a signal ends does not keep a lease whose grant was not received")
    func lostGrant() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        // A grant takes seconds, in which the file disappears: the store grants the lease, and the call fails.
        try await withoutWriters(
            in: folder,
            """
            CREATE TABLE numbers (number INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO numbers SELECT i FROM n;
            CREATE TRIGGER slow AFTER UPDATE ON ledger_consumers WHEN NEW.holder LIKE 'process %'
            BEGIN
                INSERT INTO numbers SELECT count(*) FROM numbers AS a, numbers AS b, numbers AS c
                    WHERE a.number + b.number + c.number < 0;
            END
            """
        ) {}
        let file = try DatabaseQueue(path: folder.file("store.sqlite"))
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        #expect(try await store.lease("shop", to: "the first one", for: 3_600_000).isGranted)
        let process = try Following(
            [
                "--store", "sqlite:store.sqlite", "--consumer", "shop", "--poll-seconds", "0.05", "--standby",
                "--lease-seconds", "3600",
            ], in: folder)
        try await eventually("it stands by") { try process.errors.contains("This process stands by.") }
        try await store.endLease(of: "shop", by: "the first one")
        // From here on, the process writes only if it is granted the lease.
        try await eventually("the grant has begun") {
            if try await isBeingWritten(file) { return true }
            return try process.errors.contains("takes over")
        }
        let (path, other) = (folder.file("store.sqlite"), folder.file("moved.sqlite"))
        try FileManager.default.moveItem(atPath: path, toPath: other)
        // On a stalled machine, the grant may have been faster.
        try await eventually("the call ends") {
            try process.errors.contains("The store cannot be used:") || process.errors.contains("takes over")
        }
        try FileManager.default.moveItem(atPath: other, toPath: path)
        #expect(try await process.end(SIGTERM) == 0)
        let holder = try await store.consumers().first { $0.name == "shop" }?.holder
        #expect(holder == nil)
        try await store.close()
        try file.close()
    }

    @inline(never)
    private func isBeingWritten(_ file: DatabaseQueue) async throws -> Bool {
        do {
            try await file.writeWithoutTransaction { try $0.inTransaction(.immediate) { .rollback } }
            return false
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return true
        }
    }

    @Test("A process that cannot renew its lease ends its command, and continues when it has the lease again")
    func cutOff() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        // The shell ends at once, and the process that it started a moment later.
        try folder.write(
            "deliver",
            """
            echo started
            if [ -e free ]; then cat >>got; exit 0; fi
            (trap 'sleep 0.3; echo ended' TERM; sleep 60 & wait) &
            wait
            """.utf8)
        let process = try Following(
            [
                "--store", "sqlite:store.sqlite", "--consumer", "shop", "--lease-seconds", "12",
                "--acknowledge-on-exit-0", "sh deliver",
            ], in: folder)
        try await process.wait(forLines: 1)
        // Meanwhile another process delivers the first five entries.
        let taken = "UPDATE ledger_consumers SET position = 5, holder = NULL, leased_until = NULL WHERE name = 'shop'"
        try await withoutWriters(in: folder, taken) {
            try await eventually("the command is ended") { try folder.text("err").contains("not acknowledged") }
            #expect(try folder.text("out") == "started\nended\n")
            #expect(process.isRunning)
            try folder.write("free", "")
        }
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await eventually("the rest is acknowledged") { try await store.acknowledgedPosition(of: "shop") == 7 }
        try await store.close()
        #expect(try words("got", in: folder) == ["300 started", "400 started"])
        #expect(try await process.end(SIGTERM) == 0)
        let errors = try folder.text("err")
        #expect(
            errors.hasPrefix(
                """
                The lease of the consumer shop could not be renewed in time. The command was ended for the entries 1 to 7, \
                which are not acknowledged.

                """), "\(errors)")
    }

    @Test("A process that cannot renew its lease prints nothing until it has it again, and then the rest")
    func cutOffPrinting() async throws {
        let folder = try Folder()
        // More than a pipe holds.
        let sets = (1_000..<1_600).map {
            StoredPurchases.set([StoredPurchases.fact("\($0)", original: "\($0)", 0, 1)])
        }
        try await StoredPurchases.makeStore(sets, in: folder)
        let process = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                """
                \(follow) --batch 10000 --lease-seconds 4 | {
                    IFS= read -r line
                    printf '%s\\n' "$line" >got
                    while [ ! -e read ]; do sleep 0.05; done
                    head -n 599 >>got
                }
                """,
            ], environment: ["COMMAND": Command.path], directory: folder.url.path, errors: folder.write("err", ""))
        try await eventually("the first line is printed") { folder.names("").contains("got") }
        try await withoutWriters(in: folder) {
            try await Task.sleep(for: .seconds(4))
            try folder.write("read", "")
            try await eventually("it stops") { try folder.text("err").contains("Nothing is printed until") }
            #expect(process.isRunning)
        }
        #expect(try await process.end(within: 60) == 0)
        let ids = try folder.lines("got").compactMap { $0["transactionId"] as? String }
        #expect(ids == (1_000..<1_600).map(String.init))
    }

    @Test("A process that lost its lease stops its command and ends with an error")
    func lostLease() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let process = try Following(
            [
                "--store", "sqlite:store.sqlite", "--consumer", "shop", "--lease-seconds", "1",
                "--acknowledge-on-exit-0", "echo started; sleep 60; touch done",
            ], in: folder)
        try await process.wait(forLines: 1)
        try await stopBetweenWrites(process.identifier, in: folder)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await eventually("the lease is free") {
            try await store.lease("shop", to: "the next one", for: 60_000).isGranted
        }
        // A process that renews its lease runs; the lease of one that does not would be waited for.
        let renewing = Task {
            while !Task.isCancelled {
                _ = try await store.lease("shop", to: "the next one", for: 60_000)
                try await Task.sleep(for: .seconds(1))
            }
        }
        #expect(try await process.end(SIGCONT) == 2)
        renewing.cancel()
        _ = await renewing.result
        #expect(try folder.text("err").contains("The consumer shop is in use by the next one."))
        #expect(try await store.acknowledgedPosition(of: "shop") == 0)
        try await store.close()
    }

    /// Stops a process while it writes nothing. A process that is stopped within a write keeps the file locked, and no other
    /// process could take its lease.
    private func stopBetweenWrites(_ process: Int32, in folder: Folder) async throws {
        try await withoutWriters(in: folder) {
            kill(process, SIGSTOP)
            var status: Int32 = 0
            // Returns when all threads have stopped, or the process has ended.
            while waitpid(process, &status, WUNTRACED) == -1, errno == EINTR {}
            guard status & 0xff == 0x7f else { throw TestFailure("it ended by itself") }
        }
    }

    /// Locks the store against writes, so that no lease can be renewed. At the end, it executes a statement.
    private func withoutWriters(
        in folder: Folder, _ last: String = "SELECT 1", _ body: () async throws -> Void
    ) async throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.allowsUnsafeTransactions = true
        let file = try DatabaseQueue(path: folder.file("store.sqlite"), configuration: configuration)
        try await file.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
        try await body()
        try await file.writeWithoutTransaction { database in
            try database.execute(sql: last)
            try database.commit()
        }
        try file.close()
    }

    @Test("A closed reader ends it with 0, also while nothing happens")
    func closedPipe() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await Command.shell("{ \(follow); echo \"$?\" >status; } | head -n 7 >/dev/null", in: folder)
        #expect(outcome.error.isEmpty)
        #expect(try folder.text("status") == "0\n")
    }

    @Test(
        "Wrong options are refused",
        arguments: [
            (["--batch", "0"], "--batch takes a number from 1 to 10000."),
            (["--poll-seconds", "0"], "--poll-seconds takes a number from 0.05 to 3600."),
            (["--poll-seconds", "nan"], "--poll-seconds takes a number from 0.05 to 3600."),
            (["--lease-seconds", "0"], "--lease-seconds takes a number from 1 to 3600."),
            (["--attempts", "2"], "--attempts needs --acknowledge-on-exit-0."),
            (["--attempts", "0", "--acknowledge-on-exit-0", "true"], "--attempts takes a number from 1."),
            (["--acknowledge-on-exit-0", ""], "--acknowledge-on-exit-0 takes a command."),
            (["--consumer", "é"], "1 to 256 characters"),
        ])
    func refusals(arguments: [String], message: String) async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await Command.run(
            ["ledger", "follow", "--store", "sqlite:store.sqlite", "--consumer", "shop", "--once"] + arguments,
            in: folder)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.error.contains(message), "\(outcome.error)")
    }
}

/// `ledger follow` as a process that runs until it gets a signal. Its output is in the files `out` and `err`.
final class Following {
    private let process: ChildProcess
    private let folder: Folder
    private let suffix: String

    /// - Parameters:
    ///   - arguments: the arguments of the command.
    ///   - folder: the folder with the store.
    ///   - suffix: comes after the names of the files, for a second process in the folder.
    @inline(never)
    init(_ arguments: [String], in folder: Folder, suffix: String = "") throws {
        self.folder = folder
        self.suffix = suffix
        process = try ChildProcess(
            Command.path, ["ledger", "follow"] + arguments, directory: folder.url.path,
            output: folder.write("out" + suffix, ""), errors: folder.write("err" + suffix, ""))
    }

    /// What the process has printed on standard error.
    var errors: String { get throws { try folder.text("err" + suffix) } }

    var identifier: Int32 { process.identifier }

    var isRunning: Bool { process.isRunning }

    /// Waits until the process has printed so many lines.
    func wait(forLines count: Int) async throws {
        for _ in 0..<6_000 {
            if try folder.bytes("out" + suffix).count(where: { $0 == UInt8(ascii: "\n") }) >= count { return }
            let errors = try self.errors
            try #require(process.isRunning, "it ended by itself: \(errors)")
            try await Task.sleep(for: .milliseconds(20))
        }
        let errors = try self.errors
        Issue.record("no \(count) lines within two minutes: \(errors)")
    }

    /// Sends a signal and waits for the end. Returns the exit code; 128 and the number of the signal that ended it.
    func end(_ signal: Int32) async throws -> Int32 {
        process.signal(signal)
        return try await process.end()
    }
}
