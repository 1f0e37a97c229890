import AppStoreSync
import CoreMetrics
import TransactionStore
import VerifyReceipt

/// Tests whether the store can be read, which answers need, and written, which only storing new receipts needs.
final class Readiness: Sendable {
    private let reading: StoreProbe?
    private let writing: StoreProbe?
    private let spooling: StoreProbe?
    private let writer: StoreWriter?
    private let isWritable: Gauge?
    private let isSpoolWritable: Gauge?

    init(store: (any TransactionStore)?, writer: StoreWriter?, registry: MetricsRegistry) {
        self.writer = writer
        spooling = writer?.spool.map { spool in StoreProbe { try await spool.checkReadiness() } }
        reading = store.map { store in
            // Any look-up; there is no such notification.
            StoreProbe { _ = try await store.hasProcessed(notificationUUID: "readiness") }
        }
        writing = store.map { store in StoreProbe { try await store.checkReadiness() } }
        isWritable = store.map { _ in
            registry.gauge(
                "legacy_receipts_store_writable",
                "1 if the store can be written to, tested at each reading of the metrics.")
        }
        isSpoolWritable = spooling.map { _ in
            registry.gauge(
                "legacy_receipts_spool_writable",
                "1 if the spool accepts receipts and its disk has space, tested at each reading of the metrics.")
        }
        isWritable?.record(1)
        isSpoolWritable?.record(1)
    }

    /// Why the store cannot be read, without its address; nil if it can.
    /// - Parameter timeout: how long to wait for the store.
    func problem(within timeout: Duration = StoreProbe.timeout) async -> String? {
        await reading?.problem(within: timeout)
    }

    /// Tests whether the store accepts writes. A failed write of a receipt overrules the test, which writes less.
    func tryWriting() async {
        guard let writing else { return }
        let fails = writer?.storeFailsWrites == true
        async let spoolProblem = spooling?.problem()
        let problem = fails ? "writes fail" : await writing.problem()
        isWritable?.record(problem == nil ? 1 : 0)
        isSpoolWritable?.record(await spoolProblem == nil ? 1 : 0)
    }

    /// Why no receipt can be stored; nil if the store or the spool accepts receipts, and if there is no spool. Tests
    /// the disks only after the store has failed.
    func keepingProblem() async -> String? {
        guard let writer, let spooling, let writing, writer.isInTrouble else { return nil }
        guard await spooling.problem() != nil, await writing.problem() != nil else { return nil }
        return "neither the store nor the spool accepts receipts"
    }

    /// The receipts that wait for the store, in words; nil if there are none.
    var backlog: String? {
        guard let state = writer?.spool?.state, state.entries > 0 else { return nil }
        let seconds = state.lag(at: SystemClock.now()) / 1_000
        return "\(state.entries) receipts wait in the spool, the oldest for \(seconds) seconds"
    }
}

/// Tests the store at most once per second.
actor StoreProbe {
    static let timeout = Duration.seconds(2)
    private static let validity = Duration.seconds(1)
    private static let slow = "the store does not answer in time"

    private let storeCheck: @Sendable () async throws -> Void
    private var last: (instant: ContinuousClock.Instant, problem: String?)?
    private var running: Task<String?, Never>?

    init(_ storeCheck: @escaping @Sendable () async throws -> Void) { self.storeCheck = storeCheck }

    /// The problem, without an address; nil if there is none.
    func problem(within timeout: Duration = StoreProbe.timeout) async -> String? {
        if let last, last.instant.duration(to: .now) < Self.validity { return last.problem }
        // One at a time, so that calls do not pile up while a store hangs.
        let check = running ?? Task { [storeCheck] in await Self.ask(storeCheck) }
        running = check
        let problem = await withTimeout(timeout, waitingFor: check) ?? Self.slow
        last = (.now, problem)
        if problem != Self.slow { running = nil }
        return problem
    }

    private static func ask(_ storeCheck: @Sendable () async throws -> Void) async -> String? {
        do {
            try await storeCheck()
            return nil
        } catch let error as TransactionStoreError {
            return "the store is not ready: \(error.code.rawValue)"
        } catch {
            return "the store is not ready"
        }
    }
}

extension EndpointConfiguration {
    /// Whether requests get 21005 while the store cannot be read.
    var needsStore: Bool {
        guard whenStoreFails == .unavailable else { return false }
        return freshness.source != .local || apps.contains { ($0.freshness ?? freshness).source != .local }
    }

    /// The handling of requests while the store cannot be read, for the log.
    var meanwhile: String {
        switch whenStoreFails {
        case .unavailable: "requests that need it get status 21005"
        case .receiptOnly: "receipts are answered without it"
        }
    }
}
