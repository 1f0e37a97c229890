import AppStoreModels
import AppStoreSandbox
import Testing

struct PriceTests {
    private func raised(needsConsent: Bool) throws -> (Shop, String) {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        _ = shop.takeNotifications()
        try shop.engine.setPrice(Sold.basic, 6_990, needsConsent: needsConsent, at: shop.now)
        return (shop, bought.id)
    }

    @Test(
        "An increase that needs consent is PENDING; without an answer the subscription ends: EXPIRED with PRICE_INCREASE"
    )
    func unanswered() throws {
        var (shop, id) = try raised(needsConsent: true)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["PRICE_INCREASE/PENDING"])
        #expect(events.first?.renewalInfo?.priceIncreaseStatus == .pending)
        shop.pass(Shop.monthly)
        #expect(shop.takeNotifications() == ["EXPIRED/PRICE_INCREASE"])
        #expect(try shop.subscription(id).phase == .expired(.noConsentToPriceIncrease))
    }

    @Test("With consent the next renewal has the new price: ACCEPTED")
    func accepted() throws {
        var (shop, id) = try raised(needsConsent: true)
        _ = shop.takeNotifications()
        try shop.engine.answerPriceIncrease(id, accepted: true, at: shop.now)
        shop.pass(Shop.monthly)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
        #expect(events.first?.transaction?.price == 4_990 && events.last?.transaction?.price == 6_990)
        #expect(events.last?.renewalInfo?.priceIncreaseStatus == nil)
    }

    @Test("Refusing consent switches renewal off")
    func refused() throws {
        var (shop, id) = try raised(needsConsent: true)
        _ = shop.takeNotifications()
        try shop.engine.answerPriceIncrease(id, accepted: false, at: shop.now)
        #expect(shop.takeNotifications() == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"])
    }

    @Test("A price increase without consent sends ACCEPTED and applies at the next renewal")
    func notified() throws {
        var (shop, _) = try raised(needsConsent: false)
        shop.pass(Shop.monthly)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
        #expect(events.last?.transaction?.price == 6_990)
    }
}
