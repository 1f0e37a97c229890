import CoreMetrics
import Foundation
import ReplyComparison
import TransactionStore
import VerifyReceipt

/// Everything the server counts.
final class ServerMetrics: Sendable {
    let registry: MetricsRegistry
    /// By environment and the reply's `status`.
    let requests: LabeledCounter
    /// By environment and the answer's `code`.
    let validations: LabeledCounter
    /// By HTTP status.
    let responses: LabeledCounter
    /// By the phase in which a client was too slow.
    let timeouts: LabeledCounter
    let abandoned: Counter
    /// By reason.
    let refusedConnections: LabeledCounter
    let displacedConnections: Counter
    let acceptedConnections: Counter
    let storeFailures: Counter
    let transactionsFromStore: Counter
    /// By outcome.
    let refreshes: LabeledCounter
    /// By result.
    let reloads: LabeledCounter
    /// By HTTP status.
    let lookUps: LabeledCounter
    /// By outcome.
    let consumptionRequests: LabeledCounter
    /// By outcome.
    let ledgerEndings: LabeledCounter
    /// By kind.
    let retentionRemoved: LabeledCounter
    /// In seconds.
    let retentionDelay: Gauge
    /// By kind of difference.
    private let shadowFields: LabeledCounter
    /// By which reply grants access.
    private let shadowEntitlements: LabeledCounter
    private let production: CoreMetrics.Timer
    private let sandbox: CoreMetrics.Timer
    let verification: CoreMetrics.Timer
    let store: CoreMetrics.Timer
    /// By version, type and outcome.
    let notifications: LabeledCounter
    let notificationDuration: CoreMetrics.Timer
    let notificationVerification: CoreMetrics.Timer

    /// - Parameter backend: gets every number too.
    init(backend: any MetricsFactory) {
        registry = MetricsRegistry(backend: backend)
        let prefix = "legacy_receipts_"
        requests = registry.counters(
            prefix + "requests_total",
            "Answered verifyReceipt requests by environment, status of the reply and configured app: its bundle id, other, or "
                + "none if no genuine receipt was read.", labels: "environment", "status", "app")
        validations = registry.counters(
            prefix + "validations_total",
            "Answered requests to /validate by environment, code of the answer (0 for ok) and configured app, as in "
                + "requests_total.", labels: "environment", "code", "app")
        responses = registry.counters(
            prefix + "http_responses_total", "Responses of the verifyReceipt listeners by HTTP status.", labels: "code")
        let durations = registry.timers(
            prefix + "request_duration_seconds", "From the end of a request's header to its answer.",
            label: "environment", values: EndpointEnvironment.allCases.map { $0.rawValue.lowercased() })
        (production, sandbox) = (durations[0], durations[1])
        verification = registry.timer(
            prefix + "verification_duration_seconds", "Decoding and verifying a receipt.")
        store = registry.timer(prefix + "store_duration_seconds", "Time spent in the store per request.")
        notifications = registry.counters(
            prefix + "notifications_total", "App Store Server Notifications by version, type and outcome.",
            labels: "version", "type", "outcome")
        notificationDuration = registry.timer(
            prefix + "notification_duration_seconds", "From the end of a notification's header to its answer.")
        notificationVerification = registry.timer(
            prefix + "notification_verification_duration_seconds",
            "Verifying a notification and what is signed inside of it.")
        storeFailures = registry.counter(prefix + "store_failures_total", "Requests for which the store failed.")
        transactionsFromStore = registry.counter(
            prefix + "transactions_from_store_total",
            "Transactions in replies that the submitted receipt did not contain."
        )
        acceptedConnections = registry.counter(prefix + "connections_accepted_total", "Connections taken.")
        refusedConnections = registry.counters(
            prefix + "connections_refused_total",
            "Connections closed at once, by reason: limit (all are being answered), address (too many of one client).",
            labels: "reason")
        displacedConnections = registry.counter(
            prefix + "connections_displaced_total",
            "Connections that waited for their clients and were closed to make room for new ones.")
        timeouts = registry.counters(
            prefix + "timeouts_total", "Connections closed because the client was too slow, by phase.", labels: "phase")
        abandoned = registry.counter(
            prefix + "requests_abandoned_total", "Requests whose client disconnected before the answer.")
        refreshes = registry.counters(
            prefix + "app_store_refreshes_total", "App Store queries about a customer, by outcome.", labels: "outcome")
        reloads = registry.counters(
            prefix + "configuration_reloads_total", "Reloads of the configuration by result.", labels: "result")
        lookUps = registry.counters(
            prefix + "look_ups_total", "Responses of the look-up listener by HTTP status.", labels: "code")
        consumptionRequests = registry.counters(
            prefix + "consumption_requests_total",
            "Consumption requests by outcome: answered, missed (open after the deadline), unknown (as missed, but an "
                + "answer may have arrived); and rounds that failed.",
            labels: "outcome")
        ledgerEndings = registry.counters(
            prefix + "ledger_endings_total",
            "Purchases that ended by time, by outcome: recorded (entries of the ledger), unreadable (damaged rows); and "
                + "sweeps that failed.", labels: "outcome")
        retentionRemoved = registry.counters(
            prefix + "retention_removed_total",
            "Rows that the limits of retention removed, by kind: notifications, receipts; and removals that failed.",
            labels: "kind")
        retentionDelay = registry.gauge(
            prefix + "retention_delay_seconds",
            "The server's clock minus the time from which retention counts ages. More than 0 if no document in the store "
                + "is as new as the clock.")
        shadowFields = registry.counters(
            prefix + "shadow_fields_total", "Fields of replies that shadow mode compared, by kind of difference.",
            labels: "kind")
        shadowEntitlements = registry.counters(
            prefix + "shadow_entitlements_total",
            "Replies that shadow mode compared, by who grants access: same, ours_only, apple_only, not_comparable.",
            labels: "granted")
        registry.gauge("process_start_time_seconds", "Start of the process since the epoch.") { [start = Date()] in
            Int(start.timeIntervalSince1970)
        }
        registry.gauge("process_resident_memory_bytes", "Resident memory of the process.") { Self.residentBytes() }
    }

