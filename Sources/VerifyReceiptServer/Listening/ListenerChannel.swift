import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import Synchronization
import TransactionStore

/// Sets up the connections of one listener: adds each to the table, bounds the TLS handshake, and supports HTTP/1.1 and, by
/// ALPN, HTTP/2.
final class ListenerChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        /// Handles the connection until its end.
        let handle: @Sendable (Logger) async -> Void

        init<Framework: ServerChildChannel>(_ value: Framework.Value, of inner: Framework) {
            channel = value.channel
            handle = { await inner.handle(value: value, logger: $0) }
        }
    }

    private enum Inner: Sendable {
        case plain(HTTP1Channel)
        case secure(HTTP2UpgradeChannel)
    }

    private struct TooManyConnections: Error {}

    private let state: ServerState
    private let responder: HTTPChannelHandler.Responder
    /// Replaced when certificates are reloaded; existing connections keep theirs.
    private let inner: Mutex<Inner>
    private let expiry: Mutex<Int?>

    /// When the first certificate expires, in seconds since 1970; nil without TLS.
    var certificateExpiry: Int? { expiry.withLock { $0 } }

    /// - Throws: what ``TLSSetup`` throws.
    init(
        tls: VerifyReceiptServerConfiguration.TLSFiles?, state: ServerState,
        responder: @escaping HTTPChannelHandler.Responder
    ) throws {
        self.state = state
        self.responder = responder
        let setup = try tls.map { try TLSSetup.configuration($0) }
        inner = Mutex(try Self.inner(setup, state, responder))
        expiry = Mutex(setup.flatMap(TLSSetup.expiry))
    }

    private static func inner(
        _ tls: TLSConfiguration?, _ state: ServerState, _ responder: @escaping HTTPChannelHandler.Responder
    ) throws -> Inner {
        let (limits, timeouts, metrics, budget) = (state.limits, state.timeouts, state.metrics, state.budget)
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                HTTP1RequestHead(), RequestTimeouts(timeouts: timeouts, metrics: metrics), ReplyBudget(budget),
            ],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes,
                maxHeaderFieldCount: limits.headerFields))
        guard let tls else { return .plain(HTTP1Channel(responder: responder, configuration: http1)) }
        let http2 = HTTP2ChannelConfiguration(
            idleTimeout: timeouts.idle, gracefulCloseTimeout: timeouts.shutdown, streamConfiguration: http1)
        return .secure(
            try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: http2, responder: responder))
    }

    /// New connections get the new certificate.
    func replace(_ tls: TLSConfiguration?) throws {
        let replacement = try Self.inner(tls, state, responder)
        inner.withLock { $0 = replacement }
        expiry.withLock { $0 = tls.flatMap(TLSSetup.expiry) }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let place: ConnectionTable.Place
        switch state.connections.open(limitedAddress(of: channel), close: { Self.close(channel) }) {
        case .refused(let refusal):
            state.noteRefusedConnection(refusal)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        case .admitted(let admitted, let displaced):
            place = admitted
            if let displaced {
                state.noteDisplacedConnection()
                displaced()
            }
        }
        state.metrics.acceptedConnections.increment()
        channel.closeFuture.whenComplete { [connections = state.connections] _ in connections.close(place) }
        let future: EventLoopFuture<Value> =
            switch inner.withLock({ $0 }) {
            case .plain(let inner):
                channel.eventLoop.makeCompletedFuture { [state] in
                    try channel.pipeline.syncOperations.addHandler(ConnectionPlace(place, of: state.connections))
                }.flatMap { inner.setup(channel: channel, logger: logger).map { Value($0, of: inner) } }
            case .secure(let inner):
                inner.setup(channel: channel, logger: logger).flatMapThrowing { [state] value in
                    let handler = try channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
                    try channel.pipeline.syncOperations.addHandlers(
                        [
                            ConnectionPlace(place, of: state.connections),
                            ConnectionTimeouts(timeouts: state.timeouts, metrics: state.metrics),
                        ], position: .after(handler))
                    return Value(value, of: inner)
                }
            }
        // Nothing else closes a connection whose setup failed.
        future.whenFailure { _ in channel.close(promise: nil) }
        return future
    }

    /// The address for `limits.connections-per-address`; nil for a trusted proxy, whose connections belong to many clients.
    private func limitedAddress(of channel: any Channel) -> IPAddress? {
        guard let address = IPAddress(channel.remoteAddress), !state.isTrustedProxy(address) else { return nil }
        return address
    }

    /// Closes below TLS, because closing TLS would wait for the client once more.
    private static func close(_ channel: any Channel) {
        channel.eventLoop.execute {
            let pipeline = channel.pipeline.syncOperations
            func close() {
                if let transport = try? pipeline.context(handlerType: NIOSSLServerHandler.self) {
                    transport.close(promise: nil)
                } else {
                    channel.close(promise: nil)
                }
            }
            // Missing before the first bytes arrive.
            guard let place = try? pipeline.handler(type: ConnectionPlace.self) else { return close() }
            place.leave(close)
        }
    }

    /// Runs on threads that may wait for the store.
    func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(BlockingThreads.shared) { await value.handle(logger) }
    }
}

/// Keeps a listening socket open if accepting a connection fails, for example because the process has no file
/// descriptor left. Otherwise the error would end the listener.
final class AcceptErrorFilter: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let logger: Logger
    private var lastLog = NIODeadline.uptimeNanoseconds(0)

    init(logger: Logger) { self.logger = logger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        // Such errors can be very frequent.
        guard NIODeadline.now() - lastLog > .seconds(1) else { return }
        lastLog = .now()
        logger.error("accepting a connection failed", metadata: ["error": "\(error)"])
    }
}
