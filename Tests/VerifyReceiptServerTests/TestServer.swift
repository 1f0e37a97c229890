import CoreMetrics
import Foundation
import LegacyReceipts
import Logging
import Purchases
import ReceiptForge
import ServiceLifecycle
import Synchronization
import TestSupport
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// A server on free ports of loopback for the time of a closure.
struct TestServer: Sendable {
    let server: VerifyReceiptServer
    let addresses: VerifyReceiptServer.Addresses
    let log: CapturedLog
    private let group: ServiceGroup

    var port: Int { addresses.ports[0] }
    var adminPort: Int { addresses.adminPort ?? 0 }

    /// A number of the server's metrics that has no labels; nil if there is none of the name.
    func metric(_ name: String) -> Int? {
        server.metricsText.split(separator: "\n").lazy
            .compactMap { $0.hasPrefix("legacy_receipts_\(name) ") ? $0.split(separator: " ").last : nil }
            .first.flatMap { Int($0) }
    }

    /// Begins to stop gracefully.
    func stop() async { await group.triggerGracefulShutdown() }

    static func run<Result: Sendable>(
        _ configuration: VerifyReceiptServerConfiguration = .testing(), store: (any TransactionStore)? = nil,
        spool: (any FactSpool)? = nil, metricsFactory: any MetricsFactory = NOOPMetricsHandler.instance,
        lookUpAnswers: (any LookUpAnswers)? = nil, consumptionAnswering: (any ConsumptionAnswering)? = nil,
        clock: (@Sendable () -> Int64)? = nil,
        logLevel: Logger.Level = .info,
        handler: (@Sendable (LogWriter) -> any LogHandler)? = nil, _ body: @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        let log = try CapturedLog()
        let logger = Logger(label: "test") { _ in
            handler?(log.writer) ?? ServerLogHandler(level: logLevel, writer: log.writer)
        }
        let (stream, continuation) = AsyncStream<VerifyReceiptServer.Addresses>.makeStream()
        let server = try VerifyReceiptServer(
            configuration: configuration, store: store, spool: spool, logger: logger,
            metricsFactory: metricsFactory, lookUpAnswers: lookUpAnswers, consumptionAnswering: consumptionAnswering,
            clock: clock,
            onListening: { continuation.yield($0) })
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            var iterator = stream.makeAsyncIterator()
            guard let addresses = await iterator.next() else {
                try await tasks.next()
                throw TestFailure("the server did not listen")
            }
            let running = TestServer(server: server, addresses: addresses, log: log, group: group)
            let result: Result
            do {
                result = try await body(running)
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
}

/// The lines that a server logs.
final class CapturedLog: Sendable {
    let writer: LogWriter
    private let folder: TemporaryFolder
    private var path: String { folder.file("log") }

    @inline(never)
    init() throws {
        folder = try TemporaryFolder()
        let path = folder.file("log")
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TestFailure("no file for the log") }
        // A server may log a last line after the test is done: the descriptor must not be another file's by then.
        writer = LogWriter(descriptor: descriptor)
    }

    var text: String {
        writer.flush()
        return (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}

extension VerifyReceiptServerConfiguration {
    /// Free ports, receipts of the test authority, timeouts that no test waits for.
    static func testing(_ change: (inout VerifyReceiptServerConfiguration) -> Void = { _ in }) -> Self {
        var configuration = VerifyReceiptServerConfiguration(
            endpoint: EndpointConfiguration(trust: TrustPolicy(additionalRoots: [TestRoot.der])))
        configuration.listeners = [Listener(port: 0)]
        configuration.admin = AdminListener(port: 0)
        configuration.timeouts.drain = .zero
        configuration.timeouts.shutdown = .seconds(20)
        configuration.timeouts.store = .seconds(60)
        configuration.timeouts.appStore = .seconds(60)
        // Other tests keep the disk and the processor busy.
        configuration.endpoint.learningLimit = .seconds(60)
        // Longer than `Wire.timeout`: a connection that such a limit ends has not ended as a test expects.
        configuration.timeouts.handshake = .seconds(600)
        configuration.timeouts.headers = .seconds(600)
        configuration.timeouts.body = .seconds(600)
        configuration.timeouts.bodyStep = .seconds(600)
        configuration.timeouts.write = .seconds(600)
        configuration.timeouts.idle = .seconds(600)
        change(&configuration)
        return configuration
    }
}

/// What clients send.
enum Sent {
    /// A genuine receipt of production with two subscription periods; about 6 kB.
    static let receipt: String = (try? forgeReceipts(count: 1)[0]).map { Data($0).base64EncodedString() } ?? ""
    static let bundleId = "com.example.bulk.app0"

    static func body(_ receipt: String = Sent.receipt, password: String? = nil) -> String {
        let secret = password.map { ",\"password\":\"\($0)\"" } ?? ""
        return "{\"receipt-data\":\"\(receipt)\"\(secret)}"
    }

    static func post(_ body: String, path: String = "/verifyReceipt", headers: [String] = []) -> String {
        let all = ["Host: localhost", "Content-Length: \(body.utf8.count)"] + headers
        return "POST \(path) HTTP/1.1\r\n" + all.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }

    static func get(_ path: String, method: String = "GET", host: String = "localhost") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
    }
}

/// A store that waits, fails, or works, as the test says.
final class PuppetStore: TransactionStore {
    enum Mood: Sendable {
        case works
        case fails(TransactionStoreError.Code)
        /// Answers, and takes nothing in.
        case refusesWrites(TransactionStoreError.Code)
        case waits
        /// Every call waits, also those that readiness makes.
        case hangs
    }

    private struct State {
        var mood = Mood.works
        var waiting: [CheckedContinuation<Void, Never>] = []
        var calls = 0
    }

    private let state = Mutex(State())

    var calls: Int { state.withLock { $0.calls } }

    func become(_ mood: Mood) {
        let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.mood = mood
            switch mood {
            case .waits, .hangs: return []
            default: break
            }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in released { continuation.resume() }
    }

    /// - Parameter writes: whether the call is one that a store which can only be read refuses.
    private func check(writes: Bool) throws {
        switch state.withLock({ $0.mood }) {
        case .fails(let code): throw TransactionStoreError(code, "as configured")
        case .refusesWrites(let code) where writes: throw TransactionStoreError(code, "as configured")
        default: break
        }
    }

    private func act(writes: Bool) async throws {
        state.withLock { $0.calls += 1 }
        await wait(isProbe: false)
        try check(writes: writes)
    }

    private func probe(writes: Bool) async throws {
        await wait(isProbe: true)
        try check(writes: writes)
    }

    private func wait(isProbe: Bool) async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state -> Bool in
                let waits =
                    switch state.mood {
                    case .waits: !isProbe
                    case .hangs: true
                    default: false
                    }
                if waits { state.waiting.append(continuation) }
                return waits
            }
            if !waits { continuation.resume() }
        }
    }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        try await act(writes: true)
        return AppliedFacts()
    }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        try await act(writes: false)
        return nil
    }

    func hasProcessed(notificationUUID: String) async throws -> Bool {
        try await probe(writes: false)
        return false
    }

    func counts() async throws -> StoreCounts {
        StoreCounts(transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
    }

    func checkReadiness() async throws { try await probe(writes: true) }

    func close() async throws {}
}
