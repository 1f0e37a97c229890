import AppStoreModels
import Purchases
import Testing

@Suite("Entitlements")
struct EntitlementTests {
    private func best(
        _ transactions: [JWSTransactionDecodedPayload], _ infos: [JWSRenewalInfoDecodedPayload] = [],
        at date: Int64
    ) throws -> SubscriptionStanding {
        try #require(Samples.history(transactions, infos).entitlements(at: date).first?.subscriptions.first)
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

    @Test("The access of a subscription ended at its expiry or refund, unless a period or a grace period gives access")
    func accessEnded() throws {
        let months = Samples.monthly(0..<2)
        #expect(try best(months, at: Samples.month(2) - 1).accessEnded == nil)
        #expect(try best(months, at: Samples.month(4)).accessEnded == Samples.month(2))
        let refunded = Samples.period(0, 1) { $0.revocationDate = Samples.month(0) + Samples.day }
        #expect(try best([refunded], at: Samples.month(0) + Samples.day).accessEnded == Samples.month(0) + Samples.day)
        let grace = Samples.month(2) + 6 * Samples.day
        #expect(try best(months, [retry], at: grace - 1).accessEnded == nil)
        #expect(try best(months, [retry], at: grace).accessEnded == Samples.month(2))
    }

    @Test("Each subscription comes once, with the period that decides, without a grace period")
    func subscriptions() throws {
        let shared = Samples.period(5, 6) {
            $0.inAppOwnershipType = .familyShared
            $0.transactionId = "shared"
        }
        let other = Samples.period("basic", 0, 1) {
            $0.transactionId = "other"
            $0.originalTransactionId = nil
        }
        let history = Samples.history(Samples.monthly(0..<2) + [shared, other], [retry])
        let expired = history.subscriptions(at: Samples.month(2))
        #expect(expired.map(\.subscriptionId) == ["original", "other"])
        #expect(expired.map(\.status) == [.billingGracePeriod, .expired])
        #expect(expired.first?.periodStart == Samples.month(1))
        #expect(expired.first?.periodEnd == Samples.month(2))
        #expect(expired.first?.accessEnds == Samples.month(2) + 6 * Samples.day)
        // Of the own and the shared periods of one subscription, the better one.
        #expect(history.subscriptions(at: Samples.month(5)).map(\.transactionId) == ["shared", "other"])
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
            $0.multiSeatInfo = TransactionMultiSeatInfo {
                $0.invitationManagement = .developer
                $0.revokedSeatQuantity = 5
            }
        }
        let standing = try best([refunded], at: Samples.month(0) + 20 * Samples.day)
        #expect(standing.status == .active && standing.accessEnds == Samples.month(1))
    }

