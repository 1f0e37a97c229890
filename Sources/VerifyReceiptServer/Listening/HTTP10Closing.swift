import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Makes a connection end after the answer to an HTTP/1.0 request that does not ask to keep it (RFC 9112, 9.3): such
/// clients read to the end of the connection.
///
/// Past the decoder nobody knows the version any more, so a reader next to it says `Connection: close` in the request.
final class HTTP10Closing: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        // A stream of HTTP/2 has no such decoder, and no version to look at.
        guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else { return }
        try? pipeline.addHandler(HTTP10Reader(), position: .after(decoder))
    }
}

@available(*, unavailable)
extension HTTP10Closing: Sendable {}

private final class HTTP10Reader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version.major == 1, head.version.minor == 0 else {
            return context.fireChannelRead(data)
        }
        let options = head.headers[canonicalForm: "connection"]
        guard !options.contains(where: { $0.lowercased() == "keep-alive" }) else {
            return context.fireChannelRead(data)
        }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

@available(*, unavailable)
extension HTTP10Reader: Sendable {}
