/// The type of an app receipt: attribute 0, `receipt_type` in a verifyReceipt reply (Reference.md V3.2 and V5.2).
///
/// Unknown values are preserved.
public struct ReceiptType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The text of attribute 0, unchanged. Comparison is case-sensitive.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A purchase in the App Store.
    public static let production = Self(rawValue: "Production")
    /// A purchase with a sandbox account, in TestFlight or in App Review.
    public static let productionSandbox = Self(rawValue: "ProductionSandbox")
    /// An app bought through the Volume Purchase Program.
    public static let productionVPP = Self(rawValue: "ProductionVPP")
    /// The Volume Purchase Program in the sandbox.
    public static let productionVPPSandbox = Self(rawValue: "ProductionVPPSandbox")
    /// Created by Xcode's StoreKit testing on a developer's Mac, and signed with a public key pair.
    public static let xcode = Self(rawValue: "Xcode")

    public var description: String { rawValue }

    /// The environment of this receipt type; nil for an unknown type.
    public var environment: ReceiptEnvironment? {
        switch self {
        case .production, .productionVPP: .production
        case .productionSandbox, .productionVPPSandbox: .sandbox
        case .xcode: .xcode
        default: nil
        }
    }
}

/// Where a purchase was made (Reference.md V1.5).
public enum ReceiptEnvironment: String, Sendable, Hashable, CaseIterable {
    /// The App Store, volume purchases included.
    case production = "Production"
    /// A test purchase with a sandbox account, in TestFlight or in App Review.
    case sandbox = "Sandbox"
    /// Xcode's StoreKit testing. Purchases are never granted without an explicit option.
    case xcode = "Xcode"
}

/// The type of product in attribute 1707 (Reference.md V5.3). Unknown values are kept.
public struct ReceiptProductType: RawRepresentable, Hashable, Sendable {
    /// The number of attribute 1707.
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Bought once and owned forever. Restored on all devices of the customer.
    public static let nonConsumable = Self(rawValue: 0)
    /// Used up, and can be bought again.
    public static let consumable = Self(rawValue: 1)
    /// A service of a fixed term. Receipts do not contain its length.
    public static let nonRenewingSubscription = Self(rawValue: 2)
    /// Renews until it is cancelled. Attribute 1708 is the end of the period.
    public static let autoRenewableSubscription = Self(rawValue: 3)
    /// A free (Newsstand) subscription; seen in receipts of 2015 and earlier. It never expires.
    public static let freeSubscription = Self(rawValue: 4)
}

/// How the customer came to own the product: attribute 1722, `in_app_ownership_type`
/// (Reference.md V3.5 and V5.3). Unknown values are kept.
public struct ReceiptOwnershipType: RawRepresentable, Hashable, Sendable {
    /// The number of attribute 1722.
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Bought by the customer: `PURCHASED` in a verifyReceipt reply.
    public static let purchased = Self(rawValue: 0)
    /// Shared by a member of the customer's family: `FAMILY_SHARED` in a verifyReceipt reply.
    public static let familyShared = Self(rawValue: 1)
}
