import HTTPTypes
import NIOCore
import NIOHTTPTypes
import NIOSSL

/// Closes a connection (HTTP/1) or a stream (HTTP/2) whose client is too slow. Each phase of a request has a time limit, which
/// single bytes do not extend.
///
/// | phase | begins | ends |
/// |---|---|---|
/// | headers | connection | header of the first request |
/// | body | header | end of the body |
/// | body_rate | 16 KiB of a large body | the next 16 KiB (``BodyRate``) |
/// | write | answer written to the socket | answer accepted by it |
/// | idle | answer accepted | header of the next request |
///
/// A client that does not finish its header or body in time gets 408 (RFC 9110, 15.5.9), unless its answer has already
/// begun.
///
/// A stream registers with the ``ConnectionTimeouts`` of its connection. The state of the request is reported to the
/// ``ConnectionPlace`` of the connection.
final class RequestTimeouts: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    enum Phase: String {
        case headers, body, write, idle
        case bodyRate = "body_rate"
    }

    /// The time for a client that still sends to read 408. Closing at once would reset the connection and lose the
    /// answer.
    private static let lingering = TimeAmount.seconds(2)

    private let timeouts: VerifyReceiptServerConfiguration.Timeouts
    private let metrics: ServerMetrics
    /// The phase in which the server waits for bytes from the client; nil while the client waits for the server.
    private var inbound: (phase: Phase, deadline: NIODeadline)?
    /// The deadline for the client to read its oldest unread answer.
    private var outbound: NIODeadline?
    private var bodyRate: BodyRate
    /// Whether the server waits for bytes that it requested. Otherwise the client is not slow.
    private var isAsking = false
    private var connection: ConnectionTimeouts?
    private var place: ConnectionPlace?
    private var phase = ConnectionTable.Phase.idle
    private var isStream = false
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture
    private var isReading = false
    private var unanswered = 0
    private var unwritten = 0
    /// Whether the final response to the current request has begun.
    private var isResponding = false
    /// Whether 408 was written. Nothing follows it.
    private var isCut = false

    init(timeouts: VerifyReceiptServerConfiguration.Timeouts, metrics: ServerMetrics) {
        self.timeouts = timeouts
        self.metrics = metrics
        bodyRate = BodyRate(timeouts.bodyStep)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // The parent of a stream is the connection; the parent of a connection is the listening socket.
        var owner = context.channel
        if let parent = context.channel.parent, parent.parent != nil {
            isStream = true
            owner = parent
            connection = try? parent.pipeline.syncOperations.handler(type: ConnectionTimeouts.self)
            connection?.streamOpened()
        }
        // Nil for connections of the admin listener.
        place = try? owner.pipeline.syncOperations.handler(type: ConnectionPlace.self)
        // A connection becomes active later; a stream and a TLS connection already are.
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
        guard !isCut else { return }
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
            // At once, because an idle connection may be closed to make room.
            notePhase()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Discard further bytes.
        if isCut { context.read() }
        notePhase()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        isAsking = true
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isCut else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.status.kind != .informational { isResponding = true }
            return context.write(data, promise: promise)
        case .body: return context.write(data, promise: promise)
        case .end: isResponding = false
        }
        unwritten += 1
        if outbound == nil { expectTaking(context) }
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenComplete { _ in self.hasTaken(context) }
        context.write(data, promise: written)
    }

    /// The system has accepted a part of the answer at once, so only an unfinished answer changes the phase.
    func flush(context: ChannelHandlerContext) {
        context.flush()
        notePhase()
    }

    /// Called when the client has read an answer.
    private func hasTaken(_ context: ChannelHandlerContext) {
        unanswered -= 1
        unwritten -= 1
        outbound = nil
        guard context.channel.isActive else { return }
        if unwritten > 0 { expectTaking(context) }
        if unanswered == 0, !isReading {
            place?.expectHeader()
            expect(.idle, timeouts.idle, context)
        }
        notePhase()
    }

    private func notePhase() {
        // An unread answer is the client's delay, and so are the requests after it.
        let new: ConnectionTable.Phase =
            if unwritten > 0 || isReading && unanswered < 2 {
                .waitingForClient
            } else if unanswered > 0 {
                .answering
            } else {
                .idle
            }
        guard new != phase else { return }
        place?.change(from: phase, to: new)
        phase = new
    }

    private func expect(_ phase: Phase, _ duration: Duration, _ context: ChannelHandlerContext) {
        let deadline = NIODeadline.now() + .nanoseconds(duration.wholeNanoseconds)
        inbound = (phase, deadline)
        wake(at: deadline, context)
    }

    private func expectTaking(_ context: ChannelHandlerContext) {
        let deadline = NIODeadline.now() + .nanoseconds(timeouts.write.wholeNanoseconds)
        outbound = deadline
        wake(at: deadline, context)
    }

    /// A timer that fires too early is scheduled again, which is far cheaper than a new timer for every phase.
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
        let isAnswerable =
            switch phase {
            case .headers, .idle: !isStream && unanswered == 0 && place?.hasBytes == true
            case .body, .bodyRate: unanswered == 1 && !isResponding
            case .write: false
            }
        stop()
        metrics.timeouts.add(phase.rawValue)
        guard isAnswerable, context.channel.isActive else { return context.close(promise: nil) }
        isCut = true
        answer(context)
    }

    private func isSecure(_ context: ChannelHandlerContext) -> Bool {
        (try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)) != nil
    }

    /// Writes 408 and ends the connection or stream.
    private func answer(_ context: ChannelHandlerContext) {
        let answer = Answer.problem(.requestTimeout, "The request did not arrive in time.")
        var head = HTTPResponse(status: answer.status)
        head.headerFields[.contentType] = answer.contentType
        head.headerFields[.contentLength] = String(answer.reply.body.count)
        if !isStream { head.headerFields[.connection] = "close" }
        metrics.responses.add(String(answer.status.code))
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: answer.reply.body))), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        let endsAtOnce = isStream || isSecure(context)
        written.futureResult.assumeIsolated().whenComplete { _ in
            guard context.channel.isActive else { return }
            context.close(mode: endsAtOnce ? .all : .output, promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        // Also if the client reads nothing.
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
        context.read()
    }

    private func stop() {
        connection?.streamClosed()
        connection = nil
        if phase != .idle { place?.change(from: phase, to: .idle) }
        phase = .idle
        place = nil
        inbound = nil
        outbound = nil
        bodyRate.end()
        timer?.cancel()
        timer = nil
    }
}
