import NIOCore
import NIOHTTPTypes

/// Counts the bytes of answers that clients have not read yet, so that they leave less room for new bodies and answers.
/// It rejects nothing: the bytes are already in memory.
final class ReplyBudget: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let budget: BufferBudget

    init(_ budget: BufferBudget) { self.budget = budget }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(let buffer) = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        let bytes = buffer.readableBytes
        budget.hold(bytes)
        // The promise always completes, also when the connection ends.
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.whenComplete { [budget] _ in budget.release(bytes) }
        context.write(data, promise: written)
    }
}
