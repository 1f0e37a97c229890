public import AppStoreModels
internal import Foundation

/// What legacy documents state of a purchase and the modern model has no field for. Each is absent where the document does
/// not have it; presence matters, because verifyReceipt shows a flag only where the receipt has the attribute.
public struct LegacyTransactionFields: Codable, Hashable, Sendable {
    /// `is_trial_period` (attribute 1713).
    public var isTrialPeriod: Bool?
    /// `is_in_intro_offer_period` (attribute 1719).
    public var isInIntroOfferPeriod: Bool?
    /// `promotional_offer_id` (attribute 1721).
    public var promotionalOfferId: String?
    /// `offer_code_ref_name`; replies only.
    public var offerCodeRefName: String?
    /// `cancellation_date` in milliseconds since 1970-01-01T00:00:00Z (attribute 1712), whether refund or upgrade.
    public var cancellationDate: Int64?
    /// `cancellation_reason` (attribute 1720).
    public var cancellationReason: Int64?
    /// `in_app_ownership_type` as stated (attribute 1722), never the default.
    public var inAppOwnershipType: InAppOwnershipType?
    /// `item_id` of transaction receipts (attribute 1710).
    public var itemId: String?
    /// Attribute 1707 where no type of the modern model says the same: 4 for a free (Newsstand) subscription, and values that
    /// are not known.
    public var productType: Int64?

    public init() {}
}

/// What one document states about one transaction.
public struct TransactionFact: Sendable {
    /// Only what the document states: no conclusions, no catalog. `transactionId` is set; facts without are not stored.
    /// Facts of legacy documents have no `revocationDate` and no `revocationReason`: these documents state a cancellation,
    /// which may be an upgrade, and it stands in ``legacy``. Facts of unsigned StoreKit 2 JSON have both.
    public let payload: JWSTransactionDecodedPayload
    public let legacy: LegacyTransactionFields?
    public let origin: FactOrigin

    package init(payload: JWSTransactionDecodedPayload, legacy: LegacyTransactionFields?, origin: FactOrigin) {
        self.payload = payload
        self.legacy = legacy
        self.origin = origin
    }
}

/// What one document states about the next renewal of one subscription. `originalTransactionId` is set.
public struct RenewalInfoFact: Sendable {
    public let payload: JWSRenewalInfoDecodedPayload
    public let origin: FactOrigin

    package init(payload: JWSRenewalInfoDecodedPayload, origin: FactOrigin) {
        self.payload = payload
        self.origin = origin
    }
}

/// What one document states about the app itself.
public struct AppTransactionFact: Sendable {
    public let payload: AppTransaction
    public let origin: FactOrigin

    package init(payload: AppTransaction, origin: FactOrigin) {
        self.payload = payload
        self.origin = origin
    }
}

/// A genuine receipt, kept because `latest_receipt` hands it out.
public struct KnownReceipt: Hashable, Sendable {
    public enum Form: Int, Codable, Hashable, Sendable {
        case app = 1
        /// iOS 6 style.
        case transaction = 2
    }

    public let form: Form
    /// The octets without transport encoding.
    public let bytes: [UInt8]
    /// Attribute 12 of an app receipt, the purchase date of a transaction receipt, one more where it states a cancellation;
    /// milliseconds since 1970-01-01T00:00:00Z.
    public let signedDate: Int64

    package init(form: Form, bytes: [UInt8], signedDate: Int64) {
        self.form = form
        self.bytes = bytes
        self.signedDate = signedDate
    }

    // Made by the compiler it would compare octet by octet, many times slower, for each receipt that comes again.
    public static func == (left: KnownReceipt, right: KnownReceipt) -> Bool {
        guard left.signedDate == right.signedDate, left.form == right.form, left.bytes.count == right.bytes.count
        else { return false }
        return left.bytes.withUnsafeBytes { left in
            right.bytes.withUnsafeBytes { right in
                guard let one = left.baseAddress, let other = right.baseAddress else { return true }
                return memcmp(one, other, right.count) == 0
            }
        }
    }
}

/// A notification that was taken in. Its UUID makes a repeated delivery harmless.
public struct ProcessedNotification: Hashable, Sendable {
    public let notificationUUID: String
    public let notificationType: String
    public let subtype: String?
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let signedDate: Int64
    /// The notification as received, for types this version does not understand.
    public let body: [UInt8]

    package init(
        notificationUUID: String, notificationType: String, subtype: String?, signedDate: Int64, body: [UInt8]
    ) {
        self.notificationUUID = notificationUUID
        self.notificationType = notificationType
        self.subtype = subtype
        self.signedDate = signedDate
        self.body = body
    }
}

extension TransactionFact {
    /// Whether the fact states that the period was cut short. Of two facts of one kind and date, this one is kept.
    package var revokes: Bool { payload.revocationDate != nil || legacy?.cancellationDate != nil }

    /// Whether the fact states that the product is a non-renewing subscription.
    package var isNonRenewingSubscription: Bool { payload.type == .nonRenewingSubscription }

    /// How a stored payload of a subscription names its product; nil for a fact that says no expiry. A stored payload without
    /// this text is of another product.
    package var storedProduct: [UInt8]? {
        guard payload.expiresDate != nil, let product = payload.productId else { return nil }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        writer.member("productId", product)
        writer.endObject()
        return Array(writer.finish().dropFirst().dropLast())
    }

    /// Whether the fact is signed and says nothing of a cancellation. Where the ledger has no entry, or says that the
    /// content is granted, such a fact leaves the transaction `purchased`, whatever else is known: a signed fact without
    /// a cancellation is not outdone by an unsigned one (see FactJoining.swift), and by an older signed one only if that
    /// one decided before. So bulk loads need not join facts. The exception is a subscription with several products, whose
    /// transactions `UpgradeRule` looks at together.
    package var isPlainPurchase: Bool {
        origin.source.kind.isSigned && payload.revocationDate == nil && payload.isUpgraded != true
            && legacy?.cancellationDate == nil
    }
}
