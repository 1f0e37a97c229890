import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    /// The beginning of a day, counted from ``StoreSamples/june``.
    static func date(_ day: Int64) -> Int64 { Samples.june + day * Samples.day }

    /// A period of a subscription: 30 days, unless it has another end.
    static func period(
        _ id: String, of original: String = "1", product: String = "monthly", from start: Int64 = 0,
        to end: Int64? = nil, signed day: Int64 = 0, source: FactSource = .receipt,
        legacy: LegacyTransactionFields? = nil, _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        Samples.fact(id, original: original, product: product, source: source, at: date(day), legacy: legacy) {
            $0.type = .autoRenewableSubscription
            $0.purchaseDate = date(start)
            $0.expiresDate = date(end ?? start + 30)
            configure(&$0)
        }
    }

    /// A period of subscription 1 whose document states its reason. The first one has the transaction id 1.
    private static func stated(
        _ id: String, from start: Int64, signed day: Int64, source: FactSource = .appStoreServerAPI
    ) -> TransactionFact {
        period(id, from: start, signed: day, source: source) {
            if source != .receipt { $0.transactionReason = id == "1" ? .purchase : .renewal }
        }
    }

    private static func info(
        signed day: Int64, source: FactSource = .appStoreServerAPI,
        _ configure: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> RenewalInfoFact {
        Samples.renewal("1", source: source, at: date(day), configure)
    }

    /// An answer with the first period.
    private static func answer(
        signed day: Int64, scope: StoreScope = Samples.scope,
        _ configure: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        Samples.set(
            stated("1", from: 0, signed: day), scope: scope, renewals: [info(signed: day, configure)])
    }

    /// A notification of the same facts as an answer.
    private static func notified(
        _ uuid: String, _ type: String, _ subtype: String?, _ fact: TransactionFact, scope: StoreScope = Samples.scope,
        _ configure: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        let signedDate = fact.origin.signedDate
        let day = (signedDate - Samples.june) / Samples.day
        return Samples.set(
            fact, scope: scope, renewals: [info(signed: day, source: .notificationV2, configure)],
            notification: Samples.notification(uuid, type, subtype, at: signedDate))
    }

    static func unpaid(_ info: inout JWSRenewalInfoDecodedPayload) {
        info.isInBillingRetryPeriod = true
        info.expirationIntent = .billingError
    }

    /// In the grace period until day 36.
    static func inGrace(_ info: inout JWSRenewalInfoDecodedPayload) {
        unpaid(&info)
        info.gracePeriodExpiresDate = date(36)
    }

    static func lapsed(_ info: inout JWSRenewalInfoDecodedPayload) {
        info.isInBillingRetryPeriod = false
        info.expirationIntent = .billingError
    }

    static let renewals: [StoreRule] = [
        StoreRule(opened: "an API answer adds the entries about billing and expiry, and the notification none again") {
            store in
            func notice(_ type: String, _ subtype: String?, _ id: String, from start: Int64, day: Int64) -> FactSet {
                notified(
                    "\(type) \(day)", type, subtype, stated(id, from: start, signed: day, source: .notificationV2))
            }
            let documents: [FactSet] = [
                answer(signed: 1), answer(signed: 31, inGrace),
                notice("DID_FAIL_TO_RENEW", "GRACE_PERIOD", "1", from: 0, day: 30), answer(signed: 32, inGrace),
                answer(signed: 37, inGrace), notice("GRACE_PERIOD_EXPIRED", nil, "1", from: 0, day: 36),
                Samples.set(stated("2", from: 40, signed: 40), renewals: [info(signed: 40)]),
                notice("DID_RENEW", "BILLING_RECOVERY", "2", from: 40, day: 40),
                Samples.set(stated("2", from: 40, signed: 71), renewals: [info(signed: 71, lapsed)]),
                notice("EXPIRED", "BILLING_RETRY", "2", from: 40, day: 70),
            ]
            try await store.add(documents)
            try await store.add(documents)
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: """
                    1 started - active, 1 gracePeriodEntered active inGracePeriod, \
                    1 gracePeriodExpired inGracePeriod inBillingRetry, 2 renewed - active, \
                    2 billingRecovered inBillingRetry active, 2 expired active expired
                    """)
        },
        StoreRule(opened: "a renewal that fails without a grace period has one entry, by an answer or a notification") {
            store in
            try await store.add(
                answer(signed: 1), answer(signed: 31, unpaid),
                notified(
                    "a", "DID_FAIL_TO_RENEW", nil, stated("1", from: 0, signed: 32, source: .notificationV2), unpaid),
                notified(
                    "b", "GRACE_PERIOD_EXPIRED", nil, stated("1", from: 0, signed: 33, source: .notificationV2), unpaid),
                answer(signed: 34, unpaid))
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: "1 started - active, 1 billingFailed active inBillingRetry")
        },
        StoreRule(opened: "a failed renewal of a period under two original ids has one entry") { store in
            func answer(_ day: Int64, _ configure: (inout JWSRenewalInfoDecodedPayload) -> Void) -> FactSet {
                Samples.set(
                    period("7", of: "1", signed: day, source: .appStoreServerAPI),
                    period("7", of: "2", signed: day, source: .appStoreServerAPI),
                    renewals: ["1", "2"].map {
                        Samples.renewal($0, source: .appStoreServerAPI, at: date(day), configure)
                    })
            }
            try await store.add(answer(1) { _ in }, answer(31, unpaid))
            try await expect(
                LedgerAudit.text(LedgerAudit.check(store)), equals: "7 purchased, 7 billingFailed")
        },
        StoreRule(
            opened: "a failed renewal under the first original id adds no entry after a refund under the second one"
        ) {
            store in
            try await store.add(
                period("7", of: "1", signed: 1, source: .appStoreServerAPI), renewals: [info(signed: 1)])
            try await store.add(
                period("7", of: "2", signed: 3, source: .appStoreServerAPI) { $0.revocationDate = date(2) })
            try await store.add(renewals: [info(signed: 31, unpaid)])
            try await expect(LedgerAudit.text(LedgerAudit.check(store)), equals: "7 purchased, 7 revoked")
        },
        StoreRule(opened: "a price increase in an answer has one entry, also when the next period still states it") {
            store in
            try await store.add(
                answer(signed: 1), answer(signed: 10) { $0.priceIncreaseStatus = .pending },
                answer(signed: 12) { $0.priceIncreaseStatus = .consentedOrNotified },
                notified("a", "PRICE_INCREASE", "ACCEPTED", stated("1", from: 0, signed: 11, source: .notificationV2)) {
                    $0.priceIncreaseStatus = .consentedOrNotified
                },
                Samples.set(
                    stated("2", from: 30, signed: 31),
                    renewals: [info(signed: 31) { $0.priceIncreaseStatus = .consentedOrNotified }]))
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: """
                    1 started - active, 1 priceIncreasePending active active, 1 priceIncreaseAccepted active active, \
                    2 renewed - active
                    """)
        },
        StoreRule(
            opened: "every order of the documents about a failed renewal gives each entry once and ends as expired"
        ) {
            store in
            func documents(_ number: Int) -> [FactSet] {
                let scope = StoreScope(environment: .sandbox, bundleId: "app\(number)")
                let fact = stated("1", from: 0, signed: 30, source: .notificationV2)
                return [
                    Samples.set(stated("1", from: 0, signed: 1, source: .receipt), scope: scope),
                    answer(signed: 31, scope: scope, inGrace),
                    notified("grace \(number)", "DID_FAIL_TO_RENEW", "GRACE_PERIOD", fact, scope: scope, inGrace),
                    answer(signed: 95, scope: scope, lapsed),
                ]
            }
            for (number, order) in permutations([0, 1, 2, 3]).enumerated() {
                let sets = documents(number)
                for index in order { try await store.add(sets[index]) }
            }
            let entries = try await LedgerAudit.check(store)
            for (scope, own) in Dictionary(grouping: entries, by: \.scope) {
                try expect(Set(own.map(\.event)).count, equals: own.count, scope.bundleId)
                try expect(own.first?.change, equals: .started, scope.bundleId)
                try expect(own.last?.stateAfter, equals: .expired, scope.bundleId)
            }
            try expect(Set(entries.map(\.scope)).count, equals: 24)
        },
        StoreRule(opened: "renewal information that comes before its transaction, or alone, adds its entry") { store in
            try await store.add(renewals: [info(signed: 31, lapsed)])
            try await expect(store.text, equals: "")
            try await store.add(stated("1", from: 0, signed: 1, source: .receipt))
            try await expect(store.text, equals: "1 purchased, 1 expired")
            try await store.add(renewals: [info(signed: 32, lapsed)])
            try await expect(store.text, equals: "1 purchased, 1 expired")
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "a period with added seats expires once, whichever of its transactions a document names") {
            store in
            func added(_ source: FactSource) -> TransactionFact {
                period("2", from: 10, to: 30, signed: 31, source: source) {
                    $0.transactionReason = .purchase
                    $0.additionalTransactionReason = .seatAddition
                }
            }
            try await store.add(
                stated("1", from: 0, signed: 31), added(.appStoreServerAPI), renewals: [info(signed: 31, lapsed)])
            try await store.add(notified("a", "EXPIRED", "VOLUNTARY", added(.notificationV2), lapsed))
            try await expect(LedgerAudit.text(LedgerAudit.check(store)), equals: "1 purchased, 2 purchased, 1 expired")
        },
        StoreRule(opened: "a late notification about the period before a renewal recovers it") { store in
            try await store.add(answer(signed: 1))
            try await store.add(stated("2", from: 32, signed: 40), renewals: [info(signed: 40)])
            let late = stated("1", from: 0, signed: 30, source: .notificationV2)
            try await store.add(notified("a", "DID_FAIL_TO_RENEW", "GRACE_PERIOD", late, inGrace))
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: """
                    1 started - active, 2 renewed - active, 1 gracePeriodEntered active inGracePeriod, \
                    2 billingRecovered inBillingRetry active
                    """)
        },
        StoreRule(opened: "the end of a grace period has its entry when the next document shows it") { store in
            try await store.add(answer(signed: 31, inGrace))
            try await store.add(stated("1", from: 0, signed: 50, source: .receipt))
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: """
                    1 started - active, 1 gracePeriodEntered active inGracePeriod, \
                    1 gracePeriodExpired inGracePeriod inBillingRetry
                    """)
        },
        StoreRule(opened: "an expiry that the App Store does not state, an unsigned one and a refund add no entry") {
            store in
            let recorded = info(signed: 40, source: .recordedReply, lapsed)
            try await store.add(
                answer(signed: 1), answer(signed: 31),
                Samples.set(stated("1", from: 0, signed: 40, source: .recordedReply), renewals: [recorded]))
            try await expect(store.text, equals: "1 purchased")
            let refund = period("1", signed: 50, source: .appStoreServerAPI) { $0.revocationDate = date(20) }
            try await store.add(Samples.set(refund, renewals: [info(signed: 50, lapsed)]))
            try await expect(LedgerAudit.text(LedgerAudit.check(store)), equals: "1 purchased, 1 revoked")
        },
        StoreRule(opened: "an entry about billing or a price is not added again after its removal") { store in
            func pending(_ info: inout JWSRenewalInfoDecodedPayload) { info.priceIncreaseStatus = .pending }
            try await store.add(
                answer(signed: 1), answer(signed: 10, pending), answer(signed: 31, inGrace), answer(signed: 37, inGrace)
            )
            try await expect(
                store.text, equals: "1 purchased, 1 priceIncreasePending, 1 gracePeriodEntered, 1 gracePeriodExpired")
            let last = try await store.changes(after: 0, limit: 10).last?.position ?? 0
            _ = try await store.removeEntries(before: .max, evenUnread: true)
            let late = stated("1", from: 0, signed: 30, source: .notificationV2)
            try await store.add(
                notified("a", "PRICE_INCREASE", "PENDING", late, pending),
                notified("b", "DID_FAIL_TO_RENEW", "GRACE_PERIOD", late, inGrace), answer(signed: 38, inGrace),
                answer(signed: 95, lapsed))
            let rest = try await store.changes(after: last, limit: 10)
            try expect(LedgerAudit.changes(rest), equals: "1 expired inBillingRetry expired")
        },
    ]
}
