import AppStoreModels
import Encodings
import Purchases

/// Purchases on a calendar of whole months from 2023-01-15, 10:00 in California.
enum OfferSamples {
    /// 2023-01-15T18:00:00Z.
    static let start: Int64 = 1_673_805_600_000
    static let day: Int64 = 86_400_000
    static let group = "20456789"
    static let offer = WinBackOffer(
        offerIdentifier: "come-back", group: group, productId: "premium",
        rules: WinBackRules(
            minimumPaidMonths: 3, minimumMonthsSince: 2, maximumMonthsSince: 24, monthsBetweenOffers: 6))

    static func month(_ number: Int64) -> Int64 { PacificTime.adding(months: number, to: start) }

    /// A period of one subscription; its transaction id is `t` and the number of the month in which it begins.
    static func period(
        _ product: String, _ from: Int64, _ to: Int64, price: Int64? = 9990, group: String? = group,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = "t\(from)"
        payload.originalTransactionId = "original"
        payload.productId = product
        payload.subscriptionGroupIdentifier = group
        payload.type = .autoRenewableSubscription
        payload.inAppOwnershipType = .purchased
        payload.purchaseDate = month(from)
        payload.expiresDate = month(to)
        payload.price = price
        configure(&payload)
        return payload
    }

    /// A period of `premium`.
    static func period(
        _ from: Int64, _ to: Int64, price: Int64? = 9990,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> JWSTransactionDecodedPayload {
        period("premium", from, to, price: price, configure)
    }

    /// Monthly periods from one month to another.
    static func monthly(_ months: Range<Int64>, price: Int64? = 9990) -> [JWSTransactionDecodedPayload] {
        months.map { period($0, $0 + 1, price: price) }
    }

    /// The customer turned renewal off; stated after all other facts.
    static func cancelled(_ original: String = "original") -> JWSRenewalInfoDecodedPayload {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = original
        info.autoRenewStatus = .off
        info.signedDate = month(200)
        return info
    }

    /// A history with everything until long after it.
    static func history(
        _ transactions: [JWSTransactionDecodedPayload], _ infos: [JWSRenewalInfoDecodedPayload] = [cancelled()]
    ) -> PurchaseHistory {
        PurchaseHistory(transactions: transactions, renewalInfos: infos, completeThrough: month(200))
    }
}

extension OfferVerdict {
    /// The rules that stand in the way.
    var obstacleRules: [OfferReason.Rule] { obstacles.map(\.rule) }

    func reason(_ rule: OfferReason.Rule) -> OfferReason? { reasons.first { $0.rule == rule } }
}

typealias Samples = OfferSamples
