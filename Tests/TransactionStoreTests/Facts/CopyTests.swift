import AppStoreModels
import ProductCatalog
import Purchases
import TestSupport
import Testing
import TransactionStoreConformance

/// Which copies of a purchase are revoked.
@Suite("Copies of a purchase")
struct CopyTests {
    private static let refund = Samples.june + 5 * Samples.day

    private func period(
        _ id: String, order: String = "900", product: String = "monthly", _ source: FactSource = .receipt,
        at day: Int64, revoked: Int64? = nil, _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = revoked
        let isLegacy = source.kind != .signedTransaction
        return Samples.fact(
            id, original: "1", product: product, source: source, at: day * Samples.day,
            legacy: revoked != nil && isLegacy ? legacy : nil
        ) {
            $0.type = .autoRenewableSubscription
            $0.webOrderLineItemId = order
            $0.expiresDate = Samples.june + 30 * Samples.day
            $0.revocationDate = isLegacy ? nil : revoked
            configure(&$0)
        }
    }

    /// The revoked transactions, ascending, in any order of the facts.
    private func revoked(_ facts: TransactionFact...) throws -> [String] {
        let customer = try unwrap(Customer(resolving: facts.map { Samples.set($0) }))
        let reversed = try unwrap(Customer(resolving: facts.reversed().map { Samples.set($0) }))
        func ids(_ customer: Customer) -> [String] {
            customer.transactions.filter { $0.payload.revocationDate != nil }.compactMap(\.payload.transactionId)
                .sorted()
        }
        #expect(ids(customer) == ids(reversed))
        // The form for replies agrees with the modern one.
        for transaction in customer.transactions where transaction.payload.isUpgraded != true {
            #expect((transaction.legacy.cancellationDate != nil) == (transaction.payload.revocationDate != nil))
        }
        return ids(customer)
    }

    @Test("A refund of one copy of a period revokes the others, with its rule as the source")
    func refundOfOneCopy() throws {
        let facts = [
            period("2", at: 1),
            period("3", .notificationV2, at: 2, revoked: Self.refund) { $0.revocationReason = .other },
        ]
        #expect(try revoked(facts[0], facts[1]) == ["2", "3"])
        let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
        let copy = try unwrap(customer.transactions.first { $0.payload.transactionId == "2" })
        #expect(copy.payload.revocationDate == Self.refund && copy.payload.revocationReason == .other)
        #expect(copy.source(of: .revocationDate) == .inferred(.copyWasRevoked))
        let now = Samples.june + 10 * Samples.day
        let entitlements = customer.purchaseHistory(catalog: nil).entitlements(at: now)
        #expect(entitlements.map(\.status) == [.revoked])
    }

    @Test("A newer receipt without the cancellation shows no reversal, a signed transaction of a copy does after a day")
    func reversal() throws {
        let refunded = period("2", .notificationV2, at: 2, revoked: Self.refund)
        #expect(try revoked(refunded, period("3", at: 9)) == ["2", "3"])
        #expect(try revoked(refunded, period("3", .appStoreServerAPI, at: 3)) == ["2", "3"])
        #expect(try revoked(refunded, period("3", .appStoreServerAPI, at: 4)).isEmpty)
        #expect(try revoked(refunded, period("3", at: 9), period("4", .appStoreServerAPI, at: 4)).isEmpty)
        // Refunded again.
        let again = period("3", at: 5, revoked: Self.refund)
        #expect(try revoked(refunded, again, period("4", .appStoreServerAPI, at: 4)) == ["2", "3", "4"])
        // Stated about the refunded transaction itself.
        #expect(try revoked(refunded, period("2", .notificationV2, at: 3), period("3", at: 1)).isEmpty)
    }

    @Test("A notification of version 1 after the reversal of a refund states another refund of all copies")
    func notifiedAfterReversal() throws {
        let refunded = period("2", .notificationV2, at: 2, revoked: Self.refund)
        let reversal = period("3", .appStoreServerAPI, at: 5)
        #expect(try revoked(refunded, reversal).isEmpty)
        for (day, ids): (Int64, [String]) in [(3, []), (6, ["2", "3"])] {
            let notified = period("2", .notificationV1, at: day, revoked: Self.refund + Samples.day)
            #expect(try revoked(refunded, reversal, notified) == ids)
        }
    }

