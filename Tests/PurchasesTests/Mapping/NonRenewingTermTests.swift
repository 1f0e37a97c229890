import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases
import Testing

@Suite struct NonRenewingTermTests {
    typealias Support = MappingSupport
    private let day = MappingSupport.day
    private let june = MappingSupport.june

    private func season(
        _ id: String, _ start: Int64, product: String = "week", original: String? = nil, bought: Int64? = nil,
        cancelled: Int64? = nil, quantity: Int64 = 1
    ) -> InAppPurchase {
        InAppPurchase(
            quantity: quantity, productId: product, transactionId: id, purchaseDate: start,
            originalTransactionId: original ?? id, originalPurchaseDate: bought ?? start,
            productType: .nonRenewingSubscription, cancellationDate: cancelled)
    }

    private func catalog(stacks: Bool? = nil, entitlement: String? = nil) throws -> ProductCatalog {
        try Support.catalog(
            Support.entry("week") {
                $0.type = .nonRenewingSubscription
                $0.duration = SubscriptionPeriod(value: 7, unit: .day)
                $0.stacks = stacks
                $0.entitlement = entitlement
            },
            Support.entry("month") {
                $0.type = .nonRenewingSubscription
                $0.duration = SubscriptionPeriod(value: 1, unit: .month)
                $0.stacks = stacks
                $0.entitlement = entitlement
            })
    }

    private func terms(_ mapped: MappedReceipt) -> [[Int64?]] {
        mapped.transactions.map { [$0.termStart, $0.payload.expiresDate] }
    }

    @Test func theCatalogGivesTheEndAndIsNamedAsItsSource() throws {
        let mapped = Support.map([season("1", june)], catalog: try catalog()).transactions[0]
        #expect(mapped.termStart == june && mapped.payload.expiresDate == june + 7 * day)
        #expect(mapped.provenance[.expiresDate] == .catalog("catalog.yaml:3: products.week"))
        #expect(mapped.provenance[.purchaseDate] == .signedAttribute(1704))
    }

    @Test func withoutAnEntryTheEndIsAbsentAndNoted() throws {
        for catalog in [nil, try catalog()] {
            let mapped = Support.map([season("1", june, product: "unknown")], catalog: catalog).transactions[0]
            #expect(mapped.payload.expiresDate == nil && mapped.termStart == nil)
            #expect(mapped.notes == [.termUnknown])
            #expect(mapped.provenance.absentFields.contains(.expiresDate))
        }
    }

    @Test func purchasesExtendOneAnotherInTheOrderOfTheirDates() throws {
        let mapped = Support.map(
            [season("3", june + 30 * day), season("2", june + 5 * day), season("1", june)], catalog: try catalog())
        #expect(
            terms(mapped) == [
                [june + 30 * day, june + 37 * day], [june + 7 * day, june + 14 * day], [june, june + 7 * day],
            ])
        #expect(mapped.transactions.map { $0.notes.contains(.termStacked) } == [false, true, false])
    }

    @Test func ofTwoAtTheSameTimeTheLowerNumberComesFirst() throws {
        let mapped = Support.map([season("100", june), season("99", june)], catalog: try catalog())
        #expect(terms(mapped) == [[june + 7 * day, june + 14 * day], [june, june + 7 * day]])
    }

    @Test func withoutStackingTermsBeginAtTheirPurchase() throws {
        let mapped = Support.map(
            [season("1", june), season("2", june + 5 * day)], catalog: try catalog(stacks: false))
        #expect(terms(mapped) == [[june, june + 7 * day], [june + 5 * day, june + 12 * day]])
    }

    @Test func productsOfOneEntitlementExtendOneAnotherAndOthersDoNot() throws {
        let purchases = [season("1", june), season("2", june + day, product: "month")]
        let joined = Support.map(purchases, catalog: try catalog(entitlement: "pro"))
        // One month from 8 June ends on 8 July.
        #expect(terms(joined)[1] == [june + 7 * day, june + 37 * day])
        let separate = Support.map(purchases, catalog: try catalog())
        #expect(terms(separate)[1] == [june + day, june + 31 * day])
    }

    @Test func aRevokedPurchaseExtendsNothing() throws {
        let mapped = Support.map(
            [season("1", june, cancelled: june + day), season("2", june + 2 * day)], catalog: try catalog())
        #expect(terms(mapped)[1] == [june + 2 * day, june + 9 * day])
        #expect(mapped.transactions[0].payload.revocationDate == june + day)
    }

    @Test func aRevokedPurchaseIsNotStackedItself() throws {
        let mapped = Support.map(
            [season("1", june), season("2", june + day, cancelled: june + 2 * day), season("3", june + 3 * day)],
            catalog: try catalog())
        #expect(terms(mapped)[1] == [june + day, june + 8 * day])
        #expect(terms(mapped)[2] == [june + 7 * day, june + 14 * day])
    }

    @Test func aRestoredTransactionIsThePurchaseItRestores() throws {
        let mapped = Support.map(
            [season("1", june), season("5", june + 400 * day, original: "1", bought: june)], catalog: try catalog())
        #expect(terms(mapped) == [[june, june + 7 * day], [june, june + 7 * day]])
        #expect(mapped.transactions[1].notes.contains(.restoredTermCountedOnce))
        #expect(mapped.transactions[1].notes.contains(.restored))
        let alone = Support.map(
            [season("5", june + 400 * day, original: "1", bought: june)], catalog: try catalog())
        #expect(terms(alone) == [[june, june + 7 * day]])
    }

    @Test func aRevocationOfEitherRecordRevokesThePurchase() throws {
        let mapped = Support.map(
            [
                season("1", june), season("5", june + day, original: "1", bought: june, cancelled: june + 2 * day),
                season("6", june + 3 * day),
            ], catalog: try catalog())
        #expect(terms(mapped)[2] == [june + 3 * day, june + 10 * day])
    }

    @Test func severalAtOnceHaveTheTermOfOne() throws {
        let mapped = Support.map([season("1", june, quantity: 3)], catalog: try catalog()).transactions[0]
        #expect(mapped.payload.expiresDate == june + 7 * day && mapped.notes == [.termIgnoresQuantity])
    }

    @Test func theTermsOfManyPurchasesTakeLinearTime() throws {
        let purchases = (0..<20_000).map { season("\($0)", june + Int64($0)) }
        let mapped = Support.map(purchases, catalog: try catalog())
        #expect(mapped.transactions.last?.payload.expiresDate == june + 20_000 * 7 * day)
    }

    @Test func aRowThatContradictsASignedDocumentKeepsItsTermAndMovesNoOther() throws {
        let catalog = try catalog()
        let mapper = ReceiptMapper(catalog: catalog)
        var first = Support.map([season("1", june)], catalog: catalog).transactions[0]
        let second = Support.map([season("2", june + day)], catalog: catalog).transactions[0]
        var both = [first, second]
        mapper.addTerms(&both)
        #expect(both.map(\.termStart) == [june, june + 7 * day])
        first.notes.append(.contradictsSignedReceipt)
        both = [first, second]
        mapper.addTerms(&both)
        #expect(both.map(\.termStart) == [june, june + day])
    }
}
