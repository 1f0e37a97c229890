import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// A stand-in for the live service: plain HTTP/1.1 on the loopback interface, one answer per connection.
final class LiveServiceStub: Sendable {
    enum Behavior: Sendable {
        case answer(String, status: Int = 200)
        /// The configured answer: body and status.
        case compute(@Sendable (Received) -> (String, Int))
        /// Takes the request and says nothing.
        case silence
        /// Closes the connection after taking the request.
        case close
        /// A status line, then nothing.
        case half
        /// Announces and sends this many bytes.
        case bytes(Int)
    }

    struct Received: Sendable {
        let path: String
        let head: String
        let body: [UInt8]
    }

    private let channel: any Channel
    private let list: RequestList

    init(_ behavior: Behavior) async throws {
        let requests = RequestList()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(StubHandler(behavior, requests))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        list = requests
    }

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }
    var received: [Received] { list.all }

    /// Waits until so many requests have come.
    func waitForRequests(_ count: Int) async throws {
        try await eventually("\(count) requests") { list.all.count >= count }
    }

    func stop() async throws { try await channel.close() }
}

final class RequestList: Sendable {
    private let requests = Mutex<[LiveServiceStub.Received]>([])

    var all: [LiveServiceStub.Received] { requests.withLock { $0 } }

    func append(_ request: LiveServiceStub.Received) { requests.withLock { $0.append(request) } }
}

private final class StubHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let behavior: LiveServiceStub.Behavior
    private let requests: RequestList
    private var bytes: [UInt8] = []
    private var isDone = false

    init(_ behavior: LiveServiceStub.Behavior, _ requests: RequestList) {
        self.behavior = behavior
        self.requests = requests
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
        guard !isDone, let request = request() else { return }
        isDone = true
        requests.append(request)
        switch behavior {
        case .answer(let text, let status): answer(text, status, context)
        case .compute(let answer):
            let (text, status) = answer(request)
            self.answer(text, status, context)
        case .silence: break
        case .close: context.close(promise: nil)
        case .half: send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", context)
        case .bytes(let count):
            let text = String(repeating: " ", count: count)
            send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\nConnection: close\r\n\r\n\(text)", context)
        }
    }

    private func answer(_ text: String, _ status: Int, _ context: ChannelHandlerContext) {
        send(
            "HTTP/1.1 \(status) X\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)",
            context)
    }

    private func send(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    /// The request once it is complete.
    private func request() -> LiveServiceStub.Received? {
        guard let end = bytes.firstRange(of: [13, 10, 13, 10]) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) }
        let body = bytes[end.upperBound...]
        guard body.count >= length ?? 0 else { return nil }
        let path = lines.first?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        return LiveServiceStub.Received(path: path, head: head, body: Array(body))
    }
}
