import AppStoreModels
import Purchases
import Testing

@Suite("Win-back offers: missing data is reported")
struct WinBackUnknownTests {
    @Test("Periods without a price: unknown, unless the history says how to count them")
    func unknownPrices() {
        var history = Samples.history(Samples.monthly(0..<4, price: nil))
        let open = history.eligibility(for: Samples.offer, at: Samples.month(8))
        #expect(open.eligibility == .unknown)
        #expect(open.obstacleRules == [.paidMonths])
        #expect(open.reason(.paidMonths)?.months == 0)
        #expect(open.changesAt == nil)
        history.countsUnpricedPeriodsAsPaid = true
        let counted = history.eligibility(for: Samples.offer, at: Samples.month(8))
        #expect(counted.eligibility == .eligible)
        #expect(counted.reason(.paidMonths)?.months == 4)
        // Too few, at any price.
        history.entries = Samples.monthly(0..<2, price: nil).map { PurchaseHistory.Entry($0) }
        history.countsUnpricedPeriodsAsPaid = false
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(8)).eligibility == .notEligible)
    }

    @Test("An unpriced month after a lapse may be a newer, shorter stretch, or none: the verdict is unknown")
    func unknownAfterLapse() {
        let paid = Samples.monthly(0..<4)
        let open = Samples.history(paid + Samples.monthly(6..<7, price: nil))
        let verdict = open.eligibility(for: Samples.offer, at: Samples.month(9))
        #expect(verdict.reason(.paidMonths)?.outcome == .unknown)
        #expect(verdict.reason(.paidMonths)?.months == 1)
        // Without a lapse it makes the stretch longer, or leaves it as it is.
        let next = Samples.history(paid + Samples.monthly(4..<5, price: nil))
        let sure = next.eligibility(for: Samples.offer, at: Samples.month(9))
        #expect(sure.reason(.paidMonths)?.outcome == .satisfied)
        // Two in a row: the first may have been free.
        let two = Samples.history(paid + Samples.monthly(4..<6, price: nil))
        #expect(two.eligibility(for: Samples.offer, at: Samples.month(9)).reason(.paidMonths)?.outcome == .unknown)
    }

    @Test("A later period without a reason may be a renewal that billing delayed: its months may add up")
    func unstatedReason() {
        func paidMonths(_ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }) -> OfferReason? {
            let late = Samples.period(2, 3) {
                $0.purchaseDate = Samples.month(2) + 9 * Samples.day
                $0.expiresDate = Samples.month(3) + 9 * Samples.day
                change(&$0)
            }
            return Samples.history(Samples.monthly(0..<2) + [late])
                .eligibility(for: Samples.offer, at: Samples.month(9)).reason(.paidMonths)
        }
        #expect(paidMonths()?.outcome == .unknown)
        #expect(paidMonths()?.months == 1)
        #expect(paidMonths { $0.transactionReason = .renewal }?.outcome == .satisfied)
        #expect(paidMonths { $0.transactionReason = .purchase }?.outcome == .failed)
        // The first period of a subscription renews none, and billing is retried for 60 days.
        #expect(paidMonths { $0.originalTransactionId = $0.transactionId }?.outcome == .failed)
        let lapsed = paidMonths {
            $0.purchaseDate = Samples.month(2) + 61 * Samples.day
            $0.expiresDate = Samples.month(5)
        }
        #expect(lapsed?.outcome == .failed)
    }

    @Test("A redeemed offer without an identifier may be this one")
    func unnamedOffer() {
        let redeemed = Samples.period(6, 9) { $0.offerType = .winBack }
        let history = Samples.history(Samples.monthly(0..<3) + [redeemed])
        let open = history.eligibility(for: Samples.offer, at: Samples.month(11))
        #expect(open.obstacleRules == [.monthsBetweenOffers])
        #expect(open.eligibility == .unknown)
        #expect(open.changesAt == Samples.month(12))
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(12)).eligibility == .eligible)
    }

    @Test("An offer without price and mode stays unknown, however unpriced periods are counted")
    func unknownOffer() {
        let code = Samples.period(2, 3, price: nil) { $0.offerType = .offerCode }
        var history = Samples.history(Samples.monthly(0..<2, price: nil) + [code])
        history.countsUnpricedPeriodsAsPaid = true
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(8)).eligibility == .unknown)
    }

    @Test(
        "A subscription of an unknown group makes the verdict unknown; the group of its product, once known, does not")
    func unknownGroup() {
        let stray = Samples.period("old", 3, 5, group: nil) { $0.originalTransactionId = "stray" }
        var history = Samples.history(Samples.monthly(0..<3) + [stray])
        let open = history.eligibility(for: Samples.offer, at: Samples.month(8))
        #expect(open.eligibility == .unknown)
        #expect(open.obstacleRules == [.groupsKnown])
        #expect(open.reason(.groupsKnown)?.transactionId == "t3")
        history.groups = ["old": Samples.group]
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(8)).eligibility == .eligible)
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(7) - 1).eligibility == .notEligible)
        // Another transaction of the product states the group.
        let stated = Samples.period("old", 5, 7) { $0.transactionId = "stated" }
        history.groups = [:]
        history.entries.append(PurchaseHistory.Entry(stated))
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(9)).eligibility == .eligible)
    }

    @Test("In the grace period and while billing is retried the offer is not for the customer")
    func billingRetry() {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = "original"
        info.autoRenewStatus = .on
        info.isInBillingRetryPeriod = true
        info.gracePeriodExpiresDate = Samples.month(3) + 16 * Samples.day
        info.signedDate = Samples.month(3)
        var offer = Samples.offer
        offer.rules.minimumMonthsSince = 0
        let history = Samples.history(Samples.monthly(0..<3), [info])
        for days in [Int64(1), 20, 59] {
            let verdict = history.eligibility(for: offer, at: Samples.month(3) + days * Samples.day)
            #expect(verdict.eligibility == .notEligible)
            #expect(verdict.obstacleRules == [.lapsed])
            #expect(verdict.changesAt == Samples.month(3) + 60 * Samples.day)
        }
        let after = history.eligibility(for: offer, at: Samples.month(3) + 60 * Samples.day)
        #expect(after.eligibility == .eligible)
    }

    @Test("Without renewal information billing may be retried for 60 days, and the verdict states it")
    func noRenewalInfo() {
        var offer = Samples.offer
        offer.rules.minimumMonthsSince = 1
        let history = Samples.history(Samples.monthly(0..<3), [])
        let open = history.eligibility(for: offer, at: Samples.month(4))
        #expect(open.eligibility == .unknown)
        #expect(open.obstacleRules == [.lapsed])
        #expect(open.changesAt == Samples.month(3) + 60 * Samples.day)
        let after = history.eligibility(for: offer, at: Samples.month(3) + 60 * Samples.day)
        #expect(after.eligibility == .eligible)
    }

    @Test("A history that ends before the subscription does not show whether it was renewed")
    func staleHistory() {
        var history = Samples.history(Samples.monthly(0..<3))
        for completeThrough in [nil, Samples.month(2)] {
            history.completeThrough = completeThrough
            let verdict = history.eligibility(for: Samples.offer, at: Samples.month(8))
            #expect(verdict.eligibility == .unknown)
            #expect(verdict.obstacleRules == [.historyCurrent])
        }
        history.completeThrough = Samples.month(3)
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(8)).eligibility == .eligible)
    }

    @Test("Dates that are missing or of no calendar make the verdict unknown and never trap")
    func hostileDates() {
        for (from, to) in [(nil, 1), (1, nil), (Int64.min, Int64.max), (.max, .max), (0, .max), (-1, 5)]
            as [(Int64?, Int64?)]
        {
            let odd = Samples.period(7, 8) {
                $0.purchaseDate = from
                $0.expiresDate = to
                $0.revocationDate = .min
            }
            let history = Samples.history(Samples.monthly(0..<3) + [odd])
            for now in [Samples.month(6), 0, .min, .max] {
                let verdict = history.eligibility(for: Samples.offer, at: now)
                #expect(verdict.eligibility != .eligible)
                _ = history.introductoryEligibility(group: Samples.group, at: now)
                _ = history.entitlements(at: now)
            }
            #expect(
                history.eligibility(for: Samples.offer, at: Samples.month(6)).obstacleRules.contains(.datesKnown))
        }
        let offer = WinBackOffer(
            offerIdentifier: "o", group: Samples.group,
            rules: WinBackRules(
                minimumPaidMonths: .min, minimumMonthsSince: .max, maximumMonthsSince: .max, monthsBetweenOffers: .min,
                startDate: .min, endDate: .max))
        #expect(
            Samples.history(Samples.monthly(0..<3)).eligibility(for: offer, at: Samples.month(6)).eligibility
                == .notEligible)
    }
}
