import AppStoreModels
import ProductCatalog
import Purchases
import TestSupport
import Testing
import TransactionStoreConformance

/// The documents that decide the ownership of a purchase, and the consequences.
@Suite("Ownership of a purchase")
struct OwnershipTests {
    private static let group = "20456789"

    /// A monthly period that begins on a day, of the subscription with the original id 1.
    private func period(
        _ id: String, from day: Int64, isTrial: Bool = false, _ ownership: InAppOwnershipType? = nil,
        _ source: FactSource = .receipt, at date: Int64 = 100
    ) -> TransactionFact {
        var legacy = LegacyTransactionFields()
        legacy.isTrialPeriod = isTrial
        legacy.inAppOwnershipType = ownership
        let isLegacy = source.kind != .signedTransaction
        return Samples.fact(
            id, original: "1", source: source, at: Samples.june + date * Samples.day, legacy: isLegacy ? legacy : nil
        ) {
            $0.type = .autoRenewableSubscription
            $0.subscriptionGroupIdentifier = Self.group
            $0.purchaseDate = Samples.june + day * Samples.day
            $0.originalPurchaseDate = Samples.june
            $0.expiresDate = Samples.june + (day + 30) * Samples.day
            $0.inAppOwnershipType = ownership
            $0.offerType = isTrial ? .introductory : nil
            $0.offerDiscountType = isTrial ? .freeTrial : nil
        }
    }

    /// Whether another trial is possible long after the end, in any order of the documents.
    @inline(never)
    private func eligibility(_ facts: TransactionFact...) throws -> OfferVerdict.Eligibility {
        var found: Set<OfferVerdict.Eligibility> = []
        let now = Samples.june + 200 * Samples.day
        for order in StoreConformance.permutations(facts) {
            let customer = try unwrap(Customer(resolving: order.map { Samples.set($0) }))
            let history = customer.purchaseHistory(catalog: nil, currentThrough: now)
            found.insert(history.introductoryEligibility(group: Self.group, at: now).eligibility)
        }
        #expect(found.count == 1)
        return try unwrap(found.first)
    }

    @Test("A row that states Family Sharing does not hide a used trial that a signed receipt states")
    func rowBesideReceipt() throws {
        let trial = period("1", from: 0, isTrial: true)
        let row = period("1", from: 0, isTrial: true, .familyShared, .recordedReply, at: 150)
        #expect(try eligibility(trial) == .notEligible)
        #expect(try eligibility(trial, row) == .notEligible)
        // A signed document decides, and so does a row about a purchase that no signed document states.
        let shared = period("1", from: 0, isTrial: true, .familyShared, .notificationV2)
        #expect(try eligibility(trial, shared) == .eligible)
        #expect(try eligibility(row) == .eligible)
    }

    @Test("A trial that only a row states counts as used, also if a receipt without the flags states the period")
    func rowStatesTheTrial() throws {
        let period = Samples.fact("1", at: Samples.june + 100 * Samples.day) {
            $0.type = .autoRenewableSubscription
            $0.subscriptionGroupIdentifier = Self.group
            $0.expiresDate = Samples.june + 30 * Samples.day
        }
        let row = self.period("1", from: 0, isTrial: true, .purchased, .recordedReply, at: 150)
        #expect(try eligibility(period) == .unknown)
        #expect(try eligibility(row) == .notEligible)
        #expect(try eligibility(period, row) == .notEligible)
    }

    @Test("A row's Family Sharing removes no period from a subscription that a signed document states as bought")
    func rowAboutAnotherPeriod() throws {
        let paid = period("2", from: 30)
        let row = period("1", from: 0, isTrial: true, .familyShared, .recordedReply, at: 150)
        #expect(try eligibility(paid, row) == .notEligible)
        // Of a subscription that the App Store states to be shared, it is one more shared period.
        let shared = period("2", from: 30, .familyShared, .notificationV2)
        #expect(try eligibility(shared, row) == .eligible)
    }

