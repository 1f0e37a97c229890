import NIOCore
import NIOSSL
import NIOTLS

/// Closes a TLS connection whose handshake takes too long, and an HTTP/2 connection without requests.
///
/// After the idle time, Hummingbird sends GOAWAY and PING (RFC 9113, 6.7 and 6.8) and closes after the acknowledgment. A client
/// that never acknowledges, or that is silent after the TLS handshake, would keep its connection forever. This handler closes a
/// connection without a stream after a time that only a stream extends.
///
/// | state | time |
/// |---|---|
/// | during the TLS handshake | `timeouts.handshake` |
/// | before the first stream | `timeouts.headers` |
/// | after the last stream | `timeouts.idle` and ``grace(_:)`` |
/// | no stream, while the server stops | ``grace(_:)`` |
///
/// After the handshake, ``RequestTimeouts`` handles connections with HTTP/1.1.
final class ConnectionTimeouts: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private enum Phase: String {
        case handshake, headers, idle
    }

    private let timeouts: VerifyReceiptServerConfiguration.Timeouts
    private let metrics: ServerMetrics
    private var context: ChannelHandlerContext?
    private var openStreams = 0
    private var isDraining = false
    /// When the handler closes the connection. The end of the handshake or a new stream changes it. Nil while a stream is open, and
    /// with HTTP/1.1.
    private var end: (phase: Phase, deadline: NIODeadline)?
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture

    init(timeouts: VerifyReceiptServerConfiguration.Timeouts, metrics: ServerMetrics) {
        self.timeouts = timeouts
        self.metrics = metrics
    }

    /// The time for the client's acknowledgment.
    static func grace(_ timeouts: VerifyReceiptServerConfiguration.Timeouts) -> Duration {
        min(timeouts.idle, .seconds(5))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        close(.handshake, in: timeouts.handshake)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            if negotiated == "h2" { close(.headers, in: timeouts.headers) } else { end = nil }
        } else if event is ChannelShouldQuiesceEvent {
            isDraining = true
            if let end, end.phase != .handshake { close(.idle, in: Self.grace(timeouts)) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Streams

    func streamOpened() {
        openStreams += 1
        end = nil
    }

    func streamClosed() {
        openStreams -= 1
        guard openStreams == 0 else { return }
        let grace = Self.grace(timeouts)
        close(.idle, in: isDraining ? grace : timeouts.idle + grace)
    }

    // MARK: Closing

    private func close(_ phase: Phase, in duration: Duration) {
        let deadline = NIODeadline.now() + .nanoseconds(duration.wholeNanoseconds)
        end = (phase, deadline)
        wake(at: deadline)
    }

    /// A timer that fires too early is scheduled again, which is far cheaper than a new timer for every stream.
    private func wake(at deadline: NIODeadline) {
        guard let context, timer == nil || deadline < timerDeadline else { return }
        timer?.cancel()
        timerDeadline = deadline
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.fire() }
    }

    private func fire() {
        timer = nil
        guard let context, let end else { return }
        guard end.deadline <= .now() else { return wake(at: end.deadline) }
        stop()
        metrics.timeouts.add(end.phase.rawValue)
        // Below TLS, because closing TLS would wait for the client once more.
        let transport = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (transport ?? context).close(promise: nil)
    }

    private func stop() {
        end = nil
        timer?.cancel()
        timer = nil
    }
}
