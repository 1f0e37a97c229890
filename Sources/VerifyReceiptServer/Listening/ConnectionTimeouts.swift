import NIOCore
import NIOSSL
import NIOTLS

/// Closes an HTTP/2 connection without requests.
///
/// After the idle time, Hummingbird sends GOAWAY and PING (RFC 9113, 6.7 and 6.8) and closes after the acknowledgment. A client
/// that never acknowledges, or that is silent after the TLS handshake, would keep its connection forever. This handler closes a
/// connection without a stream after a time that only a stream extends.
///
/// | state | time |
/// |---|---|
/// | before the first stream | `timeouts.headers` |
/// | after the last stream | `timeouts.idle` and ``grace(_:)`` |
/// | no stream, while the server stops | ``grace(_:)`` |
///
/// ``RequestTimeouts`` handles TLS connections with HTTP/1.1.
final class ConnectionTimeouts: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeouts: VerifyReceiptServerConfiguration.Timeouts
    private let metrics: ServerMetrics
    private var context: ChannelHandlerContext?
    private var openStreams = 0
    private var isDraining = false
    /// When the connection is closed, unless a stream opens; nil while a stream is open, and before HTTP/2 begins.
    private var end: (phase: RequestTimeouts.Phase, deadline: NIODeadline)?
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

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"):
            close(.headers, in: timeouts.headers)
        case is ChannelShouldQuiesceEvent:
            isDraining = true
            if end != nil { close(.idle, in: Self.grace(timeouts)) }
        default: break
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

    private func close(_ phase: RequestTimeouts.Phase, in duration: Duration) {
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
