public import AppStoreModels
internal import ProductCatalog

/// The app and the environment that a sandbox simulates.
public struct SandboxConfiguration: Sendable {
    /// The app.
    public var bundleId: String
    /// The App Store's number for the app. As with Apple, payloads of the sandbox environment leave it out.
    public var appAppleId: Int64 = 6_001_234_567
    /// The build of the app.
    public var bundleVersion = "1"
    /// The environment in payloads and receipts: `Environment.sandbox`, or `Environment.production` to test a production
    /// server.
    public var environment: Environment = .sandbox
    /// The seed of all identifiers.
    public var seed: UInt64 = 1
    /// How fast subscriptions renew.
    public var pace: SandboxPace = .sandbox
    /// The number of renewals after which the sandbox turns auto-renewal off; nil for no limit. Apple's classic sandbox
    /// does so after 6.
    public var maximumRenewals: Int? = SandboxTime.classicMaximumRenewals
    /// Billing Grace Period in real days (Apple lets developers choose 3, 16 or 28); nil for none.
    public var gracePeriodDays: Int64?
    /// The length of the billing retry period, in real days.
    public var billingRetryDays: Int64 = 60
    /// The country or region, ISO 3166-1 alpha-3.
    public var storefront = "USA"
    /// Apple's number for the country or region.
    public var storefrontId = "143441"
    /// The currency, ISO 4217.
    public var currency = "USD"
    /// The In-App Purchase key, for bearer tokens and offers.
    public var key: SandboxKey?

    /// Creates the default configuration for an app.
    public init(bundleId: String = "com.example.app") {
        self.bundleId = bundleId
    }

    var isProduction: Bool { environment == .production }
    /// The App Store's number for the app in payloads; absent in the sandbox environment.
    var shownAppAppleId: Int64? { isProduction ? appAppleId : nil }
}
