import Dispatch
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
/// Told to stop (graceful shutdown of swift-service-lifecycle), it takes no more connections, finishes what is in flight
/// within ``VerifyReceiptServerConfiguration/Timeouts/shutdown``, and then closes what is left. Work that does not end even
/// then, as that of a store that hangs, is left behind. The store stays open: its owner closes it.
public final class VerifyReceiptServer: Service {
    /// Where the server listens.
    public struct Addresses: Sendable, Hashable {
        /// The ports of the listeners in the order of the configuration.
        public var ports: [Int]
        /// The port for health and metrics.
        public var adminPort: Int?
    }

    private let configuration: VerifyReceiptServerConfiguration
    private let state: ServerState
    private let makeEndpoint: EndpointMaker
    private let channels: [ListenerChannel]
    private let adminChannel: HTTP1Channel
    private let shadow: ShadowForwarder?
    private let logger: Logger
    /// For Hummingbird, whose lines at `debug` and `trace` quote what clients send.
    private let frameworkLogger: Logger
    private let onListening: @Sendable (Addresses) -> Void
    private let bound = Mutex<[Int: Int]>([:])

    /// - Parameters:
    ///   - configuration: sockets, limits, apps, and what is answered.
    ///   - store: what remembers purchases; nil to answer from receipts alone.
    ///   - logger: gets a line per request and what operators need to know.
    ///   - observer: is told of each answered request.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - onListening: called once when every socket accepts connections.
    /// - Throws: `ReceiptError` for a certificate of the trust policy, or an error that names a TLS file.
    public init(
        configuration: VerifyReceiptServerConfiguration, store: (any TransactionStore)?, logger: Logger,
        observer: (any AnswerObserving)? = nil, clock: (@Sendable () -> Int64)? = nil,
        onListening: @escaping @Sendable (Addresses) -> Void = { _ in }
    ) throws {
        let notifications = try NotificationIntake(configuration, store: store)
        let metrics = ServerMetrics()
        let clock = clock ?? { SystemClock.now() }
        let makeEndpoint = EndpointMaker(
            store: store, metrics: metrics, patience: configuration.timeouts.appStore, clock: clock)
        let endpoint = try makeEndpoint(configuration)
        shadow = configuration.shadow.map { shadow in
            ShadowForwarder(
                configuration: shadow, logger: logger, clock: clock, onComparison: { metrics.count($0) })
        }
        if let shadow { metrics.add(shadow) }
        let state = ServerState(
            configuration: configuration, endpoint: endpoint, notifications: notifications, store: store,
            observers: [observer].compactMap { $0 }, shadow: shadow, metrics: metrics, logger: logger, clock: clock)
        metrics.add(chainLookups: { state.current.endpoint.chainLookups })
        metrics.add(receiptLookups: { state.current.endpoint.receiptLookups })
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
        let admin = AdminResponder(
            state: state, readiness: Readiness(store: store, registry: state.metrics.registry))
        adminChannel = HTTP1Channel(
            responder: { request, writer, channel in try await admin.respond(request, writer, channel) },
            configuration: .init(
                additionalChannelHandlers: [RequestTimeouts(timeouts: state.timeouts, metrics: state.metrics)]))
    }

