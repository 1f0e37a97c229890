import AppStoreServer
import AppStoreSync
public import CoreMetrics
import Foundation
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import Synchronization
public import TransactionStore
import VerifyReceipt

/// A server that answers as Apple's verifyReceipt did.
///
/// ```swift
/// let configuration = try ConfigurationSources(file: "serve.yaml").load()
/// let server = try VerifyReceiptServer(configuration: configuration, store: store, logger: logger)
/// try await server.run()
/// ```
///
/// On graceful shutdown (swift-service-lifecycle), `/readyz` turns to 503. For
/// ``VerifyReceiptServerConfiguration/Timeouts/drain``, the server continues to accept connections, and closes each one after its
/// next answer. It then accepts no more connections, finishes requests in flight within
/// ``VerifyReceiptServerConfiguration/Timeouts/shutdown``, and closes the remaining connections. It abandons work that does not end,
/// such as a call of a store that hangs. It does not close the store.
public final class VerifyReceiptServer: Service {
    /// Where the server listens.
    public struct Addresses: Sendable, Hashable {
        /// The ports of the listeners in the order of the configuration.
        public var ports: [Int]
        /// The port for health and metrics.
        public var adminPort: Int?
        /// The port of the look-up.
        public var lookUpPort: Int?
    }

    let configuration: VerifyReceiptServerConfiguration
    let state: ServerState
    let makeEndpoint: EndpointMaker
    let channels: [ListenerChannel]
    private let adminChannel: HTTP1Channel
    private let lookUp: (responder: LookUpResponder, channel: HTTP1Channel)?
    private let consumption: ConsumptionRounds?
    private let endings: EndingSweeps?
    private let retention: RetentionRounds?
    private let readiness: Readiness
    private let hasMetricsBackend: Bool
    private let shadow: ShadowForwarder?
    /// Nil without a store.
    private let writer: StoreWriter?
    let logger: Logger
    /// For Hummingbird, whose lines at `debug` and `trace` quote what clients send.
    private let frameworkLogger: Logger
    private let onListening: @Sendable (Addresses) -> Void
    /// The open ports by index; the admin listener has -1, the look-up listener -2.
    private let bound = Mutex<[Int: Int]>([:])