    @Test("A copy of a refunded period was not upgraded by what the customer bought after the refund")
    func boughtAnew() throws {
        let anew = period("5", order: "902", product: "yearly", at: 9) {
            $0.purchaseDate = Self.refund + Samples.day
            $0.expiresDate = Samples.june + 400 * Samples.day
        }
        func upgraded(_ facts: TransactionFact...) throws -> [String] {
            try unwrap(Customer(resolving: [Samples.set(facts)])).transactions
                .filter { $0.payload.isUpgraded == true }.compactMap(\.payload.transactionId).sorted()
        }
        let refunded = period("2", .notificationV2, at: 2, revoked: Self.refund)
        #expect(try revoked(refunded, period("3", at: 9), anew) == ["2", "3"])
        #expect(try upgraded(refunded, period("3", at: 9), anew).isEmpty)
        // The refund was reversed while the other product was current: signed about one copy.
        let reversal = period("3", .appStoreServerAPI, at: Self.refund / Samples.day + 3)
        #expect(try revoked(refunded, reversal, period("4", at: 9), anew).isEmpty)
        #expect(try upgraded(refunded, reversal, period("4", at: 9), anew).isEmpty)
        // A cancellation in the second in which the other product began is an upgrade of all copies.
        let cancelled = period("2", at: 9, revoked: Self.refund + Samples.day)
        #expect(try revoked(cancelled, period("3", at: 9), anew).isEmpty)
        #expect(try upgraded(cancelled, period("3", at: 9), anew) == ["2", "3"])
    }

    @Test("A copy of a stated upgrade is upgraded, also if the successor is unknown")
    func copyOfUpgrade() throws {
        for (stated, copy) in [("2", "3"), ("3", "2")] {
            let facts = [
                period(stated, .notificationV2, at: Self.refund / Samples.day + 1, revoked: Self.refund) {
                    $0.isUpgraded = true
                    $0.revocationType = .refundFull
                },
                period(copy, at: Self.refund / Samples.day + 2),
            ]
            for facts in [facts, facts.reversed()] {
                let customer = try unwrap(Customer(resolving: facts.map { Samples.set($0) }))
                let found = try unwrap(customer.transactions.first { $0.payload.transactionId == copy })
                #expect(found.payload.isUpgraded == true && found.payload.revocationDate == nil)
                #expect(found.source(of: .isUpgraded) == .inferred(.copyWasUpgraded))
                #expect(found.signedState == .upgraded)
                // Nothing dates the upgrade.
                #expect(found.legacy.cancellationDate == nil && found.legacy.cancellationReason == nil)
                let now = Samples.june + 10 * Samples.day
                let entitlements = customer.purchaseHistory(catalog: nil).entitlements(at: now)
                #expect(entitlements.allSatisfy { !$0.hasAccess })
            }
        }
    }

    @Test("Another subscription of the customer does not decide whether a period without an end is compared")
    func upgradeWithoutEnd() throws {
        let subscription = [
            period("2", .notificationV2, at: 1),
            period("3", order: "901", product: "premium", .notificationV2, at: 1) {
                $0.purchaseDate = Samples.june + 10 * Samples.day
                $0.expiresDate = nil
            },
        ]
        let other = period("4", order: "902", product: "other", .notificationV2, at: 1) {
            $0.originalTransactionId = "4"
        }
        // A store writes its ledger from the documents about one original transaction id.
        for facts in [subscription, subscription + [other]] {
            let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
            let upgraded = customer.transactions.filter { $0.payload.isUpgraded == true }
            #expect(upgraded.map(\.payload.transactionId) == ["2"])
        }
    }

