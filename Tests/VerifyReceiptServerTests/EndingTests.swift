import AppStoreModels
import ProductCatalog
import Purchases
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

@Suite("The ledger of a server has entries for ends by time")
struct EndingTests {
    private static let day: Int64 = 86_400_000
    private static let june: Int64 = 1_717_243_200_000

    /// A time that is set. Each sweep asks for it once, when it begins.
    private final class SweepClock: Sendable {
        private let state: Mutex<(now: Int64, sweeps: Int)>

        init(_ now: Int64) { state = Mutex((now, 0)) }

        private var sweeps: Int { state.withLock { $0.sweeps } }

        func set(_ now: Int64) { state.withLock { $0.now = now } }

        /// For the server.
        var time: @Sendable () -> Int64 {
            {
                self.state.withLock { state in
                    state.sweeps += 1
                    return state.now
                }
            }
        }

        /// Waits until some sweeps have begun and ended.
        func waitForSweeps() async throws {
            let before = sweeps
            try await eventually("further sweeps") { sweeps >= before + 5 }
        }
    }

    private static func subscription(_ id: String, until day: Int64) -> FactSet {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = id
        payload.productId = "monthly"
        payload.type = .autoRenewableSubscription
        payload.purchaseDate = june - 30 * Self.day
        payload.expiresDate = june + day * Self.day
        let origin = FactOrigin(source: .notificationV2, signedDate: june - 30 * Self.day)
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: "com.example.app"),
            transactions: [TransactionFact(payload: payload, legacy: nil, origin: origin)])
    }

    private static func events(_ store: SQLiteTransactionStore) async throws -> [LedgerEntry.Event] {
        try await store.changes(after: 0, limit: 10).map(\.event)
    }

    private static func configuration(delay: Duration) -> VerifyReceiptServerConfiguration {
        .testing {
            $0.endings.interval = .milliseconds(20)
            $0.endings.delay = delay
        }
    }

    @Test("A subscription that ends has its entry, and the metric counts it")
    func ends() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        let clock = SweepClock(Self.june)
        _ = try await store.recordEndings(by: Self.june - 2 * Self.day, limit: 1)
        _ = try await store.apply([Self.subscription("1", until: 1), Self.subscription("2", until: 9)])
        let configuration = Self.configuration(delay: .seconds(86_400))
        try await TestServer.run(configuration, store: store, clock: clock.time) { server in
            // Over, but documents may still come.
            clock.set(Self.june + Self.day)
            try await clock.waitForSweeps()
            #expect(try await Self.events(store) == [.purchased, .purchased])
            clock.set(Self.june + 2 * Self.day)
            try await eventually("it has ended") { try await Self.events(store).count == 3 }
            #expect(try await Self.events(store).last == .endedByTime)
            try await eventually("it is counted") {
                server.server.metricsText.contains(
                    "legacy_receipts_ledger_endings_total{outcome=\"recorded\"} 1\n")
            }
        }
        try await store.close()
    }

    private static func week(_ id: String, of bundleId: String) -> FactSet {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = id
        payload.productId = "week"
        payload.type = .nonRenewingSubscription
        payload.purchaseDate = june
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: bundleId),
            transactions: [
                TransactionFact(
                    payload: payload, legacy: nil, origin: FactOrigin(source: .notificationV2, signedDate: june))
            ])
    }

    @Test("A term that ends has its entry if the configuration has a catalog of the app")
    func terms() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        _ = try await store.apply([Self.week("1", of: "com.example.app"), Self.week("2", of: "com.example.other")])
        let source = CatalogSource(file: "catalog.yaml", line: 1, element: "products.week")
        var entry = CatalogEntry(subject: .productId("week"), source: source)
        entry.type = .nonRenewingSubscription
        entry.duration = SubscriptionPeriod(value: 7, unit: .day)
        let catalog = try ProductCatalog(entries: [entry])
        _ = try await store.recordTermEnds(by: Self.june, limit: 10, catalogs: TermCatalogs(other: catalog))
        var configuration = Self.configuration(delay: .zero)
        configuration.endpoint.apps = [AppConfiguration(bundleId: "com.example.app", catalog: catalog)]
        let clock = SweepClock(Self.june + 7 * Self.day)
        try await TestServer.run(configuration, store: store, clock: clock.time) { _ in
            try await eventually("it has ended") { try await Self.events(store).count == 3 }
            try await clock.waitForSweeps()
            let entries = try await store.changes(after: 0, limit: 10)
            #expect(entries.map(\.transactionId) == ["1", "2", "1"])
            #expect(entries.last?.event == .endedByTime)
        }
        try await store.close()
    }

    @Test("A store that cannot be written to fails the sweep, not the readiness, and the next sweep makes up for it")
    func failure() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        _ = try await store.recordEndings(by: Self.june - 2 * Self.day, limit: 1)
        _ = try await store.apply([Self.subscription("1", until: -1)])
        try await store.pragma("query_only = 1")
        let clock: @Sendable () -> Int64 = { Self.june }
        try await TestServer.run(Self.configuration(delay: .zero), store: store, clock: clock) { server in
            try await eventually("it fails") {
                server.server.metricsText.contains("legacy_receipts_ledger_endings_total{outcome=\"failed\"}")
            }
            // The word of Documentation/Ledger.md.
            let help = server.server.metricsText.split(separator: "\n").first {
                $0.hasPrefix("# HELP legacy_receipts_ledger_endings_total ")
            }
            #expect(help?.hasSuffix("; and sweeps that failed.") == true)
            try await eventually("it is ready") {
                try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 200
            }
            try await eventually("it is logged") {
                server.log.text.contains("ends by time cannot be added to the ledger")
            }
            try await store.pragma("query_only = 0")
            try await eventually("it has ended") { try await Self.events(store).count == 2 }
        }
        try await store.close()
    }
}
