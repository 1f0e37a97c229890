import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A client for TLS with `h2` that sends exactly the given bytes: it acknowledges nothing.
final class SilentHTTP2Client: Sendable {
    private let channel: any Channel
    private let collector: Collector

    init(port: Int, trusting files: TestCertificate) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(files.tls.certificate)
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let collector = Collector()
        self.collector = collector
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                    try channel.pipeline.syncOperations.addHandlers([handler, CollectingHandler(collector)])
                }
            }.connect(host: "127.0.0.1", port: port).get()
    }

    func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// Waits until the server has closed the connection.
    func waitForEnd() async throws { try await channel.closeFuture.get() }

    var isOpen: Bool { channel.isActive }
    var received: [UInt8] { collector.bytes }

    func close() async { try? await channel.close() }

    // MARK: RFC 9113 and RFC 7541

    /// What a client begins with: the preface and empty SETTINGS.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(type: 4)

    static func frame(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = []
        for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift)) }
        bytes += [type, flags]
        for shift: UInt32 in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: stream >> shift)) }
        return bytes + payload
    }

    /// A request to `/verifyReceipt`; the header fields are literals without indexing.
    static func request(method: String = "POST", stream: UInt32 = 1, _ body: String) -> [UInt8] {
        let fields = [
            (":method", method), (":scheme", "https"), (":path", "/verifyReceipt"), (":authority", "localhost"),
        ]
        var block: [UInt8] = []
        for (name, value) in fields {
            block.append(0)
            for text in [name, value] {
                block.append(UInt8(text.utf8.count))
                block += Array(text.utf8)
            }
        }
        return frame(type: 1, flags: 4, stream: stream, block)
            + frame(type: 0, flags: 1, stream: stream, Array(body.utf8))
    }

    /// Type and flags of each frame that came.
    var frames: [(type: UInt8, flags: UInt8)] {
        var frames: [(type: UInt8, flags: UInt8)] = []
        var rest = received[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            frames.append((head[3], head[4]))
            rest = rest.dropFirst(9 + (Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])))
        }
        return frames
    }

    /// Whether an answer's body came: a DATA frame with the end of the stream.
    var hasAnswer: Bool { frames.contains { $0.type == 0 && $0.flags & 1 == 1 } }
    /// Whether the server has said that the connection ends (GOAWAY).
    var hasFarewell: Bool { frames.contains { $0.type == 7 } }

    private final class Collector: Sendable {
        private let all = Mutex<[UInt8]>([])

        var bytes: [UInt8] { all.withLock { $0 } }
        func append(_ buffer: ByteBuffer) { all.withLock { $0 += buffer.readableBytesView } }
    }

    private final class CollectingHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let collector: Collector

        init(_ collector: Collector) { self.collector = collector }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { collector.append(unwrapInboundIn(data)) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