    @Test("Seats that were added to a period begin with it, and do not upgrade a period whose refund was reversed")
    func addedSeats() throws {
        func day(_ day: Int64) -> Int64 { Samples.june + day * Samples.day }
        func team(_ id: String, at start: Int64) -> TransactionFact {
            period(id, order: "902", product: "team", .notificationV2, at: day(start) / Samples.day) {
                $0.purchaseDate = day(start)
                $0.expiresDate = day(40)
                $0.additionalTransactionReason = start == 10 ? nil : .seatAddition
            }
        }
        // Signed without a revocation while the other product was current.
        let reversed = period("2", .appStoreServerAPI, at: day(12) / Samples.day)
        for facts in [[reversed, team("5", at: 10)], [reversed, team("5", at: 10), team("6", at: 15)]] {
            let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
            #expect(customer.transactions.allSatisfy { $0.payload.isUpgraded != true })
        }
    }

    /// What the customer paid and got back.
    @inline(never)
    private func paid(by facts: [TransactionFact]) throws -> LifetimeAmounts {
        let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
        return customer.lifetimeAmounts(catalog: nil)
    }

    @Test("Copies of a purchase were paid once and refunded once, also if documents state the refund of each")
    func amounts() throws {
        func copy(_ id: String, order: String = "900", price: Int64?) -> TransactionFact {
            period(id, order: order, .appStoreServerAPI, at: 2, revoked: Self.refund) {
                $0.price = price
                $0.currency = "USD"
            }
        }
        let facts = [copy("2", price: 5_000), copy("3", price: nil), copy("4", price: 5_000)]
        let renewal = copy("5", order: "901", price: 5_000)
        let once = try paid(by: facts)
        #expect(once.purchased == ["USD": 5_000] && once.refunded == once.purchased && once.refunds == 1)
        let both = try paid(by: facts + [renewal])
        #expect(both.purchased == ["USD": 10_000] && both.refunded == both.purchased && both.refunds == 2)
    }

    @Test("A refund of one copy of a period counts, whichever copy states the upgrade of the period or the price")
    func amountsOfUpgradedCopy() throws {
        for (refunded, upgraded) in [("2", "3"), ("3", "2")] {
            for priced in ["2", "3"] {
                func pay(_ payload: inout JWSTransactionDecodedPayload, _ id: String) {
                    payload.price = id == priced ? 5_000 : nil
                    payload.currency = "USD"
                }
                let amounts = try paid(by: [
                    period(refunded, .notificationV2, at: 2, revoked: Self.refund) { pay(&$0, refunded) },
                    period(upgraded, .notificationV2, at: 1) {
                        pay(&$0, upgraded)
                        $0.isUpgraded = true
                    },
                ])
                #expect(amounts.purchased == ["USD": 5_000] && amounts.refunded == amounts.purchased)
                #expect(amounts.refunds == 1)
            }
        }
    }

    @Test("A refund of an upgraded copy counts, also if the other copy has the price and states no upgrade")
    func amountsOfRefundedUpgrade() throws {
        for (refunded, other) in [("2", "3"), ("3", "2")] {
            let amounts = try paid(by: [
                period(refunded, .notificationV2, at: 2, revoked: Self.refund) {
                    $0.isUpgraded = true
                    $0.revocationType = .refundFull
                },
                period(other, .notificationV2, at: 1) {
                    $0.price = 5_000
                    $0.currency = "USD"
                },
            ])
            #expect(amounts.purchased == ["USD": 5_000] && amounts.refunded == amounts.purchased)
            #expect(amounts.refunds == 1)
        }
    }

    @Test("An unsigned refund of one copy does not count if another copy is signed, whichever has the greater id")
    func amountsOfSignedCopy() throws {
        for (recorded, signed) in [("2", "3"), ("3", "2")] {
            let amounts = try paid(by: [
                period(recorded, .recordedReply, at: 2, revoked: Self.refund) {
                    $0.price = 5_000
                    $0.currency = "USD"
                },
                period(signed, at: 1),
            ])
            #expect(amounts.purchased == ["USD": 5_000] && amounts.refunded.isEmpty && amounts.refunds == 0)
        }
    }

