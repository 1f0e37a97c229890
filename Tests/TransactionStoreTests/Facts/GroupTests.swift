import AppStoreModels
import ProductCatalog
import Purchases
import TestSupport
import Testing
import TransactionStoreConformance

/// The documents that decide the subscription group of a purchase, and the consequences.
@Suite("Subscription group of a purchase")
struct GroupTests {
    private static let group = "20456789"
    private static let now = Samples.june + 200 * Samples.day

    /// A used trial of the product `monthly`. Receipts state no group.
    private static func trial(
        _ id: String = "1", group: String? = nil, _ source: FactSource = .receipt
    ) -> TransactionFact {
        var legacy = LegacyTransactionFields()
        legacy.isTrialPeriod = true
        return Samples.fact(
            id, original: "1", source: source, at: Samples.june + 100 * Samples.day,
            legacy: source.kind == .signedTransaction ? nil : legacy
        ) {
            $0.type = .autoRenewableSubscription
            $0.subscriptionGroupIdentifier = group
            $0.purchaseDate = Samples.june
            $0.originalPurchaseDate = Samples.june
            $0.expiresDate = Samples.june + 30 * Samples.day
            $0.offerType = .introductory
            $0.offerDiscountType = .freeTrial
        }
    }

    private static func catalog() throws -> ProductCatalog {
        var entry = CatalogEntry(
            subject: .productId("monthly"), source: CatalogSource(file: "catalog.yaml", line: 3, element: "monthly"))
        entry.subscriptionGroupIdentifier = group
        return try ProductCatalog(entries: [entry])
    }

    /// The groups of the customer, and whether a trial in the real group is possible, in any order of the documents.
    @inline(never)
    private func found(
        _ facts: [TransactionFact], _ catalog: ProductCatalog?
    ) throws -> (groups: [String], eligibility: OfferVerdict.Eligibility) {
        var groups: Set<[String]> = []
        var eligibility: Set<OfferVerdict.Eligibility> = []
        for order in StoreConformance.permutations(facts) {
            let customer = try unwrap(Customer(resolving: order.map { Samples.set($0) }))
            let history = customer.purchaseHistory(catalog: catalog, currentThrough: Self.now)
            groups.insert(history.subscriptionGroups)
            eligibility.insert(history.introductoryEligibility(group: Self.group, at: Self.now).eligibility)
            #expect(history.entitlements(at: Self.now).compactMap(\.group) == history.subscriptionGroups)
        }
        #expect(groups.count == 1 && eligibility.count == 1)
        return (try unwrap(groups.first), try unwrap(eligibility.first))
    }

    @Test("A row that states another group does not hide a used trial of a signed purchase")
    func rowBesideReceipt() throws {
        let catalog = try Self.catalog()
        let forged = Self.trial(group: "1", .recordedReply)
        let other = Self.trial("2", group: "1", .recordedReply)
        for facts in [[Self.trial(), forged], [Self.trial(), other], [Self.trial(), forged, other]] {
            let withCatalog = try found(facts, catalog)
            #expect(withCatalog.groups == [Self.group] && withCatalog.eligibility == .notEligible)
        }
        // Without a catalog, the row is all that is known of the group.
        let alone = try found([Self.trial(), forged], nil)
        #expect(alone.groups == ["1"])
    }

    @Test("A product with a used trial has no introductory offer, also if its group is unknown or that of a row")
    func productWithoutOffer() throws {
        let forged = Self.trial(group: "1", .recordedReply)
        for facts in [[Self.trial()], [Self.trial(), forged], [forged]] {
            let customer = try unwrap(Customer(resolving: facts.map { Samples.set($0) }))
            for catalog in [nil, try Self.catalog()] {
                let history = customer.purchaseHistory(catalog: catalog, currentThrough: Self.now)
                #expect(history.productsWithoutIntroductoryOffer(catalog: catalog, at: Self.now) == ["monthly"])
            }
        }
    }

    @Test("A signed transaction comes before the catalog, and the catalog before a row")
    func order() throws {
        let catalog = try Self.catalog()
        let signed = try found([Self.trial(), Self.trial(group: "2", .notificationV2)], catalog)
        #expect(signed.groups == ["2"])
        let row = Self.trial(group: "1", .recordedReply)
        #expect(try found([row], catalog).groups == [Self.group])
        #expect(try found([row], nil).groups == ["1"])
    }

    @Test("The joined transaction states the group of a row with its source")
    func source() throws {
        let row = Self.trial(group: "1", .recordedReply)
        let joined = try unwrap(try FactSupport.join(Self.trial(), row))
        #expect(joined.payload.subscriptionGroupIdentifier == "1")
        #expect(joined.source(of: .subscriptionGroupIdentifier) == .stated(row.origin))
    }
}