    /// - Parameters:
    ///   - configuration: sockets, limits, apps and replies.
    ///   - store: the store of purchases; nil to answer from receipts alone. If it is a `RequestBudgets`, the server shares
    ///     the rate limits of the App Store Server API with the other programs that use it. If it is a `PurchaseEndings`,
    ///     the server adds the entries of purchases that end by time.
    ///   - spool: stores receipts that the store does not write in time; nil to answer without storing them. The server does
    ///     not close it.
    ///   - logger: receives a line per request, and messages for operators.
    ///   - metricsFactory: the backend of swift-metrics that gets every number of `/metrics` too; counters and durations at
    ///     once, the others every ten seconds.
    ///   - lookUpAnswers: answers on the look-up listener; nil for no such listener.
    ///   - consumptionAnswering: answers open consumption requests, if the configuration says how; nil to keep them open.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - onListening: called once when every socket accepts connections.
    /// - Throws: `ReceiptError` for a certificate of the trust policy, or an error that names a TLS file.
    public init(
        configuration: VerifyReceiptServerConfiguration, store: (any TransactionStore)?,
        spool: (any FactSpool)? = nil, logger: Logger, metricsFactory: any MetricsFactory = MetricsSystem.factory,
        lookUpAnswers: (any LookUpAnswers)? = nil, consumptionAnswering: (any ConsumptionAnswering)? = nil,
        clock: (@Sendable () -> Int64)? = nil, onListening: @escaping @Sendable (Addresses) -> Void = { _ in }
    ) throws {
        let metrics = ServerMetrics(backend: metricsFactory)
        let budgets = store as? any RequestBudgets
        let endings = store as? any PurchaseEndings
        let removable = store as? any RetentionRounds.Store
        let store = store.map { Self.bounded($0, configuration, logger) }
        if let store { metrics.add(store) }
        let notifications = try NotificationIntake(configuration, store: store)
        let clock = clock ?? { SystemClock.now() }
        metrics.add(clock)
        let setAside = RateLimitedLine()
        let writer = store.map { StoreWriter(store: $0, spool: spool) { $0.log(to: logger, setAside: setAside) } }
        if let writer { metrics.add(writer) }
        self.writer = writer
        let makeEndpoint = EndpointMaker(
            store: store, writer: writer, metrics: metrics, clock: clock,
            pool: AppStoreClientPool(
                transport: AsyncHTTPClientTransport(), timeout: configuration.timeouts.appStore, budgets: budgets))
        let endpoint = try makeEndpoint(configuration)
        shadow = configuration.shadow.map { shadow in
            ShadowForwarder(
                configuration: shadow, logger: logger, clock: clock, onComparison: { metrics.count($0) })
        }
        if let shadow { metrics.add(shadow) }
        let state = ServerState(
            configuration: configuration, endpoint: endpoint, notifications: notifications, store: store,
            shadow: shadow, metrics: metrics, logger: logger, clock: clock)
        metrics.add { [weak state] in state?.current.endpoint }
        hasMetricsBackend = !(metricsFactory is NOOPMetricsHandler)
        self.makeEndpoint = makeEndpoint
        self.configuration = configuration
        self.state = state
        self.logger = logger
        self.onListening = onListening
        var frameworkLogger = logger
        frameworkLogger.logLevel = max(logger.logLevel, .notice)
        self.frameworkLogger = frameworkLogger
        channels = try configuration.listeners.map { listener in
            let responder = RequestResponder(state: state, role: listener.role)
            return try ListenerChannel(tls: listener.tls, state: state) { request, writer, channel in
                try await responder.respond(request, writer, channel)
            }
        }
        if channels.contains(where: { $0.certificateExpiry != nil }) { metrics.add(certificatesOf: channels) }
        consumption = configuration.consumption.flatMap { settings in
            consumptionAnswering.map {
                ConsumptionRounds($0, interval: settings.interval, credentials: configuration.appStore, state)
            }
        }
        self.endings = endings.map { EndingSweeps(store: $0, settings: configuration.endings, state: state) }
        retention = removable.map { RetentionRounds(store: $0, settings: configuration.retention, state: state) }
        readiness = Readiness(store: store, writer: writer, registry: metrics.registry)
        let admin = AdminResponder(state: state, readiness: readiness)
        adminChannel = HTTP1Channel(
            responder: { request, writer, channel in try await admin.respond(request, writer, channel) },
            configuration: .init(
                additionalChannelHandlers: [RequestTimeouts(timeouts: state.timeouts, metrics: state.metrics)]))
        lookUp = configuration.lookUp == nil ? nil : lookUpAnswers.map { Self.lookUp($0, configuration, state) }
    }

    private static func lookUp(
        _ answers: any LookUpAnswers, _ configuration: VerifyReceiptServerConfiguration, _ state: ServerState
    ) -> (responder: LookUpResponder, channel: HTTP1Channel) {
        let responder = LookUpResponder(answers, configuration, state)
        let channel = HTTP1Channel(
            responder: { request, writer, channel in try await responder.respond(request, writer, channel) },
            configuration: .init(
                additionalChannelHandlers: [
                    HTTP1RequestHead(), RequestTimeouts(timeouts: state.timeouts, metrics: state.metrics),
                ]))
        return (responder, channel)
    }

