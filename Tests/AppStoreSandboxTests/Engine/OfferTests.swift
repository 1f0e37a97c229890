import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Testing

/// The developer's key in tests.
enum DeveloperKey {
    static let keyID = "TESTKEY123"
    static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"

    static func pem(seed: UInt64 = 42) throws -> String { try SandboxKey.privateKeyPEM(seed: seed) }
    static func known() throws -> SandboxKey {
        try SandboxKey(privateKeyPEM: try pem(), keyID: keyID, issuerID: issuerID)
    }
    static func signing(seed: UInt64 = 42) throws -> InAppPurchaseKey {
        try InAppPurchaseKey(pem: try pem(seed: seed), keyID: keyID, issuerID: issuerID)
    }
}

struct OfferTests {
    private let bundle = "com.example.app"

    private func subscribed() throws -> (Shop, SandboxTransaction) {
        let key = try DeveloperKey.known()
        var shop = try Shop { $0.key = key }
        let bought = try shop.buy(Sold.basic)
        _ = shop.takeNotifications()
        return (shop, bought)
    }

    @Test("A free trial is given once per group, and the next period costs the full price")
    func introductory() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic, .automatic)
        #expect(bought.payload.offerType == .introductory && bought.payload.offerIdentifier == nil)
        #expect(bought.payload.offerDiscountType == .freeTrial && bought.payload.offerPeriod == "P1W")
        #expect(bought.payload.price == 0 && bought.payload.expiresDate == shop.now + 3 * Shop.minute)
        shop.pass(3 * Shop.minute)
        let renewed = shop.engine.takeEvents().last
        #expect(renewed?.transaction?.price == 4_990 && renewed?.transaction?.offerType == nil)
        try shop.engine.cancel(bought.id, at: shop.now)
        shop.pass(Shop.monthly)
        let again = try shop.buy(Sold.premium, .automatic)
        #expect(again.payload.offerType == nil && again.payload.price == 9_990)
    }

    @Test("A promotional offer with a good signature, V1 and V2, is redeemed at the next renewal: OFFER_REDEEMED")
    func promotional() throws {
        for isV2 in [false, true] {
            var (shop, bought) = try subscribed()
            let redemption: SandboxOrder.Redemption
            if isV2 {
                let creator = PromotionalOfferV2SignatureCreator(key: try DeveloperKey.signing(), bundleID: bundle)
                let jws = try creator.createSignature(
                    productId: Sold.basic, offerIdentifier: "half", transactionId: bought.id)
                redemption = .promotionalV2(offerIdentifier: "half", signature: jws)
            } else {
                let creator = PromotionalOfferSignatureCreator(key: try DeveloperKey.signing(), bundleID: bundle)
                redemption = .promotionalV1(
                    try creator.createSignature(productId: Sold.basic, offerIdentifier: "half", timestamp: shop.now))
            }
            try shop.buy(Sold.basic, redemption)
            let events = shop.engine.takeEvents()
            #expect(events.map(\.name) == ["OFFER_REDEEMED"])
            #expect(events.first?.renewalInfo?.offerIdentifier == "half")
            #expect(events.first?.renewalInfo?.renewalPrice == 2_490)
            shop.pass(3 * Shop.monthly)
            let prices = shop.engine.takeEvents().map { $0.transaction?.price }
            #expect(prices == [2_490, 2_490, 4_990])
            #expect(refusal { try shop.buy(Sold.basic, redemption) } == .invalidSignature, "the nonce is used")
        }
    }

    @Test("A promotional offer with a wrong signature is refused")
    func wrongSignatures() throws {
        var (shop, bought) = try subscribed()
        let other = try shop.buy(Sold.coins, by: "bob").id
        let key = try DeveloperKey.signing()
        func v1(_ key: InAppPurchaseKey, _ bundle: String, _ product: String, _ time: Int64) throws
            -> SandboxOrder.Redemption
        {
            .promotionalV1(
                try PromotionalOfferSignatureCreator(key: key, bundleID: bundle).createSignature(
                    productId: product, offerIdentifier: "half", timestamp: time))
        }
        func v2(_ product: String, _ offer: String, _ id: String) throws -> SandboxOrder.Redemption {
            let creator = PromotionalOfferV2SignatureCreator(key: key, bundleID: bundle)
            let jws = try creator.createSignature(productId: product, offerIdentifier: offer, transactionId: id)
            return .promotionalV2(offerIdentifier: "half", signature: jws)
        }
        let wrong: [SandboxOrder.Redemption] = [
            try v1(try DeveloperKey.signing(seed: 43), bundle, Sold.basic, shop.now),
            try v1(key, "com.example.other", Sold.basic, shop.now),
            try v1(key, bundle, Sold.premium, shop.now),
            try v1(key, bundle, Sold.basic, shop.now - 86_400_001),
            try v2(Sold.premium, "half", bought.id), try v2(Sold.basic, "other", bought.id),
            try v2(Sold.basic, "half", other), .promotionalV2(offerIdentifier: "half", signature: "a.b.c"),
        ]
        for redemption in wrong {
            #expect(refusal { try shop.buy(Sold.basic, redemption) } == .invalidSignature)
        }
        shop.engine.advance(to: shop.now)
        #expect(try shop.subscription(bought.id).autoRenewProductId == Sold.basic)
    }

    @Test("A promotional offer is for those who have or had a subscription")
    func newCustomers() throws {
        let key = try DeveloperKey.known()
        var shop = try Shop { $0.key = key }
        let proof = try PromotionalOfferSignatureCreator(key: try DeveloperKey.signing(), bundleID: bundle)
            .createSignature(productId: Sold.basic, offerIdentifier: "half", timestamp: shop.now)
        #expect(refusal { try shop.buy(Sold.basic, .promotionalV1(proof)) } == .notEligible)
    }

    @Test("A subscription that was assigned, and one of another group, allow no promotional and no introductory offer")
    func assignedSubscription() throws {
        let key = try DeveloperKey.known()
        var shop = try Shop { $0.key = key }
        try shop.buy(Sold.solo)
        let assigned = try shop.engine.buy(
            SandboxOrder(customer: "ada", productId: Sold.basic, redemption: .withoutOffer, isAssigned: true),
            at: shop.now)
        let proof = try PromotionalOfferSignatureCreator(key: try DeveloperKey.signing(), bundleID: bundle)
            .createSignature(productId: Sold.basic, offerIdentifier: "half", timestamp: shop.now)
        #expect(refusal { try shop.buy(Sold.basic, .promotionalV1(proof)) } == .notEligible)
        try shop.engine.cancel(assigned.id, at: shop.now)
        shop.pass(Shop.monthly)
        #expect(try shop.buy(Sold.premium, .automatic).payload.offerType == nil)
    }

    @Test("The introductory offer of an order is the one that the rules about the customer's purchases allow")
    func introductoryByRules() throws {
        var shop = try Shop()
        #expect(try shop.buy(Sold.basic, by: "bob", .automatic).payload.offerType == .introductory)
        // A refunded offer counts as had.
        let trial = try shop.buy(Sold.basic, .automatic)
        try shop.engine.refund(trial.id, at: shop.now)
        #expect(try shop.buy(Sold.basic, .automatic).payload.offerType == nil)
        // While billing is retried, the subscription has not ended.
        let failing = try shop.buy(Sold.basic, by: "eve")
        try shop.engine.failBilling(failing.id, at: shop.now)
        shop.pass(Shop.monthly)
        #expect(try shop.buy(Sold.premium, by: "eve", .automatic).payload.offerType == nil)
    }

    @Test("An offer code for a new customer is an INITIAL_BUY, for a subscriber of a lower plan an immediate upgrade")
    func offerCode() throws {
        var shop = try Shop()
        let bought = try shop.buy(Sold.basic, by: "ada", .offerCode("SPRING"))
        #expect(shop.takeNotifications() == ["SUBSCRIBED/INITIAL_BUY"])
        #expect(bought.payload.offerType == .offerCode && bought.payload.offerIdentifier == "SPRING")
        #expect(bought.payload.price == 990)
        try shop.buy(Sold.premium, .offerCode("SPRING"))
        #expect(shop.takeNotifications() == ["OFFER_REDEEMED/UPGRADE"])
        #expect(refusal { try shop.buy(Sold.premium, .offerCode("AUTUMN")) } == .unknownOffer)
    }

    @Test("A win-back offer is for customers with an expired subscription, and sends RESUBSCRIBE")
    func winBack() throws {
        var (shop, bought) = try subscribed()
        #expect(refusal { try shop.buy(Sold.basic, .winBack("return")) } == .notEligible)
        try shop.engine.cancel(bought.id, at: shop.now)
        shop.pass(Shop.monthly)
        let ended = shop.engine.takeEvents().last
        #expect(ended?.renewalInfo?.eligibleWinBackOfferIds == ["return"])
        let again = try shop.buy(Sold.basic, .winBack("return"))
        #expect(shop.takeNotifications() == ["SUBSCRIBED/RESUBSCRIBE"])
        #expect(again.payload.offerType == .winBack && again.payload.price == 0)
    }

    @Test("Win-back offers are listed and redeemed by their rules, in months of the sandbox, the best first")
    func winBackRules() throws {
        let month = try #require(Sold.month)
        let rules = [
            "loyal": WinBackRules(minimumPaidMonths: 3, minimumMonthsSince: 1),
            "later": WinBackRules(minimumMonthsSince: 2, maximumMonthsSince: 4, priority: .high),
            "elsewhere": WinBackRules(storefronts: ["DEU"]), "waiting": WinBackRules(monthsBetweenOffers: 3),
        ]
        let offers = rules.map { id, rules in
            SandboxOffer(
                type: .winBack, identifier: id, discountType: .freeTrial, period: month, winBackRules: rules)
        }
        let product = SandboxProduct(
            id: Sold.basic, type: .autoRenewableSubscription, period: month, group: "21400000", price: 4_990,
            offers: offers)
        var shop = try Shop()
        shop.engine = SandboxEngine(
            configuration: SandboxConfiguration(), catalog: SandboxCatalog([product]), now: shop.now)
        let bought = try shop.buy(Sold.basic)
        func listed() throws -> [String] {
            let subscription = try shop.subscription(bought.id)
            return shop.engine.renewalInfo(of: subscription).eligibleWinBackOfferIds ?? []
        }
        shop.pass(2 * Shop.monthly + Shop.minute)
        #expect(try listed().isEmpty, "the subscription is active")
        try shop.engine.cancel(bought.id, at: shop.now)
        shop.pass(Shop.monthly - Shop.minute)
        #expect(try listed() == ["waiting"])
        #expect(refusal { try shop.buy(Sold.basic, .winBack("loyal")) } == .notEligible)
        shop.pass(Shop.monthly)
        #expect(try listed() == ["loyal", "waiting"])
        shop.pass(Shop.monthly)
        #expect(try listed() == ["later", "loyal", "waiting"])
        #expect(refusal { try shop.buy(Sold.basic, .winBack("elsewhere")) } == .notEligible)
        shop.pass(2 * Shop.monthly)
        #expect(try listed() == ["loyal", "waiting"])
        try shop.buy(Sold.basic, .winBack("waiting"))
        try shop.engine.cancel(bought.id, at: shop.now)
        // Free: the paid months before it still count. The wait of this offer does not concern the other.
        shop.pass(2 * Shop.monthly)
        #expect(try listed() == ["loyal"])
        shop.pass(2 * Shop.monthly)
        #expect(try listed() == ["later", "loyal", "waiting"])
    }

    @Test("The developer's signed decision withholds the introductory offer, or gives it again")
    func signedEligibility() throws {
        let known = try DeveloperKey.known()
        var shop = try Shop { $0.key = known }
        let coins = try shop.buy(Sold.coins)
        let creator = IntroductoryOfferEligibilitySignatureCreator(key: try DeveloperKey.signing(), bundleID: bundle)
        func proof(_ isAllowed: Bool) throws -> SandboxOrder.Redemption {
            .introductory(
                signedEligibility: try creator.createSignature(
                    productId: Sold.basic, allowIntroductoryOffer: isAllowed, transactionId: coins.id))
        }
        let bought = try shop.buy(Sold.basic, try proof(false))
        #expect(bought.payload.offerType == nil)
        try shop.engine.cancel(bought.id, at: shop.now)
        shop.pass(Shop.monthly)
        #expect(try shop.buy(Sold.basic, try proof(true)).payload.offerType == .introductory)
    }
}
