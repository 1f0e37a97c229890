import AppStoreModels
import AppStoreSandbox
import ArgumentParser
import Logging
import ProductCatalog
import ServiceLifecycle

struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Run a local App Store for tests.",
        discussion: """
            Sells the products of a .storekit file or a catalog, renews and refunds them, sends notifications, issues \
            legacy receipts and signed transactions, and serves the App Store Server API. The signing keys are public \
            test keys, so trust its roots only in tests. All data is in memory and is lost when the command stops.

            The control API is HTTP below /sandbox/v1: POST purchases (with seats for a multiseat subscription, or \
            ownership ASSIGNED); POST subscriptions/ID/ and cancel, enable, \
            change, renew, fail-billing, recover-billing, answer-price-increase, add-seats, remove-seats or \
            unclaim-seats; POST transactions/ID/ and refund, refund-seats, request-refund, decline-refund, reverse-refund or finish; POST families, families/leave, products/ID/price, \
            products/ID/sale, clock; PUT notifications/url; GET products, customers/NAME, customers/NAME/receipt, \
            subscriptions/ID, transactions/ID, transactions/ID/receipt, notifications, clock, trust.

            Faults test a client of the App Store Server API: POST, GET and DELETE faults, or --fault. A fault is \
            unauthorized (401), rate-limited (429), refused, server-error, delay, hang, cut or garbage. Options of a fault: \
            count=N (only the next N requests), share=0.5 (only this part of the requests), path=/history (only requests \
            with this path), retry-after=SECONDS, code=4040003 (Apple's error, with refused), status=503, \
            delay=MILLISECONDS. JSON has the same names, with retryAfter for retry-after.

            EXAMPLES:
              legacy-receipts sandbox --products Store.storekit --root-out roots.pem
              legacy-receipts sandbox --products catalog.yaml --clock stepped \\
                --notify http://127.0.0.1:8080/notifications/v2
              curl -d '{"customer": "ada", "productId": "com.example.monthly"}' \\
                http://127.0.0.1:8081/sandbox/v1/purchases
              curl -d '{"advance": "P1M"}' http://127.0.0.1:8081/sandbox/v1/clock
              curl http://127.0.0.1:8081/sandbox/v1/customers/ada/receipt
              curl -d '{"kind": "rate-limited", "count": 3, "retryAfter": 7200}' \\
                http://127.0.0.1:8081/sandbox/v1/faults
              legacy-receipts sandbox --products Store.storekit --fault hang,share=0.1
            """)

    @Option(file: "A .storekit file, an App Store Connect feed or a catalog. Repeatable.")
    var products: [String] = []

    @Option(help: "The address to listen on. There is no access control.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free port.")
    var port = 8081

    @Option(help: "The app.")
    var bundleId = "com.example.app"

    @Option(help: "The Apple id of the app, which production payloads contain.")
    var appAppleId: Int64 = 6_001_234_567

    @Option(
        help: "The environment in receipts and payloads: Sandbox or Production (default: Sandbox).",
        completion: .list(["Sandbox", "Production"]), transform: FormatArguments.appStoreEnvironment)
    var environment: Environment = .sandbox

    @Option(help: "The pace of time: sandbox (a month lasts five minutes), real, or a factor.")
    var speed = "sandbox"

    @Option(help: "running, or stepped: only POST /sandbox/v1/clock advances the time.")
    var clock = "running"

    @Option(help: "The number of renewals after which a subscription ends; 0 for no end.")
    var maximumRenewals = 6

    @Option(help: "The Billing Grace Period in real days; 0 for none.")
    var gracePeriod: Int64 = 0

    @Option(help: .value("url", "The URL that receives notifications."))
    var notify: String?

    @Flag(help: "Send notifications of version 1 instead of version 2.")
    var notifyV1 = false

    @Option(help: .value("secret", "The password in notifications of version 1."))
    var sharedSecret: String?

    @Flag(help: "Send each notification once, as Apple's sandbox does.")
    var noRetries = false

    @Option(
        name: .customLong("fault"), help: .value("kind,name=value", "A fault of the App Store Server API. Repeatable."))
    var faults: [String] = []

    @Option(help: "The seed of all identifiers. The same seed gives the same identifiers.")
    var seed: UInt64 = 1

    @OptionGroup(title: "Keys and trust")
    var keys: SandboxKeyOptions

    func run() async throws {
        var configuration = SandboxServerConfiguration(sandbox: try sandbox(), catalog: try catalog())
        guard let mode = SandboxClock.Mode(rawValue: clock) else {
            throw ValidationError("--clock takes running or stepped.")
        }
        guard (0...65_535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
        configuration.host = host
        configuration.port = port
        configuration.clock = mode
        configuration.notificationURL = notify
        configuration.sendsNotificationsV1 = notifyV1
        configuration.sharedSecret = sharedSecret
        configuration.retriesNotifications = !noRetries
        configuration.rateLimits.isEnabled = !keys.noRateLimits
        configuration.faults = try faults.map { text in
            do {
                return try SandboxFault(text: text)
            } catch let error as SandboxError {
                throw ValidationError("--fault \(text): \(error.message).")
            }
        }
        try keys.writeRoots()
        try await serve(configuration)
    }

    private func sandbox() throws -> SandboxConfiguration {
        var sandbox = SandboxConfiguration(bundleId: bundleId)
        sandbox.appAppleId = appAppleId
        sandbox.environment = environment
        sandbox.pace = try pace()
        sandbox.maximumRenewals = maximumRenewals > 0 ? maximumRenewals : nil
        sandbox.gracePeriodDays = gracePeriod > 0 ? gracePeriod : nil
        sandbox.seed = seed
        sandbox.key = try keys.key(seed: seed)
        return sandbox
    }

    private func pace() throws -> SandboxPace {
        switch speed {
        case "sandbox": return .sandbox
        case "real": return .accelerated(by: 1)
        default:
            guard let factor = Int64(speed), factor > 0 else {
                throw ValidationError("--speed takes sandbox, real or a number.")
            }
            return .accelerated(by: factor)
        }
    }

    private func catalog() throws -> SandboxCatalog {
        guard !products.isEmpty else { throw ValidationError("--products is required.") }
        return try CommandFailure.naming("The products cannot be used") {
            try SandboxCatalog(try ProductCatalog.load(paths: products))
        }
    }

    private func serve(_ configuration: SandboxServerConfiguration) async throws {
        var logger = Logger(label: "legacy-receipts.sandbox")
        logger.logLevel = .warning
        let hints = keys.hints
        let server = SandboxServer(
            configuration, logger: logger,
            onListening: { port in
                let lines = ["The local App Store listens at http://\(configuration.host):\(port)."] + hints(port)
                try? Terminal.output(lines.joined(separator: "\n"))
            })
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: server)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            throw CommandFailure("The sandbox stopped: \(error)")
        }
    }
}