    /// Serves until told to stop.
    public func run() async throws {
        for warning in configuration.warnings { logger.warning("\(warning)") }
        let listening = ListeningService(
            servers: channels.enumerated().map { index, channel in server(channel, index) },
            onStop: { [state, logger] in
                state.beginDraining()
                logger.notice(
                    "stopping: finishing requests in flight",
                    metadata: [
                        "inFlight": .stringConvertible(state.queue.working)
                    ])
            })
        var services: [any Service] = []
        // First, since services are stopped in reverse: health is told until the last request is answered.
        if let admin = configuration.admin {
            let server = adminChannel.server(
                configuration: ServerConfiguration(address: .hostname(admin.host, port: admin.port)),
                onServerRunning: { [weak self] in await self?.isListening(-1, $0) },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: frameworkLogger)
            services.append(NamedListener(description: "\(admin.host):\(admin.port)", server: server))
        }
        // After the listeners, which it hears of.
        if let shadow { services.append(shadow) }
        services.append(listening)
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
            logger: frameworkLogger)
        group.maximumGracefulShutdownDuration = configuration.timeouts.shutdown
        let stopping = BoundedStop(limit: configuration.timeouts.shutdown) { [state, logger] in
            logger.error(
                "requests do not end and are left behind",
                metadata: ["inFlight": .stringConvertible(state.queue.working)])
        }
        try await stopping.run(ServiceGroup(configuration: group))
    }

    private func server(_ channel: ListenerChannel, _ index: Int) -> any Service {
        let listener = configuration.listeners[index]
        // The counter closes what is too much. This bound only keeps a flood that is being closed within the file
        // descriptors of the process.
        let hardLimit = MaximumAvailableConnections(configuration.limits.connections + 64, logger: frameworkLogger)
        let server = channel.server(
            configuration: ServerConfiguration(
                address: .hostname(listener.host, port: listener.port), backlog: 1024,
                availableConnectionsDelegate: hardLimit),
            onServerRunning: { [weak self] in await self?.isListening(index, $0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: frameworkLogger)
        return NamedListener(description: "\(listener.host):\(listener.port)", server: server)
    }

    private func isListening(_ index: Int, _ channel: any Channel) async {
        do {
            try await channel.eventLoop.submit { [logger] in
                try channel.pipeline.syncOperations.addHandler(AcceptErrorFilter(logger: logger), position: .first)
            }.get()
        } catch {
            logger.warning("a listener has no filter for accept errors", metadata: ["error": "\(error)"])
        }
        let port = channel.localAddress?.port ?? 0
        let addresses = bound.withLock { bound -> Addresses? in
            bound[index] = port
            let expected = channels.count + (configuration.admin == nil ? 0 : 1)
            guard bound.count == expected else { return nil }
            return Addresses(ports: channels.indices.compactMap { bound[$0] }, adminPort: bound[-1])
        }
        let listener = index < 0 ? nil : configuration.listeners[index]
        logger.notice(
            "listening",
            metadata: [
                "host": "\(listener?.host ?? configuration.admin?.host ?? "")", "port": .stringConvertible(port),
                "role": "\(listener?.role.rawValue ?? "admin")",
                "tls": .stringConvertible(listener?.tls != nil),
            ])
        if let addresses { onListening(addresses) }
    }

    // MARK: Reloading

    /// Takes over what may change while running: apps, secrets, catalogues, trust, what is answered, notifications, and
    /// TLS certificates. Connections stay, requests in flight are finished with the old configuration. Whatever is wrong
    /// with the new one keeps the old one whole.
    ///
    /// - Returns: names of what differs and needs a restart.
    /// - Throws: what ``init(configuration:store:logger:observer:clock:onListening:)`` throws.
    @discardableResult
    public func reload(_ new: VerifyReceiptServerConfiguration) throws -> [String] {
        do {
            try checkReload(new.endpoint, after: state.current.endpoint.configuration)
            let endpoint = try makeEndpoint(new)
            let notifications = try NotificationIntake(new, store: state.store)
            let certificates = ListenerMatching(from: configuration.listeners, to: new.listeners).certificates
            let prepared = try certificates.map { (channels[$0.index], try TLSSetup.configuration($0.tls)) }
            for (channel, tls) in prepared { try channel.replace(tls) }
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

    /// A file that was cut off while it was read can be valid and open everything. What takes away the last app or the
    /// last secret needs a restart.
    private func checkReload(_ new: EndpointConfiguration, after old: EndpointConfiguration) throws {
        var problems: [ConfigurationError.Problem] = []
        if new.apps.isEmpty, !old.apps.isEmpty {
            problems.append(.init(key: "apps", place: nil, "would all be taken away by the reload; restart for that"))
        }
        if !new.hasSecrets, old.hasSecrets {
            problems.append(
                .init(key: "shared-secrets", place: nil, "would all be taken away by the reload; restart for that"))
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    /// Counts and logs a configuration that could not be read.
    public func noteFailedReload(_ error: any Error) {
        state.metrics.reloads.add("failure")
        logger.error("the new configuration is not used, the old one stays", metadata: ["error": "\(error)"])
    }

    private func differences(_ new: VerifyReceiptServerConfiguration) -> [String] {
        var names: [String] = []
        if ListenerMatching(from: configuration.listeners, to: new.listeners).differs { names.append("listeners") }
        if new.admin != configuration.admin { names.append("admin") }
        if new.limits != configuration.limits { names.append("limits") }
        if new.timeouts != configuration.timeouts { names.append("timeouts") }
        if new.logging != configuration.logging { names.append("log") }
        if new.storeURL != configuration.storeURL { names.append("store.url") }
        if new.shadow != configuration.shadow { names.append("shadow") }
        return names
    }

    // MARK: For tests and observers

    /// The text that `/metrics` shows.
    package var metricsText: String { state.metrics.registry.text() }
    package var waitingRequests: Int { state.queue.waiting }
    package var openConnections: Int { state.connections.current }
}

/// Why a socket could not be opened.
struct ListenError: Error, CustomStringConvertible {
    let description: String
}

/// Says which socket it is that cannot be opened.
private struct NamedListener: Service, CustomStringConvertible {
    let description: String
    let server: any Service

    func run() async throws {
        do {
            try await server.run()
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw ListenError(description: "cannot listen on \(description): \(reason)")
        } catch let error as SocketAddressError {
            throw ListenError(description: "cannot listen on \(description): \(error)")
        }
    }
}

/// All listeners as one, so that they are stopped together.
private struct ListeningService: Service {
    let servers: [any Service]
    let onStop: @Sendable () -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers { group.addTask { try await server.run() } }
                // The first that fails ends all.
                try await group.waitForAll()
            }
        } onGracefulShutdown: {
            onStop()
        }
    }
}

extension EndpointConfiguration {
    fileprivate var hasSecrets: Bool { !accountSecrets.isEmpty || apps.contains { !$0.sharedSecrets.isEmpty } }
}
