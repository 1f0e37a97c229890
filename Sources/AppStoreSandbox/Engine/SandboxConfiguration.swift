public import AppStoreModels

/// What a sandbox plays: one app in one environment.
public struct SandboxConfiguration: Sendable {
    /// The app.
    public var bundleId: String
    /// The App Store's number for the app. As at Apple's, payloads of the sandbox environment leave it out.
    public var appAppleId: Int64
    /// The build of the app.
    public var bundleVersion: String
    /// What payloads and receipts say: `Environment.sandbox`, or `Environment.production` to try out a production server.
    public var environment: Environment
    /// From this, all identifiers follow.
    public var seed: UInt64
    /// How fast subscriptions renew.
    public var pace: SandboxPace
    /// After so many renewals a subscription is cancelled; nil for never. The classic sandbox ends after 6.
    public var maximumRenewals: Int?
    /// Billing Grace Period in real days (Apple lets developers choose 3, 16 or 28); nil for none.
    public var gracePeriodDays: Int64?
    /// How long billing is tried again, in real days.
    public var billingRetryDays: Int64
    /// The country or region, ISO 3166-1 alpha-3.
    public var storefront: String
    /// Apple's number for it.
    public var storefrontId: String
    /// ISO 4217.
    public var currency: String
    /// The In-App Purchase key, for bearer tokens and offers.
    public var key: SandboxKey?

    /// A sandbox for an app; the rest can be changed afterwards.
    public init(bundleId: String = "com.example.app") {
        self.bundleId = bundleId
        appAppleId = 6_001_234_567
        bundleVersion = "1"
        environment = .sandbox
        seed = 1
        pace = .sandbox
        maximumRenewals = 6
        gracePeriodDays = nil
        billingRetryDays = 60
        storefront = "USA"
        storefrontId = "143441"
        currency = "USD"
    }
}