    @Test("The seats of a period are the sum of its transactions less the refunded ones, in any order")
    func seats() throws {
        let date = Samples.month(0) + 20 * Samples.day
        func seats(_ quantity: Int32, revoked: Int32? = nil) -> (inout JWSTransactionDecodedPayload) -> Void {
            {
                $0.quantity = quantity
                $0.multiSeatInfo = TransactionMultiSeatInfo { $0.revokedSeatQuantity = revoked }
            }
        }
        let all = shared(seats(5, revoked: 2), seats(3)) + [Samples.period(1, 2, seats(4))]
        for transactions in [all, all.reversed(), [all[1], all[2], all[0]]] {
            let history = Samples.history(transactions)
            let entitlement = try #require(history.entitlements(at: date).first)
            #expect(entitlement.seats == 6)
            #expect(entitlement.subscriptions.map(\.seats) == [6])
            // The next period has its own.
            #expect(history.entitlements(at: Samples.month(1)).first?.seats == 4)
            #expect(Set(history.seats.values) == [4, 6] && history.seats.count == 3)
        }
        // A receipt cuts the milliseconds off, and old ones do not state the ownership.
        var mixed = shared(seats(5), seats(3))
        mixed[0].inAppOwnershipType = nil
        mixed[1].expiresDate = mixed[1].expiresDate.map { $0 + 800 }
        #expect(try best(mixed, at: date).seats == 8)
        // A transaction that is refunded as a whole has none, and more than all cannot be refunded.
        let refunded = shared(seats(5, revoked: 9)) {
            seats(3)(&$0)
            $0.revocationDate = date - 1
        }
        #expect(try best(refunded, at: date).seats == 0)
        let single = try best([Samples.period(0, 1) { $0.quantity = 1 }], at: date)
        #expect(single.seats == nil)
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
        // Billing failed at the end of month 2; no document states the recovery, but a newer receipt has its period.
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

    @Test("Of two periods that run, the higher level decides, then the later end; access lasts as long as either")
    func reversedRefund() throws {
        // Refunded, bought again, the refund reversed, then upgraded.
        let restored = Samples.period("basic", 0, 12)
        let anew = Samples.period("basic", 2, 14) { $0.isUpgraded = true }
        let premium = Samples.period("premium", 3, 4)
        for transactions in [[restored, anew, premium], [premium, anew, restored]] {
            var history = Samples.history(transactions)
            func best(at date: Int64) throws -> SubscriptionStanding {
                try #require(history.entitlements(at: date).first?.subscriptions.first)
            }
            #expect(try best(at: Samples.month(3)).productId == "basic")
            history.products["premium"] = PurchaseHistory.Product(level: 1)
            history.products["basic"] = PurchaseHistory.Product(level: 2)
            let both = try best(at: Samples.month(3))
            #expect(both.productId == "premium" && both.status == .active)
            #expect(both.periodEnd == Samples.month(4))
            #expect(both.accessEnds == Samples.month(12) && both.changesAt == Samples.month(12))
            // The purchase that decides changes before the status does.
            #expect(history.entitlements(at: Samples.month(3)).map(\.changesAt) == [Samples.month(4)])
            let after = try best(at: Samples.month(4))
            #expect(after.productId == "basic" && after.status == .active && after.accessEnds == Samples.month(12))
            #expect(try best(at: Samples.month(12)).status == .expired)
        }
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
            Samples.period("c", 0, 1, group: nil) {
                $0.originalTransactionId = "c"
                $0.transactionId = "c"
            },
            Samples.period("b", 0, 1, group: "9") { $0.transactionId = "b" },
            Samples.period("a", 0, 2, group: "10") { $0.transactionId = "a" },
        ]
        let found = Samples.history(transactions).entitlements(at: Samples.month(1))
        #expect(found.map(\.group) == ["10", "9", nil])
        #expect(found.map(\.status) == [.active, .expired, .expired])
    }

