import Foundation
import PostgreSQLTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

/// Each test has a server of its own, which it stops.
@Suite(
    "PostgreSQL outages", .serialized,
    .enabled(if: PostgreSQLServer.canStartOthers, PostgreSQLServer.isMissing))
struct PostgreSQLOutageTests {
    /// Writes numbered documents until it is stopped, each repeated until the store accepts it.
    private actor Load {
        private(set) var acknowledged = 0
        private(set) var codes: [TransactionStoreError.Code: Int] = [:]
        private var isStopped = false
        private var next = 0

        func stop() { isStopped = true }
        func take() -> Int? {
            guard !isStopped, !Task.isCancelled else { return nil }
            next += 1
            return next
        }
        func acknowledge() { acknowledged += 1 }
        func failed(_ code: TransactionStoreError.Code) { codes[code, default: 0] += 1 }

        nonisolated func run(on store: PostgreSQLTransactionStore) async {
            while let number = await take() {
                let set = StoreSamples.set(
                    StoreSamples.fact("\(number)0"), StoreSamples.fact("\(number)1", original: "\(number)0"),
                    receipt: StoreSamples.receipt("r\(number)"))
                while let code = await storeErrorCode({ _ = try await store.apply([set]) }) {
                    await failed(code)
                    // The test has failed.
                    if Task.isCancelled { return }
                    try? await Task.sleep(for: .milliseconds(20))
                }
                await acknowledge()
            }
        }
    }

