import AppStoreModels
import AppStoreServer
import AppStoreSync
import Foundation
import LegacyReceipts
import ReceiptForge
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// What the App Store signs, here by the test authority.
enum Signed {
    static let bundleId = "com.example.orchard"
    static let appleId: Int64 = 1_234_567_890
    static let monthly = "com.example.orchard.premium.monthly"
    static let yearly = "com.example.orchard.premium.yearly"
    static let basic = "com.example.orchard.basic.monthly"
    static let day: Int64 = 86_400_000
    /// 2024-03-15T10:20:30Z: the first purchase, and the only receipt that the old client has.
    static let bought = ForgedInstant(2024, 3, 15, 10, 20, 30)

    static var trust: SignedDataTrust {
        SignedDataTrust(additionalRoots: [TestSignedDataAuthority.standard.rootCertificate])
    }

    static func jws(_ payload: some Encodable) throws -> String {
        try TestSignedDataAuthority.standard.sign(payload: Array(try JSONEncoder().encode(payload)))
    }

    /// The receipt of the first purchase of a subscription.
    static func receipt(_ original: String) throws -> [UInt8] {
        let purchase = ForgedPurchase(.autoRenewable, product: monthly, id: original, at: bought).with {
            $0.expiresDate = .seconds(bought.adding(months: 1))
            $0.webOrderLineItemId = 530_000_612_345_678
            $0.isInIntroOfferPeriod = false
            $0.ownershipType = 0
        }
        return try ForgedAppReceipt.production(bundleId: bundleId, created: bought).with { $0.purchases = [purchase] }
            .signedData(.g5).encoded()
    }
}

/// The App Store's view of one subscription, from which its notifications are made.
struct Subscription: Sendable {
    let original: String
    var transaction: JWSTransactionDecodedPayload
    var renewal: JWSRenewalInfoDecodedPayload
    var status: SubscriptionStatus? = .active
    /// When the next notification is signed, in milliseconds since 1970-01-01T00:00:00Z.
    var now: Int64

    init(_ original: String) {
        let bought = Signed.bought.milliseconds
        let expires = Signed.bought.adding(months: 1).milliseconds
        self.original = original
        now = bought + 5_000
        transaction = JWSTransactionDecodedPayload {
            $0.originalTransactionId = original
            $0.transactionId = original
            $0.webOrderLineItemId = "530000612345678"
            $0.bundleId = Signed.bundleId
            $0.productId = Signed.monthly
            $0.subscriptionGroupIdentifier = "20662382"
            $0.purchaseDate = bought
            $0.originalPurchaseDate = bought
            $0.expiresDate = expires
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
            $0.environment = .production
            $0.storefront = "USA"
            $0.storefrontId = "143441"
            $0.transactionReason = .purchase
            $0.currency = "USD"
            $0.price = 9990
            $0.appTransactionId = "7049" + original
        }
        renewal = JWSRenewalInfoDecodedPayload {
            $0.originalTransactionId = original
            $0.autoRenewProductId = Signed.monthly
            $0.productId = Signed.monthly
            $0.autoRenewStatus = .on
            $0.environment = .production
            $0.renewalDate = expires
            $0.appTransactionId = "7049" + original
        }
    }

    /// The id of the n-th transaction of the subscription, from 0.
    func id(_ number: Int64) -> String { String((Int64(original) ?? 0) + number * 1_037) }

    /// The next period begins.
    mutating func begin(_ number: Int64, product: String? = nil, months: Int64 = 1) {
        let start = max(now, transaction.expiresDate ?? now)
        transaction.transactionId = id(number)
        transaction.productId = product ?? transaction.productId
        transaction.purchaseDate = start
        transaction.expiresDate = start + months * 30 * Signed.day
        transaction.transactionReason = .renewal
        renewal.productId = transaction.productId
        renewal.autoRenewProductId = transaction.productId
        renewal.renewalDate = transaction.expiresDate
    }
}

/// One notification in the making.
struct NotificationDraft: Sendable {
    var type: String
    var subtype: String?
    var uuid: String
    var signedDate: Int64
    var content: ResponseBodyV2DecodedPayload

    /// With `data`: transaction and renewal info are those of the subscription.
    init(_ type: String, _ subtype: String? = nil, _ subscription: Subscription, uuid: String = UUID().uuidString)
        throws
    {
        self.init(bare: type, subtype, at: subscription.now, uuid: uuid)
        var transaction = subscription.transaction
        var renewal = subscription.renewal
        transaction.signedDate = subscription.now
        renewal.signedDate = subscription.now
        content.data = try NotificationData {
            $0.environment = .production
            $0.appAppleId = Signed.appleId
            $0.bundleId = Signed.bundleId
            $0.bundleVersion = "42"
            $0.signedTransactionInfo = try Signed.jws(transaction)
            $0.signedRenewalInfo = transaction.type == .autoRenewableSubscription ? try Signed.jws(renewal) : nil
            $0.status = transaction.type == .autoRenewableSubscription ? subscription.status : nil
        }
    }

    /// With none of the objects.
    init(bare type: String, _ subtype: String? = nil, at date: Int64, uuid: String = UUID().uuidString) {
        self.type = type
        self.subtype = subtype
        self.uuid = uuid
        signedDate = date
        content = ResponseBodyV2DecodedPayload()
    }

    func signed() throws -> String {
        var content = content
        content.notificationType = NotificationTypeV2(rawValue: type)
        content.subtype = subtype.map { Subtype(rawValue: $0) }
        content.notificationUUID = uuid
        content.version = "2.0"
        content.signedDate = signedDate
        return try Signed.jws(content)
    }
}

extension NotificationReceiver {
    /// A receiver that trusts the test authority.
    static func testing(
        _ apps: NotificationApps = NotificationApps([.init(bundleId: Signed.bundleId, appleId: Signed.appleId)])
    ) throws -> NotificationReceiver {
        NotificationReceiver(verifier: try SignedDataVerifier(trust: Signed.trust), apps: apps)
    }
}
