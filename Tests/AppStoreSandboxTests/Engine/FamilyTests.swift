import AppStoreModels
import AppStoreSandbox
import Testing

struct FamilyTests {
    private func shared() throws -> (shop: Shop, own: String, copy: String) {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic)
        try shop.engine.makeFamily(["ada", "bob"], at: shop.now)
        let bob = try shop.engine.customer("bob")
        return (shop, bought.id, try #require(bob.transactionIds.first))
    }

    @Test("The family gets a shareable subscription: SUBSCRIBED with INITIAL_BUY, FAMILY_SHARED, ids of its own")
    func shares() throws {
        var (shop, own, copy) = try shared()
        #expect(shop.takeNotifications() == ["SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/INITIAL_BUY"])
        let payload = try shop.engine.transaction(copy).payload
        #expect(payload.inAppOwnershipType == .familyShared && payload.originalTransactionId != own)
        #expect(payload.appAccountToken == nil)
        #expect(payload.expiresDate == (try shop.engine.transaction(own).payload.expiresDate))
        #expect(payload.appTransactionId == (try shop.engine.customer("bob").appTransactionId))
    }

    @Test("A copy renews and ends with the purchaser's")
    func follows() throws {
        var (shop, own, copy) = try shared()
        _ = shop.takeNotifications()
        shop.pass(Shop.monthly)
        #expect(shop.takeNotifications() == ["DID_RENEW", "DID_RENEW"])
        try shop.engine.cancel(own, at: shop.now)
        shop.pass(Shop.monthly)
        #expect(
            shop.takeNotifications() == [
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY", "EXPIRED/VOLUNTARY",
            ])
        #expect(try shop.subscription(copy).status == .expired)
    }

    @Test("A refund of the purchase revokes the copies: REVOKE with FAMILY_REVOKE")
    func refund() throws {
        var (shop, own, copy) = try shared()
        _ = shop.takeNotifications()
        try shop.engine.refund(own, at: shop.now)
        #expect(shop.takeNotifications() == ["REFUND", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "REVOKE"])
        #expect(try shop.engine.transaction(copy).payload.revocationType == .familyRevoke)
        #expect(try shop.subscription(copy).status == .revoked)
    }

    @Test("A member who leaves the family loses the copies")
    func leaving() throws {
        var (shop, own, copy) = try shared()
        _ = shop.takeNotifications()
        try shop.engine.leaveFamily("bob", at: shop.now)
        #expect(shop.takeNotifications() == ["REVOKE"])
        #expect(try shop.engine.transaction(copy).isRevoked && !shop.engine.transaction(own).isRevoked)
        shop.pass(Shop.monthly)
        #expect(shop.takeNotifications() == ["DID_RENEW"])
    }

    @Test("A non-consumable bought later is shared at once: ONE_TIME_CHARGE for each")
    func nonConsumable() throws {
        var (shop, _, _) = try shared()
        _ = shop.takeNotifications()
        try shop.buy(Sold.unlock)
        try shop.buy(Sold.coins)
        #expect(shop.takeNotifications() == ["ONE_TIME_CHARGE", "ONE_TIME_CHARGE", "ONE_TIME_CHARGE"])
    }

    @Test("A copy can neither be cancelled nor refunded, nor bought again")
    func refusals() throws {
        var (shop, _, copy) = try shared()
        #expect(refusal { try shop.engine.cancel(copy, at: shop.now) } == .notPossible)
        #expect(refusal { try shop.engine.refund(copy, at: shop.now) } == .notPossible)
        #expect(refusal { try shop.buy(Sold.basic, by: "bob") } == .alreadyOwned)
        #expect(refusal { try shop.engine.makeFamily(["bob", "cy"], at: shop.now) } == .notPossible)
    }
}
