/// One In-App Purchase transaction (App Store Server API 1.23, JWSTransactionDecodedPayload).
///
/// The names of the properties are the names of the JSON members. An unknown field is nil; there are no default
/// values.
public struct JWSTransactionDecodedPayload: AppStoreModel, Payload {
    /// The identifier of the first transaction of this purchase; equal to ``transactionId`` for the first purchase.
    public var originalTransactionId: String?

    /// The identifier of this transaction.
    public var transactionId: String?

    /// The original transaction identifier before a migration (App Store Server Notifications 2.16). Documented by
    /// Apple, but absent from Apple's own server libraries.
    public var previousOriginalTransactionId: String?

    /// The identifier of a subscription purchase across devices; subscriptions only.
    public var webOrderLineItemId: String?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The product identifier from App Store Connect.
    public var productId: String?

    /// The group of the subscription; auto-renewable subscriptions only.
    public var subscriptionGroupIdentifier: String?

    /// When the App Store charged the customer, or restored the purchase. In milliseconds since 1970-01-01 00:00 UTC.
    public var purchaseDate: Int64?

    /// The purchase date of the transaction named by ``originalTransactionId``. In milliseconds since 1970-01-01 00:00
    /// UTC.
    public var originalPurchaseDate: Int64?

    /// When the subscription ends or renews; auto-renewable subscriptions only. In milliseconds since 1970-01-01 00:00
    /// UTC.
    public var expiresDate: Int64?

    /// The number of consumables, or of seats of a subscription.
    public var quantity: Int32?

    /// The type of the product.
    public var type: ProductType?

    /// The token with which the app links the purchase to its own user account. It is a UUID as text, unchanged in case
    /// and form.
    public var appAccountToken: String?

    /// Whether the customer bought the product, has it through Family Sharing, or has it from an organization or group.
    public var inAppOwnershipType: InAppOwnershipType?

    /// When the App Store signed this payload. In milliseconds since 1970-01-01 00:00 UTC.
    public var signedDate: Int64?

    /// The reason why the App Store refunded or revoked the transaction.
    public var revocationReason: RevocationReason?

    /// When the App Store refunded or revoked the transaction. In milliseconds since 1970-01-01 00:00 UTC.
    public var revocationDate: Int64?

    /// Whether the whole price or a part was refunded, or Family Sharing ended (App Store Server API 1.19).
    public var revocationType: RevocationType?

    /// The part that was refunded or revoked, in milliunits of a percent: 100000 is 100 % (App Store Server API 1.19).
    public var revocationPercentage: Int32?

    /// Whether the customer moved on to another subscription of the group; absent means no.
    public var isUpgraded: Bool?

    /// The type of the offer that applies to the transaction.
    public var offerType: OfferType?

    /// The offer code reference name or promotional offer identifier; introductory offers have none.
    public var offerIdentifier: String?

    /// The payment mode of the offer.
    public var offerDiscountType: OfferDiscountType?

    /// The duration of the offer, an ISO 8601 duration such as `P1M`.
    public var offerPeriod: String?

    /// The server environment in which the purchase was made and signed.
    public var environment: Environment?

    /// The country or region of the App Store, ISO 3166-1 alpha-3.
    public var storefront: String?

    /// Apple's number for the storefront, as text.
    public var storefrontId: String?

    /// Whether the customer bought the product or the App Store renewed it.
    public var transactionReason: TransactionReason?

    /// The currency of ``price``, ISO 4217.
    public var currency: String?

    /// The price of the product or offer. For several seats, the average price of one seat. In milliunits of the
    /// currency: 10.99 is 10990.
    public var price: Int64?

    /// The identifier of the app download, unique per Apple Account and app (App Store Server API 1.15).
    public var appTransactionId: String?

    /// The data of Advanced Commerce; absent for all other purchases.
    public var advancedCommerceInfo: AdvancedCommerceTransactionInfo? {
        get { rareAdvancedCommerceInfo?.value }
        set { rareAdvancedCommerceInfo = newValue.map { .value($0) } }
    }

    /// How the customer pays for the period (App Store Server API 1.21).
    public var billingPlanType: BillingPlanType?

    /// The commitment behind a subscription that is billed monthly (App Store Server API 1.21).
    public var commitmentInfo: TransactionCommitmentInfo? {
        get { rareCommitmentInfo?.value }
        set { rareCommitmentInfo = newValue.map { .value($0) } }
    }

    /// The seats of a multiseat subscription (App Store Server API 1.23).
    public var multiSeatInfo: TransactionMultiSeatInfo? {
        get { rareMultiSeatInfo?.value }
        set { rareMultiSeatInfo = newValue.map { .value($0) } }
    }

    /// The reason for several transactions in the period (App Store Server API 1.23). If a period has several
    /// transactions, all of them have this field, including the first.
    public var additionalTransactionReason: AdditionalTransactionReason?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    private var rareAdvancedCommerceInfo: Rare<AdvancedCommerceTransactionInfo>?
    private var rareCommitmentInfo: Rare<TransactionCommitmentInfo>?
    private var rareMultiSeatInfo: Rare<TransactionMultiSeatInfo>?

    /// A value without members.
    public init() {}

    package typealias Field = TransactionField
    package static let names = PayloadNames(of: Self.self)