    /// Serves until graceful shutdown.
    public func run() async throws {
        for warning in configuration.warnings { logger.warning("\(warning)") }
        let listening = ListeningService(
            servers: zip(channels, configuration.listeners).enumerated().map { index, pair in
                let (channel, listener) = pair
                // The connection table closes excess connections. This limit only keeps a flood of closing ones within the
                // process's file descriptors.
                return self.listener(
                    index, listener.host, listener.port, channel, drain: configuration.timeouts.drain, backlog: 1024,
                    maximum: configuration.limits.connections + 64)
            },
            onStop: { [state, logger] in
                state.beginDraining()
                logger.notice(
                    "stopping: finishing requests in flight",
                    metadata: [
                        "drainSeconds": .stringConvertible(state.timeouts.drain / .seconds(1)),
                        "inFlight": .stringConvertible(state.queue.inFlight),
                    ])
            })
        var services: [any Service] = []
        // The admin listener is first, because services stop in reverse order: it answers until the last request is finished.
        if let admin = configuration.admin { services.append(listener(-1, admin.host, admin.port, adminChannel)) }
        if let lookUp, let address = configuration.lookUp {
            services.append(
                listener(-2, address.host, address.port, lookUp.channel, maximum: Self.maximumLookUpConnections))
        }
        // Stops after the listeners, which still submit requests to it.
        if let shadow { services.append(shadow) }
        services.append(listening)
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
            logger: frameworkLogger)
        group.maximumGracefulShutdownDuration = configuration.timeouts.untilAbandoned
        let stopping = BoundedStop(limit: configuration.timeouts.untilAbandoned) { [state, logger] in
            logger.error(
                "requests did not end in time and are abandoned",
                metadata: ["inFlight": .stringConvertible(state.queue.inFlight)])
        }
        // Not awaited, because a store can hang. The next start continues with the spool, and sends a consumption answer that
        // was sent and not closed again.
        let work: [@Sendable () async -> Void] = [
            { await self.tryStore() }, { [writer] in await writer?.drain() },
            { [consumption] in await consumption?.run() }, { [endings] in await endings?.run() },
            { [retention] in await retention?.run() }, { if self.hasMetricsBackend { await self.measure() } },
        ]
        let tasks = work.map { work in Task { await work() } }
        defer { for task in tasks { task.cancel() } }
        try await stopping.run(ServiceGroup(configuration: group))
    }

    /// People use the look-up, not apps, so few connections are enough.
    private static let maximumLookUpConnections = 64

    /// Records for a backend the numbers that `/metrics` reads on each request.
    private func measure() async {
        repeat {
            await readiness.tryWriting()
            state.metrics.registry.readAll()
            try? await Task.sleep(for: .seconds(10))
        } while !Task.isCancelled
    }

    /// Adds a deadline to the store. A request that waits for it gives its slot to others.
    private static func bounded(
        _ store: any TransactionStore, _ configuration: VerifyReceiptServerConfiguration, _ logger: Logger
    ) -> BoundedTransactionStore {
        let meanwhile = configuration.endpoint.meanwhile
        return BoundedTransactionStore(
            store, deadline: configuration.timeouts.store,
            onChange: { kind, isHanging in
                let metadata: Logger.Metadata = ["calls": "\(kind.rawValue)"]
                if isHanging {
                    // The writer handles receipts and logs it.
                    let effect = kind == .write ? "notifications get 503" : meanwhile
                    logger.error("the store does not answer in time: \(effect) until it does", metadata: metadata)
                } else {
                    logger.notice("the store answers again", metadata: metadata)
                }
            },
            willWait: {
                guard let place = WorkPlace.current else { return nil }
                place.suspend()
                return { place.resumeWork() }
            })
    }

    /// Logs a warning if the store cannot be used when the server starts. It may become usable later.
    private func tryStore() async {
        guard let store = state.store else { return }
        do {
            _ = try await store.hasProcessed(notificationUUID: "start")
        } catch {
            logger.warning(
                "the store cannot be used yet: \(configuration.endpoint.meanwhile) until it can",
                metadata: ["error": "\(error)"])
        }
    }

    /// `maximum` is the number of connections from which on no more are accepted; nil for no limit.
    private func listener(
        _ index: Int, _ host: String, _ port: Int, _ channel: some ServerChildChannel, drain: Duration = .zero,
        backlog: Int = 256, maximum: Int? = nil
    ) -> any Service {
        let socket = ListeningSocket()
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: .hostname(host, port: port), backlog: backlog,
                availableConnectionsDelegate: maximum.map {
                    MaximumAvailableConnections($0, logger: frameworkLogger)
                }),
            onServerRunning: { [weak self] in await self?.isListening(index, socket, $0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: frameworkLogger)
        return NamedListener(description: "\(host):\(port)", drain: drain, socket: socket, server: server)
    }

    private func isListening(_ index: Int, _ socket: ListeningSocket, _ channel: any Channel) async {
        do {
            try await channel.eventLoop.submit { [logger] in
                try channel.pipeline.syncOperations.addHandler(AcceptErrorFilter(logger: logger), position: .first)
            }.get()
        } catch {
            logger.warning("a listener has no filter for accept errors", metadata: ["error": "\(error)"])
        }
        await socket.isOpen(channel)
        let ports = bound.withLock { bound -> [Int: Int]? in
            bound[index] = channel.localAddress?.port ?? 0
            let others = (configuration.admin == nil ? 0 : 1) + (lookUp == nil ? 0 : 1)
            return bound.count == channels.count + others ? bound : nil
        }
        // Report the ports only if all sockets are open.
        guard let ports else { return }
        for index in Array(channels.indices) + [-1, -2] {
            guard let port = ports[index] else { continue }
            let (host, role) =
                switch index {
                case -1: (configuration.admin?.host, "admin")
                case -2: (configuration.lookUp?.host, "look-up")
                default: (configuration.listeners[index].host, configuration.listeners[index].role.rawValue)
                }
            logger.notice(
                "listening",
                metadata: [
                    "host": "\(host ?? "")", "port": .stringConvertible(port), "role": "\(role)",
                    "tls": .stringConvertible(index >= 0 && configuration.listeners[index].tls != nil),
                ])
        }
        onListening(
            Addresses(
                ports: channels.indices.compactMap { ports[$0] }, adminPort: ports[-1], lookUpPort: ports[-2]))
    }

    /// The text of `/metrics`, for a program that serves it elsewhere.
    public var metricsText: String { state.metrics.registry.text() }

    /// Applies a new configuration: apps, secrets, keys of the App Store Server API, catalogs, trust, replies, notifications and
    /// TLS certificates. Connections stay open, and requests in flight finish with the old configuration. If the new configuration is invalid, the old one
    /// stays in use.
    ///
    /// - Returns: the names of changed settings that need a restart.
    /// - Throws: what the initializer throws for such a configuration.
    @discardableResult
    public func reload(_ new: VerifyReceiptServerConfiguration) throws -> [String] {
        do {
            try checkReload(new.endpoint, after: state.current.endpoint.configuration)
            let endpoint = try makeEndpoint(new)
            let notifications = try NotificationIntake(new, store: state.store)
            let certificates = ListenerMatching(from: configuration.listeners, to: new.listeners).certificates
            let prepared = try certificates.map { (channels[$0.index], try TLSSetup.configuration($0.tls)) }
            for (channel, tls) in prepared { try channel.replace(tls) }
            if new.lookUp != nil { lookUp?.responder.replace(new) }
            consumption?.replace(new.appStore)
            state.replace(
                with: .init(endpoint: endpoint, sandboxHosts: new.sandboxHosts, notifications: notifications))
        } catch {
            noteFailedReload(error)
            throw error
        }
        state.metrics.reloads.add("success")
        let remaining = differences(new)
        logger.notice("configuration reloaded", metadata: ["apps": .stringConvertible(new.endpoint.apps.count)])
        for warning in new.warnings { logger.warning("\(warning)") }
        if !remaining.isEmpty {
            logger.warning("these changes need a restart: \(remaining.joined(separator: ", "))")
        }
        return remaining
    }

    /// Rejects a reload that removes the last app, or the last secret of all apps or of one. A truncated file can be
    /// valid and would remove the protection. Such a change needs a restart.
    private func checkReload(_ new: EndpointConfiguration, after old: EndpointConfiguration) throws {
        var lost: [(key: String, loss: String)] = []
        if new.apps.isEmpty, !old.apps.isEmpty { lost.append(("apps", "all apps; restart the server for that")) }
        if !new.hasSecrets, old.hasSecrets {
            lost.append(("shared-secrets", "all secrets; restart the server for that"))
        } else {
            lost += new.secretsLost(since: old)
        }
        guard !lost.isEmpty else { return }
        throw ConfigurationError(
            lost.map { .init(key: $0.key, place: nil, "the reload would remove \($0.loss)") })
    }

    /// Counts and logs a configuration that could not be read.
    public func noteFailedReload(_ error: any Error) {
        state.metrics.reloads.add("failure")
        logger.error("the new configuration is invalid; the old one stays in use", metadata: ["error": "\(error)"])
    }

    private func differences(_ new: VerifyReceiptServerConfiguration) -> [String] {
        var names: [String] = []
        if ListenerMatching(from: configuration.listeners, to: new.listeners).differs { names.append("listeners") }
        if new.admin != configuration.admin { names.append("admin") }
        let hasSameLookUp = new.lookUp?.hasAddress(of: configuration.lookUp) ?? (configuration.lookUp == nil)
        if !hasSameLookUp { names.append("look-up") }
        if new.trustedProxies != configuration.trustedProxies { names.append("trusted-proxies") }
        if new.limits != configuration.limits { names.append("limits") }
        if new.timeouts != configuration.timeouts { names.append("timeouts") }
        if new.logging != configuration.logging { names.append("log") }
        if new.storeURL != configuration.storeURL { names.append("store.url") }
        if new.spool != configuration.spool { names.append("spool") }
        if new.shadow != configuration.shadow { names.append("shadow") }
        if new.consumption != configuration.consumption { names.append("consumption") }
        if new.endings != configuration.endings { names.append("ledger") }
        if new.retention != configuration.retention { names.append("retention") }
        return names
    }
}

