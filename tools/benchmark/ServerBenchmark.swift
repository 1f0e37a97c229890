import Foundation
import Hummingbird
import LegacyReceipts
import Logging
import ReceiptForge
import ServiceLifecycle
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Requests per second of the server with 6 kB receipts, held against a bare Hummingbird handler that parses and echoes
/// the same JSON: same run, same cores, same load from a second process; then the latency of both at half of their own
/// highest load.
struct ServerBenchmark {
    /// Seconds per measurement.
    var seconds = 5.0
    var connections = 32
    /// Stores to measure with beside none, by name.
    var stores: [(name: String, open: () async throws -> any TransactionStore)] = []

    func run() async throws {
        let file = try bodies()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let bare = try await measure("bare Hummingbird handler", file) { try await withBareServer($0) }
        report(bare, against: nil)
        try await measureServer("server", file, store: nil, against: bare)
        for (name, open) in stores {
            let store = try await open()
            try await measureServer("server, \(name)", file, store: store, against: bare)
            try await store.close()
        }
    }

    /// With the few receipts of the load remembered after the first time, as those that apps send at each start, and with
    /// each judged anew, as if all were different.
    private func measureServer(
        _ name: String, _ file: String, store: (any TransactionStore)?, against bare: Measured
    ) async throws {
        for (name, isRemembering) in [(name, true), ("\(name), each receipt judged anew", false)] {
            let measured = try await measure(name, file) {
                try await withServer(store: store, isRemembering: isRemembering, $0)
            }
            report(measured, against: bare)
        }
    }

    private struct Measured {
        let name: String
        let rate: Double
        let half: LoadGenerator.Result
    }

    private func report(_ measured: Measured, against bare: Measured?) {
        Figure(
            name: "requests per second, \(measured.name)", value: measured.rate, unit: "1/s", reference: bare?.name,
            ratio: bare.map { measured.rate / $0.rate }
        ).report()
        for (name, value) in [("p50", measured.half.p50), ("p99", measured.half.p99)] {
            Figure(name: "\(name) at half load, \(measured.name)", value: value, unit: "ms").report()
        }
    }

    private func measure(
        _ name: String, _ file: String, _ serve: ((Int) async throws -> Measured) async throws -> Measured
    ) async throws -> Measured {
        try await serve { port in
            // Not counted: buffers and caches fill.
            _ = try await load(port, seconds: 2, rate: 0, file)
            let full = try await load(port, seconds: seconds, rate: 0, file)
            let rate = Double(full.requests) / full.seconds
            let half = try await load(port, seconds: seconds, rate: rate / 2, file)
            let failures = full.failures + half.failures
            if failures > 0 { FileHandle.standardError.write(Data("\(name): \(failures) failures\n".utf8)) }
            return Measured(name: name, rate: rate, half: half)
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

    private func withBareServer(_ body: (Int) async throws -> Measured) async throws -> Measured {
        let router = Router()
        router.post("verifyReceipt") { request, context in try await request.decode(as: Echo.self, context: context) }
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "bare")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: logger)
        return try await serving(application, stream, logger, body)
    }

    private func withServer(
        store: (any TransactionStore)?, isRemembering: Bool, _ body: (Int) async throws -> Measured
    ) async throws -> Measured {
        let log = LogWriter(descriptor: open("/dev/null", O_WRONLY), closesDescriptor: true)
        let logger = Logger(label: "server") { _ in ServerLogHandler(level: .info, writer: log) }
        let trust = TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
        var endpoint = EndpointConfiguration(trust: trust)
        if !isRemembering { endpoint.receiptCacheBytes = 0 }
        var configuration = VerifyReceiptServerConfiguration(endpoint: endpoint)
        configuration.listeners = [.init(port: 0)]
        configuration.admin = nil
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let server = try VerifyReceiptServer(
            configuration: configuration, store: store, logger: logger,
            onListening: { continuation.yield($0.ports[0]) })
        return try await serving(server, stream, logger, body)
    }

    private func serving(
        _ service: any Service, _ ports: AsyncStream<Int>, _ logger: Logger, _ body: (Int) async throws -> Measured
    ) async throws -> Measured {
        try await BenchmarkService.run(service, ports, logger, body)
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
