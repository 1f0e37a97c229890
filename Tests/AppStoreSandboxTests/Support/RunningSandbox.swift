import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import TestSupport

/// A sandbox on a free port of loopback for the time of a closure, with a clock that is stepped.
struct RunningSandbox: Sendable {
    let port: Int
    var url: String { "http://127.0.0.1:\(port)" }

    /// What is other than usual.
    struct Setup: Sendable {
        var change: @Sendable (inout SandboxServerConfiguration) throws -> Void = { _ in }
        var wallClock: (@Sendable () -> Int64)?
    }

    @inline(never)
    static func run<Result: Sendable>(
        _ setup: Setup = Setup(), _ body: @Sendable (RunningSandbox) async throws -> Result
    ) async throws -> Result {
        var sandbox = SandboxConfiguration()
        sandbox.key = try DeveloperKey.known()
        var initial = SandboxServerConfiguration(sandbox: sandbox, catalog: try Sold.catalog())
        initial.clock = .stepped
        // A receiver on a busy machine may answer late.
        initial.notificationTimeout = 600
        try setup.change(&initial)
        let configuration = initial
        let make: (@escaping @Sendable (Int) -> Void) throws -> any Service = { listening in
            SandboxServer(configuration, logger: Running.logger, clock: setup.wallClock, onListening: listening)
        }
        return try await Running.service(make) { port in try await body(RunningSandbox(port: port)) }
    }

    /// Calls the control API.
    @discardableResult
    @inline(never)
    func call(_ method: String, _ path: String, _ json: String? = nil, expecting status: UInt = 200) async throws
        -> JSONObject
    {
        let (found, body) = try await Running.fetch(method, "\(url)/sandbox/v1/\(path)", json.map { Array($0.utf8) })
        guard found == status, let object = try JSONValue.parse(body).object else {
            throw TestFailure("\(method) \(path): \(found) \(String(decoding: body, as: UTF8.self))")
        }
        return object
    }

    @discardableResult
    @inline(never)
    func post(_ path: String, _ json: String = "{}", expecting status: UInt = 200) async throws -> JSONObject {
        try await call("POST", path, json, expecting: status)
    }

    /// Buys without an offer; the transaction id.
    @inline(never)
    func buy(_ product: String, by customer: String = "ada") async throws -> String {
        let answer = try await post(
            "purchases",
            "{\"customer\": \"\(customer)\", \"productId\": \"\(product)\", \"offer\": {\"type\": \"none\"}}")
        guard let id = answer["transactionId"]?.string else { throw TestFailure("no transaction") }
        return id
    }

    /// `TYPE` or `TYPE/SUBTYPE` of all notifications.
    @inline(never)
    func notifications() async throws -> [String] {
        let list = try await call("GET", "notifications")["notifications"]?.array ?? []
        return list.map {
            [$0["notificationType"]?.string, $0["subtype"]?.string].compactMap { $0 }.joined(separator: "/")
        }
    }

    /// A client of our own, as for Apple's server.
    func client(
        key: InAppPurchaseKey? = nil, bundleID: String = "com.example.app", attempts: Int = 1,
        timeout: Duration = .seconds(300)
    ) throws -> AppStoreServerAPIClient {
        var configuration = APIClientConfiguration(baseURL: url, timeout: timeout, rateBudgets: .unlimited)
        configuration.retryPolicy.maximumAttempts = attempts
        return try AppStoreServerAPIClient(
            key: try key ?? DeveloperKey.signing(), bundleID: bundleID, environment: .sandbox,
            configuration: configuration)
    }
}

/// What servers in tests have in common.
enum Running {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a service until the closure ends; `make` gets what is to be called with the port.
    @inline(never)
    static func service<Result: Sendable>(
        _ make: (@escaping @Sendable (Int) -> Void) throws -> any Service,
        _ body: @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let service = try make { continuation.yield($0) }
        let group = ServiceGroup(configuration: .init(services: [service], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            var iterator = stream.makeAsyncIterator()
            guard let port = await iterator.next() else {
                try await tasks.next()
                throw TestFailure("the service did not listen")
            }
            let result: Result
            do {
                result = try await body(port)
            } catch {
                await group.triggerGracefulShutdown()
                try? await tasks.next()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.next()
            return result
        }
    }

    @inline(never)
    static func fetch(
        _ method: String, _ url: String, _ body: [UInt8]? = nil, headers: [(String, String)] = []
    ) async throws -> (status: UInt, body: [UInt8]) {
        let (status, _, body) = try await exchange(method, url, body, headers: headers)
        return (status, body)
    }

    /// Waits for a sandbox that has to share the processor with all other tests. The shared client gives up after 90 seconds.
    private static let client = HTTPClient(
        eventLoopGroup: .singletonMultiThreadedEventLoopGroup,
        configuration: .init(timeout: .init(connect: .seconds(60), read: .seconds(600))))

    @inline(never)
    static func exchange(
        _ method: String, _ url: String, _ body: [UInt8]? = nil, headers: [(String, String)] = []
    ) async throws -> (status: UInt, headers: [String: String], body: [UInt8]) {
        var request = HTTPClientRequest(url: url)
        request.method = .RAW(value: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await client.execute(request, timeout: .seconds(600))
        let bytes = try await response.body.collect(upTo: 16 << 20)
        let pairs = response.headers.map { ($0.name.lowercased(), $0.value) }
        return (
            response.status.code, Dictionary(pairs) { first, _ in first }, Array(bytes.readableBytesView)
        )
    }
}
