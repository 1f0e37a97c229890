import AppStoreModels
import AppStoreServer
import Testing

@Suite("Entitlements")
struct EntitlementTests {
    private typealias Samples = OfferSamples

    private func best(
        _ transactions: [JWSTransactionDecodedPayload], _ infos: [JWSRenewalInfoDecodedPayload] = [],
        at date: Int64
    ) throws -> SubscriptionStanding {
        try #require(Samples.history(transactions, infos).entitlements(at: date).first).best
    }

    private var retry: JWSRenewalInfoDecodedPayload {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = "original"
        info.isInBillingRetryPeriod = true
        info.gracePeriodExpiresDate = Samples.month(2) + 6 * Samples.day
        info.signedDate = Samples.month(2)
        return info
    }

    @Test("A period that runs is active until its expiry, which is no longer part of it")
    func active() throws {
        let active = try best(Samples.monthly(0..<2), at: Samples.month(2) - 1)
        #expect(active.status == .active)
        #expect(active.hasAccess)
        #expect(active.accessEnds == Samples.month(2))
        #expect(active.changesAt == Samples.month(2))
        #expect(active.transactionId == "t1")
        let expired = try best(Samples.monthly(0..<2), at: Samples.month(2))
        #expect(expired.status == .expired)
        #expect(!expired.hasAccess)
        #expect(expired.changesAt == nil)
        #expect(Samples.history(Samples.monthly(0..<2)).entitlements(at: Samples.month(0) - 1).isEmpty)
    }

