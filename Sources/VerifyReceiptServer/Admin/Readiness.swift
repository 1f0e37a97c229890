import AppStoreSync
import CoreMetrics
import TransactionStore
import VerifyReceipt

/// Whether the store can be read, which answers need, and whether it can be written to, which only what they teach needs.
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
            // Any look-up: nothing is there under this name.
            StoreProbe { _ = try await store.hasProcessed(notificationUUID: "readiness") }
        }
        writing = store.map { store in StoreProbe { try await store.checkReadiness() } }
        isWritable = store.map { _ in
            registry.gauge(
                "legacy_receipts_store_writable",
                "1 if the store can be written to, tried for each reading of the metrics.")
        }
        isSpoolWritable = spooling.map { _ in
            registry.gauge(
                "legacy_receipts_spool_writable",
                "1 if the spool takes receipts and its disk has room, tried for each reading of the metrics.")
        }
        isWritable?.record(1)
        isSpoolWritable?.record(1)
    }

    /// Why the store cannot be read, in words that hold no address; nil if it can.
    /// - Parameter patience: how long to wait for the store.
    func problem(within patience: Duration = StoreProbe.patience) async -> String? {
        await reading?.problem(within: patience)
    }

    /// Tests whether the store accepts writes. A failure of a real write counts more than the test, which writes less.
    func tryWriting() async {
        guard let writing else { return }
        let fails = writer?.storeFailsWrites == true
        async let spoolProblem = spooling?.problem()
        let problem = fails ? "writes fail" : await writing.problem()
        isWritable?.record(problem == nil ? 1 : 0)
        isSpoolWritable?.record(await spoolProblem == nil ? 1 : 0)
    }

    /// Why no receipt can be kept; nil if the store or the spool takes receipts, and where there is no spool. The disks
    /// are tried only after the store has failed.
    func keepingProblem() async -> String? {
        guard let writer, let spooling, let writing, writer.isInTrouble else { return nil }
        guard await spooling.problem() != nil, await writing.problem() != nil else { return nil }
        return "neither the store nor the spool takes receipts"
    }

    /// How much waits for the store; nil if nothing does.
    var backlog: String? {
        guard let state = writer?.spool?.state, state.entries > 0 else { return nil }
        let seconds = state.lag(at: SystemClock.now()) / 1_000
        return "\(state.entries) receipts wait in the spool, the oldest for \(seconds) seconds"
    }
}

/// Tests the store at most once per second.
actor StoreProbe {
    static let patience = Duration.seconds(2)
    private static let validity = Duration.seconds(1)
    private static let slow = "the store does not answer in time"

    private let question: @Sendable () async throws -> Void
    private var last: (instant: ContinuousClock.Instant, problem: String?)?
    private var running: Task<String?, Never>?

    init(_ question: @escaping @Sendable () async throws -> Void) { self.question = question }

    /// The problem, without an address; nil if there is none.
    func problem(within patience: Duration = StoreProbe.patience) async -> String? {
        if let last, last.instant.duration(to: .now) < Self.validity { return last.problem }
        // One at a time: a store that hangs must not collect questions.
        let check = running ?? Task { [question] in await Self.ask(question) }
        running = check
        let problem = await withTimeout(patience, waitingFor: check) ?? Self.slow
        last = (.now, problem)
        if problem != Self.slow { running = nil }
        return problem
    }

    private static func ask(_ question: @Sendable () async throws -> Void) async -> String? {
        do {
            try await question()
            return nil
        } catch let error as TransactionStoreError {
            return "the store is not ready: \(error.code.rawValue)"
        } catch {
            return "the store is not ready"
        }
    }
}

extension EndpointConfiguration {
    /// Whether a store that cannot be read turns answers into 21005.
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
