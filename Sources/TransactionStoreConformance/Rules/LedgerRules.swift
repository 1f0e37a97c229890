import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static func revoked(_ id: String, at date: Int64) -> TransactionFact {
        Samples.fact(id, source: .notificationV2, at: date) { $0.revocationDate = Samples.june + 5000 }
    }

    /// A period of subscription 1.
    private static func period(
        _ id: String, _ product: String, days: ClosedRange<Int64>, cancelledAt day: Int64? = nil,
        isShared: Bool = false, source: FactSource = .receipt, reason: TransactionReason? = nil,
        sharesPeriod: Bool = false
    ) -> TransactionFact {
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = day.map { Samples.june + $0 * Samples.day }
        return period(
            id, product: product, from: days.lowerBound, to: days.upperBound, signed: days.lowerBound, source: source,
            legacy: day == nil ? nil : legacy
        ) {
            $0.inAppOwnershipType = isShared ? .familyShared : .purchased
            $0.transactionReason = reason
            $0.additionalTransactionReason = sharesPeriod ? .seatAddition : nil
        }
    }

    /// A copy of the period 1, or of the non-consumable 2. Its id begins with that.
    private static func copy(
        _ id: String, _ prefix: String, _ source: FactSource, day: Int64, isRevoked: Bool = false
    ) -> TransactionFact {
        let isPeriod = prefix == "1"
        return Samples.fact(
            prefix + id, original: prefix + "0", product: isPeriod ? "monthly" : "lifetime", source: source,
            at: day * Samples.day
        ) {
            if source != .recordedReply { $0.type = isPeriod ? .autoRenewableSubscription : .nonConsumable }
            $0.webOrderLineItemId = isPeriod ? "900" : nil
            $0.expiresDate = isPeriod ? Samples.june + 30 * Samples.day : nil
            $0.revocationDate = isRevoked ? Samples.june + 5000 : nil
        }
    }

    /// A notification about a refund of transaction 7, under its second original transaction id.
    private static func refund(at delay: Int64) -> TransactionFact {
        Samples.fact("7", original: "2", source: .notificationV2, at: Samples.june + delay) {
            $0.revocationDate = Samples.june
        }
    }

    /// The events of each copy.
    private static func copies(_ prefix: String, _ store: any CompleteTransactionStore) async throws -> String {
        let entries = try await LedgerAudit.check(store).filter { $0.transactionId.hasPrefix(prefix) }
        return Dictionary(grouping: entries, by: \.transactionId).sorted { $0.key < $1.key }.map { id, entries in
            id.dropFirst() + entries.map { " \($0.event)" }.joined()
        }.joined(separator: ", ")
    }

    static let ledger: [StoreRule] = [
        StoreRule(opened: "a purchase has one purchased entry, however many documents state it") { store in
            for (step, source) in [FactSource.receipt, .receipt, .notificationV2, .appStoreServerAPI].enumerated() {
                let date = Samples.june + Int64(step)
                try await store.add(Samples.fact("1", source: source, at: date))
                try await store.add(Samples.fact("1", source: source, at: date))
            }
            try await expect(store.text, equals: "1 purchased")
        },
        StoreRule(opened: "an entry names a start and a renewal, whether a document states the reason or not") {
            store in
            let facts = [
                period("1", "monthly", days: 0...30), period("2", "monthly", days: 30...60),
                period("3", "monthly", days: 60...90, source: .notificationV2, reason: .renewal),
                period("4", "monthly", days: 200...230, source: .notificationV2, reason: .purchase),
                // Restored.
                Samples.fact("6", original: "5", product: "lifetime") { $0.type = .nonConsumable },
            ]
            for fact in facts { try await store.add(fact) }
            try await expect(
                LedgerAudit.changes(LedgerAudit.check(store)),
                equals: """
                    1 started - active, 2 renewed - active, 3 renewed - active, 4 started - active, 6 started - active
                    """)
        },
        StoreRule(opened: "an entry distinguishes a refund from the end of Family Sharing, also after it was undone") {
            store in
            let cases: [(String, Bool, RevocationType?, LedgerEntry.Change)] = [
                ("1", true, nil, .revoked), ("2", true, .familyRevoke, .revoked), ("3", true, .refundFull, .refunded),
                ("4", false, nil, .refunded), ("5", false, .familyRevoke, .revoked),
                ("6", false, .refundProrated, .refunded),
            ]
            for (id, isShared, type, change) in cases {
                func apply(_ revision: Int64, isRevoked: Bool) async throws {
                    let fact = Samples.fact(id, source: .notificationV2, at: Samples.june + revision) {
                        $0.inAppOwnershipType = isShared ? .familyShared : .purchased
                        $0.revocationDate = isRevoked ? Samples.june : nil
                        $0.revocationType = isRevoked ? type : nil
                    }
                    try await store.add(fact)
                }
                func entries() async throws -> [LedgerEntry] {
                    try await LedgerAudit.check(store).filter { $0.transactionId == id }
                }
                try await apply(0, isRevoked: false)
                try await apply(1, isRevoked: true)
                let revoked = try await entries()
                try expect(revoked.map(\.change), equals: [.started, change])
                try expect(revoked.last?.stateAfter?.rawValue, equals: change.rawValue)
                guard type == nil else { continue }
                try await apply(2, isRevoked: false)
                let undone = try await entries()
                try expect(undone.map(\.change), equals: [.started, change, .reinstated])
                try expect(undone.last?.stateBefore?.rawValue, equals: change.rawValue)
                try expect(undone.last?.stateAfter, equals: .active)
            }
        },
        StoreRule(opened: "a purchase has no entry until a signed document states it") { store in
            try await store.add(Samples.fact("1", source: .recordedReply))
            try await expect(store.text, equals: "")
            try await store.add(Samples.fact("1", source: .receipt))
            try await expect(store.text, equals: "1 purchased")
            try await store.add(Samples.fact("1", source: .recordedReply, at: .max, legacy: cancelled))
            try await expect(store.text, equals: "1 purchased")
        },
        StoreRule(
            opened: "a cancellation from a notification of version 1 revokes, before and after an older signed document"
        ) { store in
            let (signed, notified) = (
                Samples.fact("1", source: .receipt, at: 1),
                Samples.fact("1", source: .notificationV1, at: 2, legacy: cancelled)
            )
            try await store.add(signed)
            try await store.add(notified)
            try await expect(store.text, equals: "1 purchased, 1 revoked")
            // It has no entry until a signed document states the purchase.
            try await store.add(Samples.fact("2", source: .notificationV1, at: 2, legacy: cancelled))
            try await expect(store.text, equals: "1 purchased, 1 revoked")
            try await store.add(Samples.fact("2", source: .receipt, at: 1))
            try await expect(store.text, equals: "1 purchased, 1 revoked, 2 revoked")
            // A newer signed document decides.
            try await store.add(Samples.fact("3", source: .notificationV1, at: 2, legacy: cancelled))
            try await store.add(Samples.fact("3", source: .signedTransaction, at: 3))
            try await store.add(Samples.fact("1", source: .signedTransaction, at: 3))
            try await expect(
                store.text,
                equals: "1 purchased, 1 revoked, 2 revoked, 3 purchased, 1 reinstated")
        },
        StoreRule(
            opened: "a cancellation from a notification of version 1 revokes what the receipt in it states"
        ) { store in
            for (id, isFirst) in [("1", true), ("2", false)] {
                let signed = Samples.fact(id, source: .receipt, at: 1)
                let notified = Samples.fact(id, source: .notificationV1, at: 2, legacy: cancelled)
                try await store.add(Samples.set(isFirst ? [signed, notified] : [notified, signed]))
            }
            try await expect(store.text, equals: "1 revoked, 2 revoked")
        },
        StoreRule(
            opened: "a cancellation from a notification of version 1 revokes, also beside a later recorded document"
        ) { store in
            let types: [(String, ProductType?)] = [("1", .consumable), ("2", nil)]
            for (id, type) in types {
                try await store.add(Samples.fact(id, source: .notificationV1, at: 2, legacy: cancelled))
                try await store.add(Samples.fact(id, source: .recordedReply, at: 5))
                try await store.add(Samples.fact(id, source: .receipt, at: 1) { $0.type = type })
            }
            try await expect(store.text, equals: "1 revoked, 2 revoked")
            // The recorded document states that the cancellation was an upgrade.
            try await store.add(Samples.fact("2", source: .recordedReply, at: 6) { $0.isUpgraded = true })
            try await expect(store.text, equals: "1 revoked, 2 revoked, 2 upgraded")
        },
        StoreRule(opened: "a revocation has one entry, whichever documents state it") { store in
            try await store.add(Samples.fact("1", at: 1))
            try await store.add(revoked("1", at: 2))
            try await store.add(revoked("1", at: 3))
            try await store.add(Samples.fact("1", at: 4, legacy: cancelled))
            try await expect(store.text, equals: "1 purchased, 1 revoked")
        },
        StoreRule(opened: "a refund of a purchase revokes its copies, whichever is known first, until it is reversed") {
            store in
            // A period, then a non-consumable.
            for prefix in ["1", "2"] {
                try await store.add(copy("1", prefix, .receipt, day: 1))
                try await store.add(copy("2", prefix, .receipt, day: 2))
                try await store.add(copy("1", prefix, .notificationV2, day: 3, isRevoked: true))
                // A copy that becomes known later, and an unsigned document about another one.
                try await store.add(copy("3", prefix, .receipt, day: 4))
                try await store.add(copy("2", prefix, .recordedReply, day: 5))
                try await store.add(copy("3", prefix, .notificationV2, day: 6))
            }
            for prefix in ["1", "2"] {
                try await expect(
                    copies(prefix, store),
                    equals: "1 purchased revoked reinstated, 2 purchased revoked reinstated, 3 revoked purchased")
            }
        },
        StoreRule(opened: "a reversal that states the refunded transaction itself reinstates its copies") { store in
            for prefix in ["1", "2"] {
                try await store.add(copy("1", prefix, .receipt, day: 1))
                try await store.add(copy("2", prefix, .receipt, day: 1))
                try await store.add(copy("1", prefix, .notificationV2, day: 3, isRevoked: true))
                try await store.add(copy("1", prefix, .notificationV2, day: 5))
                try await expect(
                    copies(prefix, store),
                    equals: "1 purchased revoked reinstated, 2 purchased revoked reinstated")
            }
        },
        StoreRule(opened: "a refund that arrives after its reversal leaves a purchased copy") { store in
            for prefix in ["1", "2"] {
                try await store.add(copy("2", prefix, .notificationV2, day: 9))
                try await store.add(copy("1", prefix, .notificationV2, day: 2, isRevoked: true))
                try await expect(copies(prefix, store), equals: "1 purchased, 2 purchased")
            }
        },
        StoreRule(opened: "a refund of seats revokes nothing") { store in
            try await store.add(Samples.fact("1", at: 1))
            let refunded = Samples.fact("1", source: .notificationV2, at: 2) {
                $0.multiSeatInfo = TransactionMultiSeatInfo { $0.revokedSeatQuantity = 3 }
            }
            try await store.add(refunded)
            try await expect(store.text, equals: "1 purchased")
        },
        StoreRule(opened: "added seats are purchased, and are not an upgrade") { store in
            let june = period("1", "team", days: 0...30, source: .notificationV2, reason: .purchase)
            let seats = period(
                "2", "team", days: 10...30, source: .notificationV2, reason: .purchase, sharesPeriod: true)
            try await store.add(june)
            try await store.add(seats)
            try await expect(store.text, equals: "1 purchased, 2 purchased")
        },
        StoreRule(opened: "an assigned purchase is granted, and an unknown ownership type gets the same entries") {
            store in
            for (id, ownership) in [("1", "ASSIGNED"), ("2", "NEW")] {
                let fact = Samples.fact(id, source: .notificationV2, at: 1) {
                    $0.inAppOwnershipType = InAppOwnershipType(rawValue: ownership)
                }
                try await store.add(fact)
            }
            try await expect(store.text, equals: "1 purchased, 2 purchased")
            let revoked = Samples.fact("2", source: .notificationV2, at: 2) {
                $0.inAppOwnershipType = InAppOwnershipType(rawValue: "NEW")
                $0.revocationDate = Samples.june + 5000
                $0.revocationReason = RevocationReason(rawValue: 99)
            }
            try await store.add(revoked)
            try await expect(store.text, equals: "1 purchased, 2 purchased, 2 revoked")
        },
        StoreRule(opened: "a transaction that is first seen as revoked is never purchased") { store in
            try await store.add(revoked("1", at: 2), Samples.fact("2"))
            try await store.add(Samples.fact("1", at: 1))
            let entries = try await LedgerAudit.check(store)
            try expect(entries.filter { $0.transactionId == "1" }.map(\.event), equals: [.revoked])
            try expect(entries.count, equals: 2)
        },
        StoreRule(opened: "a reversed revocation is reinstated, and a second revocation has its own entry") { store in
            for (date, isRevoked) in [false, true, false, true].enumerated() {
                let fact = Samples.fact("1", source: .notificationV2, at: Int64(date)) {
                    $0.revocationDate = isRevoked ? Samples.june : nil
                }
                try await store.add(fact)
            }
            try await expect(store.text, equals: "1 purchased, 1 revoked, 1 reinstated, 1 revoked")
        },
        StoreRule(opened: "a transaction that is first seen as revoked and then restored is purchased once") { store in
            try await store.add(revoked("1", at: 1))
            try await store.add(Samples.fact("1", source: .notificationV2, at: 2))
            try await expect(store.text, equals: "1 revoked, 1 purchased")
        },
        StoreRule(opened: "an upgrade has one entry, even if a receipt stated a cancellation before") { store in
            try await store.add(Samples.fact("1", at: 1))
            try await store.add(Samples.fact("1", at: 2, legacy: cancelled))
            for date in Int64(3)...4 {
                let fact = Samples.fact("1", source: .appStoreServerAPI, at: date) { $0.isUpgraded = true }
                try await store.add(fact)
            }
            try await expect(store.text, equals: "1 purchased, 1 revoked, 1 upgraded")
        },
        StoreRule(opened: "a new transaction alone is enough to mark the old one as upgraded") { store in
            try await store.add(period("1", "yearly", days: 0...365))
            let upgrade = period("2", "monthly", days: 100...130, source: .notificationV2)
            try await store.add(upgrade)
            try await store.add(upgrade)
            try await store.add(period("3", "monthly", days: 130...160, source: .notificationV2))
            let entries = try await LedgerAudit.check(store)
            try expect(Set(entries.prefix(3).map { "\($0.transactionId) \($0.event)" }).count, equals: 3)
            try expect(
                Set(LedgerAudit.text(entries).split(separator: ", ")),
                equals: [
                    "1 purchased", "1 upgraded", "2 purchased", "3 purchased",
                ])
            try expect(entries.last?.transactionId, equals: "3")
            for entry in entries where entry.transactionId == "1" {
                try expect(entry.transaction.payload.isUpgraded, equals: true)
                try expect(entry.scope == Samples.scope && entry.transaction.payload.bundleId == Samples.scope.bundleId)
            }
        },
        StoreRule(opened: "an upgrade has the same result whichever transaction is stored first, or both at once") {
            store in
            let facts = [period("1", "yearly", days: 0...365), period("2", "monthly", days: 100...130)]
            for customer in try await outcomes(inEveryOrderOf: facts.map { Samples.set($0) }, store) {
                let old = customer.transactions.first { $0.payload.transactionId == "1" }
                try expect(old?.payload.isUpgraded, equals: true)
                try expect(old?.legacy.cancellationDate, equals: Samples.june + 100 * Samples.day)
                try expect(old?.legacy.cancellationReason, equals: 0)
            }
            let entries = try await LedgerAudit.check(store)
            let last = Dictionary(grouping: entries.filter { $0.transactionId == "1" }, by: \.scope)
            try expect(last.count == 4 && last.values.allSatisfy { $0.last?.event == .upgraded })
        },
        StoreRule(opened: "an upgrade that a fact of another period disproves is reinstated with one entry") { store in
            try await store.add(period("1", "yearly", days: 0...365))
            try await store.add(period("2", "monthly", days: 364...394))
            let renewal = period("2", "monthly", days: 364...394, source: .notificationV2, reason: .renewal)
            for _ in 1...2 { try await store.add(renewal) }
            let entries = try await LedgerAudit.check(store)
            let old = entries.filter { $0.transactionId == "1" }
            try expect(old.map(\.event), equals: [.purchased, .upgraded, .reinstated])
            try expect(old.allSatisfy { $0.transaction.payload.isUpgraded != true })
            try expect(entries.filter { $0.transactionId == "2" }.map(\.event), equals: [.purchased])
        },
        StoreRule(opened: "a cancellation in the same second as the start of another product is an upgrade") { store in
            let old = period("1", "yearly", days: 0...365, cancelledAt: 100)
            try await store.add(old, period("2", "monthly", days: 100...130))
            let entries = try await LedgerAudit.check(store)
            try expect(Set(LedgerAudit.text(entries).split(separator: ", ")), equals: ["1 upgraded", "2 purchased"])
        },
        StoreRule(opened: "a downgrade at renewal, a refund and another person's purchase are not upgrades") { store in
            _ = try await store.apply([
                Samples.set(period("1", "yearly", days: 0...365)),
                Samples.set(period("2", "monthly", days: 365...395)),
                Samples.set(period("3", "monthly", days: 100...130, isShared: true)),
            ])
            _ = try await store.apply([
                Samples.set(revoked("4", at: 2)), Samples.set(Samples.fact("5", original: "4", product: "other")),
            ])
            let entries = try await LedgerAudit.check(store)
            try expect(!entries.contains { $0.event == .upgraded })
            try expect(entries.filter { $0.event == .revoked }.map(\.transactionId), equals: ["4"])
        },
        StoreRule(opened: "an older document that arrives late adds no entry") { store in
            try await store.add(Samples.fact("1", source: .notificationV2, at: 9))
            try await store.add(revoked("1", at: 5))
            try await expect(store.text, equals: "1 purchased")
        },
        StoreRule(opened: "a transaction id that documents state under two original ids is purchased once") { store in
            try await store.add(Samples.fact("7", original: "1"))
            try await store.add(Samples.fact("7", original: "2", source: .notificationV2))
            try await store.add(Samples.fact("8", original: "1"), Samples.fact("8", original: "2"))
            try await expect(store.text, equals: "7 purchased, 8 purchased")
        },
        StoreRule(opened: "a transaction id in one document under two original ids, revoked under one, is revoked") {
            store in
            // The products differ, so that the transactions of the first purchase are examined together.
            try await store.add(
                Samples.fact("7", original: "1"), Samples.fact("8", original: "1", product: "other"), refund(at: 1))
            try await expect(LedgerAudit.text(LedgerAudit.check(store)), equals: "7 revoked, 8 purchased")
        },
        StoreRule(opened: "a refund under the second original id of a transaction stays, until it is undone") { store in
            try await store.add(Samples.fact("7", original: "1", at: Samples.june))
            try await store.add(refund(at: 1))
            // Neither a newer receipt nor another purchase under the first id undoes it.
            try await store.add(Samples.fact("7", original: "1", at: Samples.june + 2))
            try await store.add(Samples.fact("8", original: "1", product: "other", at: Samples.june + 3))
            try await expect(
                LedgerAudit.text(LedgerAudit.check(store)), equals: "7 purchased, 7 revoked, 8 purchased")
            for _ in 1...2 {
                try await store.add(Samples.fact("7", original: "1", source: .notificationV2, at: Samples.june + 4))
                try await store.add(refund(at: 1))
            }
            try await expect(
                LedgerAudit.text(LedgerAudit.check(store)),
                equals: "7 purchased, 7 revoked, 8 purchased, 7 reinstated")
        },
        StoreRule(opened: "an entry has what a document under the second original id of its transaction states") {
            store in
            try await store.add(period("7", "monthly", days: 0...30))
            try await expect(LedgerAudit.changes(LedgerAudit.check(store)), equals: "7 renewed - active")
            let start = period("7", of: "2", signed: 1, source: .notificationV2) { $0.transactionReason = .purchase }
            try await store.add(start)
            try await expect(LedgerAudit.changes(LedgerAudit.check(store)), equals: "7 started - active")
        },
        StoreRule(opened: "every order of documents with two original ids gives the ledger the state of the customer") {
            store in
            let customer = [Samples.original("1"), Samples.original("2")]
            // The newest document decides which original id the period 7 has. Only under the first one, the period 9 replaces it.
            let cases: [(original: String, isRefunded: Bool, state: LedgerEntry.Event)] = [
                ("2", false, .purchased), ("1", false, .upgraded), ("1", true, .revoked),
            ]
            for (number, (original, isRefunded, state)) in cases.enumerated() {
                func seven(_ original: String, _ source: FactSource, day: Int64) -> TransactionFact {
                    period("7", of: original, signed: day, source: source) {
                        $0.revocationDate = isRefunded && source == .notificationV2 ? date(1) : nil
                    }
                }
                let documents = [
                    seven("1", .receipt, day: 0), seven("2", .notificationV2, day: 3),
                    seven(original, .receipt, day: 4),
                    period("9", "other", days: 5...35, source: .notificationV2, reason: .purchase),
                ].map { Samples.set($0, identities: customer) }
                for (place, order) in permutations(documents).enumerated() {
                    let scope = StoreScope(environment: .sandbox, bundleId: "app \(number) \(place)")
                    for set in order { try await store.add(moved(set, to: scope)) }
                    let known = try await store.customer(original: "1", in: scope)?.transactions ?? []
                    try expect(known.map(\.deliveryState), equals: [.purchased, state], scope.bundleId)
                }
            }
            let entries = try await LedgerAudit.check(store)
            for (scope, own) in Dictionary(grouping: entries, by: \.scope) {
                let known = try await store.customer(original: "1", in: scope)?.transactions ?? []
                for transaction in known {
                    let last = own.last { $0.transactionId == transaction.payload.transactionId }?.event
                    try expect(
                        last == .reinstated ? .purchased : last, equals: transaction.deliveryState, scope.bundleId)
                }
            }
            try expect(Set(entries.map(\.scope)).count, equals: 72)
        },
        StoreRule(opened: "the same transaction id in another app or environment is another purchase") { store in
            _ = try await store.apply([
                Samples.set(Samples.fact("1")), Samples.set(Samples.fact("1"), scope: Samples.sandbox),
            ])
            let entries = try await LedgerAudit.check(store)
            try expect(Set(entries.map(\.scope)), equals: [Samples.scope, Samples.sandbox])
        },
        StoreRule(opened: "a repeated notification adds no entry") { store in
            let set = Samples.set(revoked("1", at: 1), notification: Samples.notification("uuid"))
            _ = try await store.apply([set, set])
            try await store.add(set)
            try await expect(store.text, equals: "1 revoked")
        },
        StoreRule(opened: "an entry contains the transaction's state at the time of reading") { store in
            try await store.add(Samples.fact("1", original: "0x1"))
            try await store.add(
                Samples.fact("1", original: "0x1", source: .notificationV2, at: .max) { $0.price = 1990 })
            let entry = try require(try await store.changes(after: 0, limit: 1).first)
            try expect(entry.scope, equals: Samples.scope)
            try expect(entry.transaction.payload.price, equals: 1990)
            try expect(entry.transaction.payload.originalTransactionId, equals: "0x1")
            try expect(entry.transaction.payload.bundleId, equals: Samples.scope.bundleId)
            try expect(entry.transaction.origins.count, equals: 2)
        },
        StoreRule(opened: "every order of the documents gives the same final state and at most one grant") { store in
            let documents = [
                Samples.set(Samples.fact("1", at: 1)), Samples.set(Samples.fact("1", at: 6, legacy: cancelled)),
                Samples.set(Samples.fact("1", source: .notificationV2, at: 3)), Samples.set(revoked("1", at: 4)),
                Samples.set(Samples.fact("1", source: .recordedReply, at: 9) { $0.isUpgraded = true }),
            ]
            for (number, order) in permutations(documents).enumerated() {
                let scope = StoreScope(environment: .sandbox, bundleId: "app\(number)")
                for set in order { try await store.add(moved(set, to: scope)) }
            }
            let entries = try await LedgerAudit.check(store)
            let last = Dictionary(grouping: entries, by: \.scope).mapValues { $0.last?.event }
            try expect(last.count, equals: 120)
            try expect(Set(last.values), equals: [.revoked])
        },
    ]
}
