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

    init(_ key: String, _ kind: Kind, _ fallback: String = "") {
        self.key = key
        self.kind = kind
        self.fallback = fallback
    }

    /// All settings. The example configuration in `tools/configuration` explains each.
    package static let all: [Setting] = listening + endpoint + operation

    static func of(_ key: String) -> Setting? { all.first { $0.key == key } }

    private static let listening = [
        Setting("listen.host", .text, "127.0.0.1"),
        Setting("listen.port", .integer(0...65_535), "8080"),
        Setting("listen.role", .choice(VerifyReceiptServerConfiguration.Role.allCases.map(\.rawValue)), "both"),
        Setting("listen.tls.certificate", .path),
        Setting("listen.tls.private-key", .path),
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
    static let maximumAges = 0.0...31_622_400

    private static let endpoint = [
        Setting("store.url", .text, "sqlite:legacy-receipts.sqlite"),
        Setting("spool.path", .text),
        Setting("spool.max-bytes", .integer((1 << 20)...(1 << 40)), "1073741824"),
        Setting("spool.when-full", .choice(EndpointConfiguration.SpoolFailure.allCases.map(\.rawValue)), "unavailable"),
        Setting("account-secrets", .secrets),
        Setting("account-secret-files", .paths),
        Setting("endpoint.unknown-bundle-ids", .choice(["accepted", "refused"]), "accepted"),
        Setting("endpoint.base64", .choice(["strict", "lenient"]), "strict"),
        Setting("endpoint.receipt-cache-bytes", .integer(0...(1 << 40)), "33554432"),
        Setting("endpoint.learn", .boolean, "true"),
        Setting("endpoint.recorded-facts", .choice(["completing", "granting"]), "completing"),
        Setting("endpoint.when-store-fails", .choice(["unavailable", "receipt-only"]), "unavailable"),
        Setting("endpoint.presume", .choices(["ownership-type", "introductory-offer-period", "lists"])),
        Setting("endpoint.add", .choices(["terms", "seats"])),
        Setting("endpoint.freshness.mode", .choice(Freshness.Source.allCases.map(\.rawValue)), "store"),
        Setting("endpoint.freshness.maximum-age", .seconds(maximumAges), "3600"),
        Setting("endpoint.freshness.required", .boolean, "false"),
        Setting("endpoint.order", .choice(EndpointConfiguration.Order.allCases.map(\.rawValue)), "newest-first"),
        Setting(
            "endpoint.sandbox-at-production",
            .choice(EndpointConfiguration.SandboxAtProduction.allCases.map(\.rawValue)), "refused"),
        Setting("endpoint.latest-transactions", .choice(["always", "with-subscriptions"]), "always"),
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
        Setting("ledger.endings-interval", .seconds(0...3_600), "60"),
        Setting("ledger.endings-delay", .seconds(0...86_400), "300"),
        Setting("retention.notifications-days", .integer(0...36_500), "0"),
        Setting("retention.receipts-days", .integer(0...36_500), "0"),
        Setting("retention.ledger-days", .integer(0...36_500), "0"),
        Setting("notifications.enabled", .boolean, "true"),
        Setting("notifications.v1", .boolean, "false"),
        Setting("trust.roots", .paths),
        Setting("trust.intermediates", .paths),
        Setting("trust.signed-data-roots", .paths),
        Setting("trust.revocation-check", .boolean, "false"),
        Setting("trust.accept-xcode", .boolean, "false"),
    ]

    private static let operation = [
        Setting("limits.body-bytes", .integer(1...(64 << 20)), "3145728"),
        Setting("limits.header-bytes", .integer(256...(1 << 20)), "32768"),
        Setting("limits.header-fields", .integer(8...10_000), "100"),
        Setting("limits.connections", .integer(1...1_000_000), "8192"),
        Setting("limits.connections-per-address", .integer(0...1_000_000), "0"),
        Setting("limits.concurrent-requests", .integer(0...10_000), "0"),
        Setting("limits.waiting-requests", .integer(0...1_000_000), "1024"),
        Setting("limits.buffered-bytes", .integer((1 << 20)...(1 << 40)), "268435456"),
        Setting("timeouts.handshake", .seconds(0.05...3_600), "10"),
        Setting("timeouts.headers", .seconds(0.05...3_600), "10"),
        Setting("timeouts.body", .seconds(0.05...3_600), "60"),
        Setting("timeouts.write", .seconds(0.05...3_600), "30"),
        Setting("timeouts.idle", .seconds(0.05...86_400), "75"),
        Setting("timeouts.drain", .seconds(0...3_600), "5"),
        Setting("timeouts.shutdown", .seconds(0...3_600), "25"),
        Setting("timeouts.store", .seconds(0.05...60), "1"),
        Setting("timeouts.app-store", .seconds(0.05...3_600), "5"),
        Setting("log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), "info"),
        Setting("log.format", .choice(["json", "text"]), "json"),
        Setting("log.requests", .boolean, "true"),
        Setting("shadow.url", .text),
        Setting("shadow.record", .path),
    ]
}
