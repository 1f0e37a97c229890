/// The status of an auto-renewable subscription (App Store Server API, status).
public struct SubscriptionStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Active.
    public static let active = Self(rawValue: 1)
    /// Expired.
    public static let expired = Self(rawValue: 2)
    /// Expired, the App Store retries the billing.
    public static let billingRetry = Self(rawValue: 3)
    /// The App Store retries the billing within the grace period: keep the service running.
    public static let billingGracePeriod = Self(rawValue: 4)
    /// Refunded or revoked.
    public static let revoked = Self(rawValue: 5)

    /// The values this package knows.
    public static let knownValues: [Self] = [.active, .expired, .billingRetry, .billingGracePeriod, .revoked]

    /// The name in tables; the raw value of a status that this package does not know.
    package var name: String {
        switch self {
        case .active: "active"
        case .expired: "expired"
        case .billingRetry: "billingRetry"
        case .billingGracePeriod: "billingGracePeriod"
        case .revoked: "revoked"
        default: description
        }
    }
}

/// Whether a subscription will renew (App Store Server API, autoRenewStatus).
public struct AutoRenewStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The customer turned renewal off.
    public static let off = Self(rawValue: 0)
    /// Renews at the end of the current period.
    public static let on = Self(rawValue: 1)

    /// The values this package knows.
    public static let knownValues: [Self] = [.off, .on]
}

/// Why a subscription expired (App Store Server API, expirationIntent).
public struct ExpirationIntent: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The customer canceled.
    public static let cancelled = Self(rawValue: 1)
    /// The payment failed.
    public static let billingError = Self(rawValue: 2)
    /// The customer did not agree to a price increase that needs consent.
    public static let noConsentToPriceIncrease = Self(rawValue: 3)
    /// The product was not for sale at the time of renewal.
    public static let productUnavailable = Self(rawValue: 4)
    /// Another reason.
    public static let other = Self(rawValue: 5)

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .cancelled, .billingError, .noConsentToPriceIncrease, .productUnavailable, .other,
    ]
}

/// Whether the customer agreed to a price increase (App Store Server API, priceIncreaseStatus).
public struct PriceIncreaseStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No answer yet to an increase that needs consent.
    public static let pending = Self(rawValue: 0)
    /// The customer agreed, or was notified of an increase that needs no consent.
    public static let consentedOrNotified = Self(rawValue: 1)

    /// The values this package knows.
    public static let knownValues: [Self] = [.pending, .consentedOrNotified]
}

/// How the customer will pay for the next period (App Store Server API 1.21, renewalBillingPlanType).
public struct RenewalBillingPlanType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The whole period at once.
    public static let billedUpfront = Self(rawValue: "BILLED_UPFRONT")
    /// Month by month, with a commitment to the whole period.
    public static let monthly = Self(rawValue: "MONTHLY")

    /// The values this package knows.
    public static let knownValues: [Self] = [.billedUpfront, .monthly]
}
