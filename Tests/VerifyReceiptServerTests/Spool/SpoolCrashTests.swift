import Foundation
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

/// The real command, killed and starved of disk space.
@Suite(
    "The spool of the command", .timeLimit(.minutes(30)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: ServeProcess.path), "the command was not built"))
struct SpoolCrashTests {
    /// More by LEGACY_RECEIPTS_CRASH_ROUNDS.
    private static let rounds =
        ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_CRASH_ROUNDS"].flatMap { Int($0) } ?? 4

    /// Another program holds the store's file, so that receipts go to the spool; in every other round it lets go before the
    /// kill, which then comes while the spool is drained.
    @Test func killNineAtAnyMomentLosesNothingThatWasAnswered() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        let arguments = ["--store", "sqlite:\(path)"]
        let clients = NumberedClients()
        var spooled = 0
        var isSpoolSlow = false
        for round in 0..<Self.rounds {
            let server = try await ServeProcess(in: folder, arguments)
            let holder = try StoreHolder(path)
            let answeredBefore = clients.answered.count
            let sending = Task { await clients.send(to: server.port) }
            try await eventually("something is answered") { clients.answered.count > answeredBefore + 4 }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...300)))
            if round % 2 == 1 {
                try holder.release()
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...150)))
            }
            try await server.end(by: SIGKILL)
            await sending.value
            if round % 2 == 0 { try holder.release() }
            spooled += server.logText.components(separatedBy: "\"spooled\":true").count - 1
            isSpoolSlow = isSpoolSlow || SpoolLog.logsTooSlow(server.logText)
        }
        #expect(spooled > 0, "the spool was not used")
        #expect(clients.others.isEmpty || isSpoolSlow, "\(clients.others)")
        let server = try await ServeProcess(in: folder, arguments)
        try await eventually("the spool is empty") {
            try await TestServer.metric("legacy_receipts_spool_entries", server.adminPort) == "0"
        }
        #expect(try await TestServer.metric("legacy_receipts_spool_set_aside_entries", server.adminPort) == "0")
        #expect(try await server.end(by: SIGTERM) == 0)
        let store = try SQLiteTransactionStore.open(path: path)
        var lost: [Int64] = []
        for number in clients.answered where try await !Numbered.isKnown(number, to: store) { lost.append(number) }
        #expect(lost.isEmpty, "\(lost.count) of \(clients.answered.count) are lost")
        try await store.close()
        print(
            "\(Self.rounds) rounds: \(clients.answered.count) answered, \(spooled) by way of the spool, \(lost.count) lost"
        )
    }

    // MARK: Start and stop

    @Test func aStopLogsThatReceiptsRemainInTheSpool() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        let arguments = ["--store", "sqlite:\(path)", "--set", "timeouts.drain=0"]
        let server = try await ServeProcess(in: folder, arguments)
        let holder = try StoreHolder(path)
        let clients = NumberedClients()
        await clients.send(to: server.port, clients: 1, count: 3)
        try await server.end(by: SIGTERM)
        try holder.release()
        let line = server.logText.split(separator: "\n").first { $0.contains("receipts remain in the spool") }
        let areThree = clients.answered.count == 3 && line?.contains("\"entries\":\"3\"") == true
        #expect(areThree || SpoolLog.logsTooSlow(server.logText), "\(server.logText)")
        #expect(line?.contains("store.sqlite.spool") == true)
    }

    @Test func aDamagedSpoolKeepsTheServerFromNothing() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        try Data(repeating: 0x55, count: 8_192).write(to: URL(fileURLWithPath: path + ".spool"))
        let server = try await ServeProcess(in: folder, ["--store", "sqlite:\(path)"])
        let clients = NumberedClients()
        await clients.send(to: server.port, clients: 1, count: 2)
        #expect(clients.answered.count == 2)
        #expect(server.logText.contains("the spool is damaged"))
        #expect(server.logText.contains("store.sqlite.spool.damaged-"))
        try await server.end(by: SIGKILL)
    }

    @Test func aDefaultSpoolPathThatFailsNamesTheKeyToSet() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        try FileManager.default.createDirectory(atPath: path + ".spool", withIntermediateDirectories: true)
        let failure = await #expect(throws: TestFailure.self) {
            _ = try await ServeProcess(in: folder, ["--store", "sqlite:\(path)"])
        }
        #expect(failure?.description.contains("set spool.path to a file in a writable folder, or to none") == true)
    }

    // MARK: A full disk

    /// Whether this process may mount file systems in a namespace of its own.
    private static let canMount: Bool = {
        let script =
            "command -v nsenter && unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs -o size=1m tmpfs /mnt'"
        return (try? ChildProcess.runWhileBlocking("sh", ["-c", script]))?.status == 0
    }()

    private static func sudo(_ arguments: String...) throws {
        let outcome = try ChildProcess.runWhileBlocking("env", arguments)
        guard outcome.status == 0 else { throw TestFailure("\(arguments) failed: \(outcome.errors)") }
    }

    @Test(.enabled(if: SpoolCrashTests.canMount, "no file system can be mounted here"))
    func aDiskThatIsFullIsSeenAndItsReceiptsAreKeptUntilThereIsRoom() async throws {
        let folder = try TemporaryFolder()
        let disk = folder.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let script =
            "mount --make-rprivate / && mount -t tmpfs -o size=4m tmpfs '\(disk)' && exec \"$@\""
        let server = try await ServeProcess(
            prefix: ["/usr/bin/env", "unshare", "-m", "sh", "-c", script, "sh"], in: folder,
            ["--store", "sqlite:\(disk)/store.sqlite", "--set", "spool.path=\(folder.path)/spool"])
        func metric(_ name: String) async throws -> String? { try await TestServer.metric(name, server.adminPort) }
        let clients = NumberedClients()
        try await eventually("the store can be written to") {
            try await metric("legacy_receipts_store_writable") == "1"
        }
        // On a busy machine a receipt may go to the spool before the disk is full.
        try await eventually("the disk is full, and it is seen") {
            await clients.send(to: server.port, count: 50)
            let entries = try await metric("legacy_receipts_spool_entries").flatMap { Int($0) } ?? 0
            let writable = try await metric("legacy_receipts_store_writable")
            return entries > 0 && writable == "0"
        }
        await clients.send(to: server.port, count: 50)
        try Self.sudo(
            "nsenter", "-t", "\(server.identifier)", "-m", "mount", "-o", "remount,size=256m", disk)
        try await eventually("the spool is empty") {
            try await metric("legacy_receipts_spool_entries") == "0"
        }
        try await eventually("the store can be written to") {
            try await metric("legacy_receipts_store_writable") == "1"
        }
        // Only the server uses the disk: clients request the content of the store.
        let refused = try await metric("legacy_receipts_spool_receipts_total{outcome=\"refused\"}")
        #expect(clients.others.isEmpty && refused == "0" || SpoolLog.logsTooSlow(server.logText), "\(clients.others)")
        #expect(try await metric("legacy_receipts_spool_receipts_total{outcome=\"set_aside\"}") == "0")
        let spooled = try await metric("legacy_receipts_spool_receipts_total{outcome=\"spooled\"}")
        #expect(spooled != "0")
        #expect(try await metric("legacy_receipts_spool_receipts_total{outcome=\"drained\"}") == spooled)
        #expect(try await server.end(by: SIGTERM) == 0)
    }
}
