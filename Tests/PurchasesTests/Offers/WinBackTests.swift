import AppStoreModels
import Encodings
import Purchases
import Testing

@Suite("Win-back offers")
struct WinBackTests {
    private func verdict(
        _ transactions: [JWSTransactionDecodedPayload], at month: Int64, _ offer: WinBackOffer = OfferSamples.offer,
        _ infos: [JWSRenewalInfoDecodedPayload] = [OfferSamples.cancelled()]
    ) -> OfferVerdict {
        Samples.history(transactions, infos).eligibility(for: offer, at: Samples.month(month))
    }

    /// Premium for two months, then basic for one, then lapsed at month 3.
    private var premiumThenBasic: [JWSTransactionDecodedPayload] {
        [Samples.period("premium", 0, 1), Samples.period("premium", 1, 2), Samples.period("basic", 2, 3, price: 4990)]
    }

    @Test("Premium, then basic, for 3 months together, lapsed: eligible 2 months after the lapse, for 22 months")
    func workedExample() {
        let history = Samples.history(premiumThenBasic)
        let lapse = history.eligibility(for: Samples.offer, at: Samples.month(3))
        #expect(lapse.eligibility == .notEligible)
        #expect(lapse.obstacleRules == [.minimumMonthsSince])
        #expect(lapse.changesAt == Samples.month(5))
        #expect(lapse.reason(.minimumMonthsSince)?.transactionId == "t2")
        #expect(lapse.reason(.paidMonths)?.months == 3)
        let before = history.eligibility(for: Samples.offer, at: Samples.month(5) - 1)
        #expect(before.eligibility == .notEligible)
        let eligible = history.eligibility(for: Samples.offer, at: Samples.month(5))
        #expect(eligible.eligibility == .eligible)
        #expect(eligible.obstacles.isEmpty)
        #expect(eligible.eligibleFrom == Samples.month(5))
        #expect(eligible.eligibleUntil == Samples.month(27))
        #expect(eligible.changesAt == Samples.month(27))
        let late = history.eligibility(for: Samples.offer, at: Samples.month(27))
        #expect(late.eligibility == .notEligible)
        #expect(late.obstacleRules == [.maximumMonthsSince])
        #expect(late.changesAt == nil)
    }

    @Test("While billing of one subscription is retried, a customer has not lapsed, although another one ended later")
    func retriedBesideALapsedOne() {
        let other = Samples.period(3, 4) {
            $0.transactionId = "o3"
            $0.originalTransactionId = "other"
        }
        var failing = JWSRenewalInfoDecodedPayload()
        failing.originalTransactionId = "original"
        failing.isInBillingRetryPeriod = true
        failing.gracePeriodExpiresDate = Samples.month(3) + 16 * Samples.day
        failing.signedDate = Samples.month(3)
        let history = Samples.history(Samples.monthly(0..<3) + [other], [failing, Samples.cancelled("other")])
        let retried = history.eligibility(for: Samples.offer, at: Samples.month(4) + Samples.day)
        #expect(retried.obstacleRules.contains(.lapsed))
        #expect(retried.reason(.lapsed)?.transactionId == "t2")
        #expect(retried.reason(.lapsed)?.from == Samples.month(3) + 60 * Samples.day)
        let after = history.eligibility(for: Samples.offer, at: Samples.month(3) + 61 * Samples.day)
        #expect(!after.obstacleRules.contains(.lapsed))
        #expect(after.reason(.lapsed)?.transactionId == "o3")
    }

    @Test("Seats that were added, and refunded or for free, do not interrupt the paid months and count no month twice")
    func seatsInAPaidPeriod() {
        let added: [(inout JWSTransactionDecodedPayload) -> Void] = [
            { $0.price = 9990 }, { $0.price = 0 },
            {
                $0.revocationDate = Samples.month(1) + 20 * Samples.day
                $0.revocationType = .refundFull
            },
        ]
        for change in added {
            let seats = Samples.period(1, 2) {
                $0.transactionId = "added"
                $0.purchaseDate = Samples.month(1) + 10 * Samples.day
                $0.additionalTransactionReason = .seatAddition
                change(&$0)
            }
            let verdict = verdict(Samples.monthly(0..<3) + [seats], at: 5)
            #expect(verdict.reason(.paidMonths)?.months == 3)
            #expect(verdict.eligibility == .eligible)
        }
    }