    @Test("Other periods, other products and added seats are no copies, and an upgraded period is not revoked")
    func noCopies() throws {
        let refunded = period("2", .notificationV2, at: 2, revoked: Self.refund)
        #expect(try revoked(refunded, period("3", order: "901", at: 1)) == ["2"])
        #expect(try revoked(refunded, period("3", order: "0", at: 1)) == ["2"])
        // In a real reply, two consecutive periods have the same line item.
        let renewal = period("3", at: 1) {
            $0.purchaseDate = Samples.june + 30 * Samples.day
            $0.expiresDate = Samples.june + 60 * Samples.day
        }
        #expect(try revoked(refunded, renewal) == ["2"])
        let shared = period("3", at: 1) { $0.inAppOwnershipType = .familyShared }
        #expect(try revoked(refunded, shared) == ["2"])
        let seats = period("3", .notificationV2, at: 1) { $0.additionalTransactionReason = .seatAddition }
        #expect(try revoked(refunded, seats) == ["2"])
        let upgraded = period("3", .notificationV2, at: 1) { $0.isUpgraded = true }
        #expect(try revoked(refunded, upgraded) == ["2"])
        let consumable = { (id: String, isRevoked: Bool) in
            Samples.fact(id, original: "1", product: "coins", source: .notificationV2, at: 1) {
                $0.type = .consumable
                $0.revocationDate = isRevoked ? Self.refund : nil
            }
        }
        #expect(try revoked(consumable("2", true), consumable("3", false)) == ["2"])
    }

    @Test("Copies of a period begin or end in the same second")
    func boundary() throws {
        let refunded = period("2", .notificationV2, at: 2, revoked: Self.refund)
        func copy(from start: Int64, to end: Int64) -> TransactionFact {
            period("3", at: 1) {
                $0.purchaseDate = Samples.june + start
                $0.expiresDate = Samples.june + end
            }
        }
        let end = 30 * Samples.day
        // Signed transactions have milliseconds.
        let together: [(Int64, Int64)] = [
            (0, end), (0, end - 5_000), (0, end + 5_000), (5_000, end), (999, end + 5_000),
        ]
        for (start, last) in together {
            #expect(try revoked(refunded, copy(from: start, to: last)) == ["2", "3"])
        }
        #expect(try revoked(refunded, copy(from: 1_000, to: end + 1_000)) == ["2"])
        // A third copy can show that two others are copies.
        let third = period("4", at: 1) { $0.expiresDate = Samples.june + 40 * Samples.day }
        let restored = copy(from: 5 * Samples.day, to: 40 * Samples.day)
        #expect(try revoked(refunded, restored) == ["2"])
        #expect(try revoked(refunded, third, restored) == ["2", "3", "4"])
    }

    @Test("Copies that one restoration dates after their ends are copies of their own periods, also with one line item")
    func restoredTogether() throws {
        func period(_ id: String, from start: Int64, to end: Int64, revoked: Int64? = nil) -> TransactionFact {
            self.period(id, at: 1, revoked: revoked) {
                $0.purchaseDate = Samples.june + start * Samples.day
                $0.expiresDate = Samples.june + end * Samples.day
            }
        }
        let refunded = period("2", from: 0, to: 30, revoked: Self.refund)
        let renewal = period("3", from: 30, to: 60)
        let restored = (period("4", from: 45, to: 30), period("5", from: 45, to: 60))
        #expect(try revoked(refunded, renewal, restored.0, restored.1) == ["2", "4"])
        let together = (period("4", from: 65, to: 30), period("5", from: 65, to: 60))
        #expect(try revoked(refunded, renewal, together.0, together.1) == ["2", "4"])
    }

    @Test("A refund of an extended period, and its reversal, count for a copy in a receipt from before the extension")
    func extended() throws {
        func extended(_ id: String, _ source: FactSource, at day: Int64, revoked: Int64? = nil) -> TransactionFact {
            period(id, source, at: day, revoked: revoked) { $0.expiresDate = Samples.june + 35 * Samples.day }
        }
        let refunded = extended("2", .notificationV2, at: 2, revoked: Self.refund)
        let old = period("3", at: 1)
        #expect(try revoked(refunded, old) == ["2", "3"])
        let customer = try unwrap(Customer(resolving: [Samples.set([refunded, old])]))
        let entitlements = customer.purchaseHistory(catalog: nil).entitlements(at: Samples.june + 10 * Samples.day)
        #expect(entitlements.map(\.status) == [.revoked])
        #expect(try revoked(refunded, old, extended("4", .notificationV2, at: 4)).isEmpty)
        // The refund of a copy that was not extended.
        let before = period("2", .notificationV2, at: 2, revoked: Self.refund)
        #expect(try revoked(before, extended("3", .receipt, at: 9)) == ["2", "3"])
        #expect(try revoked(before, extended("3", .appStoreServerAPI, at: 4)).isEmpty)
    }

