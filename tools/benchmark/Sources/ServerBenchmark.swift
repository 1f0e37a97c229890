import Foundation
import Hummingbird
import LegacyReceipts
import Logging
import ReceiptForge
import ServiceLifecycle
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Requests per second of the server with 6 kB receipts, compared with a bare Hummingbird handler that parses and
/// echoes the same JSON. Both use the same run, cores and load from a second process. Then the latency of each server
/// at half of its own maximum load.
///
/// All servers run for the whole time, and the load moves to the next server every second, because the speed of a shared
/// machine changes within a minute by more than the measured difference. The latencies are measured one after the other.
struct ServerBenchmark {
    /// Seconds of load on one server before the next one's turn, and the number of turns of each server.
    var turn = 1.0
    var turns = 8
    /// Seconds at half load.
    var halfLoad = 5.0
    var connections = 32
    /// Stores to measure with, by name. The benchmark also runs without a store.
    var stores: [(name: String, open: () async throws -> any TransactionStore)] = []

    /// Runs a server and calls `body` with its port.
    struct Server {
        typealias Body = (Int) async throws -> Void
        let name: String
        let run: (Body) async throws -> Void
    }

    func run() async throws {
        let file = try bodies()
        defer { try? FileManager.default.removeItem(atPath: file) }
        var opened: [any TransactionStore] = []
        var servers = [Server(name: "bare Hummingbird handler") { try await withBareServer($0) }]
        servers += self.servers("server", store: nil)
        for (name, open) in stores {
            let store = try await open()
            opened.append(store)
            servers += self.servers("server, \(name)", store: store)
        }
        try await withAll(servers[...]) { ports in try await measure(servers, ports, file) }
        for store in opened { try await store.close() }
    }

    /// Once with the few receipts of the load in the cache, like receipts that apps send at each start. Once without a
    /// cache, as if all receipts were different.
    private func servers(_ name: String, store: (any TransactionStore)?) -> [Server] {
        [(name, true), ("\(name), each receipt verified again", false)].map { name, isRemembering in
            Server(name: name) { try await withServer(store: store, isRemembering: isRemembering, $0) }
        }
    }

    private func withAll(
        _ servers: ArraySlice<Server>, ports: [Int] = [], _ body: ([Int]) async throws -> Void
    ) async throws {
        guard let first = servers.first else { return try await body(ports) }
        try await first.run { port in try await withAll(servers.dropFirst(), ports: ports + [port], body) }
    }

    private func measure(_ servers: [Server], _ ports: [Int], _ file: String) async throws {
        // Not counted, because buffers and caches fill.
        for port in ports { _ = try await load(port, seconds: 2, rate: 0, file) }
        var all = servers.map { _ in (requests: 0, seconds: 0.0, failures: 0) }
        for round in 0..<turns {
            // In alternating order, because work that one server leaves behind slows down the next one.
            for place in servers.indices {
                let index = round.isMultiple(of: 2) ? place : servers.count - 1 - place
                let result = try await load(ports[index], seconds: turn, rate: 0, file)
                all[index].requests += result.requests
                all[index].seconds += result.seconds
                all[index].failures += result.failures
            }
        }
        let rates = all.map { Double($0.requests) / $0.seconds }
        for (index, server) in servers.enumerated() {
            Figure(
                name: "requests per second, \(server.name)", value: rates[index], unit: "1/s",
                reference: index == 0 ? nil : servers[0].name, ratio: index == 0 ? nil : rates[index] / rates[0]
            ).report()
        }
        for (index, server) in servers.enumerated() {
            let half = try await load(ports[index], seconds: halfLoad, rate: rates[index] / 2, file)
            for (name, value) in [("p50", half.p50), ("p99", half.p99)] {
                Figure(name: "\(name) at half load, \(server.name)", value: value, unit: "ms").report()
            }
            let failures = all[index].failures + half.failures
            if failures > 0 { FileHandle.standardError.write(Data("\(server.name): \(failures) failures\n".utf8)) }
        }
    }

    /// A file with one body per line, 200 different receipts.
    private func bodies() throws -> String {
        let path = NSTemporaryDirectory() + "bodies-\(UUID().uuidString)"
        let lines = try forgeReceipts(count: 200).map {
            "{\"receipt-data\":\"\(Data($0).base64EncodedString())\",\"password\":\"secret\"}"
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func load(_ port: Int, seconds: Double, rate: Double, _ file: String) async throws -> LoadGenerator.Result {
        try await LoadGenerator.launch(["\(port)", "\(connections)", "\(seconds)", "\(rate)", file])
    }

    // MARK: Servers

    private struct Echo: Codable, ResponseEncodable {
        let receiptData: String
        let password: String

        private enum CodingKeys: String, CodingKey {
            case receiptData = "receipt-data"
            case password
        }
    }

    private func withBareServer(_ body: Server.Body) async throws {
        let router = Router()
        router.post("verifyReceipt") { request, context in try await request.decode(as: Echo.self, context: context) }
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "bare")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: logger)
        try await BenchmarkService.run(application, stream, logger, body)
    }

    func withServer(
        store: (any TransactionStore)?, spool: (any FactSpool)? = nil, isRemembering: Bool, _ body: Server.Body
    ) async throws {
        let log = LogWriter(descriptor: open("/dev/null", O_WRONLY))
        let logger = Logger(label: "server") { _ in ServerLogHandler(level: .info, writer: log) }
        let trust = TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
        var endpoint = EndpointConfiguration(trust: trust)
        if !isRemembering { endpoint.receiptCacheBytes = 0 }
        var configuration = VerifyReceiptServerConfiguration(endpoint: endpoint)
        configuration.listeners = [.init(port: 0)]
        configuration.admin = nil
        configuration.timeouts.drain = .zero
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let server = try VerifyReceiptServer(
            configuration: configuration, store: store, spool: spool, logger: logger,
            onListening: { continuation.yield($0.ports[0]) })
        try await BenchmarkService.run(server, stream, logger, body)
    }
}

enum BenchmarkService {
    /// Runs a service for the time of `body`, which gets the port.
    static func run<Result>(
        _ service: any Service, _ ports: AsyncStream<Int>, _ logger: Logger, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let group = ServiceGroup(configuration: .init(services: [service], logger: logger))
        let running = Task { try await group.run() }
        var result: Result?
        for await port in ports {
            result = try await body(port)
            break
        }
        await group.triggerGracefulShutdown()
        try await running.value
        guard let result else { throw CocoaError(.featureUnsupported) }
        return result
    }
}
