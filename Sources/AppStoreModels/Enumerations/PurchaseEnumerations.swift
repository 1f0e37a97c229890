/// The server environment (App Store Server API, environment).
public struct Environment: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The App Store.
    public static let production = Self(rawValue: "Production")
    /// Test purchases, including those made through TestFlight and App Review.
    public static let sandbox = Self(rawValue: "Sandbox")
    /// StoreKit Testing in Xcode. Xcode signs this data with its own certificate, not with one of Apple's.
    public static let xcode = Self(rawValue: "Xcode")
    /// Tests of code that reads the App Store's data, without the App Store. Nothing of this environment is genuine.
    public static let localTesting = Self(rawValue: "LocalTesting")

    /// The values this package knows.
    public static let knownValues: [Self] = [.production, .sandbox, .xcode, .localTesting]
}

/// The type of an In-App Purchase product (App Store Server API, type).
public struct ProductType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Renews automatically until it is canceled.
    public static let autoRenewableSubscription = Self(rawValue: "Auto-Renewable Subscription")
    /// Bought once, valid forever.
    public static let nonConsumable = Self(rawValue: "Non-Consumable")
    /// Used up, can be bought again.
    public static let consumable = Self(rawValue: "Consumable")
    /// Has a term that only the app defines.
    public static let nonRenewingSubscription = Self(rawValue: "Non-Renewing Subscription")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
    ]
}

/// How the customer obtained the product (App Store Server API, inAppOwnershipType).
public struct InAppOwnershipType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The customer is the purchaser.
    public static let purchased = Self(rawValue: "PURCHASED")
    /// The customer is a family member of the purchaser.
    public static let familyShared = Self(rawValue: "FAMILY_SHARED")
    /// An organization or group assigned the purchase to the customer (App Store Server API 1.22). It gives this
    /// customer the same access as a purchase. Send Consumption Information and Set App Account Token reject this
    /// kind of transaction.
    public static let assigned = Self(rawValue: "ASSIGNED")

    /// The values this package knows.
    public static let knownValues: [Self] = [.purchased, .familyShared, .assigned]
}

/// The cause of a transaction (App Store Server API, transactionReason).
public struct TransactionReason: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The customer bought the product or a family member shared it.
    public static let purchase = Self(rawValue: "PURCHASE")
    /// The App Store renewed the subscription.
    public static let renewal = Self(rawValue: "RENEWAL")

    /// The values this package knows.
    public static let knownValues: [Self] = [.purchase, .renewal]
}

/// Why the App Store refunded or revoked a transaction (App Store Server API, revocationReason).
public struct RevocationReason: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Another reason, for example an accidental purchase.
    public static let other = Self(rawValue: 0)
    /// An actual or perceived issue within the app.
    public static let issueWithinApp = Self(rawValue: 1)

    /// The values this package knows.
    public static let knownValues: [Self] = [.other, .issueWithinApp]
}

/// How the App Store refunded or revoked a transaction (App Store Server API 1.19, revocationType).
public struct RevocationType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The whole price was refunded.
    public static let refundFull = Self(rawValue: "REFUND_FULL")
    /// A part of the price was refunded; see `revocationPercentage`.
    public static let refundProrated = Self(rawValue: "REFUND_PRORATED")
    /// Access through Family Sharing ended.
    public static let familyRevoke = Self(rawValue: "FAMILY_REVOKE")

    /// The values this package knows.
    public static let knownValues: [Self] = [.refundFull, .refundProrated, .familyRevoke]
}

/// The platform on which the customer first obtained the app (App Store Server API, originalPlatform).
public struct PurchasePlatform: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// iOS or iPadOS.
    public static let iOS = Self(rawValue: "iOS")
    /// macOS.
    public static let macOS = Self(rawValue: "macOS")
    /// tvOS.
    public static let tvOS = Self(rawValue: "tvOS")
    /// visionOS.
    public static let visionOS = Self(rawValue: "visionOS")

    /// The values this package knows.
    public static let knownValues: [Self] = [.iOS, .macOS, .tvOS, .visionOS]
}

/// How the customer pays for a subscription period (App Store Server API 1.21, billingPlanType).
public struct BillingPlanType: OpenEnum {
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

/// The reason for several transactions in one subscription period (App Store Server API 1.23,
/// additionalTransactionReason). No transaction replaces another. The number of seats of the period is the sum of
/// their quantities minus the revoked seats.
public struct AdditionalTransactionReason: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The customer added seats. This is not an upgrade.
    public static let seatAddition = Self(rawValue: "SEAT_ADDITION")

    /// The values this package knows.
    public static let knownValues: [Self] = [.seatAddition]
}

/// The party that invites people to the seats of a multiseat subscription (App Store Server API 1.23, invitationManagement).
public struct InvitationManagement: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The App Store.
    public static let apple = Self(rawValue: "APPLE")
    /// The developer, with the seat endpoints of the App Store Server API.
    public static let developer = Self(rawValue: "DEVELOPER")

    /// The values this package knows.
    public static let knownValues: [Self] = [.apple, .developer]
}

/// The store from which the customer obtained the app (App Store Server API 1.22, storeType).
public struct StoreType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The App Store for consumers.
    public static let consumer = Self(rawValue: "CONSUMER")

    /// The values this package knows.
    public static let knownValues: [Self] = [.consumer]
}