    @Test("An unsigned cancellation revokes unsigned copies only, unless a server received it with the secret")
    func unsigned() throws {
        let recorded = period("2", .recordedReply, at: 2, revoked: Self.refund)
        #expect(try revoked(recorded, period("3", .recordedReply, at: 1)) == ["2", "3"])
        #expect(try revoked(recorded, period("3", at: 1)) == ["2"])
        let received = period("2", .notificationV1, at: 2, revoked: Self.refund)
        #expect(try revoked(received, period("3", at: 1)) == ["2", "3"])
        // Older than a signed transaction without it, which is older than a signed revocation.
        let signed = period("3", .notificationV2, at: 9, revoked: Self.refund)
        #expect(try revoked(recorded, signed, period("4", .appStoreServerAPI, at: 5)) == ["2", "3", "4"])
        let later = period("3", .recordedReply, at: 9, revoked: Self.refund)
        #expect(try revoked(recorded, later, period("4", .appStoreServerAPI, at: 5)) == ["2", "3"])
    }

    @Test("A cancellation of one copy that only an unsigned document states stands beside all signed copies")
    func recordedCancellation() throws {
        @inline(never)
        func cancelled(_ facts: TransactionFact...) throws -> [String] {
            try unwrap(Customer(resolving: [Samples.set(facts)])).transactions
                .filter { $0.recordedCancellation?.date == Self.refund }.compactMap(\.payload.transactionId).sorted()
        }
        let row = period("2", .recordedReply, at: 3, revoked: Self.refund)
        #expect(try revoked(period("2", at: 1), row, period("3", at: 9)).isEmpty)
        #expect(try cancelled(period("2", at: 1), row, period("3", at: 9)) == ["2", "3"])
        #expect(try cancelled(row, period("3", at: 9)) == ["3"])
        #expect(try cancelled(period("2", at: 1), row, period("3", .recordedReply, at: 9)) == ["2", "3"])
        #expect(try cancelled(period("2", at: 1), row, period("3", order: "901", at: 9)) == ["2"])
        // Signed without a cancellation, within a day and later.
        #expect(try cancelled(period("2", at: 1), row, period("3", .appStoreServerAPI, at: 4)) == ["2", "3"])
        #expect(try cancelled(period("2", at: 1), row, period("3", .appStoreServerAPI, at: 5)).isEmpty)
    }

    @Test("Restored non-consumables and non-renewing subscriptions are copies of their purchase")
    func restored() throws {
        for type in [ProductType.nonConsumable, .nonRenewingSubscription] {
            func purchase(_ id: String, _ source: FactSource, at date: Int64, isRevoked: Bool = false)
                -> TransactionFact
            {
                Samples.fact(id, original: "1", product: "lifetime", source: source, at: date * Samples.day) {
                    // Transaction receipts and rows of replies state no type.
                    $0.type = source.kind == .signedTransaction ? type : nil
                    $0.revocationDate = isRevoked ? Self.refund : nil
                }
            }
            let refunded = purchase("1", .notificationV2, at: 2, isRevoked: true)
            #expect(try revoked(refunded, purchase("2", .receipt, at: 9)) == ["1", "2"])
            #expect(try revoked(refunded, purchase("2", .recordedReply, at: 9)) == ["1", "2"])
            #expect(try revoked(refunded, purchase("2", .appStoreServerAPI, at: 9)).isEmpty)
        }
    }

    /// A transaction whose type the document does not state.
    private func untyped(
        _ id: String, _ source: FactSource, at day: Int64, revoked: Int64? = nil,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = revoked
        return Samples.fact(
            id, original: "1", product: "lifetime", source: source, at: day * Samples.day,
            legacy: revoked == nil ? nil : legacy, configure)
    }