    @Test("An expiry that the history does not reach is not certain")
    func stale() throws {
        var history = Samples.history(Samples.monthly(0..<2))
        #expect(history.entitlements(at: Samples.month(3)).first?.isCurrent == true)
        history.completeThrough = Samples.month(1)
        #expect(history.entitlements(at: Samples.month(3)).first?.isCurrent == false)
        #expect(history.entitlements(at: Samples.month(1)).first?.isCurrent == true)
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

    @Test("The highest level of service of a group decides, and a product without a level is below the others")
    func levels() throws {
        func subscription(_ product: String, _ to: Int64) -> JWSTransactionDecodedPayload {
            Samples.period(product, 0, to) {
                $0.inAppOwnershipType = .familyShared
                $0.originalTransactionId = product
                $0.transactionId = product
            }
        }
        var history = Samples.history([subscription("basic", 6), subscription("gold", 2), subscription("other", 9)])
        history.products = ["basic": .init(level: 2), "gold": .init(level: 1, entitlement: "premium")]
        let best = try #require(history.entitlements(at: Samples.month(1)).first)
        #expect(best.productId == "gold" && best.level == 1 && best.name == "premium")
        // The others give access for longer.
        #expect(best.accessEnds == Samples.month(9) && best.changesAt == Samples.month(2))
        #expect(best.subscriptions.map(\.productId) == ["gold", "basic", "other"])
        // A level without access decides nothing.
        #expect(history.entitlements(at: Samples.month(2)).map(\.productId) == ["basic"])
        history.products = [:]
        #expect(history.entitlements(at: Samples.month(1)).map(\.productId) == ["other"])
    }

    @Test(
        "A subscription stays in its group when its product changes, also if no document states the group of the other product"
    )
    func groupOfASubscription() throws {
        let history = Samples.history(
            [Samples.period("known", 0, 1), Samples.period("unknown", 1, 2, group: nil)])
        let now = Samples.month(1) + Samples.day
        let entitlements = history.entitlements(at: now)
        #expect(entitlements.map(\.group) == [Samples.group] && entitlements.map(\.productId) == ["unknown"])
        #expect(history.subscriptions(at: now).map(\.status) == [.active])
        let standing = try #require(history.productStandings(at: now).first { $0.productId == "unknown" })
        #expect(standing.hasEnded == false && !standing.isSubscriptionOver)
        #expect(standing.accessEnds == Samples.month(2))
    }

    @Test("Without access, an entitlement is current only if each of its subscriptions is")
    func currentWithoutAccess() throws {
        let other = Samples.period(0, 1) {
            $0.originalTransactionId = "other"
            $0.transactionId = "other"
        }
        var history = Samples.history([Samples.period(1, 2), other], [])
        history.completeThrough = Samples.month(3)
        #expect(try #require(history.entitlements(at: Samples.month(3)).first).isCurrent)
        history.coverage["other"] = .init(currentThrough: Samples.month(0))
        let found = try #require(history.entitlements(at: Samples.month(3)).first)
        #expect(found.transactionId == "t1" && found.status == .expired && !found.isCurrent)
        // The subscription that gives access is sure.
        #expect(try #require(history.entitlements(at: Samples.month(1)).first).isCurrent)
    }

    @Test(
        "An upgraded period ends when the next product of its own subscription begins, despite earlier products of others"
    )
    func successorOfTheSubscription() {
        let upgraded = Samples.period("year", 0, 12, group: nil) { $0.isUpgraded = true }
        let successor = Samples.period("month", 5, 6, group: nil)
        let other = Samples.period("news", 1, 2, group: nil) { $0.originalTransactionId = "other" }
        let periods = Samples.history([upgraded, successor, other]).subscriptionPeriods
        #expect(periods.first { $0.transaction.productId == "year" }?.end == Samples.month(5))
    }

    @Test("Subscriptions of unknown groups are one entitlement only if a product or an upgrade connects them")
    func unknownGroups() {
        func subscription(_ product: String, _ id: String, _ number: Int64) -> JWSTransactionDecodedPayload {
            Samples.period(product, 0, 2, group: nil) {
                $0.originalTransactionId = id
                $0.transactionId = "\(id)\(number)"
            }
        }
        let separate = [subscription("b", "1", 1), subscription("a", "2", 1), subscription("a", "3", 1)]
        let found = Samples.history(separate).entitlements(at: Samples.month(1))
        #expect(found.map(\.productId) == ["a", "b"])
        #expect(found.map(\.subscriptions.count) == [2, 1])
        let joined = Samples.history(separate + [subscription("a", "1", 2)]).entitlements(at: Samples.month(1))
        #expect(joined.map(\.subscriptions.count) == [3])
    }

    @Test("Purchases without a product id connect no subscriptions of unknown groups")
    func unknownProducts() {
        func period(_ product: String?, _ id: String, _ from: Int64, _ to: Int64) -> JWSTransactionDecodedPayload {
            Samples.period("", from, to, group: nil) {
                $0.productId = product
                $0.originalTransactionId = id
                $0.transactionId = "\(id)\(from)"
            }
        }
        let periods = [
            period(nil, "1", 0, 1), period("b", "1", 1, 3), period(nil, "2", 0, 1), period("a", "2", 1, 3),
            period(nil, "3", 0, 1),
        ]
        for transactions in [periods, Array(periods.reversed())] {
            let found = Samples.history(transactions).entitlements(at: Samples.month(2))
            #expect(found.map(\.originalTransactionId) == ["1", "2", "3"])
            #expect(found.map(\.hasAccess) == [true, true, false])
            #expect(found.map(\.productId) == ["b", "a", nil])
        }
        // Only the product of the current subscription has no introductory offer.
        let history = Samples.history([
            period(nil, "1", 0, 1), period("b", "1", 1, 3), period(nil, "2", 0, 1), period("a", "2", 1, 2),
        ])
        #expect(history.productsWithoutIntroductoryOffer(catalog: nil, at: Samples.month(2)) == ["b"])
    }

    private func purchase(
        _ product: String, _ type: ProductType?, _ id: String, month: Int64 = 0,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.productId = product
        payload.type = type
        payload.transactionId = id
        payload.originalTransactionId = id
        payload.purchaseDate = Samples.month(month)
        configure(&payload)
        return payload
    }

    @Test("Several current transactions of one subscription product, through Family Sharing, are one entitlement")
    func severalCurrentTransactions() {
        let own = Samples.period(0, 2)
        let shared = (1...2).map { number in
            Samples.period(0, 2) {
                $0.inAppOwnershipType = .familyShared
                $0.transactionId = "shared\(number)"
                $0.originalTransactionId = "family\(number)"
            }
        }
        let orders: [[JWSTransactionDecodedPayload]] = [[own] + shared, shared + [own]]
        for transactions in orders {
            let entitlements = Samples.history(transactions).entitlements(at: Samples.month(1))
            #expect(entitlements.count == 1 && entitlements.first?.hasAccess == true)
            #expect(entitlements.first?.accessEnds == Samples.month(2))
            #expect(entitlements.first?.subscriptions.count == 3)
        }
    }

    @Test("Several transactions of a non-consumable are one entitlement, which lasts until the last is revoked")
    func nonConsumables() throws {
        let own = purchase("lifetime", .nonConsumable, "1") { $0.revocationDate = Samples.month(3) }
        let shared = purchase("lifetime", .nonConsumable, "2", month: 1) { $0.inAppOwnershipType = .familyShared }
        func status(_ transactions: [JWSTransactionDecodedPayload], _ month: Int64) -> [SubscriptionStatus?] {
            Samples.history(transactions).entitlements(at: Samples.month(month)).map(\.status)
        }
        #expect(status([own, shared], 4) == [.active] && status([shared, own], 4) == [.active])
        #expect(status([own], 2) == [.active] && status([own], 3) == [.revoked] && status([shared], 0) == [])
        let active = try #require(Samples.history([own, shared]).entitlements(at: Samples.month(4)).first)
        #expect(active.isFamilyShared && active.transactionId == "2" && active.accessEnds == nil && active.isCurrent)
        // A restored transaction is the purchase that it restores: a refund of either is one of both.
        let restored = purchase("lifetime", .nonConsumable, "9", month: 2) {
            $0.originalTransactionId = "1"
            $0.originalPurchaseDate = Samples.month(0)
        }
        #expect(status([own, restored], 4) == [.revoked])
        #expect(status([purchase("coins", .consumable, "5")], 4) == [])
    }

    @Test("An unsigned refund does not revoke a signed purchase")
    func unsignedRefund() {
        let signed = purchase("lifetime", .nonConsumable, "1")
        let refunded = purchase("lifetime", .nonConsumable, "9") {
            $0.originalTransactionId = "1"
            $0.revocationDate = Samples.month(1)
        }
        var history = Samples.history([signed, refunded])
        #expect(history.entitlements(at: Samples.month(2)).map(\.status) == [.revoked])
        history.entries[1].isSigned = false
        #expect(history.entitlements(at: Samples.month(2)).map(\.status) == [.active])
    }

    @Test("A non-renewing subscription lasts for the terms that follow without a gap, and is unknown without a term")
    func nonRenewing() throws {
        var history = Samples.history([
            purchase("pass", .nonRenewingSubscription, "1"),
            purchase("season", .nonRenewingSubscription, "2", month: 1),
            purchase("pass", .nonRenewingSubscription, "3", month: 6),
            purchase("other", .nonRenewingSubscription, "4"),
        ])
        let terms: [(Int64, Int64)] = [(0, 2), (2, 5), (6, 8)]
        for (index, term) in terms.enumerated() {
            history.entries[index].term = .init(start: Samples.month(term.0), end: Samples.month(term.1))
        }
        history.products = ["pass": .init(entitlement: "club"), "season": .init(entitlement: "club")]
        func found(_ month: Int64) throws -> Entitlement {
            try #require(history.entitlements(at: Samples.month(month)).first)
        }
        #expect(history.entitlements(at: Samples.month(1)).map(\.status) == [.active, nil])
        #expect(history.entitlements(at: Samples.month(1)).map(\.productId) == ["pass", "other"])
        #expect(try found(0).accessEnds == Samples.month(2))
        #expect(try found(1).accessEnds == Samples.month(5) && found(1).transactionId == "1")
        #expect(try found(1).changesAt == Samples.month(2))
        #expect(try found(2).transactionId == "2" && found(2).changesAt == Samples.month(5))
        #expect(try found(5).status == .expired && found(5).accessEnds == Samples.month(5))
        #expect(try found(6).accessEnds == Samples.month(8) && found(6).name == "club")
        history.entries[2].transaction.revocationDate = Samples.month(7)
        #expect(try found(6).accessEnds == Samples.month(7) && found(6).hasAccess)
        history.completeThrough = Samples.month(7)
        #expect(try found(9).isCurrent)
        history.completeThrough = Samples.month(4)
        #expect(try found(5).status == .expired && !found(5).isCurrent)
    }

    @Test("If transactions of a product state different types, their order changes no entitlement")
    func contradictingTypes() {
        func restored(_ type: ProductType?, _ id: String) -> JWSTransactionDecodedPayload {
            purchase("pass", type, id, month: 1) { $0.originalTransactionId = "1" }
        }
        for transactions in [
            // One purchase.
            [purchase("pass", .nonConsumable, "1"), restored(.nonRenewingSubscription, "2")],
            // Three purchases, one of unknown type.
            [
                purchase("pass", .nonConsumable, "3", month: 1),
                purchase("pass", .nonRenewingSubscription, "4", month: 1),
                purchase("pass", nil, "2"),
            ],
        ] {
            for isSigned in [true, false] {
                func entitlements(_ transactions: [JWSTransactionDecodedPayload]) -> [Entitlement] {
                    var history = Samples.history(transactions)
                    for place in history.entries.indices { history.entries[place].isSigned = isSigned }
                    return history.entitlements(at: Samples.month(2))
                }
                #expect(entitlements(transactions) == entitlements(transactions.reversed()))
            }
        }
    }

    @Test("A product of unknown type has an unknown status, and a free subscription never ends")
    func unknownTypes() {
        var history = Samples.history([
            purchase("magazine", .nonRenewingSubscription, "1"), purchase("thing", nil, "2"),
            purchase("refunded", nil, "3") { $0.revocationDate = Samples.month(1) },
        ])
        history.products = ["magazine": .init(isFreeSubscription: true)]
        let found = history.entitlements(at: Samples.month(9))
        #expect(found.map(\.productId) == ["magazine", "refunded", "thing"])
        #expect(found.map(\.status) == [.active, .revoked, nil])
        #expect(found.map(\.hasAccess) == [true, false, false])
    }
}
