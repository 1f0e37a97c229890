import AppStoreModels
import VerifyReceipt

/// A configuration key with a scalar or a list of scalars. A file, the environment or a flag can set it; only a file
/// can contain lists of objects (`apps`, `listeners`).
package struct Setting: Sendable {
    package enum Kind: Sendable, Equatable {
        case text
        /// A path, relative to the file's folder if it is in a file, else to the working directory.
        case path
        case texts
        case paths
        /// Texts that are never printed.
        case secrets
        case integer(ClosedRange<Int>)
        case seconds(ClosedRange<Double>)
        case boolean
        case choice([String])
        case choices([String])
    }

    /// The levels, joined by dots.
    package let key: String
    package let kind: Kind
    /// The default in the form of a configuration file; empty for none.
    package let fallback: String
    /// Puts the value into the configuration; nil if ``ConfigurationLoader`` does more than that.
    let apply: Application?

    typealias Application = @Sendable (inout ConfigurationValues, inout VerifyReceiptServerConfiguration) -> Void

    /// Whether the key contains secrets. An empty value is then an error, because without a secret every password is accepted.
    var containsSecrets: Bool { kind == .secrets || key.hasSuffix("secret-files") }

    /// The environment variable of the key.
    package var variable: String {
        Self.variablePrefix
            + key.uppercased().map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    }

    package static let variablePrefix = "LEGACY_RECEIPTS_"
    /// Variables with the prefix that belong to the build and the tests of this package.
    static let foreignVariables: Set<String> = [
        "LEGACY_RECEIPTS_WARNINGS_AS_ERRORS", "LEGACY_RECEIPTS_UNOPTIMIZED", "LEGACY_RECEIPTS_PYTHON",
        "LEGACY_RECEIPTS_SEED", "LEGACY_RECEIPTS_SIGNED_DATA", "LEGACY_RECEIPTS_MANY_CONNECTIONS",
        "LEGACY_RECEIPTS_CRASH_ROUNDS", "LEGACY_RECEIPTS_KILLS", "LEGACY_RECEIPTS_AGREEMENT_CUSTOMERS",
        "LEGACY_RECEIPTS_POSTGRES", "LEGACY_RECEIPTS_POSTGRES_DIRECTORY", "LEGACY_RECEIPTS_POSTGRES_SCRIPT",
        "LEGACY_RECEIPTS_POSTGRES_FSYNC",
    ]

    init(_ key: String, _ kind: Kind, _ fallback: String = "", apply: Application? = nil) {
        self.key = key
        self.kind = kind
        self.fallback = fallback
        self.apply = apply
    }

    // MARK: Settings that are one property of the configuration, whose initial value is the default

    private typealias Target = VerifyReceiptServerConfiguration
    private static let standard = Target()

    private static func integer(
        _ key: String, _ range: ClosedRange<Int>, _ path: any WritableKeyPath<Target, Int> & Sendable
    ) -> Setting {
        Setting(key, .integer(range), "\(standard[keyPath: path])") { values, target in
            target[keyPath: path] = values.integer(key)
        }
    }

    private static func seconds(
        _ key: String, _ range: ClosedRange<Double>, _ path: any WritableKeyPath<Target, Duration> & Sendable
    ) -> Setting {
        Setting(key, .seconds(range), "\(standard[keyPath: path].components.seconds)") { values, target in
            target[keyPath: path] = values.duration(key)
        }
    }

    private static func boolean(_ key: String, _ path: any WritableKeyPath<Target, Bool> & Sendable) -> Setting {
        Setting(key, .boolean, "\(standard[keyPath: path])") { values, target in
            target[keyPath: path] = values.boolean(key)
        }
    }

    private static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Target, Choice> & Sendable
    ) -> Setting where Choice.RawValue == String {
        Setting(key, .choice(Choice.allCases.map(\.rawValue)), standard[keyPath: path].rawValue) { values, target in
            if let choice = Choice(rawValue: values.choice(key)) { target[keyPath: path] = choice }
        }
    }

    // MARK: The settings

    /// All settings. The example configuration in `tools/configuration` explains each.
    package static let all: [Setting] = listening + endpoint + operation

    /// The settings of an element of `apps`.
    static let ofApp: [Setting] = [
        Setting("bundle-id", .text),
        Setting("apple-id", .integer(1...Int.max)),
        Setting("shared-secrets", .secrets),
        Setting("shared-secret-files", .paths),
        Setting("catalogs", .paths),
        Setting("order", .choice(EndpointConfiguration.Order.allCases.map(\.rawValue))),
        Setting(
            "sandbox-at-production", .choice(EndpointConfiguration.SandboxAtProduction.allCases.map(\.rawValue))),
        Setting("validate", .boolean),
        Setting("freshness.mode", .choice(Freshness.Source.allCases.map(\.rawValue))),
        Setting("freshness.maximum-age", .seconds(maximumAges)),
        Setting("freshness.required", .boolean),
        Setting("app-store-server.issuer-id", .text),
        Setting("app-store-server.key-id", .text),
        Setting("app-store-server.private-key-file", .path),
    ]

    /// The settings of an element of `listeners`, and of `listen`.
    static let ofListener: [Setting] = [
        Setting("host", .text, "127.0.0.1"),
        Setting("port", .integer(0...65_535), "8080"),
        Setting("role", .choice(VerifyReceiptServerConfiguration.Role.allCases.map(\.rawValue)), "both"),
        Setting("tls.certificate", .path),
        Setting("tls.private-key", .path),
    ]

    private static let listening: [Setting] =
        ofListener.map { Setting("listen." + $0.key, $0.kind, $0.fallback) } + [
            Setting("sandbox-hosts", .texts, "sandbox.itunes.apple.com"),
            Setting("trusted-proxies", .texts),
            Setting("admin.enabled", .boolean, "true"),
            Setting("admin.host", .text, "127.0.0.1"),
            Setting("admin.port", .integer(0...65_535), "9090"),
            Setting("look-up.enabled", .boolean, "false"),
            Setting("look-up.host", .text, "127.0.0.1"),
            Setting("look-up.port", .integer(0...65_535), "9091"),
            Setting("look-up.token-files", .paths),
        ]

    /// Seconds.
    private static let maximumAges = 0.0...31_622_400

    private static let endpoint: [Setting] = [
        Setting("store.url", .text, "sqlite:legacy-receipts.sqlite"),
        Setting("spool.path", .text),
        .integer("spool.max-bytes", (1 << 20)...(1 << 40), \.spool.maximumBytes),
        .choice("spool.when-full", \.endpoint.whenSpoolIsFull),
        Setting("account-secrets", .secrets),
        Setting("account-secret-files", .paths),
        .choice("endpoint.unknown-bundle-ids", \.endpoint.unknownBundleIds),
        .choice("endpoint.base64", \.endpoint.base64),
        .integer("endpoint.receipt-cache-bytes", 0...(1 << 40), \.endpoint.receiptCacheBytes),
        .boolean("endpoint.learn", \.endpoint.learnsFromReceipts),
        .choice("endpoint.recorded-facts", \.endpoint.recordedFacts),
        .choice("endpoint.when-store-fails", \.endpoint.whenStoreFails),
        Setting("endpoint.presume", .choices(["ownership-type", "introductory-offer-period", "lists"])),
        Setting("endpoint.add", .choices(["terms", "seats"])),
        .choice("endpoint.freshness.mode", \.endpoint.freshness.source),
        Setting("endpoint.freshness.maximum-age", .seconds(maximumAges), "3600") { values, target in
            target.endpoint.freshness.maximumAge = values.duration("endpoint.freshness.maximum-age").wholeMilliseconds
        },
        .boolean("endpoint.freshness.required", \.endpoint.freshness.isRequired),
        .choice("endpoint.order", \.endpoint.order),
        .choice("endpoint.sandbox-at-production", \.endpoint.sandboxAtProduction),
        .choice("endpoint.latest-transactions", \.endpoint.latestTransactions),
        Setting("app-store-server.issuer-id", .text),
        Setting("app-store-server.key-id", .text),
        Setting("app-store-server.private-key-file", .path),
        Setting("app-store-server.production-url", .text),
        Setting("app-store-server.sandbox-url", .text),
        Setting("endpoint.answer-signed-transactions", .boolean, "false"),
        Setting("consumption.rules", .path),
        Setting("consumption.customer-consented", .path),
        Setting("consumption.consumer", .text),
        Setting("consumption.interval", .seconds(1...3_600), "300"),
        .seconds("ledger.endings-interval", 0...3_600, \.endings.interval),
        .seconds("ledger.endings-delay", 0...86_400, \.endings.delay),
        .integer("retention.notifications-days", 0...36_500, \.retention.notificationDays),
        .integer("retention.receipts-days", 0...36_500, \.retention.receiptDays),
        .integer("retention.ledger-days", 0...36_500, \.retention.ledgerDays),
        .boolean("notifications.enabled", \.notifications.enabled),
        .boolean("notifications.v1", \.notifications.version1),
        Setting("trust.roots", .paths),
        Setting("trust.intermediates", .paths),
        Setting("trust.signed-data-roots", .paths),
        Setting("trust.revocation-check", .boolean, "false"),
        Setting("trust.accept-xcode", .boolean, "false"),
    ]

    private static let operation: [Setting] = [
        .integer("limits.body-bytes", 1...(64 << 20), \.limits.bodyBytes),
        .integer("limits.header-bytes", 256...(1 << 20), \.limits.headerBytes),
        .integer("limits.header-fields", 8...10_000, \.limits.headerFields),
        .integer("limits.connections", 1...1_000_000, \.limits.connections),
        .integer("limits.connections-per-address", 0...1_000_000, \.limits.connectionsPerAddress),
        .integer("limits.concurrent-requests", 0...10_000, \.limits.concurrentRequests),
        .integer("limits.waiting-requests", 0...1_000_000, \.limits.waitingRequests),
        .integer("limits.buffered-bytes", (1 << 20)...(1 << 40), \.limits.bufferedBytes),
        .seconds("timeouts.handshake", 0.05...3_600, \.timeouts.handshake),
        .seconds("timeouts.headers", 0.05...3_600, \.timeouts.headers),
        .seconds("timeouts.body", 0.05...3_600, \.timeouts.body),
        .seconds("timeouts.write", 0.05...3_600, \.timeouts.write),
        .seconds("timeouts.idle", 0.05...86_400, \.timeouts.idle),
        .seconds("timeouts.drain", 0...3_600, \.timeouts.drain),
        .seconds("timeouts.shutdown", 0...3_600, \.timeouts.shutdown),
        .seconds("timeouts.store", 0.05...60, \.timeouts.store),
        .seconds("timeouts.app-store", 0.05...3_600, \.timeouts.appStore),
        Setting("log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), "info") {
            $1.logging.level = $0.choice("log.level")
        },
        .choice("log.format", \.logging.format),
        .boolean("log.requests", \.logging.requests),
        Setting("shadow.url", .text),
        Setting("shadow.record", .path),
    ]
}
