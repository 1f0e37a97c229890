import AppStoreModels
import AppStoreSandbox
import ProductCatalog
import Testing

struct RenewalTests {
    @Test("A subscription renews at the end of each period: DID_RENEW")
    func renews() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        _ = shop.takeNotifications()
        shop.pass(Shop.monthly - 1)
        #expect(shop.takeNotifications().isEmpty)
        shop.pass(1)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["DID_RENEW"])
        let renewed = try #require(events.first?.transaction)
        #expect(renewed.originalTransactionId == bought.id && renewed.transactionId != bought.id)
        #expect(renewed.transactionReason == .renewal)
        #expect(renewed.purchaseDate == bought.payload.expiresDate)
        #expect(renewed.expiresDate == bought.payload.expiresDate.map { $0 + Shop.monthly })
        #expect(events.first?.date == renewed.purchaseDate)
    }

    @Test("After six renewals the sandbox ends a subscription: EXPIRED with VOLUNTARY")
    func sixRenewals() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        shop.pass(100 * Shop.monthly)
        #expect(
            shop.takeNotifications() == ["SUBSCRIBED/INITIAL_BUY"] + Array(repeating: "DID_RENEW", count: 6) + [
                "EXPIRED/VOLUNTARY"
            ])
        #expect(try shop.subscription(bought.id).phase == .expired(.cancelled))
        #expect(try shop.subscription(bought.id).expiresDate == Shop.opening + 7 * Shop.monthly)
    }

    @Test("Without a maximum a subscription continues")
    func noMaximum() throws {
        var shop = try Shop { $0.maximumRenewals = nil }
        try shop.buy(Sold.basic)
        shop.pass(100 * Shop.monthly)
        #expect(shop.takeNotifications().count == 101)
    }

    @Test(
        "Periods last as in Apple's table",
        arguments: [
            ("P3D", 2), ("P1W", 3), ("P1M", 5), ("P2M", 10), ("P3M", 15), ("P6M", 30), ("P1Y", 60),
        ] as [(String, Int64)])
    func table(period: String, minutes: Int64) throws {
        let product = SandboxProduct(
            id: "x", type: .autoRenewableSubscription, period: SubscriptionPeriod(iso8601: period), group: "g")
        var engine = SandboxEngine(
            configuration: SandboxConfiguration(), catalog: SandboxCatalog([product]), now: Shop.opening)
        let bought = try engine.buy(SandboxOrder(customer: "ada", productId: "x"), at: Shop.opening)
        #expect(bought.payload.expiresDate == Shop.opening + minutes * Shop.minute)
    }

    @Test("In real time a month is the calendar's, and any factor divides it")
    func accelerated() throws {
        for factor in [1, 60] as [Int64] {
            var shop = try Shop { $0.pace = .accelerated(by: factor) }
            let bought = try shop.buy(Sold.basic)
            #expect(bought.payload.expiresDate == Shop.opening + 31 * 86_400_000 / factor)
        }
    }

    @Test("Cancelling switches renewal off, and the subscription runs to its end: EXPIRED with VOLUNTARY")
    func cancel() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        _ = shop.takeNotifications()
        try shop.engine.cancel(bought.id, at: shop.now)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"])
        #expect(events.first?.renewalInfo?.autoRenewStatus == .off && events.first?.status == .active)
        shop.pass(Shop.monthly)
        let ended = shop.engine.takeEvents()
        #expect(ended.map(\.name) == ["EXPIRED/VOLUNTARY"])
        #expect(ended.first?.renewalInfo?.expirationIntent == .cancelled && ended.first?.status == .expired)
    }

    @Test("Renewal can be switched on again before the end: AUTO_RENEW_ENABLED")
    func enable() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        try shop.engine.cancel(bought.id, at: shop.now)
        _ = shop.takeNotifications()
        try shop.engine.enableAutoRenewal(bought.id, at: shop.now)
        shop.pass(Shop.monthly)
        #expect(shop.takeNotifications() == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "DID_RENEW"])
        #expect(refusal { try shop.engine.enableAutoRenewal(bought.id, at: shop.now) } == .notPossible)
    }

    @Test("A product that is not for sale at renewal ends the subscription: EXPIRED with PRODUCT_NOT_FOR_SALE")
    func notForSale() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        try shop.engine.setForSale(Sold.basic, false, at: shop.now)
        _ = shop.takeNotifications()
        shop.pass(Shop.monthly)
        #expect(shop.takeNotifications() == ["EXPIRED/PRODUCT_NOT_FOR_SALE"])
        #expect(try shop.subscription(bought.id).phase == .expired(.productUnavailable))
    }

    @Test("The time never goes back")
    func monotonous() throws {
        var shop = try Shop()
        shop.pass(Shop.monthly)
        shop.engine.advance(to: Shop.opening)
        #expect(shop.engine.now == Shop.opening + Shop.monthly)
    }

    @Test("Events at one time of a stopped clock are signed at different dates, in order")
    func signingDates() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        try shop.engine.cancel(bought.id, at: shop.now)
        try shop.engine.refund(bought.id, at: shop.now)
        let dates = shop.engine.takeEvents().map(\.date)
        #expect(dates == dates.sorted() && Set(dates).count == 3)
        #expect(shop.engine.signingDate >= dates[2] && shop.engine.now == shop.now)
    }
}
