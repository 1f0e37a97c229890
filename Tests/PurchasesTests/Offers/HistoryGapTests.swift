import AppStoreModels
import Purchases
import Testing

@Suite("Offers: periods that are missing")
struct HistoryGapTests {
    /// Facts from notifications, without an answer of the App Store Server API.
    private func notified(
        _ transactions: [JWSTransactionDecodedPayload], wholeThrough: Int64? = nil
    ) -> PurchaseHistory {
        var history = Samples.history(transactions)
        history.coverage = [
            "original": .init(wholeThrough: wholeThrough, currentThrough: Samples.month(200)),
            "t0": .init(wholeThrough: wholeThrough, currentThrough: Samples.month(200)),
        ]
        return history
    }

    private func introductory(_ history: PurchaseHistory) -> OfferVerdict {
        history.introductoryEligibility(group: Samples.group, at: Samples.month(90))
    }

    /// Months of one subscription that began with month 0.
    private func months(_ range: Range<Int64>) -> [JWSTransactionDecodedPayload] {
        range.map { month in
            Samples.period(month, month + 1) {
                $0.originalTransactionId = "t0"
                $0.originalPurchaseDate = Samples.month(0)
                $0.transactionReason = month == 0 ? .purchase : .renewal
            }
        }
    }

    @Test("A customer without a known first period may have had an introductory offer")
    func firstPeriodMissing() {
        let open = introductory(notified(months(1..<4)))
        #expect(open.eligibility == .unknown)
        #expect(open.obstacleRules == [.noIntroductoryOfferBefore])
        #expect(open.reason(.noIntroductoryOfferBefore)?.transactionId == "t1")
        #expect(introductory(notified(months(0..<4))).eligibility == .eligible)
        var whole = notified(months(1..<4))
        whole.coverage = [:]
        #expect(introductory(whole).eligibility == .eligible)
    }

    @Test("History before an answer of the App Store Server API is complete; later history is not")
    func answered() {
        #expect(introductory(notified(months(1..<4), wholeThrough: Samples.month(1))).eligibility == .eligible)
        #expect(introductory(notified(months(1..<4), wholeThrough: Samples.month(1) - 1)).eligibility == .unknown)
    }

    @Test("The first period counts by its date too, where it was restored under another id")
    func restored() {
        var first = months(0..<2)
        first[0].transactionId = "restored"
        #expect(introductory(notified(first)).eligibility == .eligible)
        // Legacy dates are cut off to seconds.
        first[0].purchaseDate = Samples.month(0) + 999
        #expect(introductory(notified(first)).eligibility == .eligible)
        first[0].originalPurchaseDate = .min
        #expect(introductory(notified(first)).eligibility == .unknown)
        first[0].originalPurchaseDate = nil
        #expect(introductory(notified(first)).eligibility == .unknown)
    }

    @Test("A renewal that nothing before it can have been renewed by shows a gap; a purchase does not")
    func renewalWithoutPredecessor() {
        let hole = months(0..<1) + months(5..<6)
        #expect(introductory(notified(hole)).reason(.noIntroductoryOfferBefore)?.outcome == .unknown)
        #expect(introductory(notified(hole)).reason(.noIntroductoryOfferBefore)?.transactionId == "t5")
        var bought = hole
        bought[1].transactionReason = .purchase
        #expect(introductory(notified(bought)).eligibility == .eligible)
        // Billing may have been retried for 60 days.
        var late = months(0..<1) + months(2..<3)
        late[1].purchaseDate = Samples.month(1) + 60 * Samples.day
        late[1].expiresDate = Samples.month(4)
        #expect(introductory(notified(late)).eligibility == .eligible)
        late[1].purchaseDate = Samples.month(1) + 61 * Samples.day
        #expect(introductory(notified(late)).eligibility == .unknown)
    }