    @Test(
        "Stopped and started mid-load, calls fail as unavailable, then succeed, and nothing is lost",
        arguments: ["stop", "crash"])
    func midLoad(command: String) async throws {
        try await PostgreSQLServer.with { server in
            let store = try await PostgreSQLTransactionStore.open(url: server.url, options: .longTimeouts)
            let load = Load()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { await load.run(on: store) } }
                for _ in 0..<2 {
                    let before = await load.acknowledged
                    try await eventually("more is acknowledged") { await load.acknowledged > before + 50 }
                    let failures = await load.codes[.unavailable, default: 0]
                    try await server.control(command)
                    try await eventually("calls fail") { await load.codes[.unavailable, default: 0] > failures + 3 }
                    try await server.control("resume")
                    let then = await load.acknowledged
                    try await eventually("more is acknowledged") { await load.acknowledged > then + 50 }
                }
                await load.stop()
                try await group.waitForAll()
            }
            let acknowledged = await load.acknowledged
            #expect(await Set(load.codes.keys) == [.unavailable])
            let counts = try await store.counts()
            #expect(counts.transactions == Int64(acknowledged) * 2)
            #expect(counts.customers == Int64(acknowledged))
            #expect(counts.receipts == Int64(acknowledged))
            try await store.checkReadiness()
            try await store.close()
        }
    }

    @Test("After a restart between calls, the next call succeeds at once")
    func restartedWhileIdle() async throws {
        try await PostgreSQLServer.with { server in
            let store = try await PostgreSQLTransactionStore.open(url: server.url, options: .longTimeouts)
            _ = try await store.apply([StoreSamples.set(StoreSamples.fact("1"))])
            try await server.control("stop")
            try await server.control("resume")
            #expect(try await store.customer(original: "1")?.transactions.count == 1)
            try await server.control("stop")
            try await server.control("resume")
            #expect(try await store.apply([StoreSamples.set(StoreSamples.fact("2"))]).changed == 1)
            try await store.close()
        }
    }

    @Test("A store made before its server is there works once it is")
    func startedBeforeServer() async throws {
        try await PostgreSQLServer.with { server in
            try await server.control("stop")
            let store = try PostgreSQLTransactionStore(url: server.url)
            #expect(await storeErrorCode { try await store.checkReadiness() } == .unavailable)
            #expect(await storeErrorCode { _ = try await store.customer(original: "1") } == .unavailable)
            try await server.control("resume")
            try await store.checkReadiness()
            try await store.close()
        }
    }

    @Test("A session that an administrator ends is replaced")
    func terminated() async throws {
        try await PostgreSQLServer.with { server in
            let store = try await PostgreSQLTransactionStore.open(url: server.url, options: .longTimeouts)
            for number in 1...3 {
                _ = try await store.apply([StoreSamples.set(StoreSamples.fact("\(number)"))])
                try server.sql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'legacy-receipts'")
            }
            #expect(try await store.counts().transactions == 3)
            try await store.close()
        }
    }

    @Test("A server without free connections is unavailable, and serves when it has some")
    func tooManyConnections() async throws {
        try await PostgreSQLServer.with { server in
            try server.sql("CREATE ROLE narrow LOGIN CONNECTION LIMIT 1")
            try server.sql("CREATE SCHEMA legacy_receipts AUTHORIZATION narrow")
            let url = server.url.replacing("postgres@", with: "narrow@")
            let first = try await PostgreSQLTransactionStore.open(url: url)
            let second = try PostgreSQLTransactionStore(url: url)
            #expect(await storeErrorCode { try await second.checkReadiness() } == .unavailable)
            try await first.close()
            // The server forgets a session a moment after the client has left.
            try await eventually("the place is free") {
                await storeErrorCode { try await second.checkReadiness() } == nil
            }
            try await second.close()
        }
    }

    @Test("A standby is not writable and can be read")
    func standby() async throws {
        try await PostgreSQLServer.with { server in
            let store = try await PostgreSQLTransactionStore.open(url: server.url, options: .longTimeouts)
            _ = try await store.apply([StoreSamples.set(StoreSamples.fact("1"))])
            try await server.control("stop")
            try Data().write(to: URL(fileURLWithPath: server.directory + "/data/standby.signal"))
            try await server.control("resume")
            let readOnly = {
                await storeErrorCode { _ = try await store.apply([StoreSamples.set(StoreSamples.fact("2"))]) }
            }
            #expect(await readOnly() == .notWritable)
            #expect(await storeErrorCode { try await store.checkReadiness() } == .notWritable)
            #expect(try await store.customer(original: "1")?.transactions.count == 1)
            try await store.close()
        }
    }

    @Test("A server that is silent makes a call fail at the answer timeout, and its connection is not used again")
    func silent() async throws {
        try await PostgreSQLServer.with { server in
            let other = try await PostgreSQLTransactionStore.open(url: server.url, options: .longTimeouts)
            _ = try await other.apply([StoreSamples.set(StoreSamples.fact("1"))])
            try await other.close()
            let options = PostgreSQLTransactionStore.Options(
                maximumConnections: 1, statementTimeout: 1, answerTimeout: 1)
            let store = try PostgreSQLTransactionStore(url: server.address, options: options)
            // A busy machine may take longer than that.
            try await eventually("the server answers") {
                await storeErrorCode { _ = try await store.customer(original: "1") } == nil
            }
            let backend = { try server.sql(Self.backends) }
            let before = try backend()
            try await server.control("freeze")
            var waits: [Duration] = []
            for _ in 0..<2 {
                let begin = ContinuousClock.now
                #expect(await storeErrorCode { _ = try await store.customer(original: "1") } == .unavailable)
                waits.append(begin.duration(to: .now))
            }
            // Without a second attempt, which would first wait for a connection. One of the two may meet a busy machine.
            #expect(waits[0] > .milliseconds(900) && waits.contains { $0 < .seconds(10) }, "\(waits)")
            try await server.control("thaw")
            try await eventually("the server answers again") {
                await storeErrorCode { _ = try await store.customer(original: "1") } == nil
            }
            #expect(try await store.customer(original: "1")?.transactions.count == 1)
            #expect(try !backend().split(separator: "\n").contains { before.contains($0) })
            try await store.close()
        }
    }

    private static let backends =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'legacy-receipts' AND state IS NOT NULL"
}