extension EndpointConfiguration {
    fileprivate var hasSecrets: Bool { !accountSecrets.isEmpty || apps.contains { !$0.sharedSecrets.isEmpty } }

    private func hasSecret(of bundleId: String) -> Bool {
        !accountSecrets.isEmpty || apps.contains { $0.bundleId == bundleId && !$0.sharedSecrets.isEmpty }
    }

    /// The apps that had a secret in `old`, and whose receipts would now get a reply with any password. The account's secrets
    /// are those of every app.
    fileprivate func secretsLost(since old: EndpointConfiguration) -> [(key: String, loss: String)] {
        var seen: Set<String> = []
        var lost: [(key: String, loss: String)] = []
        func lose(_ key: String, _ loss: String, of others: String, _ remedy: String = "") {
            let effect = "any password would be accepted for \(others); restart the server for that\(remedy)"
            lost.append((key, "\(loss), and \(effect)"))
        }
        let refusing = ", or set endpoint.unknown-bundle-ids to refused"
        for bundleId in (old.apps + apps).map(\.bundleId) where seen.insert(bundleId).inserted {
            guard old.hasSecret(of: bundleId), !hasSecret(of: bundleId) else { continue }
            if let index = apps.firstIndex(where: { $0.bundleId == bundleId }) {
                lose("apps[\(index)].shared-secrets", "the last secret of \(bundleId)", of: "it")
            } else if unknownBundleIds == .accepted {
                lose("apps", "\(bundleId), which has a secret", of: "it", refusing)
            }
        }
        if accountSecrets.isEmpty, !old.accountSecrets.isEmpty, unknownBundleIds == .accepted {
            lose(
                "account-secrets", "the last secret of the account", of: "apps that are not in apps", refusing)
        }
        return lost
    }
}