    @Test("A row's Family Sharing does not hide the upgrade of a period to another one, both signed")
    func rowAboutAnUpgradedPeriod() throws {
        let old = period("1", from: 0)
        let new = Samples.fact("2", original: "1", product: "yearly", at: Samples.june + 100 * Samples.day) {
            $0.type = .autoRenewableSubscription
            $0.purchaseDate = Samples.june + 10 * Samples.day
            $0.expiresDate = Samples.june + 375 * Samples.day
        }
        let row = period("1", from: 0, .familyShared, .recordedReply, at: 150)
        for order in StoreConformance.permutations([old, new, row]) {
            let customer = try unwrap(Customer(resolving: order.map { Samples.set($0) }))
            #expect(customer.transactions.map(\.payload.isUpgraded) == [nil, true])
        }
    }

    @Test("The first period of a family member does not show that no period of the customer is missing")
    func sharedBeginning() throws {
        let shared = period("1", from: 0, .familyShared, .notificationV2)
        let paid = period("2", from: 30, .purchased, .notificationV2)
        let now = Samples.june + 200 * Samples.day
        let customer = try unwrap(Customer(resolving: [Samples.set(shared, paid)]))
        let verdict = customer.purchaseHistory(catalog: nil).introductoryEligibility(group: Self.group, at: now)
        #expect(verdict.reasons.first { $0.rule == .noIntroductoryOfferBefore }?.outcome == .unknown)
    }

    @Test("A row adds PURCHASED to a signed purchase of unknown ownership, and nothing else")
    func addedByRow() throws {
        for ownership in [InAppOwnershipType.purchased, .familyShared, .assigned, InAppOwnershipType(rawValue: "NEW")] {
            let row = period("1", from: 0, ownership, .recordedReply, at: 150)
            let joined = try unwrap(try FactSupport.join(period("1", from: 0), row))
            let expected = ownership == .purchased ? InAppOwnershipType.purchased : nil
            #expect(joined.payload.inAppOwnershipType == expected && joined.legacy.inAppOwnershipType == expected)
            #expect(try FactSupport.join(row)?.payload.inAppOwnershipType == ownership)
        }
    }

    @Test("A newer receipt does not replace the ownership ASSIGNED, which receipts cannot state")
    func receiptBesideAssigned() throws {
        let receipt = period("1", from: 0, isTrial: true, .purchased, at: 150)
        let assigned = period("1", from: 0, isTrial: true, .assigned, .notificationV2)
        #expect(try FactSupport.join(assigned, receipt)?.payload.inAppOwnershipType == .assigned)
        #expect(try eligibility(assigned, receipt) == .unknown)
        let shared = period("1", from: 0, .familyShared, .notificationV2)
        #expect(try FactSupport.join(shared, receipt)?.payload.inAppOwnershipType == .purchased)
    }

    @Test("A row that states Family Sharing does not give a restored copy of a term a term of its own")
    func rowAboutACopyOfATerm() throws {
        let source = CatalogSource(file: "catalog.yaml", line: 3, element: "products.week")
        var entry = CatalogEntry(subject: .productId("week"), source: source)
        entry.type = .nonRenewingSubscription
        entry.duration = SubscriptionPeriod(value: 7, unit: .day)
        let catalog = try ProductCatalog(entries: [entry])
        func week(_ id: String, _ source: FactSource = .receipt) -> TransactionFact {
            let ownership = source == .receipt ? nil : InAppOwnershipType.familyShared
            var legacy = LegacyTransactionFields()
            legacy.inAppOwnershipType = ownership
            return Samples.fact(id, original: "1", product: "week", source: source, legacy: legacy) {
                $0.type = .nonRenewingSubscription
                $0.originalPurchaseDate = Samples.june
                $0.inAppOwnershipType = ownership
            }
        }
        let facts = [week("1"), week("3"), week("3", .recordedReply)]
        let customer = try unwrap(Customer(resolving: facts.map { Samples.set($0) }))
        let terms = customer.nonRenewingTerms(catalog)
        let end = Samples.june + 7 * Samples.day
        #expect(terms.mapValues(\.end) == ["1": end, "3": end])
    }
}
