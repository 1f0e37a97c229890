import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    /// The set of a notification about one transaction.
    static func notified(
        _ uuid: String, _ type: String, _ subtype: String? = nil, _ id: String, source: FactSource = .notificationV2,
        at revision: Int64 = 0, body: String = "{}",
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        Samples.set(
            Samples.fact(id, source: source, at: Samples.june + revision, configure),
            notification: Samples.notification(uuid, type, subtype, at: Samples.june + revision, body: body))
    }

    static let notifiedEvents: [StoreRule] = [
        StoreRule(opened: "a notified event about billing, price or consumption adds one entry") { store in
            let expected: [(id: String, type: String, subtype: String?, event: String)] = [
                ("1", "DID_FAIL_TO_RENEW", "GRACE_PERIOD", "gracePeriodEntered"),
                ("1", "GRACE_PERIOD_EXPIRED", nil, "gracePeriodExpired"), ("1", "EXPIRED", "VOLUNTARY", "expired"),
                ("1", "CONSUMPTION_REQUEST", nil, "consumptionRequested"),
                ("1", "CONSUMPTION_REQUEST", nil, "consumptionRequested"),
                ("2", "DID_RENEW", "BILLING_RECOVERY", "billingRecovered"),
                ("2", "PRICE_INCREASE", "PENDING", "priceIncreasePending"),
                ("2", "PRICE_INCREASE", "ACCEPTED", "priceIncreaseAccepted"),
                ("2", "DID_FAIL_TO_RENEW", nil, "billingFailed"), ("2", "EXPIRED", nil, "expired"),
            ]
            let sets = expected.enumerated().map { notified("\($0)", $1.type, $1.subtype, $1.id) }
            // One by one, together, and again.
            try await store.add(sets.prefix(4))
            _ = try await store.apply(sets + sets)
            _ = try await store.apply(sets)
            let entries = try await LedgerAudit.check(store)
            let states: [String: [LedgerEntry.State?]] = [
                "1": [.active, .inGracePeriod, .inBillingRetry, .expired, .expired, .expired],
                "2": [.active, .active, .active, .active, .inBillingRetry, .expired],
            ]
            for (id, states) in states {
                let own = entries.filter { $0.transactionId == id }
                try expect(
                    own.map(\.change.rawValue), equals: ["started"] + expected.filter { $0.id == id }.map(\.event))
                try expect(own.map(\.stateAfter), equals: states)
            }
            try expect(entries.count, equals: 12)
        },
        StoreRule(opened: "a period has each event about its billing once, and none after a later one") { store in
            let types: [(String, String?)] = [
                ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("GRACE_PERIOD_EXPIRED", nil), ("EXPIRED", "BILLING_RETRY"),
            ]
            let sets = (types + types.reversed()).enumerated().map { notified("\($0)", $1.0, $1.1, "1") }
            try await store.add(sets)
            for (number, type) in types.reversed().enumerated() {
                try await store.add(notified("late \(number)", type.0, type.1, "2"))
            }
            for (number, subtype) in ["ACCEPTED", "PENDING", "ACCEPTED"].enumerated() {
                try await store.add(notified("price \(number)", "PRICE_INCREASE", subtype, "3"))
            }
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: """
                    1 started - active, 1 gracePeriodEntered active inGracePeriod, \
                    1 gracePeriodExpired inGracePeriod inBillingRetry, 1 expired inBillingRetry expired, \
                    2 started - active, 2 expired active expired, 3 started - active, \
                    3 priceIncreaseAccepted active active
                    """)
        },
        StoreRule(opened: "other notifications, and those that Apple did not sign, add no entry of their own") {
            store in
            for (number, type) in ["SUBSCRIBED", "DID_RENEW", "PRICE_INCREASE", "TEST", "REFUND", "expired"]
                .enumerated()
            {
                try await store.add(notified("\(number)", type, nil, "1"))
            }
            try await store.add(notified("v1", "EXPIRED", nil, "1", source: .notificationV1))
            try await store.add(notified("alone", "EXPIRED", nil, "2", source: .notificationV1))
            try await store.add(notification: Samples.notification("empty", "EXPIRED", at: 1, body: ""))
            try await expect(LedgerAudit.text(LedgerAudit.check(store)), equals: "1 purchased")
        },
        StoreRule(opened: "a notified event changes the state of its transaction, unless it is revoked") { store in
            func revoked(_ payload: inout JWSTransactionDecodedPayload) { payload.revocationDate = Samples.june }
            try await store.add(
                notified("a", "EXPIRED", nil, "1"), notified("b", "CONSUMPTION_REQUEST", nil, "1", at: 1),
                notified("c", "REFUND", nil, "1", at: 2, revoked), notified("d", "EXPIRED", nil, "1", at: 3, revoked),
                notified("e", "REFUND_REVERSED", nil, "1", at: 4), notified("f", "REFUND", nil, "1", at: 5, revoked),
                notified("g", "CONSUMPTION_REQUEST", nil, "2"), notified("h", "DID_RENEW", "BILLING_RECOVERY", "3"))
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: """
                    1 started - active, 1 expired active expired, 1 consumptionRequested expired expired, \
                    1 refunded expired refunded, 1 expired refunded refunded, 1 reinstated refunded active, \
                    1 refunded active refunded, 2 started - active, 2 consumptionRequested active active, \
                    3 started - active, 3 billingRecovered inBillingRetry active
                    """)
            let last = try await store.changes(after: 0, limit: 100).last?.position ?? 0
            _ = try await store.removeEntries(before: .max, evenUnread: true)
            try await store.add(
                notified("i", "EXPIRED", nil, "1", at: 6, revoked), notified("j", "EXPIRED", nil, "2", at: 1),
                notified("k", "REFUND_REVERSED", nil, "1", at: 7), notified("a", "EXPIRED", nil, "1"))
            let rest = try await store.changes(after: last, limit: 100)
            try expect(
                LedgerAudit.changes(rest),
                equals: """
                    1 expired refunded refunded, 2 expired active expired, 1 reinstated refunded active
                    """)
        },
        StoreRule(opened: "an upgraded purchase stays upgraded when a late notification arrives") { store in
            try await store.add(notified("a", "DID_CHANGE_RENEWAL_PREF", "UPGRADE", "1") { $0.isUpgraded = true })
            for (number, type) in ["DID_RENEW", "DID_FAIL_TO_RENEW", "EXPIRED"].enumerated() {
                let subtype = type == "DID_RENEW" ? "BILLING_RECOVERY" : nil
                try await store.add(
                    notified("\(number)", type, subtype, "1", at: Int64(number) + 1) { $0.isUpgraded = true })
            }
            let entries = try await LedgerAudit.check(store)
            try expect(entries.count, equals: 4)
            try expect(entries.allSatisfy { $0.stateAfter == .upgraded })
        },
        StoreRule(opened: "the state that a notification stated stays after a removal of its entry") { store in
            try await store.add(
                notified("a", "DID_RENEW", "BILLING_RECOVERY", "1"),
                notified("b", "DID_FAIL_TO_RENEW", "GRACE_PERIOD", "1"),
                notified("c", "PRICE_INCREASE", "PENDING", "1"), notified("d", "CONSUMPTION_REQUEST", nil, "1"))
            let last = try await store.changes(after: 0, limit: 100).last?.position ?? 0
            _ = try await store.removeEntries(before: .max, evenUnread: true)
            try await store.add(notified("e", "CONSUMPTION_REQUEST", nil, "1"))
            _ = try await store.removeEntries(before: .max, evenUnread: true)
            try await store.add(notified("f", "EXPIRED", nil, "1"))
            let position = try await store.removeEntries(before: 0, evenUnread: true).position
            try expect(position > last)
            let rest = try await store.changes(after: position, limit: 100)
            try expect(LedgerAudit.changes(rest), equals: "1 expired inGracePeriod expired")
        },
    ]
}
