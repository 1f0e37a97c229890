import AppStoreModels
import AppStoreServer
import AppStoreSync
import Foundation
import Logging
import ReceiptForge
import SQLiteTransactionStore
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Notifications of version 2 per minute and core, into SQLite with full durability: first verified and applied without
/// HTTP, then from a second process through the server. Each notification contains a transaction and a renewal info, so
/// three signatures are checked. Each one is new, and half of them belong to a customer in the store.
struct NotificationBenchmark {
    var count = 10_000
    /// The number of notifications in progress at once.
    private let concurrency = 32
    /// The required minimum.
    private let target = 10_000.0

    /// Reads `--notifications N` from the arguments of the benchmark.
    init(arguments: [String]) throws {
        guard let index = arguments.firstIndex(of: "--notifications") else { return }
        guard index + 1 < arguments.count, let count = Int(arguments[index + 1]), count >= 100 else {
            throw StoreBenchmark.Refusal(description: "--notifications takes a number of at least 100")
        }
        self.count = count
    }

    func run() async throws {
        let folder = try temporaryFolder("notifications")
        defer { try? FileManager.default.removeItem(at: folder) }
        let notifications = try (0..<count).map { try Self.notification($0) }
        let direct = try SQLiteTransactionStore.open(path: folder.appendingPathComponent("direct.sqlite").path)
        report("verified and applied", try await measureDirect(notifications, direct), direct: nil)
        try await check(direct)
        let served = try SQLiteTransactionStore.open(path: folder.appendingPathComponent("served.sqlite").path)
        let file = folder.appendingPathComponent("bodies").path
        let bodies = notifications.map { "{\"signedPayload\":\"\($0)\"}" }.joined(separator: "\n")
        try Data(bodies.utf8).write(to: URL(fileURLWithPath: file))
        let (measured, load) = try await measureServed(file, served)
        report("through HTTP", measured, direct: load)
        try await check(served)
    }

    private struct Measured {
        let processorSeconds: Double
        let seconds: Double
    }

    private func report(_ name: String, _ measured: Measured, direct load: LoadGenerator.Result?) {
        let perMinute = Double(count) / measured.processorSeconds * 60
        Figure(
            name: "notifications \(name), per minute and core", value: perMinute, unit: "1/min",
            reference: "\(Int(target))/min", ratio: perMinute / target
        ).report()
        Figure(name: "notifications \(name), per second", value: Double(count) / measured.seconds, unit: "1/s").report()
        guard let load else { return }
        Figure(name: "notifications \(name), p50 with \(concurrency) at once", value: load.p50, unit: "ms").report()
        Figure(name: "notifications \(name), p99 with \(concurrency) at once", value: load.p99, unit: "ms").report()
    }

    /// Only stored notifications count.
    private func check(_ store: SQLiteTransactionStore) async throws {
        let stored = try await store.counts().notifications
        try await store.close()
        guard stored == Int64(count) else {
            throw StoreBenchmark.Refusal(description: "\(stored) of \(count) notifications are stored")
        }
    }

    private static var trust: SignedDataTrust {
        SignedDataTrust(additionalRoots: [TestSignedDataAuthority.standard.rootCertificate])
    }

