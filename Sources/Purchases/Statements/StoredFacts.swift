public import AppStoreModels
internal import Foundation
package import LegacyReceipts

/// Values of legacy documents that the modern model has no field for. Each is absent if the document does not have it.
/// That matters: verifyReceipt shows a flag only if the receipt has the attribute.
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
    /// Attribute 1707 if no modern type corresponds to it: 4 for a free (Newsstand) subscription, and unknown values.
    public var productType: Int64?

    /// Fields of a document that states none of them: all are nil.
    public init() {}
}

/// Values of app receipts, and of the replies to them, without a field in the modern app transaction. A value that the
/// document does not state is nil.
public struct LegacyAppTransactionFields: Codable, Hashable, Sendable {
    /// `receipt_type` (attribute 0) as Apple wrote it: `ProductionVPP` is a volume purchase.
    public var receiptType: String?
    /// `expiration_date` (attribute 21): when a volume purchase expires, in milliseconds since 1970-01-01T00:00:00Z.
    public var expirationDate: Int64?
    /// Attribute 22: a date of a volume purchase, in milliseconds since 1970-01-01T00:00:00Z. Replies do not state it.
    public var volumePurchaseDate: Int64?
    /// Attribute 23: the name of the organization. Replies do not state it.
    public var volumePurchaseOrganization: String?

    /// Fields of a document that states none of them: all are nil.
    public init() {}
}

/// The statement of one document about one transaction.
public struct TransactionFact: Sendable {
    /// Only what the document states: no conclusions, no catalog. `transactionId` is set; facts without one are not
    /// stored. Facts of legacy documents have no `revocationDate` and no `revocationReason`. These documents state a
    /// cancellation, which may be an upgrade; it is in ``legacy``. Facts of unsigned StoreKit 2 JSON have both.
    public internal(set) var payload: JWSTransactionDecodedPayload {
        @inlinable _read { yield shared.payload }
        _modify { yield &shared.payload }
    }
    /// Nil for a document that cannot state them, such as a JWS of the App Store.
    public let legacy: LegacyTransactionFields?
    /// The document that states the transaction. The kind of the fact is ``FactKind/notified`` for a cancellation in a
    /// received notification of version 1.
    public let origin: FactOrigin
    /// Whether the fact states a cancellation. Of two facts of one kind and date, such a fact is kept.
    package let revokes: Bool
    @usableFromInline var shared: SharedTransaction

    package init(
        payload: JWSTransactionDecodedPayload, legacy: LegacyTransactionFields?, origin: FactOrigin
    ) {
        self.init(SharedTransaction(payload), legacy: legacy, origin: origin)
    }

    package init(_ shared: SharedTransaction, legacy: LegacyTransactionFields?, origin: FactOrigin) {
        self.shared = shared
        self.legacy = legacy
        revokes = shared.payload.revocationDate != nil || legacy?.cancellationDate != nil
        self.origin = origin.ofTransaction(revokes: revokes)
    }
}

/// The statement of one document about the next renewal of one subscription. `originalTransactionId` is set.
public struct RenewalInfoFact: Sendable {
    /// Only what the document states.
    public let payload: JWSRenewalInfoDecodedPayload
    /// The document that states the renewal information.
    public let origin: FactOrigin

    package init(payload: JWSRenewalInfoDecodedPayload, origin: FactOrigin) {
        self.payload = payload
        self.origin = origin
    }
}

/// The statement of one document about the app itself.
public struct AppTransactionFact: Sendable {
    /// Only what the document states.
    public let payload: AppTransaction
    /// Nil if the document states none of them.
    public let legacy: LegacyAppTransactionFields?
    /// The document that states the app transaction.
    public let origin: FactOrigin

    package init(payload: AppTransaction, legacy: LegacyAppTransactionFields? = nil, origin: FactOrigin) {
        self.payload = payload
        self.legacy = legacy == LegacyAppTransactionFields() ? nil : legacy
        self.origin = origin
    }

    /// `FactRow.kind` of the row.
    package var rowKind: AppTransactionRowKind {
        AppTransactionRowKind(origin.kind, statesLegacyFields: legacy != nil)
    }
}