    @Test("After redeeming and lapsing again: only once the wait has passed since the offer was redeemed")
    func workedExampleAgain() {
        let redeemed = Samples.period("premium", 6, 9, price: 9990) {
            $0.offerType = .winBack
            $0.offerIdentifier = "come-back"
            $0.offerDiscountType = .payUpFront
        }
        // The offer was redeemed at month 6, and the subscription ended at month 10.
        let history = Samples.history(premiumThenBasic + [redeemed, Samples.period("premium", 9, 10)])
        var offer = Samples.offer
        offer.rules.monthsBetweenOffers = 9
        let twoMonths = history.eligibility(for: offer, at: Samples.month(12))
        #expect(twoMonths.eligibility == .notEligible)
        #expect(twoMonths.obstacleRules == [.monthsBetweenOffers])
        #expect(twoMonths.reason(.monthsBetweenOffers)?.transactionId == "t6")
        #expect(twoMonths.changesAt == Samples.month(15))
        #expect(history.eligibility(for: offer, at: Samples.month(15) - 1).eligibility == .notEligible)
        let again = history.eligibility(for: offer, at: Samples.month(15))
        #expect(again.eligibility == .eligible)
        #expect(again.eligibleUntil == Samples.month(34))
        var noWait = Samples.offer
        noWait.rules.monthsBetweenOffers = nil
        #expect(history.eligibility(for: noWait, at: Samples.month(12)).eligibility == .eligible)
    }

