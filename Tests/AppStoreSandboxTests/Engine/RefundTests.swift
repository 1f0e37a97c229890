import AppStoreModels
import AppStoreSandbox
import Purchases
import Testing

struct RefundTests {
    @Test("A refund of the current period ends the subscription and switches renewal off: REFUND")
    func refund() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        _ = shop.takeNotifications()
        try shop.engine.refund(bought.id, reason: .issueWithinApp, at: shop.now)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["REFUND", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"])
        let payload = try #require(events.first?.transaction)
        #expect(payload.revocationDate == shop.now && payload.revocationReason == .issueWithinApp)
        #expect(payload.revocationType == .refundFull && payload.revocationPercentage == 100_000)
        #expect(events.first?.status == .revoked)
        shop.pass(10 * Shop.monthly)
        #expect(shop.takeNotifications().isEmpty)
        #expect(refusal { try shop.engine.refund(bought.id, at: shop.now) } == .notPossible)
    }

    @Test("A refund of an earlier period leaves the current one alone")
    func earlierPeriod() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        shop.pass(Shop.monthly)
        _ = shop.takeNotifications()
        try shop.engine.refund(bought.id, at: shop.now)
        #expect(shop.takeNotifications() == ["REFUND"])
        #expect(try shop.subscription(bought.id).status == .active)
    }

    @Test("A refund in part is REFUND_PRORATED with its percentage")
    func prorated() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.coins)
        try shop.engine.refund(bought.id, percentage: 25_000, at: shop.now)
        let payload = try shop.engine.transaction(bought.id).payload
        #expect(payload.revocationType == .refundProrated && payload.revocationPercentage == 25_000)
        #expect(
            refusal { try shop.engine.refund(try shop.buy(Sold.coins).id, percentage: 0, at: shop.now) }
                == .invalidRequest)
    }

    @Test("Asking for a refund gives CONSUMPTION_REQUEST, and after twelve hours of the pace it is granted")
    func request() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.coins)
        _ = shop.takeNotifications()
        try shop.engine.requestRefund(bought.id, reason: .unintendedPurchase, at: shop.now)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["CONSUMPTION_REQUEST"])
        #expect(events.first?.consumptionRequestReason == .unintendedPurchase)
        shop.pass(4_999)
        #expect(shop.takeNotifications().isEmpty)
        shop.pass(1)
        #expect(shop.takeNotifications() == ["REFUND"])
    }

    @Test("A requested refund can be declined: REFUND_DECLINED")
    func declined() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.unlock)
        #expect(refusal { try shop.engine.declineRefund(bought.id, at: shop.now) } == .notPossible)
        try shop.engine.requestRefund(bought.id, reason: .other, at: shop.now)
        #expect(refusal { try shop.engine.requestRefund(bought.id, reason: .other, at: shop.now) } == .notPossible)
        _ = shop.takeNotifications()
        try shop.engine.declineRefund(bought.id, at: shop.now)
        shop.pass(Shop.monthly)
        #expect(shop.takeNotifications() == ["REFUND_DECLINED"])
        #expect(try shop.engine.transaction(bought.id).isRevoked == false)
    }

    @Test("A refund that is reversed restores the period: REFUND_REVERSED")
    func reversed() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        try shop.engine.refund(bought.id, at: shop.now)
        _ = shop.takeNotifications()
        try shop.engine.reverseRefund(bought.id, at: shop.now)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["REFUND_REVERSED"])
        #expect(events.first?.transaction?.revocationDate == nil && events.first?.status == .active)
        shop.pass(Shop.monthly)
        #expect(shop.takeNotifications() == ["EXPIRED/VOLUNTARY"])
    }

    @Test("A reversed refund makes its period the current one again if it ends after the periods bought since")
    func reversedEarlierPeriod() throws {
        var shop = try Shop()
        let year = try shop.buy(Sold.basicYear)
        try shop.engine.refund(year.id, at: shop.now)
        shop.pass(1)
        let month = try shop.buy(Sold.basic)
        shop.pass(1)
        try shop.engine.refund(month.id, at: shop.now)
        #expect(try shop.subscription(year.id).status == .revoked)
        try shop.engine.reverseRefund(year.id, at: shop.now)
        let subscription = try shop.subscription(year.id)
        #expect(subscription.status == .active && subscription.transactionId == year.id)
        #expect(subscription.productId == Sold.basicYear && subscription.expiresDate == year.payload.expiresDate)
        _ = shop.takeNotifications()
        shop.pass(13 * Shop.monthly)
        #expect(shop.takeNotifications() == ["EXPIRED/VOLUNTARY"])
    }

    @Test("A reversed refund restores a period that runs after the periods bought since have expired")
    func reversedAfterExpiry() throws {
        var shop = try Shop()
        let year = try shop.buy(Sold.basicYear)
        try shop.engine.refund(year.id, at: shop.now)
        shop.pass(1)
        try shop.buy(Sold.basic)
        try shop.engine.cancel(year.id, at: shop.now)
        shop.pass(2 * Shop.monthly)
        #expect(try shop.subscription(year.id).status == .expired)
        try shop.engine.reverseRefund(year.id, at: shop.now)
        #expect(try shop.subscription(year.id).status == .active)
    }

    @Test("A refund of the current period leaves the subscription active while an earlier period runs")
    func refundWhileAnotherRuns() throws {
        var shop = try Shop()
        let first = try shop.buy(Sold.basic)
        try shop.engine.refund(first.id, at: shop.now)
        shop.pass(Shop.minute)
        let second = try shop.buy(Sold.basic)
        try shop.engine.reverseRefund(first.id, at: shop.now)
        #expect(try shop.subscription(first.id).transactionId == second.id)
        try shop.engine.refund(second.id, at: shop.now)
        let subscription = try shop.subscription(first.id)
        #expect(subscription.status == .active && subscription.transactionId == first.id)
        #expect(!subscription.isAutoRenewOn)
    }

    @Test("After a reversed refund the highest level decides, and the longer period follows without a charge")
    func reversedHigherLevel() throws {
        var shop = try Shop()
        let premium = try shop.buy(Sold.premium)
        try shop.engine.refund(premium.id, at: shop.now)
        shop.pass(1)
        let year = try shop.buy(Sold.basicYear)
        shop.pass(1)
        try shop.engine.reverseRefund(premium.id, at: shop.now)
        #expect(try shop.subscription(premium.id).productId == Sold.premium)
        #expect(try shop.subscription(premium.id).expiresDate == premium.payload.expiresDate)
        _ = shop.takeNotifications()
        shop.pass(Shop.monthly)
        let subscription = try shop.subscription(premium.id)
        #expect(subscription.status == .active && subscription.transactionId == year.id)
        #expect(subscription.expiresDate == year.payload.expiresDate)
        #expect(shop.takeNotifications() == [])
        shop.pass(12 * Shop.monthly)
        #expect(shop.takeNotifications() == ["DID_RENEW"])
    }

    @Test("The current period is the one that decides among the resolved purchases, also if two end together")
    func decidingPeriod() throws {
        var shop = try Shop()
        let year = try shop.buy(Sold.basicYear)
        try shop.engine.refund(year.id, at: shop.now)
        shop.pass(55 * Shop.minute)
        let month = try shop.buy(Sold.basic)
        #expect(month.payload.expiresDate == year.payload.expiresDate)
        func expectCurrent(_ transaction: SandboxTransaction) throws {
            let subscription = try shop.subscription(year.id)
            #expect(subscription.status == .active && subscription.transactionId == transaction.id)
            let transactions = shop.engine.transactions(of: try shop.engine.customer("ada")).map(\.payload)
            let resolved = PurchaseHistory(transactions: transactions).subscriptions(at: shop.now)
            #expect(resolved.map(\.transactionId) == [transaction.id])
        }
        try shop.engine.reverseRefund(year.id, at: shop.now)
        try expectCurrent(month)
        try shop.engine.refund(month.id, at: shop.now)
        try expectCurrent(year)
        // Of two periods that end together, the one that began last decides, no matter which refund was reversed first.
        try shop.engine.reverseRefund(month.id, at: shop.now)
        try expectCurrent(month)
    }

    @Test("A refunded non-consumable can be bought again")
    func buyAgain() throws {
        var shop = try Shop()
        try shop.engine.refund(try shop.buy(Sold.unlock).id, at: shop.now)
        #expect(refusal { try shop.buy(Sold.unlock) } == nil)
    }
}
