import AppStoreModels
import AppStoreSandbox
import Purchases
import Testing

struct PlanTests {
    @Test("An upgrade takes effect at once: DID_CHANGE_RENEWAL_PREF with UPGRADE, and the old period is upgraded")
    func upgrade() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        shop.pass(Shop.minute)
        _ = shop.takeNotifications()
        let upgraded = try shop.engine.changePlan(bought.id, to: Sold.premium, at: shop.now)
        #expect(shop.takeNotifications() == ["DID_CHANGE_RENEWAL_PREF/UPGRADE"])
        #expect(upgraded.payload.productId == Sold.premium && upgraded.originalId == bought.id)
        #expect(upgraded.payload.purchaseDate == shop.now)
        #expect(try shop.engine.transaction(bought.id).payload.isUpgraded == true)
        #expect(try shop.engine.transaction(bought.id).payload.revocationDate == nil)
    }

    @Test("A downgrade takes effect at the next renewal: DOWNGRADE")
    func downgrade() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.premium)
        _ = shop.takeNotifications()
        _ = try shop.engine.changePlan(bought.id, to: Sold.basic, at: shop.now)
        let events = shop.engine.takeEvents()
        #expect(events.map(\.name) == ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE"])
        #expect(events.first?.renewalInfo?.autoRenewProductId == Sold.basic)
        #expect(events.first?.renewalInfo?.productId == Sold.premium)
        #expect(events.first?.renewalInfo?.renewalPrice == 4_990)
        shop.pass(Shop.monthly)
        let renewed = shop.engine.takeEvents()
        #expect(renewed.map(\.name) == ["DID_RENEW"])
        #expect(renewed.first?.transaction?.productId == Sold.basic && renewed.first?.transaction?.price == 4_990)
    }

    @Test("A pending downgrade is taken back by choosing the current product: DID_CHANGE_RENEWAL_PREF without subtype")
    func downgradeTakenBack() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.premium)
        _ = try shop.engine.changePlan(bought.id, to: Sold.basic, at: shop.now)
        _ = shop.takeNotifications()
        _ = try shop.engine.changePlan(bought.id, to: Sold.premium, at: shop.now)
        #expect(shop.takeNotifications() == ["DID_CHANGE_RENEWAL_PREF"])
        #expect(try shop.subscription(bought.id).autoRenewProductId == Sold.premium)
    }

    @Test("A crossgrade to the same length takes effect at once, to another length at the next renewal")
    func crossgrade() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        _ = shop.takeNotifications()
        _ = try shop.engine.changePlan(bought.id, to: Sold.basicYear, at: shop.now)
        #expect(shop.takeNotifications() == ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE"])

        let month = try #require(Sold.month)
        let twins = ["a", "b"].map {
            SandboxProduct(id: $0, type: .autoRenewableSubscription, period: month, group: "g", level: 1)
        }
        var engine = SandboxEngine(
            configuration: SandboxConfiguration(), catalog: SandboxCatalog(twins), now: Shop.opening)
        let first = try engine.buy(SandboxOrder(customer: "ada", productId: "a"), at: Shop.opening)
        _ = engine.takeEvents()
        _ = try engine.changePlan(first.id, to: "b", at: Shop.opening)
        #expect(engine.takeEvents().map(\.name) == ["DID_CHANGE_RENEWAL_PREF/UPGRADE"])
    }

    @Test("Buying another product of the group while subscribed changes the plan")
    func buyingIsChanging() throws {
        var shop = try Shop()
        try shop.buy(Sold.basic)
        _ = shop.takeNotifications()
        try shop.buy(Sold.premium)
        #expect(shop.takeNotifications() == ["DID_CHANGE_RENEWAL_PREF/UPGRADE"])
    }

    @Test("A plan of another group, or after the end, is refused")
    func refusals() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        #expect(refusal { _ = try shop.engine.changePlan(bought.id, to: Sold.solo, at: shop.now) } == .notPossible)
        shop.pass(100 * Shop.monthly)
        #expect(refusal { _ = try shop.engine.changePlan(bought.id, to: Sold.premium, at: shop.now) } == .notPossible)
    }
}
