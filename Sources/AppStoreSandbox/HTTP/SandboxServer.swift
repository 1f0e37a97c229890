internal import AppStoreModels
internal import AsyncHTTPClient
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
public import Logging
internal import NIOCore
public import ServiceLifecycle

/// A local App Store: the App Store Server API under `/inApps` and `/groups`, and the control API under `/sandbox/v1`.
///
/// ```swift
/// var sandbox = SandboxConfiguration(bundleId: "com.example.app")
/// let catalog = try SandboxCatalog(ProductCatalog.load(paths: ["Products.storekit"]))
/// let server = try SandboxServer(.init(sandbox: sandbox, catalog: catalog), logger: logger)
/// try await server.run()
/// ```
///
/// All data is in memory.
public final class SandboxServer: Service {
    private let configuration: SandboxServerConfiguration
    private let service: SandboxService
    private let client: HTTPClient
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - configuration: products, address, notifications.
    ///   - logger: receives messages for operators.
    ///   - clock: the real time, milliseconds since 1970.
    ///   - onListening: called once with the port.
    public init(
        _ configuration: SandboxServerConfiguration, logger: Logger, clock: (@Sendable () -> Int64)? = nil,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        let wallClock = clock ?? { Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)) }
        var http = HTTPClient.Configuration()
        http.redirectConfiguration = .disallow
        http.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: http)
        var state = SandboxState(
            engine: SandboxEngine(
                configuration: configuration.sandbox, catalog: configuration.catalog, now: wallClock()),
            authority: .standard, retriesNotifications: configuration.retriesNotifications)
        state.limits = configuration.rateLimits
        for fault in configuration.faults { state.faults.add(fault) }
        state.notificationURL = configuration.notificationURL
        state.sendsV1 = configuration.sendsNotificationsV1
        state.sharedSecret = configuration.sharedSecret
        let sender = NotificationSender(
            client: client, timeout: .seconds(max(1, min(configuration.notificationTimeout, 3_600))))
        service = SandboxService(state: state, mode: configuration.clock, sender: sender, wallClock: wallClock)
        self.configuration = configuration
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves until graceful shutdown.
    public func run() async throws {
        let responder = CallbackResponder<BasicRequestContext> { [service] request, _ in
            try await SandboxHTTP.respond(to: request, service)
        }
        let application = Application(
            responder: responder,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port), serverName: nil),
            onServerRunning: { [onListening] channel in onListening(channel.localAddress?.port ?? 0) },
            logger: logger)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [service] in
                    // On shutdown, the clock stops at once, and requests in progress finish.
                    do {
                        try await cancelWhenGracefulShutdown { try await service.run() }
                    } catch is CancellationError {}
                }
                group.addTask { try await application.run() }
                try await group.waitForAll()
            }
        } catch {
            try? await client.shutdown()
            throw error
        }
        try? await client.shutdown()
    }
}

/// Translates between HTTP and the service.
private enum SandboxHTTP {
    /// The largest body of a request, in bytes. Real ones have at most a few hundred bytes.
    private static let maximumBody = 1 << 20

    static func respond(to request: Request, _ service: SandboxService) async throws -> Response {
        let parts = request.uri.path.split(separator: "/").map { String($0).removingPercentEncoding ?? "" }
        let isControl = parts.count > 2 && parts[0] == "sandbox" && parts[1] == "v1"
        let met = await isControl ? nil : service.meetFault(path: request.uri.path)
        if let met, met.fault.kind == .hang {
            // The request hangs until the client disconnects or the sandbox shuts down.
            try? await request.body.consumeWithCancellationOnInboundClose { _ in
                await cancelWhenGracefulShutdown { await service.hang(met.number) }
            }
            return cut(APIResponse(status: 200))
        }
        let body: [UInt8]
        do {
            let buffer = try await request.body.collect(upTo: maximumBody)
            body = Array(buffer.readableBytesView)
        } catch {
            return Response(status: .contentTooLarge)
        }
        var message = APIRequest(
            method: request.method.rawValue, path: parts, query: query(request.uri.query),
            authorization: request.headers[.authorization], body: body)
        if isControl {
            message.path.removeFirst(2)
            return response(await service.control(message))
        }
        if let fault = met?.fault {
            if let answer = await service.answer(fault) { return response(answer) }
            if fault.kind == .delay {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(fault.delay)) }
            }
        }
        let answer = await service.respond(to: message)
        return met?.fault.kind == .cut ? cut(answer) : response(answer)
    }

    private struct ConnectionCut: Error {}

    /// Sends half of an answer and then closes the connection.
    private static func cut(_ answer: APIResponse) -> Response {
        var response = Self.response(answer)
        let half = ByteBuffer(bytes: answer.body.prefix(answer.body.count / 2))
        response.body = ResponseBody(contentLength: max(2, answer.body.count)) { writer in
            if half.readableBytes > 0 { try await writer.write(half) }
            throw ConnectionCut()
        }
        return response
    }

    private static func response(_ answer: APIResponse) -> Response {
        var headers = HTTPFields()
        if !answer.body.isEmpty { headers[.contentType] = "application/json" }
        if let retryAfter = answer.retryAfter { headers[.retryAfter] = String(retryAfter) }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    private static func query(_ text: String?) -> [(name: String, value: String)] {
        (text ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let spaced = String(part.map { $0 == "+" ? " " : $0 })
                return spaced.removingPercentEncoding ?? spaced
            }
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }
}