    @Test("A purchase of unknown type has copies if receipts state that it does not expire")
    func neverExpiring() throws {
        let refunded = untyped("1", .receipt, at: 2, revoked: Self.refund)
        #expect(try revoked(refunded, untyped("2", .receipt, at: 9)) == ["1", "2"])
        #expect(try revoked(refunded, untyped("2", .recordedReply, at: 9)) == ["1", "2"])
        // A subscription whose end is unknown.
        let subscription = untyped("2", .receipt, at: 9) { $0.webOrderLineItemId = "900" }
        #expect(try revoked(refunded, subscription) == ["1"])
        let period = untyped("2", .receipt, at: 9) { $0.expiresDate = Samples.june + 30 * Samples.day }
        #expect(try revoked(refunded, period) == ["1"])
        let coins = untyped("2", .receipt, at: 9) { $0.type = .consumable }
        #expect(try revoked(refunded, coins) == ["1"])
        // An unsigned row can lack the expiry of a subscription.
        let row = untyped("1", .recordedReply, at: 2, revoked: Self.refund)
        #expect(try revoked(row, untyped("2", .recordedReply, at: 9)) == ["1"])
    }

    @inline(never)
    private func catalog(_ type: ProductType) throws -> ProductCatalog {
        var entry = CatalogEntry(subject: .productId("lifetime"), source: CatalogSource(file: "catalog.yaml"))
        entry.type = type
        return try ProductCatalog(entries: [entry])
    }

    @Test("Unsigned copies are found with the type that a catalog states, in every answer that has the catalog")
    func typeFromCatalog() throws {
        let facts = [
            untyped("1", .recordedReply, at: 2, revoked: Self.refund), untyped("2", .recordedReply, at: 9),
        ]
        let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
        struct Answers: Equatable {
            let revoked: Int
            let purchases: Int
            let statuses: [SubscriptionStatus?]
        }
        func answers(_ catalog: ProductCatalog?) -> Answers {
            let transactions = customer.transactionsWithTypes(from: catalog)
            let entitlements = customer.purchaseHistory(catalog: catalog)
                .entitlements(at: Samples.june + 10 * Samples.day)
            return Answers(
                revoked: transactions.count { $0.payload.revocationDate != nil },
                purchases: transactions.onePerPurchase(catalog).count, statuses: entitlements.map(\.status))
        }
        for type in [ProductType.nonConsumable, .nonRenewingSubscription] {
            let found = answers(try catalog(type))
            #expect(found == Answers(revoked: 2, purchases: 1, statuses: [.revoked]))
        }
        #expect(answers(nil) == Answers(revoked: 1, purchases: 2, statuses: [nil]))
        // Rows of a subscription that lack the expiry: nothing is known about its periods.
        let subscription = answers(try catalog(.autoRenewableSubscription))
        #expect(subscription == Answers(revoked: 1, purchases: 2, statuses: []))
        let ids = customer.transactionsWithTypes(from: try catalog(.nonConsumable)).map(\.payload.transactionId)
        #expect(ids == customer.transactions.map(\.payload.transactionId))
    }

    @Test("A catalog changes no copies of a purchase that receipts state, so the ledger agrees without one")
    func signedCopiesNeedNoCatalog() throws {
        func revoked(_ facts: [TransactionFact], _ type: ProductType?) throws -> [String] {
            let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
            return customer.transactionsWithTypes(from: try type.map { try catalog($0) })
                .filter { $0.payload.isRevoked }.compactMap(\.payload.transactionId).sorted()
        }
        let restored = [untyped("1", .receipt, at: 2, revoked: Self.refund), untyped("2", .receipt, at: 9)]
        // The notification lacks the expiry.
        let notified = untyped("1", .notificationV1, at: 3, revoked: Self.refund) { $0.webOrderLineItemId = "900" }
        let period = untyped("2", .receipt, at: 9) {
            $0.webOrderLineItemId = "900"
            $0.expiresDate = Samples.june + 30 * Samples.day
        }
        for facts in [restored, [notified, period]] {
            for type in [nil, .consumable, .nonConsumable, .autoRenewableSubscription] as [ProductType?] {
                #expect(try revoked(facts, type) == ["1", "2"])
            }
        }
    }

