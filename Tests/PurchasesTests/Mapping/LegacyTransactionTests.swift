import AppStoreModels
import Purchases
import Testing

@Suite("Modern transactions in the terms of legacy documents")
struct LegacyTransactionTests {
    private func period(_ offer: OfferType, _ discount: OfferDiscountType? = nil) -> JWSTransactionDecodedPayload {
        Samples.period(0, 1) {
            $0.offerType = offer
            $0.offerDiscountType = discount
            $0.offerIdentifier = "loyal"
        }
    }

    @Test("A free trial is no introductory offer period, and only subscriptions have that member")
    func flags() {
        let trial = period(.introductory, .freeTrial)
        #expect(trial.legacyOffer.isTrialPeriod && trial.legacyOffer.isInIntroOfferPeriod == false)
        let paid = period(.introductory, .payUpFront)
        #expect(!paid.legacyOffer.isTrialPeriod && paid.legacyOffer.isInIntroOfferPeriod == true)
        let winBack = period(.winBack, .freeTrial)
        #expect(!winBack.legacyOffer.isTrialPeriod && winBack.legacyOffer.isInIntroOfferPeriod == false)
        var consumable = paid
        consumable.type = .consumable
        #expect(consumable.legacyOffer.isInIntroOfferPeriod == nil)
    }

    @Test("The identifier of an offer is that of its type, for a transaction and for the next renewal")
    func offerIdentifiers() {
        for type in [OfferType.introductory, .promotional, .offerCode, .winBack] {
            let transaction = period(type)
            #expect(transaction.legacyOffer.promotionalOfferId == (type == .promotional ? "loyal" : nil))
            #expect(transaction.legacyOffer.offerCodeRefName == (type == .offerCode ? "loyal" : nil))
            var info = JWSRenewalInfoDecodedPayload()
            info.offerType = type
            info.offerIdentifier = "loyal"
            #expect(info.legacyOffer.promotionalOfferId == transaction.legacyOffer.promotionalOfferId)
            #expect(info.legacyOffer.offerCodeRefName == transaction.legacyOffer.offerCodeRefName)
        }
    }

    @Test("A presumed ownership is PURCHASED, and only subscriptions are presumed to have no introductory offer")
    func presumed() {
        #expect(PresumedValue.ownershipType == .purchased)
        #expect(PresumedValue.isInIntroOfferPeriod(isAutoRenewable: true) == false)
        #expect(PresumedValue.isInIntroOfferPeriod(isAutoRenewable: false) == nil)
    }
}
