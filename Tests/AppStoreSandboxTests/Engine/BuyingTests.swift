import AppStoreModels
import AppStoreSandbox
import Testing

struct BuyingTests {
    @Test(
        "A one-time purchase of each type sends ONE_TIME_CHARGE",
        arguments: [
            (Sold.coins, ProductType.consumable), (Sold.unlock, .nonConsumable),
            (Sold.season, .nonRenewingSubscription),
        ])
    func oneTime(product: String, type: ProductType) throws {
        var shop = try Shop()
        let bought = try shop.buy(product)
        #expect(shop.takeNotifications() == ["ONE_TIME_CHARGE"])
        #expect(bought.payload.type == type)
        #expect(bought.payload.transactionId == bought.payload.originalTransactionId)
        #expect(bought.payload.transactionReason == .purchase)
        #expect(bought.payload.expiresDate == nil && bought.payload.webOrderLineItemId == nil)
    }

    @Test("A first subscription sends SUBSCRIBED with INITIAL_BUY and lasts a month of five minutes")
    func subscription() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["SUBSCRIBED/INITIAL_BUY"])
        #expect(bought.payload.expiresDate == shop.now + Shop.monthly)
        #expect(bought.payload.price == 4_990 && bought.payload.currency == "USD")
        #expect(events.first?.renewalInfo?.autoRenewStatus == .on)
        #expect(events.first?.renewalInfo?.renewalPrice == 4_990)
        #expect(events.first?.status == .active)
    }

    @Test("A free subscription of Newsstand is bought like a non-renewing one")
    func freeSubscription() throws {
        var product = SandboxProduct(id: "com.example.app.news", type: .nonRenewingSubscription)
        product.isFreeSubscription = true
        var engine = SandboxEngine(
            configuration: SandboxConfiguration(), catalog: SandboxCatalog([product]), now: Shop.opening)
        let bought = try engine.buy(SandboxOrder(customer: "ada", productId: product.id), at: Shop.opening)
        #expect(engine.takeEvents().map(\.name) == ["ONE_TIME_CHARGE"])
        #expect(bought.payload.price == nil)
    }

    @Test("Consumables can be bought again and several at once, non-consumables and subscriptions cannot")
    func again() throws {
        var shop = try Shop()
        let first = try shop.buy(Sold.coins)
        let order = SandboxOrder(customer: "ada", productId: Sold.coins, quantity: 3)
        let three = try shop.engine.buy(order, at: shop.now)
        #expect(first.id != three.id && three.payload.quantity == 3 && three.payload.price == 2_970)
        try shop.buy(Sold.unlock)
        #expect(refusal { try shop.buy(Sold.unlock) } == .alreadyOwned)
        try shop.buy(Sold.basic)
        #expect(refusal { try shop.buy(Sold.basic) } == .alreadyOwned)
    }

    @Test("An impossible purchase is rejected with its reason")
    func refusals() throws {
        var shop = try Shop()
        #expect(refusal { try shop.buy("com.example.app.nothing") } == .unknownProduct)
        try shop.engine.setForSale(Sold.coins, false, at: shop.now)
        #expect(refusal { try shop.buy(Sold.coins) } == .unknownProduct)
        #expect(refusal { try shop.buy(Sold.unlock, .offerCode("SPRING")) } == .unknownOffer)
        let orders = [
            SandboxOrder(customer: "", productId: Sold.season),
            SandboxOrder(customer: "ada", productId: Sold.season, quantity: 0),
            SandboxOrder(customer: "ada", productId: Sold.basic, quantity: 2),
            SandboxOrder(customer: "ada", productId: Sold.season, appAccountToken: "me"),
        ]
        for order in orders {
            #expect(refusal { _ = try shop.engine.buy(order, at: shop.now) } == .invalidRequest)
        }
        #expect(shop.takeNotifications().isEmpty)
    }

    @Test(
        "Transaction ids of the sandbox have 16 digits and begin with 200; those of production have 15; later ones are greater"
    )
    func ids() throws {
        for (environment, count, head) in [(Environment.sandbox, 16, "200"), (.production, 15, "47")] {
            var shop = try Shop {
                $0.environment = environment
                $0.seed = 9_999_999
            }
            let first = try shop.buy(Sold.coins).id
            let second = try shop.buy(Sold.coins).id
            #expect(first.count == count && first.hasPrefix(head) && first < second)
        }
    }

    @Test("The same actions with the same seed give the same identifiers and events, another seed gives others")
    func determinism() throws {
        func events(seed: UInt64) throws -> [String] {
            var shop = try Shop { $0.seed = seed }
            let bought = try shop.buy(Sold.basic, .automatic)
            shop.pass(30 * Shop.minute)
            try shop.engine.refund(try shop.subscription(bought.id).transactionId, at: shop.now)
            return shop.engine.takeEvents().map { "\($0.uuid) \($0.name) \($0.transaction.debugDescription)" }
        }
        let first = try events(seed: 7)
        #expect(try first == events(seed: 7))
        #expect(try first != events(seed: 8))
        #expect(first.count > 4)
    }

    @Test("Buying after the end resubscribes under the same original transaction id")
    func resubscribe() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        try shop.engine.cancel(bought.id, at: shop.now)
        shop.pass(Shop.monthly)
        _ = shop.takeNotifications()
        let again = try shop.buy(Sold.premium)
        #expect(shop.takeNotifications() == ["SUBSCRIBED/RESUBSCRIBE"])
        #expect(again.originalId == bought.id && again.id != bought.id)
        #expect(again.payload.productId == Sold.premium)
        #expect(again.payload.originalPurchaseDate == bought.payload.purchaseDate)
        #expect(try shop.subscription(bought.id).status == .active)
    }
}
