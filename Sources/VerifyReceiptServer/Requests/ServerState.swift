import AppStoreSync
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import TransactionStore
import VerifyReceipt

/// The shared state of all requests.
final class ServerState: Sendable {
    let metrics: ServerMetrics
    let queue: WorkQueue
    let budget: BufferBudget
    let connections: ConnectionTable
    /// The connections of each client, and its requests through trusted proxies.
    let clients: AddressCounter
    let trustedProxies: [IPNetwork]
    let logger: Logger
    let store: BoundedTransactionStore?
    let shadow: ShadowForwarder?
    /// Milliseconds since 1970-01-01T00:00:00Z.
    let clock: @Sendable () -> Int64
    let limits: VerifyReceiptServerConfiguration.Limits
    let timeouts: VerifyReceiptServerConfiguration.Timeouts
    let logsRequests: Bool
    private let replaceable: Mutex<Replaceable>
    private let draining = Atomic<Bool>(false)
    private let displacedLine = RateLimitedLine()
    private let refusedLine = RateLimitedLine()
    private let date = LastSecond { Timestamp.http(seconds: $0) }

    /// The state that a reload replaces. A class, because every request copies the reference.
    final class Replaceable: Sendable {
        let endpoint: VerifyReceiptEndpoint
        let sandboxHosts: [String]
        /// Nil if the server accepts no notifications.
        let notifications: NotificationIntake?

        init(endpoint: VerifyReceiptEndpoint, sandboxHosts: [String], notifications: NotificationIntake?) {
            self.endpoint = endpoint
            self.sandboxHosts = sandboxHosts
            self.notifications = notifications
        }
    }

    init(
        configuration: VerifyReceiptServerConfiguration, endpoint: VerifyReceiptEndpoint,
        notifications: NotificationIntake?, store: BoundedTransactionStore?, shadow: ShadowForwarder?,
        metrics: ServerMetrics, logger: Logger, clock: @escaping @Sendable () -> Int64
    ) {
        self.metrics = metrics
        self.store = store
        self.shadow = shadow
        self.logger = logger
        self.clock = clock
        limits = configuration.limits
        timeouts = configuration.timeouts
        logsRequests = configuration.logging.requests
        let working = limits.concurrentRequests
        queue = WorkQueue(
            working: working == 0 ? 4 * Processors.count : working, waiting: limits.waitingRequests,
            suspended: limits.suspendedRequests)
        budget = BufferBudget(maximum: limits.bufferedBytes)
        trustedProxies = configuration.trustedProxies
        clients = AddressCounter(maximum: limits.connectionsPerAddress)
        connections = ConnectionTable(maximum: limits.connections, addresses: clients)
        replaceable = Mutex(
            Replaceable(
                endpoint: endpoint, sandboxHosts: configuration.sandboxHosts, notifications: notifications))
        addGauges()
    }

    private func addGauges() {
        let prefix = "legacy_receipts_"
        let registry = metrics.registry
        registry.gauge(prefix + "connections", "Open connections.") { [connections] in connections.current }
        registry.gauge(prefix + "requests_in_flight", "Requests being answered.") { [queue] in queue.inFlight }
        registry.gauge(prefix + "requests_waiting", "Requests waiting for their turn.") { [queue] in queue.waiting }
        registry.gauge(
            prefix + "requests_suspended",
            "Requests being answered that wait for the store or the App Store without using a slot."
        ) { [queue] in queue.suspended }
        registry.gauge(prefix + "buffered_bytes", "Bytes of request bodies and answers in memory.") { [budget] in
            budget.current
        }
    }

    /// The current state.
    var current: Replaceable { replaceable.withLock { $0 } }

    func replace(with replacement: Replaceable) {
        replaceable.withLock { $0 = replacement }
    }

    /// Whether the server is about to stop.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// The header of an answer with a body.
    func head(_ status: HTTPResponse.Status, _ contentType: String, bytes: Int) -> HTTPResponse {
        var head = HTTPResponse(status: status)
        head.headerFields.reserveCapacity(7)
        head.headerFields[.contentType] = contentType
        head.headerFields[.contentLength] = String(bytes)
        head.headerFields[.cacheControl] = "no-store"
        head.headerFields[.date] = date.text(SystemClock.now() / 1_000)
        return head
    }

    // MARK: Connections

    func isTrustedProxy(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

    /// Counts a connection that was closed to make room for another one.
    func noteDisplacedConnection() {
        metrics.displacedConnections.increment()
        guard let count = displacedLine.note() else { return }
        logger.warning(
            "limits.connections is reached: each new connection closes the one that has waited longest for its client",
            metadata: ["closed": .stringConvertible(count), "connections": .stringConvertible(connections.current)])
    }

    /// Counts a connection that was closed at once.
    func noteRefusedConnection(_ refusal: ConnectionTable.Refusal) {
        metrics.refusedConnections.add(refusal.rawValue)
        guard let count = refusedLine.note() else { return }
        let limit = refusal == .limit ? "limits.connections" : "limits.connections-per-address"
        logger.warning(
            "connections are refused: \(limit) is reached",
            metadata: ["refused": .stringConvertible(count), "connections": .stringConvertible(connections.current)])
    }
}

extension Request {
    /// Writes the answer; to HEAD, without its body.
    func write(_ head: HTTPResponse, _ body: ByteBuffer, to writer: consuming ResponseWriter) async throws {
        guard method != .head else { return try await writer.writeResponse(head) }
        try await writer.write(response: head, body: ResponseBody(byteBuffer: body))
    }
}
