import AppStoreModels
import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// A server that receives notifications, and returns configured answers.
final class Receiver: Sendable {
    private struct State {
        var bodies: [[UInt8]] = []
        var status = 200
    }

    private let state = Mutex(State())

    /// What was posted, in order.
    var bodies: [[UInt8]] { state.withLock { $0.bodies } }

    /// The signed payloads of version 2, in order.
    var signedPayloads: [String] {
        bodies.compactMap { (try? JSONValue.parse($0))?["signedPayload"]?.string }
    }

    func answer(_ status: Int) { state.withLock { $0.status = status } }

    private func take(_ body: [UInt8]) -> Int {
        state.withLock {
            $0.bodies.append(body)
            return $0.status
        }
    }

    @inline(never)
    static func run<Result: Sendable>(
        _ body: @Sendable (Receiver, String) async throws -> Result
    ) async throws -> Result {
        let receiver = Receiver()
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            let buffer = try await request.body.collect(upTo: 1 << 20)
            return Response(status: .init(code: receiver.take(Array(buffer.readableBytesView))))
        }
        let make: (@escaping @Sendable (Int) -> Void) throws -> any Service = { listening in
            Application(
                responder: responder,
                configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: nil),
                onServerRunning: { listening($0.localAddress?.port ?? 0) }, logger: Running.logger)
        }
        return try await Running.service(make) { port in
            try await body(receiver, "http://127.0.0.1:\(port)/notifications")
        }
    }
}