    /// The clock that decides what has expired.
    ///
    /// - Parameter clock: milliseconds since 1970.
    func add(_ clock: @escaping @Sendable () -> Int64) {
        registry.gauge(
            "legacy_receipts_clock_timestamp_seconds", "The clock of the server, in seconds since the epoch."
        ) { Int(clock() / 1_000) }
    }

    /// The consumption requests that can still be answered.
    /// - Parameter deadlines: the deadlines of these requests, in milliseconds since 1970.
    func add(consumption deadlines: @escaping @Sendable () -> [Int64]) {
        registry.gauge("legacy_receipts_consumption_requests_open", "Consumption requests that can still be answered.")
        {
            deadlines().count
        }
        registry.gauge(
            "legacy_receipts_consumption_deadline_timestamp_seconds",
            "When the first deadline of an open consumption request ends, in seconds since the epoch; 0 without one."
        ) { Int((deadlines().min() ?? 0) / 1_000) }
    }

    /// When the first certificate of the listeners expires.
    func add(certificatesOf channels: [ListenerChannel]) {
        registry.gauge(
            "legacy_receipts_certificate_expiry_timestamp_seconds",
            "When the first TLS certificate of the listeners expires, in seconds since the epoch."
        ) {
            channels.compactMap(\.certificateExpiry).min() ?? 0
        }
    }

    /// How often certificate chains and recently verified receipts are found in their caches. A reload of the
    /// configuration empties the caches.
    func add(_ endpoint: @escaping @Sendable () -> VerifyReceiptEndpoint?) {
        registry.counters(
            "legacy_receipts_chain_cache_lookups_total", "Look-ups of certificate chains by result.", label: "result"
        ) {
            guard let lookups = endpoint()?.chainLookups else { return [:] }
            return ["hit": lookups.hits, "miss": lookups.misses]
        }
        registry.counters(
            "legacy_receipts_receipt_cache_lookups_total", "Look-ups of genuine receipts by result.", label: "result"
        ) {
            guard let lookups = endpoint()?.receiptLookups else { return [:] }
            return ["hit": lookups.hits, "miss": lookups.misses]
        }
    }

    /// Whether calls of the store hang, and how many timed out.
    func add(_ store: BoundedTransactionStore) {
        let prefix = "legacy_receipts_store_"
        let kinds: [(BoundedTransactionStore.CallKind, String)] = [(.read, "reading"), (.write, "writing")]
        for (kind, name) in kinds {
            registry.gauge(
                prefix + name + "_hangs", "1 while calls fail at once because the store has not answered in time."
            ) { store.isHanging(kind) ? 1 : 0 }
        }
        registry.gauge(
            prefix + "abandoned_calls", "Store calls that timed out and have not ended yet."
        ) { store.abandonedCalls }
        registry.counter(prefix + "timeouts_total", "Store calls that timed out.") {
            Int(clamping: store.timeouts)
        }
    }

    /// The requests in shadow mode, by outcome.
    func add(_ shadow: ShadowForwarder) {
        registry.counters(
            "legacy_receipts_shadow_requests_total", "Requests in shadow mode, by outcome.",
            label: "state"
        ) {
            let counters = shadow.counters
            return [
                "submitted": counters.submitted, "dropped": counters.dropped, "failed": counters.failed,
                "compared": counters.compared, "incomparable": counters.incomparable,
                "abandoned": counters.abandoned, "recorded": counters.recorded,
                "record_failed": counters.recordFailures, "returned": counters.returned,
            ]
        }
    }

    /// Fields that shadow mode compared, by kind.
    func count(_ comparison: ComparisonSummary) {
        let counts = comparison.counts
        let kinds = [
            ("equal", counts.equal), ("mismatch", counts.mismatch), ("server_state", counts.serverState),
            ("formatting", counts.formatting),
        ]
        for (kind, count) in kinds where count > 0 { shadowFields.add(kind, amount: count) }
        count(comparison.entitlement)
    }

    /// A reply that grants in both directions counts in both.
    private func count(_ entitlement: EntitlementComparison) {
        if entitlement.grantedByOursOnly > 0 { shadowEntitlements.add("ours_only") }
        if entitlement.grantedByAppleOnly > 0 { shadowEntitlements.add("apple_only") }
        if !entitlement.isDifferent {
            shadowEntitlements.add(entitlement.obstacle == nil ? "same" : "not_comparable")
        }
    }

    func observe(_ duration: Duration, at environment: EndpointEnvironment) {
        (environment == .production ? production : sandbox).recordNanoseconds(duration.wholeNanoseconds)
    }

    /// From `/proc/self/statm`; 0 if that does not exist.
    private static func residentBytes() -> Int {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: "/proc/self/statm")) else { return 0 }
        let fields = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

extension Duration {
    /// Cut off to microseconds, which is exact enough for a log.
    var milliseconds: Double { Double(wholeNanoseconds / 1_000) / 1_000 }
}