    @Test("The type that a catalog states counts for an unsigned row of a refunded period that lacks the expiry")
    func typeOfPeriodFromCatalog() throws {
        let period = untyped("1", .recordedReply, at: 2, revoked: Self.refund) {
            $0.webOrderLineItemId = "900"
            $0.expiresDate = Samples.june + 30 * Samples.day
        }
        let row = untyped("2", .recordedReply, at: 9) { $0.webOrderLineItemId = "900" }
        let customer = try unwrap(Customer(resolving: [Samples.set([period, row])]))
        let transactions = customer.transactionsWithTypes(from: try catalog(.autoRenewableSubscription))
        #expect(transactions.count { $0.payload.revocationDate != nil } == 2)
    }

    @Test("Periods are no copies of each other if a catalog contradicts their expiry, despite other refunds")
    func catalogContradictsExpiry() throws {
        let periods = (0..<2).map { (number: Int64) in
            untyped("\(number + 1)", .recordedReply, at: 2, revoked: number == 0 ? Self.refund : nil) {
                $0.webOrderLineItemId = "\(900 + number)"
                $0.purchaseDate = Samples.june + 30 * number * Samples.day
                $0.expiresDate = Samples.june + 30 * (number + 1) * Samples.day
            }
        }
        let other = untyped("3", .recordedReply, at: 2, revoked: Self.refund) {
            $0.originalTransactionId = "3"
            $0.productId = "other"
        }
        for facts in [periods, periods + [other]] {
            let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
            let transactions = customer.transactionsWithTypes(from: try catalog(.nonConsumable))
            let granted = transactions.filter { $0.payload.revocationDate == nil }
            #expect(granted.map(\.payload.transactionId) == ["2"])
        }
    }

    @Test("An unsigned type does not keep a copy of a refunded purchase granted")
    func recordedType() throws {
        let refunded = untyped("1", .receipt, at: 2, revoked: Self.refund)
        let copy = untyped("2", .receipt, at: 9)
        for id in ["1", "2"] {
            for type in [ProductType.consumable, .autoRenewableSubscription, .nonConsumable] {
                let row = untyped(id, .recordedStoreKit2, at: 10) { $0.type = type }
                #expect(try revoked(refunded, copy, row) == ["1", "2"])
            }
            // Only subscriptions have a line item.
            let row = untyped(id, .recordedReply, at: 10) { $0.webOrderLineItemId = "900" }
            #expect(try revoked(refunded, copy, row) == ["1", "2"])
        }
        let other = untyped("3", .recordedStoreKit2, at: 10) { $0.type = .consumable }
        #expect(try revoked(refunded, copy, other) == ["1", "2"])
    }

    /// The catalog states a term of a week.
    @inline(never)
    private func statuses(_ facts: [TransactionFact], isInCatalog: Bool) throws -> [SubscriptionStatus?] {
        var season = CatalogEntry(subject: .productId("lifetime"), source: CatalogSource(file: "catalog.yaml"))
        season.type = .nonRenewingSubscription
        season.duration = SubscriptionPeriod(value: 7, unit: .day)
        let catalog = isInCatalog ? try ProductCatalog(entries: [season]) : nil
        let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
        return customer.purchaseHistory(catalog: catalog).entitlements(at: Samples.june + 10 * Samples.day)
            .map(\.status)
    }

