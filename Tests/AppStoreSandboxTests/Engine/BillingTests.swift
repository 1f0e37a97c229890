import AppStoreModels
import AppStoreSandbox
import Testing

struct BillingTests {
    /// A day in the sandbox's pace: 10 seconds.
    private let day: Int64 = 10_000

    private func failing(grace: Int64?) throws -> (Shop, String) {
        var shop = try Shop { $0.gracePeriodDays = grace }
        let bought = try shop.buy(Sold.basic)
        try shop.engine.failBilling(bought.id, at: shop.now)
        _ = shop.takeNotifications()
        shop.pass(Shop.monthly)
        return (shop, bought.id)
    }

    @Test(
        "A failed charge without grace period: DID_FAIL_TO_RENEW, billing retry, EXPIRED with BILLING_RETRY after 60 days"
    )
    func retry() throws {
        var (shop, id) = try failing(grace: nil)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["DID_FAIL_TO_RENEW"])
        #expect(events.first?.status == .billingRetry)
        #expect(events.first?.renewalInfo?.isInBillingRetryPeriod == true)
        #expect(events.first?.renewalInfo?.expirationIntent == .billingError)
        shop.pass(60 * day - 1)
        #expect(shop.takeNotifications().isEmpty)
        shop.pass(1)
        #expect(shop.takeNotifications() == ["EXPIRED/BILLING_RETRY"])
        #expect(try shop.subscription(id).phase == .expired(.billingError))
    }

    @Test(
        "A failed charge with grace period: DID_FAIL_TO_RENEW with GRACE_PERIOD, then GRACE_PERIOD_EXPIRED, then EXPIRED"
    )
    func grace() throws {
        var (shop, id) = try failing(grace: 16)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["DID_FAIL_TO_RENEW/GRACE_PERIOD"])
        #expect(events.first?.status == .billingGracePeriod)
        let expires = try shop.subscription(id).expiresDate
        #expect(events.first?.renewalInfo?.gracePeriodExpiresDate == expires + 16 * day)
        shop.pass(16 * day)
        #expect(shop.takeNotifications() == ["GRACE_PERIOD_EXPIRED"])
        #expect(try shop.subscription(id).status == .billingRetry)
        shop.pass(44 * day)
        #expect(shop.takeNotifications() == ["EXPIRED/BILLING_RETRY"])
    }

    @Test("Recovery within the grace period continues the period without a gap: DID_RENEW with BILLING_RECOVERY")
    func recoveryInGrace() throws {
        var (shop, id) = try failing(grace: 16)
        let ended = try shop.subscription(id).expiresDate
        _ = shop.takeNotifications()
        shop.pass(day)
        try shop.engine.recoverBilling(id, at: shop.now)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["DID_RENEW/BILLING_RECOVERY"])
        #expect(events.first?.transaction?.purchaseDate == ended)
        #expect(events.first?.status == .active && events.first?.renewalInfo?.expirationIntent == nil)
    }

    @Test("Recovery in billing retry begins a period at the recovery")
    func recoveryInRetry() throws {
        var (shop, id) = try failing(grace: nil)
        shop.pass(3 * day)
        _ = shop.takeNotifications()
        try shop.engine.recoverBilling(id, at: shop.now)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["DID_RENEW/BILLING_RECOVERY"])
        #expect(events.first?.transaction?.purchaseDate == shop.now)
        #expect(events.first?.transaction?.expiresDate == shop.now + Shop.monthly)
    }

    @Test("Buying the same product again while it is unpaid recovers it")
    func buyingAgain() throws {
        var (shop, _) = try failing(grace: nil)
        _ = shop.takeNotifications()
        try shop.buy(Sold.basic)
        #expect(shop.takeNotifications() == ["DID_RENEW/BILLING_RECOVERY"])
    }

    @Test("Cancelling while unpaid ends the subscription at once")
    func cancelling() throws {
        var (shop, id) = try failing(grace: 16)
        _ = shop.takeNotifications()
        try shop.engine.cancel(id, at: shop.now)
        #expect(shop.takeNotifications() == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY"])
    }
}
