import AppStoreModels
import ProductCatalog
import Purchases
import Testing

@Suite("Standing of a product")
struct ProductStandingTests {
    private typealias Samples = OfferSamples

    private func standings(
        _ transactions: [JWSTransactionDecodedPayload], _ infos: [JWSRenewalInfoDecodedPayload] = [], at date: Int64
    ) -> [String: ProductStanding] {
        let standings = Samples.history(transactions, infos).productStandings(at: date)
        return Dictionary(standings.map { ($0.productId, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func premium(
        _ transactions: [JWSTransactionDecodedPayload], _ infos: [JWSRenewalInfoDecodedPayload] = [], at date: Int64
    ) throws -> ProductStanding {
        try #require(standings(transactions, infos, at: date)["premium"])
    }

    /// Billing failed at the end of the first month; the grace period lasts six days.
    private let retry = JWSRenewalInfoDecodedPayload {
        $0.originalTransactionId = "original"
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = OfferSamples.month(1) + 6 * OfferSamples.day
        $0.signedDate = OfferSamples.month(1) + 1
    }

    @Test("While a period is current, the access has not ended")
    func active() throws {
        let standing = try premium([Samples.period(0, 1)], at: Samples.month(1) - 1)
        #expect(standing.hasEnded == false && standing.isBillingRetried == false)
        #expect(!standing.isSubscriptionOver && standing.endReason == nil)
    }

    @Test("A product was bought at its original purchase, and renewed when its period began, if that was later")
    func dates() throws {
        func standing(original: Int64?, purchase: Int64?, type: ProductType) throws -> ProductStanding {
            let payload = Samples.period(2, 3) {
                $0.originalPurchaseDate = original
                $0.purchaseDate = purchase
                $0.type = type
                if type != .autoRenewableSubscription { $0.expiresDate = nil }
            }
            return try premium([payload], at: Samples.month(2))
        }
        let (first, date) = (Samples.month(0), Samples.month(2))
        let renewed = try standing(original: first, purchase: date, type: .autoRenewableSubscription)
        #expect(renewed.bought == first && renewed.renewed == date)
        let begun = try standing(original: date, purchase: date, type: .autoRenewableSubscription)
        #expect(begun.bought == date && begun.renewed == nil)
        let undated = try standing(original: nil, purchase: date, type: .autoRenewableSubscription)
        #expect(undated.bought == date && undated.renewed == nil)
        // A restored purchase has a date of its own, and was not renewed.
        let restored = try standing(original: first, purchase: date, type: .nonConsumable)
        #expect(restored.bought == first && restored.renewed == nil)
    }

    @Test("After the last period, the access and the subscription have ended")
    func expired() throws {
        let standing = try premium([Samples.period(0, 1)], at: Samples.month(1))
        #expect(standing.hasEnded == true && standing.isBillingRetried == nil)
        #expect(standing.isSubscriptionOver && standing.endReason == .expired)
    }

    @Test("Access continues in the grace period and ends in billing retry; the subscription continues in both")
    func billing() throws {
        let grace = try premium([Samples.period(0, 1)], [retry], at: Samples.month(1) + Samples.day)
        #expect(grace.hasEnded == false && grace.isBillingRetried == true)
        #expect(!grace.isSubscriptionOver && grace.endReason == nil)
        let later = try premium([Samples.period(0, 1)], [retry], at: Samples.month(1) + 7 * Samples.day)
        #expect(later.hasEnded == true && later.isBillingRetried == true)
        #expect(!later.isSubscriptionOver && later.endReason == nil)
    }

    @Test(
        "Access ends with the last subscription that gives it: a grace period after the current period of another one")
    func twoSubscriptions() throws {
        let shared = Samples.period(0, 1) {
            $0.originalTransactionId = "family"
            $0.transactionId = "family"
            $0.inAppOwnershipType = .familyShared
            $0.expiresDate = Samples.month(1) + 2 * Samples.day
        }
        let standing = try premium([Samples.period(0, 1), shared], [retry], at: Samples.month(1) + Samples.day)
        #expect(standing.status == .active && standing.hasEnded == false)
        #expect(standing.accessEnds == Samples.month(1) + 6 * Samples.day)
    }

    @Test("Of two products that a reversed refund leaves current, each has access until the end of its own period")
    func twoCurrentProducts() throws {
        // "basic" was refunded and "premium" bought again; then the refund was reversed.
        var history = Samples.history([Samples.period("basic", 0, 12), Samples.period("premium", 1, 2)])
        for levels in [("basic", "premium"), ("premium", "basic")] {
            history.products = [levels.0: .init(level: 1), levels.1: .init(level: 2)]
            let ends: [String: Int64?] = ["basic": Samples.month(12), "premium": Samples.month(2)]
            let both = history.productStandings(at: Samples.month(1) + Samples.day)
            #expect(Dictionary(uniqueKeysWithValues: both.map { ($0.productId, $0.accessEnds) }) == ends)
            #expect(both.allSatisfy { $0.status == .active && $0.hasEnded == false })
            #expect(both.map(\.transaction.transactionId) == ["t0", "t1"])
            // Only the period that decides has the renewal information.
            #expect(both.filter { $0.renewalInfo != nil }.map(\.productId).allSatisfy { $0 == levels.0 })
            let after = history.productStandings(at: Samples.month(2))
            #expect(Dictionary(uniqueKeysWithValues: after.map { ($0.productId, $0.accessEnds) }) == ends)
            #expect(after.map(\.hasEnded) == [false, true] && after.map(\.endReason) == [nil, .expired])
            #expect(after.allSatisfy { !$0.isSubscriptionOver })
        }
    }

    @Test("Many current products of one subscription take little time")
    func manyCurrentProducts() {
        // A search among the others for each product would compare 10^9 pairs.
        let periods = (0..<50_000).map { number in
            Samples.period("product \(number)", 0, 1) { $0.transactionId = "\(number)" }
        }
        let standings = Samples.history(periods).subscriptions(at: Samples.month(0) + Samples.day)
        #expect(standings.map(\.products.count) == [50_000])
    }

    @Test("A refund ends the access and the subscription")
    func revoked() throws {
        let refunded = Samples.period(0, 1) { $0.revocationDate = Samples.month(0) + Samples.day }
        let standing = try premium([refunded], at: Samples.month(0) + 2 * Samples.day)
        #expect(standing.hasEnded == true && standing.isBillingRetried == nil)
        #expect(standing.isSubscriptionOver && standing.endReason == .revoked)
    }

    @Test("A product that an upgrade replaced was replaced in any status, and its subscription continues")
    func replaced() throws {
        let found = standings(
            [
                Samples.period("basic", 0, 12) { $0.isUpgraded = true },
                Samples.period("premium", 1, 2),
            ], at: Samples.month(1) + Samples.day)
        let basic = try #require(found["basic"])
        #expect(basic.hasEnded == true && basic.endReason == .replaced && !basic.isSubscriptionOver)
        #expect(found["premium"]?.endReason == nil)
    }

    @Test("A consumable has no end unless it was refunded")
    func consumables() throws {
        let bought = Samples.period(0, 1) {
            $0.type = .consumable
            $0.expiresDate = nil
        }
        let standing = try premium([bought], at: Samples.month(1))
        #expect(standing.hasEnded == nil && standing.isBillingRetried == nil && standing.endReason == nil)
        #expect(!standing.isSubscriptionOver)
        var refunded = bought
        refunded.revocationDate = Samples.month(0) + 1
        let other = try premium([refunded], at: Samples.month(1))
        #expect(other.hasEnded == true && other.endReason == .revoked && !other.isSubscriptionOver)
    }

    @Test("A consumable is finished unless the newest app receipt contains it")
    func finishedConsumables() throws {
        func isFinished(
            _ type: ProductType?, _ source: FactSource, newestList: Int64?, catalog: ProductCatalog? = nil,
            expires: Int64? = nil
        ) -> Bool {
            let payload = JWSTransactionDecodedPayload {
                $0.transactionId = "1"
                $0.productId = "apple"
                $0.type = type
                $0.expiresDate = expires
            }
            let transaction = StoredTransaction(payload, origin: FactOrigin(source: source, signedDate: 5))
            return transaction.isFinishedConsumable(newestList: newestList, catalog: catalog)
        }
        #expect(!isFinished(.consumable, .receipt, newestList: 5))
        #expect(isFinished(.consumable, .receipt, newestList: 6))
        #expect(isFinished(.consumable, .receipt, newestList: nil))
        #expect(isFinished(.consumable, .signedTransaction, newestList: 5))
        #expect(!isFinished(.nonConsumable, .receipt, newestList: 6))
        // The catalog gives the type that a transaction receipt does not state.
        let catalog = try MappingSupport.catalog(MappingSupport.entry("apple") { $0.type = .consumable })
        #expect(!isFinished(nil, .receipt, newestList: 6))
        #expect(isFinished(nil, .receipt, newestList: 6, catalog: catalog))
        #expect(!isFinished(.nonConsumable, .receipt, newestList: 6, catalog: catalog))
        // Consumables do not expire, so the catalog is wrong.
        #expect(!isFinished(nil, .receipt, newestList: 6, catalog: catalog, expires: 9))
        #expect(
            !isFinished(.autoRenewableSubscription, .recordedStoreKit2, newestList: 6, catalog: catalog, expires: 9))
    }

    @Test("A cancellation from another document is a revocation, except of an upgraded or revoked period")
    func cancellation() {
        func entry(_ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }) -> PurchaseHistory.Entry {
            PurchaseHistory.Entry(Samples.period(0, 1, configure))
        }
        #expect(entry().cancelled(at: 5) == entry { $0.revocationDate = 5 })
        #expect(entry().cancelled(at: nil) == entry())
        let revoked = entry { $0.revocationDate = 3 }
        #expect(revoked.cancelled(at: 5) == revoked && revoked.cancelled(at: nil) == revoked)
        let upgraded = entry { $0.isUpgraded = true }
        #expect(upgraded.cancelled(at: 5) == upgraded)
    }
}
