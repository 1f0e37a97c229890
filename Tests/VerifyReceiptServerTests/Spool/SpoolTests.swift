import Foundation
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// A store that cannot be written to for a while, seen by clients and by operators.
@Suite("The spool seen through the server", .timeLimit(.minutes(10)))
struct SpoolTests {
    /// A bulk load, a backup, a second program: it writes and does not end.
    @Test func aStoreLockedByAnotherProgramLosesNothing() async throws {
        try await eventually("the spool takes everything in time") { try await Self.spoolKeepsUp() }
    }

    /// - Returns: false if the disk was so busy that the spool took too long, which says nothing.
    @inline(never)
    private static func spoolKeepsUp() async throws -> Bool {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        let store = try SQLiteTransactionStore.open(path: path)
        let spool = try SQLiteFactSpool.open(path: path + ".spool", maximumBytes: 1 << 30)
        let configuration = VerifyReceiptServerConfiguration.testing {
            $0.endpoint.learningLimit = .milliseconds(250)
        }
        let isInTime = try await TestServer.run(configuration, store: store, spool: spool) { server -> Bool in
            let clients = NumberedClients()
            let holder = try StoreHolder(path)
            await clients.send(to: server.port, count: 120)
            if SpoolLog.logsTooSlow(server.log.text) {
                try holder.release()
                return false
            }
            #expect(clients.answered.count == 120 && clients.others.isEmpty)
            #expect(try await store.counts().transactions == 0)
            #expect(try await server.metric("legacy_receipts_spool_entries") == "120")
            #expect(
                try await server.metric("legacy_receipts_spool_receipts_total{outcome=\"spooled\"}") == "120")
            #expect(Double(try await server.metric("legacy_receipts_spool_oldest_seconds") ?? "") ?? 0 > 0)
            try await eventually("the spool can be written to") {
                try await server.metric("legacy_receipts_spool_writable") == "1"
            }
            // Every request is answered, so that the server is ready; how far behind it is, it says.
            try await eventually("it is ready") {
                let ready = try await Wire.ask(server.adminPort, Sent.get("/readyz"))
                #expect(ready.body.contains("120 receipts wait in the spool"), "\(ready.body)")
                return ready.status == 200
            }
            try holder.release()
            try await eventually("everything is in the store") { spool.state.entries == 0 }
            for number in clients.answered {
                #expect(try await Numbered.isKnown(number, to: store), "receipt \(number) was answered and is lost")
            }
            #expect(try await server.metric("legacy_receipts_spool_entries") == "0")
            #expect(try await server.metric("legacy_receipts_spool_oldest_seconds") == "0.0")
            // An entry leaves the spool before it is counted.
            try await eventually("all are counted") {
                try await server.metric("legacy_receipts_spool_receipts_total{outcome=\"drained\"}") == "120"
            }
            try await eventually("it is logged") {
                server.log.text.contains("all receipts of the spool are in the store")
            }
            #expect(server.log.text.contains("receipts go to the spool"))
            try await eventually("it is ready") {
                try await Wire.ask(server.adminPort, Sent.get("/readyz")).body == "ok\n"
            }
            return true
        }
        try await spool.close()
        try await store.close()
        return isInTime
    }

    /// An operator who tidies up, or a volume that is mounted over it.
    @Test func aSpoolWithoutItsFileAcceptsNoReceipt() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/spool"
        let store = PuppetStore()
        store.become(.refusesWrites(.notWritable))
        let spool = try SQLiteFactSpool.open(path: path, maximumBytes: 1 << 20)
        try await TestServer.run(store: store, spool: spool) { server in
            #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 0)
            for suffix in ["", "-wal"] { try #require(unlink(path + suffix) == 0) }
            #expect(try await Wire.ask(server.port, Numbered.post(1)).verifyStatus == 21005)
            #expect(try await server.metric("legacy_receipts_spool_writable") == "0")
            #expect(try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 503)
        }
        try await spool.close()
    }

    /// One row still finds room in a file whose disk is full: what real writes run into counts.
    @Test func aFullStoreIsKnownNotToBeWritableAtOnceAndLosesNothing() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        let store = try SQLiteTransactionStore.open(path: path)
        try await store.pragma("max_page_count = 40")
        let spool = try SQLiteFactSpool.open(path: path + ".spool", maximumBytes: 1 << 30)
        let clients = NumberedClients()
        try await TestServer.run(store: store, spool: spool) { server in
            try await eventually("the store is full") {
                await clients.send(to: server.port, count: 20)
                return spool.state.entries > 0
            }
            // The trial succeeds all the same.
            try await store.checkReadiness()
            // Within a second of a write that failed. A round in which the machine was busy for longer says nothing.
            try await eventually("a write fails, and the metric is read within a second") {
                let (start, entries) = (ContinuousClock.now, spool.state.entries)
                await clients.send(to: server.port, count: 1)
                let isWritable = try await server.metric("legacy_receipts_store_writable")
                guard spool.state.entries > entries, start.duration(to: .now) < .seconds(1) else { return false }
                #expect(isWritable == "0")
                return true
            }
            #expect(clients.others.isEmpty || SpoolLog.logsTooSlow(server.log.text))
        }
        try await store.close()
        // With room again, everything that was answered is there.
        let larger = try SQLiteTransactionStore.open(path: path)
        try await TestServer.run(store: larger, spool: spool) { server in
            try await eventually("everything is in the store") { spool.state.entries == 0 }
            // The trial of a busy machine may take longer than the server waits for it.
            try await eventually("the store can be written to") {
                try await server.metric("legacy_receipts_store_writable") == "1"
            }
        }
        for number in clients.answered { #expect(try await Numbered.isKnown(number, to: larger), "receipt \(number)") }
        try await spool.close()
        try await larger.close()
    }

    @Test func whereNeitherStoreNorSpoolHasRoomTheServerIsNotReadyUntilOneHas() async throws {
        let folder = try TemporaryFolder()
        let store = PuppetStore()
        store.become(.refusesWrites(.notWritable))
        let spool = try SQLiteFactSpool.open(path: folder.path + "/spool", maximumBytes: 1)
        try await TestServer.run(store: store, spool: spool) { server in
            try await eventually("it is ready") {
                try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 200
            }
            let answer = try await Wire.ask(server.port, Sent.post(Sent.body()))
            #expect(answer.verifyStatus == 21005)
            let line = "legacy_receipts_spool_receipts_total{outcome=\"refused\"}"
            #expect(try await server.metric(line) == "1")
            #expect(server.log.text.contains("receipts are not kept"))
            #expect(server.log.text.contains("\"notKept\":true"))
            // A spool of one byte is not full as long as it is empty, but takes nothing.
            store.become(.works)
            try await eventually("receipts are answered again") {
                try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 0
            }
            #expect(server.log.text.contains("receipts are kept again"))
        }
        try await spool.close()
    }

    @Test func aFullSpoolBesideAStoreThatTakesNothingIsNotReady() async throws {
        let store = PuppetStore()
        store.become(.refusesWrites(.notWritable))
        let spool = FullSpool()
        for whenFull in EndpointConfiguration.SpoolFailure.allCases {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.endpoint.whenSpoolIsFull = whenFull }
            try await TestServer.run(configuration, store: store, spool: spool) { server in
                let status = try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus
                #expect(status == (whenFull == .answer ? 0 : 21005))
                let readiness = whenFull == .answer ? 200 : 503
                try await eventually("it is as ready as it can answer") {
                    try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == readiness
                }
                #expect(try await server.metric("legacy_receipts_spool_writable") == "0")
                store.become(.works)
                try await eventually("it is ready") {
                    try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 200
                }
                store.become(.refusesWrites(.notWritable))
            }
        }
    }

    /// A spool without room.
    private struct FullSpool: FactSpool {
        private static let full = TransactionStoreError(.notWritable, "The spool is full.")
        func append(_ set: FactSet) async throws { throw Self.full }
        func oldest(after: Int64, maximumCount: Int, maximumBytes: Int64) async throws -> [SpooledFacts] { [] }
        func remove(_ ids: [Int64]) async throws {}
        func setAside(_ id: Int64, reason: String) async throws {}
        var state: SpoolState { SpoolState(entries: 0, bytes: 1, maximumBytes: 1, oldestDate: nil, setAside: 0) }
        func checkReadiness() async throws { throw Self.full }
        func close() async throws {}
    }

    // MARK: Configuration

    private static func spool(_ text: String) throws -> VerifyReceiptServerConfiguration {
        let folder = try TemporaryFolder()
        return try ConfigurationSources(file: folder.write("serve.yaml", text)).load()
    }

    @Test func theSpoolIsBesideTheStoreByDefault() throws {
        #expect(try Self.spool("#").spool.path == "legacy-receipts.sqlite.spool")
        #expect(try Self.spool("store: {url: 'sqlite:/var/x.sqlite'}").spool.path == "/var/x.sqlite.spool")
        #expect(try Self.spool("store: {url: 'postgres://db/receipts'}").spool.path == "legacy-receipts.spool")
        #expect(try Self.spool("store: {url: none}").spool.path == nil)
        let given = try Self.spool("spool: {path: /disk/spool, max-bytes: 1048576, when-full: answer}")
        #expect(given.spool.path == "/disk/spool" && given.spool.maximumBytes == 1 << 20)
        #expect(given.endpoint.whenSpoolIsFull == .answer)
        #expect(try Self.spool("#").endpoint.whenSpoolIsFull == .unavailable)
    }

    @Test func aSpoolThatIsSwitchedOffIsAWarning() throws {
        let configuration = try Self.spool("spool: {path: none}")
        #expect(configuration.spool.path == nil)
        #expect(configuration.warnings.filter { $0.contains("spool.path is none") }.count == 1)
        #expect(throws: ConfigurationError.self) { try Self.spool("{store: {url: none}, spool: {path: x}}") }
    }
}