    /// Seats added halfway through the first month; the App Store then states the reason on both transactions.
    private func shared(
        _ began: (inout JWSTransactionDecodedPayload) -> Void = { _ in },
        _ added: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> [JWSTransactionDecodedPayload] {
        let first = Samples.period(0, 1) {
            $0.additionalTransactionReason = .seatAddition
            began(&$0)
        }
        let second = Samples.period(0, 1) {
            $0.transactionId = "added"
            $0.purchaseDate = Samples.month(0) + 15 * Samples.day
            $0.additionalTransactionReason = .seatAddition
            added(&$0)
        }
        return [first, second]
    }

    @Test("A refund of seats revokes nothing")
    func seatRefund() throws {
        let refunded = Samples.period(0, 1) {
            $0.quantity = 5
            $0.multiSeatInfo = TransactionMultiSeatInfo(invitationManagement: .developer, revokedSeatQuantity: 5)
        }
        let standing = try best([refunded], at: Samples.month(0) + 20 * Samples.day)
        #expect(standing.status == .active && standing.accessEnds == Samples.month(1))
    }

    @Test("A period with several transactions is revoked only if each of them is, in any order")
    func sharedPeriod() throws {
        let (refund, date) = (Samples.month(0) + 20 * Samples.day, Samples.month(0) + 25 * Samples.day)
        let isRefunded = { (payload: inout JWSTransactionDecodedPayload) in payload.revocationDate = refund }
        let cases: [([JWSTransactionDecodedPayload], SubscriptionStatus)] = [
            (shared(), .active), (shared(isRefunded), .active), (shared({ _ in }, isRefunded), .active),
            (shared(isRefunded, isRefunded), .revoked),
        ]
        for (transactions, status) in cases {
            for order in [transactions, transactions.reversed()] {
                let standing = try best(order, at: date)
                #expect(standing.status == status)
                #expect(standing.accessEnds == (status == .active ? Samples.month(1) : refund))
                #expect(try #require(Samples.history(order).entitlements(at: date).first).subscriptions.count == 1)
            }
        }
    }

    @Test("A purchase that an organization assigned gives access like one of the customer's own")
    func assigned() throws {
        let assigned = Samples.period(0, 1) { $0.inAppOwnershipType = .assigned }
        let own = Samples.period(0, 1)
        let date = Samples.month(0) + Samples.day
        #expect(try best([assigned], at: date) == best([own], at: date))
        #expect(try best([assigned], at: date).hasAccess)
    }

    @Test("An unknown ownership or additional reason gives no more than a purchase")
    func unknownOwnership() throws {
        let unknown = Samples.period(0, 1) {
            $0.inAppOwnershipType = InAppOwnershipType(rawValue: "NEW")
            $0.additionalTransactionReason = AdditionalTransactionReason(rawValue: "NEW")
            $0.revocationReason = RevocationReason(rawValue: 99)
        }
        for days in [0, 29, 31, 40] as [Int64] {
            let date = Samples.month(0) + days * Samples.day
            #expect(try best([unknown], at: date) == best([Samples.period(0, 1)], at: date))
        }
        var revoked = unknown
        revoked.revocationDate = Samples.month(0) + Samples.day
        #expect(try best([revoked], at: Samples.month(0) + 2 * Samples.day).status == .revoked)
    }

    @Test("Grace period, then billing retry, then, after 60 days, expired")
    func grace() throws {
        func standing(_ days: Int64) throws -> SubscriptionStanding {
            try best(Samples.monthly(0..<2), [retry], at: Samples.month(2) + days * Samples.day)
        }
        let grace = try standing(0)
        #expect(grace.status == .billingGracePeriod)
        #expect(grace.hasAccess && grace.restsOnRenewalInfo)
        #expect(grace.accessEnds == retry.gracePeriodExpiresDate)
        #expect(grace.changesAt == retry.gracePeriodExpiresDate)
        let billing = try standing(6)
        #expect(billing.status == .billingRetry)
        #expect(!billing.hasAccess)
        #expect(billing.changesAt == Samples.month(2) + 60 * Samples.day)
        #expect(try standing(60).status == .expired)
    }

    @Test("How an older period ended says nothing of the newest one: neither grace nor billing retry")
    func staleRenewalInfo() throws {
        // Billing failed at the end of month 2; the recovery was not heard of, but a newer receipt has its period.
        let recovered = Samples.period(2, 3) {
            $0.purchaseDate = Samples.month(2) + Samples.day
            $0.expiresDate = Samples.month(2) + 4 * Samples.day
        }
        let end = Samples.month(2) + 4 * Samples.day
        #expect(try best(Samples.monthly(0..<2) + [recovered], [retry], at: end - 1).status == .active)
        let over = try best(Samples.monthly(0..<2) + [recovered], [retry], at: end)
        #expect(over.status == .expired && !over.hasAccess && !over.restsOnRenewalInfo)
        // Recovered in the grace period, when the dates stay as they were.
        let inTime = try best(Samples.monthly(0..<3), [retry], at: Samples.month(3))
        #expect(inTime.status == .expired)
        // Billing begins a day before the end.
        var early = retry
        early.signedDate = Samples.month(2) - Samples.day
        #expect(try best(Samples.monthly(0..<2), [early], at: Samples.month(2)).status == .billingGracePeriod)
        early.signedDate = nil
        #expect(try best(Samples.monthly(0..<2), [early], at: Samples.month(2)).status == .expired)
    }

    @Test("A refund revokes, from its date")
    func revoked() throws {
        let refunded = Samples.period(0, 12) { $0.revocationDate = Samples.month(1) }
        #expect(try best([refunded], at: Samples.month(1) - 1).status == .active)
        let revoked = try best([refunded], [retry], at: Samples.month(1))
        #expect(revoked.status == .revoked)
        #expect(revoked.accessEnds == Samples.month(1))
    }

    @Test("An upgrade takes the place of the period at once")
    func upgraded() throws {
        let upgrade = Samples.month(0) + Samples.day
        let basic = Samples.period("basic", 0, 1) { $0.isUpgraded = true }
        let premium = Samples.period("premium", 0, 1) {
            $0.transactionId = "up"
            $0.purchaseDate = upgrade
        }
        #expect(try best([premium, basic], at: upgrade - 1).productId == "basic")
        let after = try best([premium, basic], at: upgrade)
        #expect(after.productId == "premium")
        #expect(after.status == .active)
    }

    @Test("The best of a group decides: the status, then how long it lasts, then who bought it")
    func bestOfGroup() throws {
        func shared(_ from: Int64, _ to: Int64) -> JWSTransactionDecodedPayload {
            Samples.period(from, to) {
                $0.inAppOwnershipType = .familyShared
                $0.originalTransactionId = "shared"
                $0.transactionId = "shared\(from)"
            }
        }
        let own = Samples.monthly(0..<2)
        let grace = try best(own + [shared(0, 3)], [retry], at: Samples.month(2))
        #expect(grace.status == .active && grace.isFamilyShared)
        let longer = try best(own + [shared(0, 3)], at: Samples.month(1))
        #expect(longer.isFamilyShared)
        let equal = try best(own + [shared(0, 2)], at: Samples.month(1))
        #expect(!equal.isFamilyShared)
        let ended = try best(own + [shared(0, 1)], [retry], at: Samples.month(2))
        #expect(ended.status == .billingGracePeriod && !ended.isFamilyShared)
        let all = Samples.history(own + [shared(0, 1)], [retry]).entitlements(at: Samples.month(2))
        #expect(all.first?.subscriptions.map(\.status) == [.billingGracePeriod, .expired])
    }

    @Test("Groups stand for themselves, by their identifiers, the unknown one last")
    func groups() {
        let transactions = [
            Samples.period("c", 0, 1, group: nil) { $0.transactionId = "c" },
            Samples.period("b", 0, 1, group: "9") { $0.transactionId = "b" },
            Samples.period("a", 0, 2, group: "10") { $0.transactionId = "a" },
        ]
        let found = Samples.history(transactions).entitlements(at: Samples.month(1))
        #expect(found.map(\.group) == ["10", "9", nil])
        #expect(found.map(\.best.status) == [.active, .expired, .expired])
    }

    @Test("An expiry that the history does not reach is not certain")
    func stale() throws {
        var history = Samples.history(Samples.monthly(0..<2))
        #expect(history.entitlements(at: Samples.month(3)).first?.best.isCurrent == true)
        history.completeThrough = Samples.month(1)
        #expect(history.entitlements(at: Samples.month(3)).first?.best.isCurrent == false)
        #expect(history.entitlements(at: Samples.month(1)).first?.best.isCurrent == true)
    }

    @Test("Of one transaction that is there twice the one signed last counts")
    func duplicates() throws {
        var refunded = Samples.period(0, 2) { $0.revocationDate = Samples.month(0) + 1 }
        refunded.signedDate = 2
        var bought = Samples.period(0, 2)
        bought.signedDate = 1
        for order in [[refunded, bought], [bought, refunded]] {
            #expect(try best(order, at: Samples.month(1)).status == .revoked)
        }
    }
}
