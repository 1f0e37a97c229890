import NIOCore
import NIOPosix
import Synchronization

/// A server on this machine with configured faults. It writes HTTP/1.1 byte by byte, so that it can break off anywhere.
final class LocalServer: Sendable {
    /// What to do with one request.
    enum Behavior: Sendable {
        /// Send these bytes and keep the connection.
        case send(String)
        /// Send these bytes and close the connection.
        case sendAndClose(String)
        /// Send these bytes, then one more byte now and then, for ever.
        case trickle(String)
        /// Answer each request with its number, from 1.
        case sendNumber
        /// Send nothing.
        case silence
    }

    private let channel: any Channel
    private let recorded: ReceivedRequests
    let port: Int

    /// Starts on a free port; it does these in turn, and the last one from then on.
    static func start(_ behaviors: [Behavior]) async throws -> LocalServer {
        let recorded = ReceivedRequests()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(recorded: recorded, behaviors: behaviors))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return LocalServer(channel, recorded)
    }

    private init(_ channel: any Channel, _ recorded: ReceivedRequests) {
        self.channel = channel
        self.recorded = recorded
        port = channel.localAddress?.port ?? 0
    }

    var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Every request as it came: head and body.
    var requests: [String] { recorded.all }

    func stop() async {
        try? await channel.close().get()
    }

    static func response(_ status: String, _ body: String, headers: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }
}

final class ReceivedRequests: Sendable {
    private let requests = Mutex<[String]>([])

    var all: [String] { requests.withLock { $0 } }

    func add(_ request: String) -> Int {
        requests.withLock { requests in
            requests.append(request)
            return requests.count
        }
    }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let recorded: ReceivedRequests
    private let behaviors: [LocalServer.Behavior]
    private var received = ""

    init(recorded: ReceivedRequests, behaviors: [LocalServer.Behavior]) {
        self.recorded = recorded
        self.behaviors = behaviors
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let request = takeRequest() {
            let number = recorded.add(request)
            switch behaviors[min(number, behaviors.count) - 1] {
            case .send(let text): write(text, context)
            case .sendAndClose(let text):
                write(text, context)
                context.close(promise: nil)
            case .trickle(let text):
                write(text, context)
                Self.trickle(context.channel)
            case .sendNumber:
                write(LocalServer.response("200 OK", #"{"signedTransactionInfo":"\#(number)"}"#), context)
            case .silence: break
            }
        }
    }

    private static func trickle(_ channel: any Channel) {
        channel.eventLoop.scheduleTask(in: .milliseconds(20)) {
            guard channel.isActive else { return }
            channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
            trickle(channel)
        }
    }

    private func write(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    /// A whole request, if one has arrived.
    private func takeRequest() -> String? {
        let bytes = Array(received.utf8)
        guard let headEnd = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
        let head = String(decoding: bytes[..<headEnd], as: UTF8.self)
        var length = 0
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            length = Int(line.dropFirst(15).filter { $0 != " " }) ?? 0
        }
        guard bytes.count >= headEnd + length else { return nil }
        received = String(decoding: bytes[(headEnd + length)...], as: UTF8.self)
        return String(decoding: bytes[..<(headEnd + length)], as: UTF8.self)
    }
}
