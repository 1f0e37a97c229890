import AppStoreModels
import LegacyReceipts
import Purchases
import Testing

@Suite("Auto-renewable subscriptions in receipts")
struct AutoRenewableReceiptTests {
    private func receipt(_ purchases: InAppPurchase...) -> LegacyReceipt {
        .app(AppReceipt(inAppPurchases: purchases))
    }

    private func purchase(
        _ type: ReceiptProductType? = nil, expires: Int64? = nil, orderLine: Int64? = nil
    ) -> InAppPurchase {
        InAppPurchase(
            productId: "p", transactionId: "1", productType: type, expiresDate: expires, webOrderLineItemId: orderLine)
    }

    @Test("The type decides, else the end; an order line alone is no subscription, as in the reply")
    func rule() {
        #expect(receipt(purchase(.autoRenewableSubscription)).hasAutoRenewable)
        #expect(receipt(purchase(expires: 1)).hasAutoRenewable)
        #expect(receipt(purchase(.consumable), purchase(expires: 1)).hasAutoRenewable)
        #expect(!receipt(purchase(.nonRenewingSubscription, expires: 1)).hasAutoRenewable)
        #expect(!receipt(purchase(orderLine: 7)).hasAutoRenewable)
        #expect(!receipt(purchase(), purchase(.nonConsumable)).hasAutoRenewable)
        #expect(!receipt().hasAutoRenewable)
    }

    @Test("A transaction receipt has one if it has an end")
    func transactionReceipt() {
        func receipt(expires: Int64?) -> LegacyReceipt {
            .transaction(TransactionReceipt(productId: "p", transactionId: "1", expiresDate: expires))
        }
        #expect(receipt(expires: 1).hasAutoRenewable)
        #expect(!receipt(expires: nil).hasAutoRenewable)
    }

    @Test("The receipt of a reply has one if a purchase in it has an end")
    func reply() throws {
        func answer(_ json: String) throws -> Bool {
            ReplyPurchases.receiptHasAutoRenewable(try #require(try JSONValue.parse(Array(json.utf8)).object))
        }
        #expect(try answer(#"{"receipt":{"in_app":[{},{"expires_date_ms":"1"}]}}"#))
        #expect(try answer(#"{"receipt":{"in_app":[{"expires_date":"2024-01-01 00:00:00 Etc/GMT"}]}}"#))
        let latest = #""latest_receipt_info":[{"expires_date_ms":"1"}]"#
        #expect(try !answer(#"{"receipt":{"in_app":[{"product_id":"p"}]},\#(latest)}"#))
        #expect(try !answer("{}"))
    }
}
