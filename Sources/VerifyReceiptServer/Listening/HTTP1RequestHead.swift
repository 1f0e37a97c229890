import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Rules of HTTP/1 that need the original request line and header. The codec drops the version, the form of the target
/// and the number of `Host` fields.
///
/// | request | forwarded request |
/// |---|---|
/// | HTTP/1.0 that does not ask to keep the connection | `Connection: close`: such clients read to the end of the connection (RFC 9112, 9.3) |
/// | HTTP/1.0 without `Host` | an empty `Host`, since it needs none |
/// | a target in absolute form | its path, and its host in place of the one in `Host` (RFC 9112, 3.2.2) |
///
/// ``RequestResponder`` rejects other requests with no `Host`, several, or an invalid one.
final class HTTP1RequestHead: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        // A stream of HTTP/2 has no such decoder, and needs none of these rules.
        guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else { return }
        try? pipeline.addHandler(HTTP1RequestHeadReader(), position: .after(decoder))
    }
}

private final class HTTP1RequestHeadReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let isOld = head.version.major == 1 && head.version.minor == 0
        let isAbsolute = !head.uri.hasPrefix("/") && head.method != .CONNECT
        guard isOld || isAbsolute else { return context.fireChannelRead(data) }
        if isOld { applyHTTP10(&head) }
        if isAbsolute { applyAbsoluteForm(&head) }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func applyHTTP10(_ head: inout HTTPRequestHead) {
        let options = head.headers[canonicalForm: "connection"]
        if !options.contains(where: { $0.lowercased() == "keep-alive" }) {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        }
        if !head.headers.contains(name: "Host") { head.headers.add(name: "Host", value: "") }
    }

    private func applyAbsoluteForm(_ head: inout HTTPRequestHead) {
        guard let separator = head.uri.range(of: "://"),
            ["http", "https"].contains(head.uri[..<separator.lowerBound].lowercased())
        else { return }
        let rest = head.uri[separator.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        // An invalid Host is not repaired.
        if head.headers["Host"].count == 1 {
            head.headers.replaceOrAdd(name: "Host", value: String(rest[..<end]))
        }
        let path = rest[end...]
        head.uri = path.hasPrefix("/") ? String(path) : "/" + path
    }
}