    @Test("A gap in a subscription of an unknown group may be one of this group; what the family shares has none")
    func otherGroups() {
        var stray = months(1..<2)
        stray[0].subscriptionGroupIdentifier = nil
        stray[0].productId = "old"
        #expect(introductory(notified(stray)).obstacleRules == [.groupsKnown])
        var shared = months(1..<2)
        shared[0].inAppOwnershipType = .familyShared
        #expect(introductory(notified(shared)).eligibility == .eligible)
    }

    @Test("A stated introductory offer decides, despite missing periods")
    func used() {
        var periods = months(1..<4)
        periods[1].offerType = .introductory
        #expect(introductory(notified(periods)).eligibility == .notEligible)
    }

    @Test("Win-back: what is missing may have been paid, or an offer that ended by the end of the gap")
    func winBack() {
        let history = notified(months(4..<6))
        let verdict = history.eligibility(for: Samples.offer, at: Samples.month(9))
        #expect(verdict.eligibility == .unknown)
        #expect(verdict.obstacleRules == [.paidMonths, .monthsBetweenOffers])
        #expect(verdict.reason(.paidMonths)?.months == 2)
        #expect(verdict.reason(.monthsBetweenOffers)?.from == Samples.month(10))
        let later = history.eligibility(for: Samples.offer, at: Samples.month(10))
        #expect(later.obstacleRules == [.paidMonths])
        let enough = notified(months(4..<7)).eligibility(for: Samples.offer, at: Samples.month(10))
        #expect(enough.eligibility == .eligible)
    }

    @Test("A missing period after the stretch may be a newer, shorter stretch")
    func missingAfterStretch() {
        let free = months(10..<11).map { period -> JWSTransactionDecodedPayload in
            var period = period
            period.price = 0
            return period
        }
        let verdict = notified(months(0..<4) + free).eligibility(for: Samples.offer, at: Samples.month(14))
        #expect(verdict.reason(.paidMonths)?.outcome == .unknown)
        #expect(verdict.reason(.paidMonths)?.months == 4)
        let whole = notified(months(0..<4) + free, wholeThrough: Samples.month(12))
        let known = whole.eligibility(for: Samples.offer, at: Samples.month(14))
        #expect(known.reason(.paidMonths)?.outcome == .satisfied)
    }

    @Test("Paid periods on both sides of a gap are no stretch")
    func stretch() {
        let verdict = notified(months(0..<2) + months(10..<12)).eligibility(for: Samples.offer, at: Samples.month(20))
        #expect(verdict.reason(.paidMonths)?.outcome == .unknown)
        #expect(verdict.reason(.paidMonths)?.months == 2)
    }

    @Test("A subscription with fewer documents than the others may have been renewed")
    func current() {
        var other = Samples.period(0, 2) { $0.transactionId = "other" }
        other.originalTransactionId = "other"
        var history = notified(months(0..<4) + [other])
        func rules() -> [OfferReason.Rule] {
            history.eligibility(for: Samples.offer, at: Samples.month(8)).obstacleRules
        }
        #expect(rules().isEmpty)
        history.coverage["other"] = .init(currentThrough: Samples.month(1))
        #expect(rules() == [.historyCurrent])
        history.coverage["other"] = .init(currentThrough: Samples.month(2))
        #expect(rules().isEmpty)
        history.coverage["t0"] = .init(wholeThrough: nil, currentThrough: nil)
        #expect(rules() == [.historyCurrent])
        #expect(history.entitlements(at: Samples.month(8)).first?.isCurrent == false)
    }

    @Test("A renewal status of before the last period says nothing about how that ended")
    func staleStatus() {
        var cancelled = Samples.cancelled("t0")
        cancelled.signedDate = Samples.month(3) - 1
        var history = notified(months(0..<4))
        history.renewalInfos = [cancelled]
        let open = history.eligibility(for: Samples.offer, at: Samples.month(4) + Samples.day)
        #expect(open.reason(.lapsed)?.outcome == .unknown)
        history.renewalInfos[0].signedDate = Samples.month(3)
        let lapsed = history.eligibility(for: Samples.offer, at: Samples.month(4) + Samples.day)
        #expect(lapsed.reason(.lapsed)?.outcome == .satisfied)
    }
}