    private func measureDirect(_ notifications: [String], _ store: SQLiteTransactionStore) async throws -> Measured {
        let receiver = NotificationReceiver(
            verifier: try SignedDataVerifier(trust: Self.trust), apps: NotificationApps([], acceptsAnyApp: true))
        let processor = Clock.processorSeconds()
        let begin = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<concurrency {
                group.addTask {
                    for index in stride(from: lane, to: notifications.count, by: concurrency) {
                        _ = await receiver.receive(notifications[index], into: store, now: Self.june)
                    }
                }
            }
        }
        return Measured(
            processorSeconds: Clock.processorSeconds() - processor,
            seconds: Double(begin.duration(to: .now).wholeMilliseconds) / 1_000)
    }

    private func measureServed(
        _ file: String, _ store: SQLiteTransactionStore
    ) async throws -> (Measured, LoadGenerator.Result) {
        let log = LogWriter(descriptor: open("/dev/null", O_WRONLY))
        let logger = Logger(label: "server") { _ in ServerLogHandler(level: .info, writer: log) }
        var configuration = VerifyReceiptServerConfiguration()
        configuration.signedDataTrust = Self.trust
        configuration.listeners = [.init(port: 0)]
        configuration.admin = nil
        configuration.timeouts.drain = .zero
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let server = try VerifyReceiptServer(
            configuration: configuration, store: store, logger: logger,
            onListening: { continuation.yield($0.ports[0]) })
        return try await BenchmarkService.run(server, stream, logger) { port in
            let processor = Clock.processorSeconds()
            let load = try await LoadGenerator.launch([
                "\(port)", "\(concurrency)", "3600", "0", file, "/notifications/v2",
            ])
            let seconds = Clock.processorSeconds() - processor
            guard load.failures == 0 else {
                throw StoreBenchmark.Refusal(description: "\(load.failures) notifications were refused")
            }
            return (Measured(processorSeconds: seconds, seconds: load.seconds), load)
        }
    }

    // MARK: Notifications

    private static let june: Int64 = 1_717_200_000_000

    private static func jws(_ payload: some Encodable) throws -> String {
        try TestSignedDataAuthority.standard.sign(payload: Array(try JSONEncoder().encode(payload)))
    }

    /// The first purchase or the first renewal of a customer.
    private static func notification(_ number: Int) throws -> String {
        let original = 100_000_000_000_000 + Int64((UInt64(number / 2) &* 0x9E37_79B9_7F4A_7C15) >> 24) * 1_000
        let isRenewal = number % 2 == 1
        let month: Int64 = 2_592_000_000
        let start = june + (isRenewal ? month : 0)
        let transaction = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "\(original)"
            $0.transactionId = "\(original + (isRenewal ? 1 : 0))"
            $0.webOrderLineItemId = "\(original + 500)"
            $0.bundleId = "com.example.app"
            $0.productId = "com.example.app.subscription.monthly"
            $0.subscriptionGroupIdentifier = "20512345"
            $0.purchaseDate = start
            $0.originalPurchaseDate = june
            $0.expiresDate = start + month
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
            $0.signedDate = start + 5_000
            $0.environment = .production
            $0.storefront = "USA"
            $0.storefrontId = "143441"
            $0.transactionReason = isRenewal ? .renewal : .purchase
            $0.currency = "USD"
            $0.price = 9990
            $0.appTransactionId = "\(original + 999)"
        }
        let renewal = JWSRenewalInfoDecodedPayload {
            $0.originalTransactionId = "\(original)"
            $0.autoRenewProductId = "com.example.app.subscription.monthly"
            $0.productId = "com.example.app.subscription.monthly"
            $0.autoRenewStatus = .on
            $0.signedDate = start + 5_000
            $0.environment = .production
            $0.recentSubscriptionStartDate = june
            $0.renewalDate = start + month
            $0.currency = "USD"
            $0.renewalPrice = 9990
            $0.appTransactionId = "\(original + 999)"
        }
        let digits = String(number)
        let tail = String(repeating: "0", count: 12 - digits.count) + digits
        return try jws(
            ResponseBodyV2DecodedPayload {
                $0.notificationType = isRenewal ? .didRenew : .subscribed
                $0.subtype = isRenewal ? nil : .initialBuy
                $0.notificationUUID = "00000000-0000-4000-8000-\(tail)"
                $0.data = try NotificationData {
                    $0.environment = .production
                    $0.appAppleId = 1_234_567_890
                    $0.bundleId = "com.example.app"
                    $0.bundleVersion = "42"
                    $0.signedTransactionInfo = try jws(transaction)
                    $0.signedRenewalInfo = try jws(renewal)
                    $0.status = .active
                }
                $0.version = "2.0"
                $0.signedDate = start + 5_000
            })
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