    @Test("An offer of several periods was redeemed when the first of them began")
    func redeemedForSeveralPeriods() {
        func redeemed(_ months: Range<Int64>) -> [JWSTransactionDecodedPayload] {
            months.map { month in
                Samples.period("premium", month, month + 1) {
                    $0.offerType = .winBack
                    $0.offerIdentifier = "come-back"
                    $0.offerDiscountType = .payAsYouGo
                }
            }
        }
        let history = Samples.history(premiumThenBasic + redeemed(6..<9))
        let early = history.eligibility(for: Samples.offer, at: Samples.month(12) - 1)
        #expect(early.obstacleRules == [.monthsBetweenOffers])
        #expect(early.reason(.monthsBetweenOffers)?.transactionId == "t6")
        #expect(history.eligibility(for: Samples.offer, at: Samples.month(12)).eligibility == .eligible)
        // A renewal that billing delayed is no redemption, and another purchase is.
        for (reason, id) in [(TransactionReason.renewal, "t6"), (.purchase, "t7")] {
            var late = redeemed(6..<8)
            late[1].purchaseDate = Samples.month(7) + 20 * 86_400_000
            late[1].transactionReason = reason
            let verdict = Samples.history(premiumThenBasic + late)
                .eligibility(for: Samples.offer, at: Samples.month(12) - 1)
            #expect(verdict.reason(.monthsBetweenOffers)?.transactionId == id)
        }
        // Redeemed again later, after a lapse.
        let twice = Samples.history(premiumThenBasic + redeemed(6..<9) + redeemed(14..<16))
        #expect(
            twice.eligibility(for: Samples.offer, at: Samples.month(19)).reason(.monthsBetweenOffers)?.from
                == Samples.month(20))
    }

    @Test("While the customer subscribes, the offer is not for them; the verdict changes two months after the end")
    func subscribed() {
        let verdict = verdict(premiumThenBasic + [Samples.period(3, 4)], at: 3)
        #expect(verdict.eligibility == .notEligible)
        #expect(verdict.obstacleRules == [.lapsed, .minimumMonthsSince])
        #expect(verdict.reason(.lapsed)?.from == Samples.month(4))
        #expect(verdict.changesAt == Samples.month(6))
    }

    @Test("A customer who never subscribed in the group cannot be won back")
    func never() {
        #expect(verdict([], at: 9).obstacleRules == [.subscribedBefore])
        let elsewhere = verdict(Samples.monthly(0..<4).map { other($0) }, at: 9)
        #expect(elsewhere.eligibility == .notEligible)
        #expect(elsewhere.obstacleRules == [.subscribedBefore])
    }

    private func other(_ payload: JWSTransactionDecodedPayload) -> JWSTransactionDecodedPayload {
        var payload = payload
        payload.subscriptionGroupIdentifier = "other"
        payload.productId = "other"
        return payload
    }

    @Test("Groups do not count for each other: months paid, the last subscription, the last offer")
    func groups() {
        var redeemed = other(Samples.period(3, 6))
        redeemed.offerType = .winBack
        redeemed.transactionId = "elsewhere"
        let verdict = verdict(premiumThenBasic + [redeemed], at: 5)
        #expect(verdict.eligibility == .eligible)
        #expect(self.verdict([redeemed] + Samples.monthly(0..<2), at: 5).obstacleRules == [.paidMonths])
    }

    // MARK: Paid months

    @Test("A free trial is not paid")
    func trial() {
        let trial = Samples.period(0, 1, price: 0) {
            $0.offerType = .introductory
            $0.offerDiscountType = .freeTrial
        }
        let two = verdict([trial] + Samples.monthly(1..<3), at: 6)
        #expect(two.obstacleRules == [.paidMonths])
        #expect(two.reason(.paidMonths)?.months == 2)
        #expect(two.changesAt == nil)
        #expect(verdict([trial] + Samples.monthly(1..<4), at: 6).eligibility == .eligible)
    }

    @Test("A free period between two paid ones ends the stretch; a paid offer does not")
    func freeBetween() {
        let free = Samples.period(2, 3, price: 0) { $0.offerType = .promotional }
        #expect(verdict(Samples.monthly(0..<2) + [free] + Samples.monthly(3..<5), at: 8).obstacleRules == [.paidMonths])
        let paid = Samples.period(2, 3, price: 990) {
            $0.offerType = .promotional
            $0.offerDiscountType = .payAsYouGo
        }
        let verdict = verdict(Samples.monthly(0..<2) + [paid] + Samples.monthly(3..<5), at: 8)
        #expect(verdict.reason(.paidMonths)?.months == 5)
    }

    /// Renewals: the gap that the period leaves could else pass for a billing that succeeded late.
    @Test(
        "A period that was not paid ends the stretch between renewals too: a free one, a price of 0, a full refund",
        arguments: ["trial", "price", "refund", "refund without a type"])
    func unpaidBetweenRenewals(kind: String) {
        func renewal(_ from: Int64) -> JWSTransactionDecodedPayload {
            Samples.period(from, from + 1) { $0.transactionReason = .renewal }
        }
        let unpaid = Samples.period(2, 3, price: kind == "price" ? 0 : 9990) {
            $0.transactionReason = .renewal
            switch kind {
            case "trial":
                $0.price = nil
                $0.offerType = .promotional
                $0.offerDiscountType = .freeTrial
            case "price": break
            default:
                $0.revocationDate = Samples.month(2) + 20 * Samples.day
                if kind == "refund" { $0.revocationType = .refundFull }
            }
        }
        let months = [Samples.period(0, 1), renewal(1), renewal(3), renewal(4)]
        let two = verdict(months + [unpaid], at: 8)
        #expect(two.reason(.paidMonths)?.months == 2)
        #expect(two.obstacleRules == [.paidMonths])
        // The same months without it: the billing of the third succeeded late.
        #expect(verdict(months, at: 8).reason(.paidMonths)?.months == 4)
    }

    @Test("A lapse ends the stretch, and only the most recent stretch counts, not the longest")
    func gap() {
        let short = verdict(Samples.monthly(0..<2) + Samples.monthly(4..<6), at: 8)
        #expect(short.reason(.paidMonths)?.months == 2)
        #expect(short.eligibility == .notEligible)
        let early = verdict(Samples.monthly(0..<4) + Samples.monthly(6..<7), at: 9)
        #expect(early.reason(.paidMonths)?.months == 1)
        #expect(early.reason(.paidMonths)?.transactionId == "t6")
        #expect(early.obstacleRules == [.paidMonths])
        let late = verdict(Samples.monthly(0..<1) + Samples.monthly(3..<7), at: 9)
        #expect(late.reason(.paidMonths)?.months == 4)
        #expect(late.eligibility == .eligible)
        // A free period after the paid months does not make them older.
        let free = Samples.period(4, 5, price: 0) { $0.offerType = .promotional }
        #expect(verdict(Samples.monthly(0..<4) + [free], at: 8).reason(.paidMonths)?.months == 4)
    }

    @Test("A renewal that succeeded late does not end the stretch, and the days between are not counted")
    func billingRecovery() {
        let recovered = Samples.period(2, 3) {
            $0.purchaseDate = Samples.month(2) + 9 * Samples.day
            $0.expiresDate = PacificTime.adding(months: 1, to: Samples.month(2) + 9 * Samples.day)
            $0.transactionReason = .renewal
        }
        #expect(verdict(Samples.monthly(0..<2) + [recovered], at: 9).reason(.paidMonths)?.months == 3)
        var bought = recovered
        bought.transactionReason = .purchase
        #expect(verdict(Samples.monthly(0..<2) + [bought], at: 9).reason(.paidMonths)?.months == 1)
    }

    @Test("An upgrade in the middle of a period continues the paid months")
    func upgrade() {
        let half = Samples.month(0) + 15 * Samples.day
        let basic = Samples.period("basic", 0, 1) { $0.isUpgraded = true }
        var premium: [JWSTransactionDecodedPayload] = []
        for step in Int64(0)..<3 {
            premium.append(
                Samples.period("premium", step, step + 1) {
                    $0.transactionId = "u\(step)"
                    $0.purchaseDate = PacificTime.adding(months: step, to: half)
                    $0.expiresDate = PacificTime.adding(months: step + 1, to: half)
                })
        }
        // Half a month and three months.
        let verdict = verdict([basic] + premium, at: 8)
        #expect(verdict.reason(.paidMonths)?.months == 3)
        #expect(verdict.reason(.lapsed)?.transactionId == "u2")
        #expect(self.verdict([basic] + premium.dropLast(), at: 8).reason(.paidMonths)?.months == 2)
        // Receipts before 2021 state no ownership.
        var old = basic
        old.inAppOwnershipType = nil
        #expect(self.verdict([old] + premium, at: 8).reason(.paidMonths)?.months == 3)
        // Whatever date the upgrade left on the period that it ended, it is no refund.
        var dated = basic
        dated.revocationDate = half
        var months = premium
        months[0].expiresDate = Samples.month(1)
        let mixed = [dated, months[0]] + Samples.monthly(1..<3)
        #expect(self.verdict(mixed, at: 8).reason(.paidMonths)?.months == 3)
        // The App Store refunded the period after its upgrade, so it was not paid.
        dated.revocationDate = half + Samples.day
        dated.revocationType = .refundFull
        let unpaid = [dated, months[0]] + Samples.monthly(1..<3)
        #expect(self.verdict(unpaid, at: 8).reason(.paidMonths)?.months == 2)
    }

    @Test("A refund of an upgraded period is one of all its copies: their months were not paid")
    func refundedCopy() {
        let half = Samples.month(0) + 15 * Samples.day
        let refunded = Samples.period("basic", 0, 1) {
            $0.webOrderLineItemId = "7"
            $0.isUpgraded = true
            $0.revocationDate = half + Samples.day
            $0.revocationType = .refundFull
        }
        let premium = Samples.period("premium", 0, 1) {
            $0.transactionId = "premium"
            $0.purchaseDate = half
        }
        for id in ["a", "z"] {
            func months(lineItem: String) -> Int64? {
                let copy = Samples.period("basic", 0, 1) {
                    $0.transactionId = id
                    $0.webOrderLineItemId = lineItem
                    $0.isUpgraded = true
                }
                return verdict([refunded, copy, premium] + Samples.monthly(1..<3), at: 8).reason(.paidMonths)?.months
            }
            #expect(months(lineItem: "7") == 2)
            // Another period was paid.
            #expect(months(lineItem: "8") == 3)
        }
    }

    @Test("A downgrade at a renewal continues the paid months, also to another period length")
    func downgrade() {
        let yearly = Samples.period("premium.yearly", 0, 12, price: 59990)
        let basic = Samples.period("basic", 12, 13, price: 4990) { $0.transactionReason = .renewal }
        #expect(verdict([yearly, basic], at: 16).reason(.paidMonths)?.months == 13)
    }

    @Test("A fully refunded period is not paid; a partly refunded one is paid until the refund")
    func refunds() {
        let refunded = Samples.period(2, 3) { $0.revocationDate = Samples.month(2) + Samples.day }
        let full = verdict(Samples.monthly(0..<2) + [refunded], at: 8)
        #expect(full.reason(.paidMonths)?.months == 2)
        #expect(full.reason(.lapsed)?.from == Samples.month(2) + Samples.day)
        let yearly = Samples.period(0, 12, price: 59990) {
            $0.revocationDate = Samples.month(5)
            $0.revocationType = .refundProrated
        }
        let part = verdict([yearly], at: 7)
        #expect(part.reason(.paidMonths)?.months == 5)
        #expect(part.eligibility == .eligible)
        #expect(part.eligibleFrom == Samples.month(7))
    }

    @Test("Weeks add up to months by the calendar")
    func weeks() {
        let weekly = (0..<14).map { week in
            Samples.period(0, 1) {
                $0.transactionId = "w\(week)"
                $0.purchaseDate = Samples.start + Int64(week) * 7 * Samples.day
                $0.expiresDate = Samples.start + Int64(week + 1) * 7 * Samples.day
            }
        }
        // 98 days from 15 January to 23 April.
        #expect(verdict(weekly, at: 9).reason(.paidMonths)?.months == 3)
        // 84 days to 9 April.
        #expect(verdict(weekly.dropLast(2), at: 9).reason(.paidMonths)?.months == 2)
    }

    @Test("A family-shared period is neither paid nor a subscription of the customer")
    func family() {
        let shared = Samples.monthly(0..<9).map {
            var payload = $0
            payload.inAppOwnershipType = .familyShared
            return payload
        }
        #expect(verdict(shared, at: 12).obstacleRules == [.subscribedBefore])
        #expect(verdict(premiumThenBasic + shared.dropFirst(3), at: 6).eligibility == .eligible)
    }

    @Test("A bought period that begins after the time of the question is passed over")
    func future() {
        #expect(verdict(premiumThenBasic + Samples.monthly(8..<12), at: 6).eligibility == .eligible)
    }
}