    @Test("The type is that of a signed document, else of the catalog, else that of a row, for unsigned purchases only")
    func orderOfTypes() throws {
        let row = untyped("1", .recordedStoreKit2, at: 10) { $0.type = .nonConsumable }
        let old = untyped("1", .receipt, at: 9)
        let stated = untyped("1", .receipt, at: 9) { $0.type = .nonConsumable }
        #expect(try statuses([stated], isInCatalog: true) == [.active])
        #expect(try statuses([old], isInCatalog: true) == [.expired])
        #expect(try statuses([old], isInCatalog: false) == [nil])
        #expect(try statuses([old, row], isInCatalog: true) == [.expired])
        #expect(try statuses([old, row], isInCatalog: false) == [nil])
        #expect(try statuses([row], isInCatalog: true) == [.expired])
        #expect(try statuses([row], isInCatalog: false) == [.active])
        // Another transaction of the purchase.
        let restored = untyped("2", .notificationV2, at: 9) { $0.type = .nonConsumable }
        #expect(try statuses([old, restored], isInCatalog: true) == [.active])
        #expect(try statuses([old, restored], isInCatalog: false) == [.active])
        let recorded = untyped("2", .recordedStoreKit2, at: 10) { $0.type = .nonConsumable }
        #expect(try statuses([old, recorded], isInCatalog: false) == [nil])
        // The row shows an unsigned subscription; the signed purchase of the product stays.
        let period = untyped("2", .recordedReply, at: 10) { $0.expiresDate = Samples.june + 30 * Samples.day }
        #expect(try statuses([old, period], isInCatalog: false) == [.active, nil])
    }

    @Test("A transaction with an expiry is one of a subscription, also if the catalog states another type")
    func expiryAndCatalog() throws {
        let end = Samples.june + 30 * Samples.day
        let facts = [
            untyped("1", .receipt, at: 9) { $0.expiresDate = end },
            untyped("1", .recordedReply, at: 9) { $0.expiresDate = end },
            untyped("1", .recordedStoreKit2, at: 9) {
                $0.type = .autoRenewableSubscription
                $0.expiresDate = end
            },
        ]
        for fact in facts {
            let customer = try unwrap(Customer(resolving: [Samples.set([fact])]))
            for type in [ProductType.nonConsumable, .consumable, .nonRenewingSubscription] {
                let history = customer.purchaseHistory(catalog: try catalog(type))
                #expect(history.entries.map(\.transaction.type) == [.autoRenewableSubscription])
                #expect(history.entitlements(at: end - 1).map(\.status) == [.active])
                #expect(history.entitlements(at: end).map(\.status) == [.expired])
            }
        }
    }

    @Test("The line item of a row does not make a signed period a copy of a refunded one")
    func recordedLineItem() throws {
        let refunded = period("2", at: 2, revoked: Self.refund)
        let without = period("3", at: 1) { $0.webOrderLineItemId = nil }
        #expect(try revoked(refunded, without, period("3", .recordedReply, at: 10)) == ["2"])
        // Of an unsigned period it does.
        #expect(try revoked(refunded, period("3", .recordedReply, at: 10)) == ["2", "3"])
        #expect(try revoked(refunded, period("3", at: 1), period("3", .recordedReply, at: 10)) == ["2", "3"])
    }

    @Test("What a row states about Family Sharing does not keep a copy of a refunded signed purchase granted")
    func recordedSharing() throws {
        let refunded = period("2", at: 2, revoked: Self.refund)
        var legacy = LegacyTransactionFields()
        legacy.inAppOwnershipType = .familyShared
        for id in ["2", "3"] {
            let row = Samples.fact(id, original: "1", source: .recordedReply, at: 10 * Samples.day, legacy: legacy) {
                $0.inAppOwnershipType = .familyShared
            }
            #expect(try revoked(refunded, period("3", at: 9), row) == ["2", "3"])
        }
    }

    @Test("A bought and a shared purchase of a product are not copies, and a refund of one leaves access to the other")
    func boughtAndShared() throws {
        func purchase(_ id: String, _ ownership: InAppOwnershipType, revoked: Int64?) -> TransactionFact {
            Samples.fact(id, original: "1", product: "lifetime", source: .notificationV2, at: 9 * Samples.day) {
                $0.type = .nonConsumable
                $0.inAppOwnershipType = ownership
                $0.revocationDate = revoked
            }
        }
        let facts = [purchase("1", .familyShared, revoked: Self.refund), purchase("2", .purchased, revoked: nil)]
        let customer = try unwrap(Customer(resolving: [Samples.set(facts)]))
        let entitlements = customer.purchaseHistory(catalog: nil).entitlements(at: Samples.june + 10 * Samples.day)
        #expect(entitlements.map(\.status) == [.active] && entitlements.map(\.transactionId) == ["2"])
    }
}