    /// The table of the members. All code that handles every member is a visitor of this table.
    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("originalTransactionId", Field.originalTransactionId, &originalTransactionId)
        try visitor.member("transactionId", Field.transactionId, &transactionId)
        try visitor.member(
            "previousOriginalTransactionId", Field.previousOriginalTransactionId, &previousOriginalTransactionId)
        try visitor.member("webOrderLineItemId", Field.webOrderLineItemId, &webOrderLineItemId)
        try visitor.member("bundleId", Field.bundleId, &bundleId)
        try visitor.member("productId", Field.productId, &productId)
        try visitor.member(
            "subscriptionGroupIdentifier", Field.subscriptionGroupIdentifier, &subscriptionGroupIdentifier)
        try visitor.date("purchaseDate", Field.purchaseDate, &purchaseDate)
        try visitor.date("originalPurchaseDate", Field.originalPurchaseDate, &originalPurchaseDate)
        try visitor.date("expiresDate", Field.expiresDate, &expiresDate)
        try visitor.member("quantity", Field.quantity, &quantity)
        try visitor.member("type", Field.type, &type)
        try visitor.member("appAccountToken", Field.appAccountToken, &appAccountToken)
        try visitor.member("inAppOwnershipType", Field.inAppOwnershipType, &inAppOwnershipType)
        try visitor.date("signedDate", Field.signedDate, &signedDate)
        try visitor.member("revocationReason", Field.revocationReason, &revocationReason)
        try visitor.date("revocationDate", Field.revocationDate, &revocationDate)
        try visitor.member("revocationType", Field.revocationType, &revocationType)
        try visitor.member("revocationPercentage", Field.revocationPercentage, &revocationPercentage)
        try visitor.member("isUpgraded", Field.isUpgraded, &isUpgraded)
        try visitor.member("offerType", Field.offerType, &offerType)
        try visitor.member("offerIdentifier", Field.offerIdentifier, &offerIdentifier)
        try visitor.member("offerDiscountType", Field.offerDiscountType, &offerDiscountType)
        try visitor.member("offerPeriod", Field.offerPeriod, &offerPeriod)
        try visitor.member("environment", Field.environment, &environment)
        try visitor.member("storefront", Field.storefront, &storefront)
        try visitor.member("storefrontId", Field.storefrontId, &storefrontId)
        try visitor.member("transactionReason", Field.transactionReason, &transactionReason)
        try visitor.member("currency", Field.currency, &currency)
        try visitor.member("price", Field.price, &price)
        try visitor.member("appTransactionId", Field.appTransactionId, &appTransactionId)
        try visitor.member("advancedCommerceInfo", Field.advancedCommerceInfo, &rareAdvancedCommerceInfo)
        try visitor.member("billingPlanType", Field.billingPlanType, &billingPlanType)
        try visitor.member("commitmentInfo", Field.commitmentInfo, &rareCommitmentInfo)
        try visitor.member("multiSeatInfo", Field.multiSeatInfo, &rareMultiSeatInfo)
        try visitor.member(
            "additionalTransactionReason", Field.additionalTransactionReason, &additionalTransactionReason)
    }

    package init(written bytes: UnsafeBufferPointer<UInt8>, texts: inout CommonTexts) throws(PayloadReadingError) {
        try self.init(members: bytes, texts: &texts)
    }

    package mutating func write(to writer: inout JSONWriter) { writeMembers(to: &writer) }

    package mutating func presentFields() -> UInt64 { PresentFields.bits(of: &self) }
}

extension JWSTransactionDecodedPayload {
    /// Members of a transaction from a bundle (StoreKit 27). Apple names them as properties and does not document their JSON, so
    /// both usual spellings are here. The payload keeps them in ``unknownMembers``.
    package static let undocumentedNames: Set<String> = [
        "bundleProductID", "bundleProductId", "bundleTransactionID", "bundleTransactionId",
        "bundleOriginalTransactionID", "bundleOriginalTransactionId", "bundleSubscriptionGroupID",
        "bundleSubscriptionGroupId", "bundleSubscriptionGroupIdentifier", "previousOriginalTransactionID",
    ]
}

/// Every field of ``JWSTransactionDecodedPayload`` (App Store Server API 1.23; Reference.md S5.1).
///
/// Each case has Apple's name of its field, and stands for the property of the same name. The documentation of that
/// property states what the field means.
public enum TransactionField: UInt8, PayloadField {
    case originalTransactionId, transactionId, previousOriginalTransactionId, webOrderLineItemId, bundleId
    case productId, subscriptionGroupIdentifier, purchaseDate, originalPurchaseDate, expiresDate, quantity, type
    case appAccountToken, inAppOwnershipType, signedDate, revocationReason, revocationDate, revocationType
    case revocationPercentage, isUpgraded, offerType, offerIdentifier, offerDiscountType, offerPeriod, environment
    case storefront, storefrontId, transactionReason, currency, price, appTransactionId, advancedCommerceInfo
    case billingPlanType, commitmentInfo, multiSeatInfo, additionalTransactionReason

    /// Apple's name of the field, which is its JSON key.
    public var name: StaticString { JWSTransactionDecodedPayload.names[self] }
}

/// Keeps a rare member outside the structure. Migrations and stores move hundreds of transactions, and rare members
/// would take a third of their bytes.
private indirect enum Rare<Value: PayloadValue & Hashable>: PayloadValue, Hashable {
    case value(Value)

    var value: Value {
        switch self {
        case .value(let value): value
        }
    }

    init(from decoder: any Decoder) throws { self = .value(try Value(from: decoder)) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = .value(try Value(reading: &reader)) }
    init(json value: JSONValue) throws { self = .value(try Value(json: value)) }

    func write(to writer: inout JSONWriter) {
        var value = value
        value.write(to: &writer)
    }
}
