import NIOCore
import NIOHTTPTypes

/// Closes a connection (HTTP/1) or a stream (HTTP/2) whose client is too slow: each phase of a request has a time of its
/// own that dripping octets do not extend.
///
/// | phase | begins | ends |
/// |---|---|---|
/// | headers | connection | header of the first request |
/// | body | header | end of the body |
/// | body_rate | 16 KiB of a large body | the next 16 KiB (``BodyRate``) |
/// | write | answer handed to the socket | answer taken by it |
/// | idle | answer taken | header of the next request |
///
/// A stream tells the handler of its connection, ``ConnectionTimeouts``, that it is there.
final class RequestTimeouts: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    enum Phase: String {
        case headers, body, write, idle
        case bodyRate = "body_rate"
    }

    private let timeouts: VerifyReceiptServerConfiguration.Timeouts
    private let metrics: ServerMetrics
    /// What the client owes us: octets of a request. Nil while it waits for us.
    private var inbound: (phase: Phase, deadline: NIODeadline)?
    /// By when the client has to have taken the oldest answer that it has not.
    private var outbound: NIODeadline?
    private var bodyRate: BodyRate
    /// Whether we have asked for octets that have not come. If not, it is not the client that is slow.
    private var isAsking = false
    private var connection: ConnectionTimeouts?
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture
    private var isReading = false
    private var unanswered = 0
    private var unwritten = 0

    init(timeouts: VerifyReceiptServerConfiguration.Timeouts, metrics: ServerMetrics) {
        self.timeouts = timeouts
        self.metrics = metrics
        bodyRate = BodyRate(timeouts.bodyStep)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // Of a stream, the parent is the connection; of a connection, the listening socket.
        if let parent = context.channel.parent, parent.parent != nil {
            connection = try? parent.pipeline.syncOperations.handler(type: ConnectionTimeouts.self)
            connection?.streamOpened()
        }
        // A connection becomes active later, a stream and a connection with TLS are so already.
        if context.channel.isActive { expect(.headers, timeouts.headers, context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func channelActive(context: ChannelHandlerContext) {
        expect(.headers, timeouts.headers, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isReading = true
            unanswered += 1
            expect(.body, timeouts.body, context)
            bodyRate.begin(declared: head.headerFields.value(of: .contentLength).flatMap { Int($0) })
            if let deadline = bodyRate.deadline { wake(at: deadline, context) }
        case .body(let buffer):
            isAsking = false
            bodyRate.take(buffer.readableBytes)
            if let deadline = bodyRate.deadline { wake(at: deadline, context) }
        case .end:
            isReading = false
            inbound = nil
            bodyRate.end()
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        isAsking = true
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        unwritten += 1
        if outbound == nil { expectTaking(context) }
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenComplete { _ in self.hasTaken(context) }
        context.write(data, promise: written)
    }

    /// The client has taken an answer.
    private func hasTaken(_ context: ChannelHandlerContext) {
        unanswered -= 1
        unwritten -= 1
        outbound = nil
        guard context.channel.isActive else { return }
        if unwritten > 0 { expectTaking(context) }
        if unanswered == 0, !isReading { expect(.idle, timeouts.idle, context) }
    }

    private func expect(_ phase: Phase, _ duration: Duration, _ context: ChannelHandlerContext) {
        let deadline = NIODeadline.now() + .nanoseconds(duration.nanoseconds)
        inbound = (phase, deadline)
        wake(at: deadline, context)
    }

    private func expectTaking(_ context: ChannelHandlerContext) {
        let deadline = NIODeadline.now() + .nanoseconds(timeouts.write.nanoseconds)
        outbound = deadline
        wake(at: deadline, context)
    }

    /// A timer that fires too early looks again: far cheaper than a new timer for every phase.
    private func wake(at deadline: NIODeadline, _ context: ChannelHandlerContext) {
        guard timer == nil || deadline < timerDeadline else { return }
        timer?.cancel()
        timerDeadline = deadline
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.fire(context) }
    }

    private func fire(_ context: ChannelHandlerContext) {
        timer = nil
        let now = NIODeadline.now()
        if let inbound, inbound.deadline <= now { return cut(inbound.phase, context) }
        if let outbound, outbound <= now { return cut(.write, context) }
        if let deadline = bodyRate.deadline, deadline <= now {
            if isAsking { return cut(.bodyRate, context) }
            bodyRate.restart()
        }
        let next = [inbound?.deadline, outbound, bodyRate.deadline].compactMap { $0 }.min()
        if let next { wake(at: next, context) }
    }

    private func cut(_ phase: Phase, _ context: ChannelHandlerContext) {
        stop()
        metrics.timeouts.add(phase.rawValue)
        context.close(promise: nil)
    }

    private func stop() {
        connection?.streamClosed()
        connection = nil
        inbound = nil
        outbound = nil
        bodyRate.end()
        timer?.cancel()
        timer = nil
    }
}

@available(*, unavailable)
extension RequestTimeouts: Sendable {}
