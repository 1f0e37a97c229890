import AppStoreModels
import Foundation
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore

/// `legacy-receipts notifications backfill` as a process, against a server on this machine.
@Suite(.timeLimit(.minutes(10))) struct BackfillCommandTests {
    private static let command = Bundle.main.bundleURL.appending(path: "legacy-receipts").path
    private let now = Int64(Date().timeIntervalSince1970 * 1_000)
    /// Five days ago.
    private var since: String { Date(timeIntervalSince1970: Double(now / 1_000 - 5 * 86_400)).formatted(.iso8601) }

    private static func arguments(_ folder: TemporaryFolder, _ url: String, store: String?) throws -> [String] {
        try folder.write("key.p8", BackfillTests.key)
        try Data(TestSignedDataAuthority.standard.rootCertificate).write(
            to: URL(fileURLWithPath: folder.path + "/root.der"))
        return [
            "notifications", "backfill", "--store", store ?? "sqlite:\(folder.path)/store.sqlite", "--bundle-id",
            Signed.bundleId, "--apple-id", "\(Signed.appleId)", "--issuer-id", "57246542-96fe-1a63-e053-0824d011072a",
            "--key-id", "2X9R4HXF34", "--private-key", folder.path + "/key.p8", "--server-url", url, "--trust-root",
            folder.path + "/root.der",
        ]
    }

    private static func run(
        _ folder: TemporaryFolder, _ url: String, _ more: [String] = [], store: String? = nil
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(command, arguments(folder, url, store: store) + more)
    }

    /// The command after `Continue with:`, for a shell.
    private static func continuation(_ errors: String) throws -> String {
        let lines = errors.split(separator: "\n").map(String.init)
        let place = try #require(lines.firstIndex(where: { $0.hasSuffix("Continue with:") }), "\(errors)")
        try #require(lines.count == place + 2 && lines[place + 1].hasPrefix("  legacy-receipts "), "\(errors)")
        return lines[place + 1].trimmingCharacters(in: .whitespaces)
    }

    /// The files of `export`, by name.
    private static func tables(_ folder: TemporaryFolder) async throws -> [String: Data] {
        let path = folder.path + "/tables"
        let ended = try await ChildProcess.run(
            command, ["export", "--store", "sqlite:\(folder.path)/store.sqlite", "--to", path, "--at", "2024-05-01"])
        try #require(ended.status == 0, "\(ended.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return try names.reduce(into: [:]) { $0[$1] = try Data(contentsOf: URL(filePath: "\(path)/\($1)")) }
    }

    @Test("The whole history is in the store afterwards, read day by day")
    func historyIsInTheStoreAfterwards() async throws {
        let history = try BackfillTests.history([now - 2 * Signed.day, now - 3_600_000, now - 60_000])
        let server = try await BackfillTests.server(history)
        let folder = try TemporaryFolder()
        let first = try await Self.run(folder, server.url, ["--only-failures", "--since", since])
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.contains("history: 3; new: 3 (") && first.output.contains("known: 0, not stored: 0"))
        let count = server.received.count
        let second = try await Self.run(folder, server.url)
        #expect(second.status == 0 && second.output.contains("new: 0 (0 facts), known: 3"), "\(second.errors)")
        let windows = server.received.dropFirst(count).compactMap(BackfillTests.Query.init).filter { $0.page == 0 }
        #expect((180...181).contains(windows.count))
        #expect(try #require(windows.first).startDate > now - 180 * Signed.day)
        #expect(try #require(windows.last).endDate >= now)
        for (window, next) in zip(windows, windows.dropFirst()) {
            #expect(window.endDate % Signed.day == 0 && next.startDate == window.endDate - 1_000)
        }
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        for entry in history { #expect(try await store.hasProcessed(notificationUUID: entry.uuid)) }
        try await store.close()
        try await server.stop()
    }

    @Test("The command that a stopped run prints continues it, and the store is that of an undisturbed run")
    func continuation() async throws {
        let history = try BackfillTests.history((1...4).reversed().map { now - $0 * Signed.day })
        let broken = history[2].date
        let isBroken = Mutex(true)
        let server = try await BackfillTests.server(history) { query in
            guard query.startDate <= broken, broken < query.endDate, isBroken.withLock({ $0 }) else { return nil }
            return ("", 401)
        }
        let folder = try TemporaryFolder()
        let stopped = try await Self.run(folder, server.url, ["--since=\(since)", "--only-failures"])
        #expect(stopped.status == 2 && stopped.output.contains("history: 2; new: 2 ("), "\(stopped.errors)")
        #expect(stopped.errors.contains("does not accept the key for \(Signed.bundleId) in Production (HTTP 401)"))
        let command = try Self.continuation(stopped.errors)
        #expect(command.contains(" --only-failures ") && !command.contains(since), "\(command)")
        isBroken.withLock { $0 = false }
        let count = server.received.count
        let failed = try #require(server.received.compactMap(BackfillTests.Query.init).last)
        let continued = try await ChildProcess.run(
            "/bin/sh", ["-c", "'\(Self.command)'\(command.dropFirst("legacy-receipts".count))"])
        #expect(continued.status == 0 && continued.output.contains("new: 2 ("), "\(continued.errors)")
        let requests = server.received.dropFirst(count).filter { BackfillTests.Query($0) != nil }
        #expect(requests.first.flatMap { BackfillTests.Query($0) }?.startDate == failed.startDate)
        #expect(requests.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("\"onlyFailures\":true") })
        let other = try TemporaryFolder()
        let undisturbed = try await Self.run(other, server.url, ["--since", since])
        #expect(undisturbed.status == 0 && undisturbed.output.contains("history: 4; new: 4 ("), "\(undisturbed.errors)")
        let tables = try await Self.tables(folder)
        #expect(try await Self.tables(other) == tables && !tables.isEmpty)
        try await server.stop()
    }

    @Test("A run that stops also prints the command that reads the day of a refused notification again")
    func refusedDay() async throws {
        let history = try BackfillTests.history([now - 4 * Signed.day])
        let forged = BackfillTests.Entry(jws: "a.b.c", uuid: "", date: now - 3 * Signed.day)
        let today = now
        let isBroken = Mutex(true)
        let server = try await BackfillTests.server(history + [forged]) { query in
            guard query.startDate > today - Signed.day, isBroken.withLock({ $0 }) else { return nil }
            return ("", 401)
        }
        let folder = try TemporaryFolder()
        let stopped = try await Self.run(folder, server.url, ["--since", since])
        #expect(stopped.status == 2)
        #expect(try Self.continuation(stopped.errors).hasPrefix("legacy-receipts notifications backfill "))
        let lines = stopped.errors.split(separator: "\n").map(String.init)
        let place = try #require(lines.firstIndex { $0.hasSuffix("read them again with:") }, "\(stopped.errors)")
        let command = lines[place + 1].trimmingCharacters(in: .whitespaces)
        isBroken.withLock { $0 = false }
        let count = server.received.count
        let again = try await ChildProcess.run(
            "/bin/sh", ["-c", "'\(Self.command)'\(command.dropFirst("legacy-receipts".count))"])
        #expect(again.status == 1 && again.output.contains("not stored: 1, notGenuine: 1"), "\(again.errors)")
        let first = try #require(server.received.dropFirst(count).compactMap(BackfillTests.Query.init).first)
        #expect(first.startDate <= forged.date && forged.date < first.endDate)
        try await server.stop()
    }

    @Test("Ctrl-C during an outage ends a run, which prints the command that continues")
    func interruption() async throws {
        let server = try await BackfillTests.server([]) { _ in (#"{"errorCode":5000000,"errorMessage":"x"}"#, 500) }
        let folder = try TemporaryFolder()
        let (output, errors) = (try folder.write("out", ""), try folder.write("err", ""))
        func text(_ path: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        }
        let process = try ChildProcess(
            Self.command, Self.arguments(folder, server.url, store: nil) + ["--since", since], output: output,
            errors: errors)
        try await eventually("the run waits") { try text(errors).contains("waiting until 20") }
        process.signal(SIGINT)
        #expect(try await process.end() == 130)
        #expect(try text(output).contains("Notifications in the history: 0; new: 0"))
        let command = try Self.continuation(text(errors))
        #expect(command.hasSuffix(" --since \(since)"), "\(command)")
        try await server.stop()
    }

    @Test(
        "The password of a database is not in the command that continues",
        arguments: [
            (
                "postgres://user:secret@127.0.0.1:1/db?sslpassword=hidden&schema=s",
                "'postgres://user@127.0.0.1:1/db?schema=s'"
            ),
            ("postgres://user:47#secret@127.0.0.1:1/db", "postgres://user@127.0.0.1:1/db"),
            ("postgres://user:4?secret@127.0.0.1:1/db", "postgres://user@127.0.0.1:1/db"),
            ("postgres://user:4/secret@127.0.0.1:1/db", "'postgres://…'"),
        ])
    func password(address: String, shown: String) async throws {
        let server = try await BackfillTests.server([]) { _ in ("", 403) }
        let folder = try TemporaryFolder()
        let stopped = try await Self.run(
            folder, server.url, ["--since", since], store: address)
        let command = try Self.continuation(stopped.errors)
        #expect(command.contains(" --store \(shown) "), "\(stopped.errors)")
        #expect(stopped.status == 2 && !stopped.errors.contains("secret") && !stopped.errors.contains("hidden"))
        try await server.stop()
    }

    @Test func exitCodesStateTheOutcome() async throws {
        let good = try BackfillTests.history([now - 60_000])
        let folder = try TemporaryFolder()
        let forged = BackfillTests.Entry(jws: "a.b.c", uuid: "", date: now - 60_000)
        let partly = try await BackfillTests.server(good + [forged])
        let refused = try await Self.run(folder, partly.url, ["--since", since])
        #expect(refused.status == 1 && refused.output.contains("not stored: 1, notGenuine: 1"))
        #expect(refused.errors.contains("was not stored (notGenuine)"))
        try await partly.stop()
        let closed = try await BackfillTests.server(good) { _ in ("", 401) }
        let unauthorized = try await Self.run(folder, closed.url)
        #expect(unauthorized.status == 2 && unauthorized.errors.contains("--key-id and --issuer-id"))
        #expect(!unauthorized.errors.contains("PRIVATE KEY"))
        for wrong in [["--since", "yesterday"], ["--since", "2999-01-01"], ["--environment", "xcode"]] {
            #expect(try await Self.run(folder, closed.url, wrong).status == 2)
        }
        try await closed.stop()
    }
}