/// The kinds of rows of an app transaction. A store keeps the newest of each.
///
/// The newest unsigned document that states legacy fields has a row of its own. Otherwise a newer one without them, such as
/// StoreKit 2 JSON, would hide what only a reply states. The numbers of the others are those of `FactKind`.
package enum AppTransactionRowKind: Int64, Sendable, CaseIterable {
    case receipt = 1
    case signedTransaction = 2
    case recorded = 3
    case recordedWithLegacyFields = 4

    package init(_ kind: FactKind, statesLegacyFields: Bool) {
        self =
            switch kind {
            case .receipt: .receipt
            case .signedTransaction: .signedTransaction
            case .recorded, .notified: statesLegacyFields ? .recordedWithLegacyFields : .recorded
            }
    }
}

/// A verified receipt, stored because `latest_receipt` returns it.
public struct KnownReceipt: Hashable, Sendable {
    /// The kinds of receipts. Databases contain the raw values: never change one.
    public enum Form: Int, Codable, Hashable, Sendable {
        /// iOS 7 and later: PKCS#7 (Reference.md V5).
        case app = 1
        /// iOS 6 style.
        case transaction = 2
    }

    /// Decides which receipt it replaces: a store keeps the newest of each form for a customer.
    public let form: Form
    /// The bytes without transport encoding.
    public let bytes: [UInt8]
    /// Attribute 12 of an app receipt; the purchase date of a transaction receipt, plus 1 if it states a cancellation.
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let signedDate: Int64
    /// The SHA-256 of the bytes, if the caller had computed it.
    private let knownHash: Fingerprint?

    /// Computes the SHA-256 of the bytes when it is needed, if `hash` is nil.
    package init(form: Form, bytes: [UInt8], signedDate: Int64, hash: Fingerprint? = nil) {
        self.form = form
        self.bytes = bytes
        self.signedDate = signedDate
        knownHash = hash
    }

    /// The SHA-256 of the bytes.
    package var hash: Fingerprint { knownHash ?? Fingerprint(of: bytes) }

    /// ``hash`` as 64 hexadecimal digits.
    package var digest: String { hash.description }

    // The compiler's version compares byte by byte, which is many times slower for each receipt that arrives again.
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

    public func hash(into hasher: inout Hasher) {
        hasher.combine(form)
        hasher.combine(signedDate)
        hasher.combine(bytes)
    }
}

/// A notification that was processed. Its UUID makes a repeated delivery harmless.
public struct ProcessedNotification: Hashable, Sendable {
    /// The UUID of a notification of version 2, in lower case. One of version 1 has none: `v1-` and the SHA-256 of its
    /// content without the shared secret.
    public let notificationUUID: String
    /// Apple's `notificationType` or `notification_type`; empty if the text is missing or not printable ASCII.
    public let notificationType: String
    /// Apple's `subtype`. Nil for a type without subtypes and for version 1.
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
    /// Whether the fact can move terms of non-renewing subscriptions, so that an engine must look at those of the
    /// customer. The fact states such a purchase, or a purchase without a type: notifications of version 1, iOS 6
    /// receipts and some app receipts state none, but another document may. It may also take back a refund that an
    /// older receipt states, or state another copy of the purchase.
    public var mayMoveTerms: Bool {
        if statesNonRenewingSubscription || origin.kind == .notified { return true }
        return payload.type == nil && payload.expiresDate == nil && origin.kind.isSigned
    }

    /// Whether the fact itself states the type of a non-renewing subscription. A purchase has terms only if a fact does.
    package var statesNonRenewingSubscription: Bool { payload.type == .nonRenewingSubscription }

    /// Whether the fact states a period, so that an engine must look at the renewal of its purchase.
    package var isPeriod: Bool { payload.expiresDate != nil }

    /// The text that every stored payload about this product contains. Nil if no other transaction can change the
    /// fact's transaction: a consumable, or a purchase without a product.
    package var storedProduct: [UInt8]? {
        guard payload.type != .consumable, let product = payload.productId else { return nil }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        writer.member("productId", product)
        writer.endObject()
        return Array(writer.finish().dropFirst().dropLast())
    }

    /// Whether the fact is signed and states no cancellation. If the ledger has no entry, or its entry grants the
    /// content, such a fact leaves the transaction `purchased`. An unsigned fact overrules a signed one only if it is of the
    /// kind `notified` (see FactJoining.swift). An older signed fact overrules a newer one only if it decided
    /// before. Bulk loads therefore need not join facts. The exceptions are a transaction with a notified cancellation,
    /// and those that `UpgradeRule` and `CopyRule` compare. These rules compare a subscription with several products,
    /// and a purchase with a revocation.
    package var isPlainPurchase: Bool {
        origin.kind.isSigned && !revokes && payload.isUpgraded != true
    }
}
