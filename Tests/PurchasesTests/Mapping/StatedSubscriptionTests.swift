import AppStoreModels
import LegacyReceipts
import Purchases
import Testing

@Suite("Rows that may be periods of stated subscriptions")
struct StatedSubscriptionTests {
    private func payload(
        _ product: String?, _ type: ProductType? = nil, expires: Int64?
    ) -> JWSTransactionDecodedPayload {
        JWSTransactionDecodedPayload {
            $0.productId = product
            $0.type = type
            $0.expiresDate = expires
        }
    }

    @Test("Without its original id, a row of the product, or one with an end, may be a period of a stated subscription")
    func mayContinue() {
        let stated = StatedSubscriptions([payload("month", expires: 1), payload("coins", expires: nil)])
        func may(_ product: String, original: Bool = false, expiry: Bool) -> Bool {
            stated.mayContinue(inRowOf: product, hasOriginalId: original, hasExpiry: expiry)
        }
        #expect(may("month", expiry: false) && may("month", expiry: true))
        // An upgrade continues the subscription with another product.
        #expect(may("year", expiry: true))
        #expect(!may("year", expiry: false) && !may("coins", expiry: false))
        #expect(!may("month", original: true, expiry: true) && !may("year", original: true, expiry: true))
        let none = StatedSubscriptions([payload("coins", expires: nil)])
        #expect(!none.mayContinue(inRowOf: "year", hasOriginalId: false, hasExpiry: true))
    }

    @Test("A receipt and its resolved transactions state the same subscriptions")
    func receipt() {
        let purchases = [
            InAppPurchase(productId: "month", transactionId: "1", expiresDate: 1),
            InAppPurchase(
                productId: "pass", transactionId: "2", productType: .nonRenewingSubscription, expiresDate: 1),
            InAppPurchase(productId: "coins", transactionId: "3", productType: .consumable),
        ]
        let resolved = MappingSupport.map(purchases).transactions.map(\.payload)
        let ofReceipt = StatedSubscriptions(LegacyReceipt.app(AppReceipt(inAppPurchases: purchases)))
        #expect(ofReceipt == StatedSubscriptions(resolved))
        #expect(ofReceipt == StatedSubscriptions([payload("month", expires: 1)]))
        let transaction = TransactionReceipt(productId: "month", transactionId: "1", expiresDate: 1)
        #expect(StatedSubscriptions(LegacyReceipt.transaction(transaction)) == ofReceipt)
        #expect(StatedSubscriptions(nil) == StatedSubscriptions([]))
    }
}
