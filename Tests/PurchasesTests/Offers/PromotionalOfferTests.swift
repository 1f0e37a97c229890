import AppStoreModels
import Purchases
import Testing

@Suite("Promotional offers: customers to keep or win back")
struct PromotionalOfferTests {
    private func info(_ change: (inout JWSRenewalInfoDecodedPayload) -> Void) -> JWSRenewalInfoDecodedPayload {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = "original"
        info.signedDate = Samples.month(3)
        change(&info)
        return info
    }

    private func candidate(
        _ infos: [JWSRenewalInfoDecodedPayload], at date: Int64,
        _ transactions: [JWSTransactionDecodedPayload] = OfferSamples.monthly(0..<3)
    ) -> PromotionalCandidate? {
        Samples.history(transactions, infos).promotionalCandidates(at: date).first
    }

    @Test("Auto-renewal turned off in a period that runs")
    func autoRenewOff() {
        let running = Samples.month(3) - Samples.day
        let off = info {
            $0.autoRenewStatus = .off
            $0.signedDate = running
        }
        let found = candidate([off], at: running)
        #expect(found?.situation == .autoRenewOff && found?.isCandidate == true)
        #expect(found?.group == Samples.group && found?.standing.transactionId == "t2")
        let on = info {
            $0.autoRenewStatus = .on
            $0.signedDate = running
        }
        #expect(candidate([on], at: running)?.situation == .renewing)
        #expect(candidate([on], at: running)?.isCandidate == false)
        #expect(candidate([], at: running)?.situation == .unknown)
    }

    @Test("Billing retry, in the grace period and after it, then lapsed; with the expiration intent")
    func billingRetry() {
        let failing = info {
            $0.autoRenewStatus = .on
            $0.isInBillingRetryPeriod = true
            $0.expirationIntent = .billingError
            $0.gracePeriodExpiresDate = Samples.month(3) + 16 * Samples.day
        }
        for days in [Int64(1), 17, 59] {
            let found = candidate([failing], at: Samples.month(3) + days * Samples.day)
            #expect(found?.situation == .billingRetry && found?.isCandidate == true)
            #expect(found?.expirationIntent == .billingError)
        }
        let after = candidate([failing], at: Samples.month(3) + 60 * Samples.day)
        #expect(after?.situation == .lapsed && after?.expirationIntent == .billingError)
    }

    @Test("A customer has not lapsed while another of the customer's subscriptions in the group may have been renewed")
    func anotherMayHaveGoneOn() {
        let other = Samples.period(0, 2) {
            $0.transactionId = "o0"
            $0.originalTransactionId = "other"
        }
        var history = Samples.history(Samples.monthly(0..<3) + [other], [])
        #expect(history.promotionalCandidates(at: Samples.month(4)).first?.situation == .lapsed)
        history.coverage["other"] = PurchaseHistory.Coverage(currentThrough: Samples.month(1))
        #expect(history.promotionalCandidates(at: Samples.month(4)).first?.situation == .unknown)
    }

    @Test("A period that began later and ended earlier does not take the renewal information of the one that ends last")
    func periodWithin() {
        var periods = Samples.monthly(0..<2)
        periods[0].expiresDate = Samples.month(3)
        periods[1].revocationDate = Samples.month(1) + Samples.day
        let failing = info {
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = Samples.month(3) + 16 * Samples.day
        }
        let now = Samples.month(3) + Samples.day
        let found = candidate([failing], at: now, periods)
        #expect(found?.situation == .billingRetry && found?.standing.transactionId == "t0")
        // In any order of the documents, and with a period that follows the one that ends last.
        #expect(candidate([failing], at: now, periods.reversed()) == found)
        var renewed = Samples.monthly(0..<4)
        renewed[0].expiresDate = Samples.month(3)
        for place in 1...2 { renewed[place].revocationDate = Samples.month(1) + Samples.day }
        let later = candidate([failing], at: now, renewed)
        #expect(later?.standing.transactionId == "t3")
    }

    @Test("A row's Family Sharing takes no period out of a bought subscription, as for the other offers")
    func sharedByRow() {
        var row = PurchaseHistory.Entry(Samples.period(3, 9) { $0.inAppOwnershipType = .familyShared })
        row.isSigned = false
        var bought = Samples.history(Samples.monthly(0..<3), [])
        bought.entries.append(row)
        let found = bought.promotionalCandidates(at: Samples.month(5)).first
        #expect(found?.situation == .unknown && found?.standing.transactionId == "t3")
        let verdict = bought.introductoryEligibility(group: Samples.group, at: Samples.month(5))
        #expect(verdict.reason(.lapsed)?.outcome == .failed)
        // Of a subscription that the App Store states to be shared, it is one more shared period.
        var shared = bought
        for place in shared.entries.indices { shared.entries[place].transaction.inAppOwnershipType = .familyShared }
        #expect(shared.promotionalCandidates(at: Samples.month(5)).isEmpty)
    }

    @Test("A subscription that ended has lapsed; unknown where the history does not reach its end")
    func lapsed() {
        let cancelled = info {
            $0.autoRenewStatus = .off
            $0.expirationIntent = .cancelled
        }
        let found = candidate([cancelled], at: Samples.month(5))
        #expect(found?.situation == .lapsed && found?.expirationIntent == .cancelled)
        var stale = Samples.history(Samples.monthly(0..<3), [])
        stale.completeThrough = Samples.month(2)
        #expect(stale.promotionalCandidates(at: Samples.month(5)).first?.situation == .unknown)
    }

    @Test("A refunded period is no lapse, and what the family shares is not the customer's own")
    func others() {
        var periods = Samples.monthly(0..<3)
        periods[2].revocationDate = Samples.month(2) + Samples.day
        #expect(candidate([], at: Samples.month(5), periods)?.situation == .revoked)
        let shared = Samples.monthly(0..<3).map {
            var payload = $0
            payload.inAppOwnershipType = .familyShared
            return payload
        }
        #expect(candidate([], at: Samples.month(5), shared) == nil)
        // An own subscription beside a shared one that is still active.
        var family = Samples.period(0, 9)
        family.transactionId = "shared"
        family.originalTransactionId = "shared"
        family.inAppOwnershipType = .familyShared
        let both = candidate([Samples.cancelled()], at: Samples.month(5), Samples.monthly(0..<3) + [family])
        #expect(both?.situation == .lapsed && both?.standing.transactionId == "t2")
    }

    @Test("An unsigned assignment counts only for a subscription that no signed document states")
    func recordedAssignment() {
        var assigned = Samples.period(9, 10)
        assigned.inAppOwnershipType = .assigned
        var history = Samples.history(Samples.monthly(0..<3) + [assigned])
        #expect(history.promotionalCandidates(at: Samples.month(12)).isEmpty)
        history.entries[3].isSigned = false
        #expect(history.promotionalCandidates(at: Samples.month(12)).map(\.situation) == [.lapsed])
        for place in history.entries.indices { history.entries[place].isSigned = false }
        #expect(history.promotionalCandidates(at: Samples.month(12)).isEmpty)
    }
}
