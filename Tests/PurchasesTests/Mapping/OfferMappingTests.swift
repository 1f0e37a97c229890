import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Testing

@Suite struct OfferMappingTests {
    typealias Support = MappingSupport

    private func purchase(trial: Bool? = nil, intro: Bool? = nil, promo: String? = nil) -> InAppPurchase {
        InAppPurchase(
            productId: "p", transactionId: "1", productType: .autoRenewableSubscription, isTrialPeriod: trial,
            isInIntroOfferPeriod: intro, promotionalOfferId: promo)
    }

    private func catalog(_ offers: CatalogOffer...) throws -> ProductCatalog {
        try Support.catalog(
            Support.entry("p") {
                $0.type = .autoRenewableSubscription
                $0.subscriptionGroupIdentifier = "20662382"
                $0.offers = offers
            })
    }

    private let month = SubscriptionPeriod(value: 1, unit: .month)
    private let week = SubscriptionPeriod(value: 1, unit: .week)

    @Test func attribute1721IsAPromotionalOfferAndNotAnIntroductoryOne() throws {
        let mapped = try Support.mapOne(purchase(trial: false, intro: false, promo: "promo"))
        #expect(mapped.payload.offerType?.rawValue == 2)
        #expect(mapped.payload.offerIdentifier == "promo" && mapped.payload.offerDiscountType == nil)
        #expect(mapped.provenance[.offerType] == .signedAttribute(1721))
        #expect(mapped.provenance[.offerIdentifier] == .signedAttribute(1721))
    }

    @Test func trialBeatsIntroductoryFlag() throws {
        for intro in [false, true] {
            let mapped = try Support.mapOne(purchase(trial: true, intro: intro))
            #expect(mapped.payload.offerType?.rawValue == 1 && mapped.payload.offerDiscountType == .freeTrial)
            #expect(mapped.provenance[.offerType] == .signedAttribute(1713))
            #expect(mapped.provenance[.offerDiscountType] == .signedAttribute(1713))
            #expect(mapped.payload.offerIdentifier == nil)
        }
    }

    @Test func aPaidIntroductionHasAPaymentModeOnlyFromTheCatalog() throws {
        let bare = try Support.mapOne(purchase(trial: false, intro: true))
        #expect(bare.payload.offerType == .introductory && bare.provenance[.offerType] == .signedAttribute(1719))
        #expect(bare.payload.offerDiscountType == nil && bare.payload.offerPeriod == nil)
        let catalog = try catalog(
            CatalogOffer(type: .introductory, paymentMode: .freeTrial, period: week),
            CatalogOffer(type: .introductory, paymentMode: .payUpFront, period: month))
        let mapped = try Support.mapOne(purchase(trial: false, intro: true), catalog: catalog)
        #expect(mapped.payload.offerDiscountType == .payUpFront && mapped.payload.offerPeriod == "P1M")
        #expect(mapped.provenance[.offerDiscountType] == .catalog("catalog.yaml:3: products.p"))
    }

    @Test func whereTheCatalogLeavesAChoiceNoOfferIsTaken() throws {
        let catalog = try catalog(
            CatalogOffer(type: .introductory, paymentMode: .payAsYouGo, period: week),
            CatalogOffer(type: .introductory, paymentMode: .payUpFront, period: month))
        let mapped = try Support.mapOne(purchase(trial: false, intro: true), catalog: catalog)
        #expect(mapped.payload.offerDiscountType == nil && mapped.payload.offerPeriod == nil)
    }

    @Test func aTrialTakesItsPeriodFromAFreeOfferOnly() throws {
        let free = try catalog(CatalogOffer(type: .introductory, paymentMode: .freeTrial, period: week))
        #expect(try Support.mapOne(purchase(trial: true), catalog: free).payload.offerPeriod == "P1W")
        let paid = try catalog(CatalogOffer(type: .introductory, paymentMode: .payUpFront, period: week))
        let mapped = try Support.mapOne(purchase(trial: true), catalog: paid)
        #expect(mapped.payload.offerPeriod == nil && mapped.payload.offerDiscountType == .freeTrial)
    }

    @Test func aPromotionalOfferIsLookedUpByItsIdentifier() throws {
        let catalog = try catalog(
            CatalogOffer(
                type: .promotional, identifier: "one", paymentMode: .payAsYouGo, period: month, numberOfPeriods: 3),
            CatalogOffer(type: .promotional, identifier: "two", paymentMode: .payUpFront, period: month))
        let one = try Support.mapOne(purchase(trial: false, promo: "one"), catalog: catalog)
        #expect(one.payload.offerDiscountType == .payAsYouGo)
        // Of three periods, the modern field has no documented form.
        #expect(one.payload.offerPeriod == nil)
        let two = try Support.mapOne(purchase(trial: false, promo: "two"), catalog: catalog)
        #expect(two.payload.offerDiscountType == .payUpFront && two.payload.offerPeriod == "P1M")
        let three = try Support.mapOne(purchase(trial: false, promo: "three"), catalog: catalog)
        #expect(three.payload.offerDiscountType == nil)
    }

    @Test func theGroupComesFromTheCatalogForSubscriptionsOnly() throws {
        let catalog = try catalog()
        let mapped = try Support.mapOne(purchase(), catalog: catalog)
        #expect(mapped.payload.subscriptionGroupIdentifier == "20662382")
        #expect(mapped.provenance[.subscriptionGroupIdentifier] == .catalog("catalog.yaml:3: products.p"))
        let other = InAppPurchase(productId: "p", transactionId: "1", productType: .consumable)
        #expect(try Support.mapOne(other, catalog: catalog).payload.subscriptionGroupIdentifier == nil)
    }
}
