import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases
import TestSupport
import Testing

@Suite struct AppReceiptMappingTests {
    typealias Support = MappingSupport

    static let subscription = InAppPurchase(
        quantity: 1, productId: "monthly", transactionId: "20", purchaseDate: Support.june,
        originalTransactionId: "10", originalPurchaseDate: Support.june - 30 * Support.day,
        productType: .autoRenewableSubscription, expiresDate: Support.june + 30 * Support.day,
        webOrderLineItemId: 9_007_199_254_740_993, isTrialPeriod: false, isInIntroOfferPeriod: false)

    @Test func everySignedFieldIsCarriedWithItsAttribute() throws {
        let mapped = try Support.mapOne(Self.subscription)
        let payload = mapped.payload
        #expect(payload.transactionId == "20" && mapped.provenance[.transactionId] == .signedAttribute(1703))
        #expect(
            payload.originalTransactionId == "10" && mapped.provenance[.originalTransactionId] == .signedAttribute(1705)
        )
        #expect(payload.productId == "monthly" && mapped.provenance[.productId] == .signedAttribute(1702))
        #expect(payload.quantity == 1 && mapped.provenance[.quantity] == .signedAttribute(1701))
        #expect(payload.purchaseDate == Support.june && mapped.provenance[.purchaseDate] == .signedAttribute(1704))
        #expect(payload.originalPurchaseDate == Support.june - 30 * Support.day)
        #expect(mapped.provenance[.originalPurchaseDate] == .signedAttribute(1706))
        #expect(payload.expiresDate == Support.june + 30 * Support.day)
        #expect(mapped.provenance[.expiresDate] == .signedAttribute(1708))
        // Beyond 2^53: exact.
        #expect(payload.webOrderLineItemId == "9007199254740993")
        #expect(mapped.provenance[.webOrderLineItemId] == .signedAttribute(1711))
        #expect(payload.type == .autoRenewableSubscription && mapped.provenance[.type] == .signedAttribute(1707))
        #expect(payload.bundleId == "com.example.app" && mapped.provenance[.bundleId] == .signedAttribute(2))
        #expect(payload.environment == .production && mapped.provenance[.environment] == .signedAttribute(0))
        #expect(mapped.standing == .verifiedReceipt)
        #expect(mapped.notes.isEmpty)
    }

    @Test func everyPresentFieldHasAProvenanceAndEveryOtherIsAbsent() throws {
        let mapped = try Support.mapOne(Self.subscription)
        var writer = JSONWriter()
        writer.model(mapped.payload)
        let written = try JSONValue.parse(writer.bytes).object?.members.map(\.key) ?? []
        let recorded = mapped.provenance.entries.map { "\($0.field.name)" }
        #expect(Set(written) == Set(recorded) && written.count == recorded.count)
        #expect(mapped.provenance.absentFields.count == TransactionField.allCases.count - written.count)
        #expect(
            TransactionField.allCases.allSatisfy { mapped.provenance[$0] == .absent || mapped.provenance.isPresent($0) }
        )
    }

    @Test func nothingIsInventedAboutPriceStorefrontAndSigning() throws {
        let mapped = try Support.mapOne(Self.subscription)
        for field: TransactionField in [
            .signedDate, .price, .currency, .storefront, .storefrontId, .appTransactionId, .appAccountToken,
            .subscriptionGroupIdentifier, .revocationDate, .isUpgraded, .offerType,
        ] { #expect(!mapped.provenance.isPresent(field), "\(field)") }
    }

    @Test func purchasesKeepTheOrderOfTheReceipt() {
        let ids = ["3", "1", "2"]
        let mapped = Support.map(ids.map { InAppPurchase(productId: "p", transactionId: $0) })
        #expect(mapped.transactions.map(\.payload.transactionId) == ids)
        #expect(mapped.renewalInfos.isEmpty)
    }

    @Test(arguments: [
        (ReceiptProductType.nonConsumable, ProductType.nonConsumable), (.consumable, .consumable),
        (.nonRenewingSubscription, .nonRenewingSubscription), (.autoRenewableSubscription, .autoRenewableSubscription),
    ])
    func attribute1707GivesTheType(signed: ReceiptProductType, expected: ProductType) throws {
        let mapped = try Support.mapOne(InAppPurchase(productId: "p", transactionId: "1", productType: signed))
        #expect(mapped.payload.type == expected)
        #expect(mapped.provenance[.type] == .signedAttribute(1707))
    }

    @Test func aFreeSubscriptionIsNonRenewingByRuleAndNeverExpires() throws {
        let purchase = InAppPurchase(
            productId: "free", transactionId: "1", purchaseDate: 5, productType: .freeSubscription, expiresDate: 10)
        let catalog = try Support.catalog(
            Support.entry("free") {
                $0.type = .nonRenewingSubscription
                $0.duration = SubscriptionPeriod(value: 1, unit: .month)
            })
        for catalog in [nil, catalog] {
            let mapped = try Support.mapOne(purchase, catalog: catalog)
            #expect(mapped.payload.type == .nonRenewingSubscription)
            #expect(mapped.provenance[.type] == .inferred(.freeSubscriptionIsNonRenewing))
            #expect(mapped.payload.expiresDate == nil && mapped.termStart == nil)
            #expect(mapped.notes == [.freeSubscription])
        }
    }

    @Test func theTypeComesFromTheCatalogIfNotSigned() throws {
        let catalog = try Support.catalog(Support.entry("p") { $0.type = .nonConsumable })
        let mapped = try Support.mapOne(InAppPurchase(productId: "p", transactionId: "1"), catalog: catalog)
        #expect(mapped.payload.type == .nonConsumable)
        #expect(mapped.provenance[.type] == .catalog("catalog.yaml:3: products.p"))
    }

    @Test func theSignedTypeBeatsTheCatalogAndTheDifferenceIsNoted() throws {
        let catalog = try Support.catalog(Support.entry("p") { $0.type = .nonConsumable })
        let purchase = InAppPurchase(productId: "p", transactionId: "1", productType: .consumable)
        let mapped = try Support.mapOne(purchase, catalog: catalog)
        #expect(mapped.payload.type == .consumable && mapped.notes == [.catalogTypeDiffers])
    }

    @Test func anExpiryBeatsTheTypeOfTheCatalogAndTheDifferenceIsNoted() throws {
        let purchase = InAppPurchase(productId: "p", transactionId: "1", expiresDate: 7)
        for type in [ProductType.nonConsumable, .consumable, .nonRenewingSubscription] {
            let mapped = try Support.mapOne(
                purchase, catalog: try Support.catalog(Support.entry("p") { $0.type = type }))
            #expect(mapped.payload.type == .autoRenewableSubscription && mapped.payload.expiresDate == 7)
            #expect(mapped.provenance[.type] == .inferred(.expiresDateMeansAutoRenewable))
            #expect(mapped.notes.contains(.catalogTypeDiffers))
        }
    }

    @Test func withoutTypeAndCatalogARuleFindsOnlySubscriptions() throws {
        let expiring = try Support.mapOne(InAppPurchase(productId: "p", transactionId: "1", expiresDate: 7))
        #expect(expiring.payload.type == .autoRenewableSubscription)
        #expect(expiring.provenance[.type] == .inferred(.expiresDateMeansAutoRenewable))
        let ordered = try Support.mapOne(InAppPurchase(productId: "p", transactionId: "1", webOrderLineItemId: 7))
        #expect(ordered.provenance[.type] == .inferred(.webOrderLineItemMeansAutoRenewable))
        let plain = try Support.mapOne(InAppPurchase(productId: "p", transactionId: "1"))
        #expect(plain.payload.type == nil)
    }

    @Test func anUnknownTypeIsNotedAndLeftToTheRules() throws {
        let purchase = InAppPurchase(productId: "p", transactionId: "1", productType: ReceiptProductType(rawValue: 9))
        let mapped = try Support.mapOne(purchase)
        #expect(mapped.payload.type == nil && mapped.notes == [.unknownProductType])
    }

    @Test func zeroIsNoIdentifier() throws {
        let mapped = try Support.mapOne(
            InAppPurchase(productId: "p", transactionId: "0", originalTransactionId: "0", webOrderLineItemId: 0))
        #expect(mapped.payload.webOrderLineItemId == nil)
        #expect(mapped.payload.transactionId == nil && mapped.payload.originalTransactionId == nil)
        #expect(mapped.payload.type == nil)
        #expect(mapped.notes == [.xcodeTransactionIdZero])
    }

    @Test func aQuantityBeyond32BitsIsLeftOutAndNoted() throws {
        let purchase = InAppPurchase(quantity: 1 << 40, productId: "p", transactionId: "1")
        let mapped = try Support.mapOne(purchase)
        #expect(mapped.payload.quantity == nil && mapped.notes == [.valueOutOfRange])
    }

    @Test func theTypeThatAnotherTransactionOfThePurchaseStatesComesBeforeTheCatalogInARecordAndInAStore() throws {
        func week(_ id: String, _ type: ReceiptProductType?) -> InAppPurchase {
            InAppPurchase(
                quantity: 1, productId: "week", transactionId: id, purchaseDate: Support.june,
                originalTransactionId: "1", originalPurchaseDate: Support.june, productType: type)
        }
        let other = try Support.catalog(Support.entry("week") { $0.type = .nonConsumable })
        let purchases = [week("1", .nonRenewingSubscription), week("3", nil)]
        for catalog in [other, nil] {
            for order in [purchases, purchases.reversed()] {
                let mapped = Support.map(order, catalog: catalog)
                let restored = try unwrap(mapped.transactions.first { $0.payload.transactionId == "3" })
                #expect(restored.payload.type == .nonRenewingSubscription)
                #expect(restored.provenance[.type] == .inferred(.otherTransactionStatesType))
                let receipt = AppReceipt(
                    receiptType: .production, appItemId: 42, bundleId: "com.example.app",
                    receiptCreationDate: Support.june, inAppPurchases: order)
                let set = try unwrap(FactSet(Support.verified(receipt), bytes: [1]))
                let history = try unwrap(Customer(resolving: [set])).purchaseHistory(catalog: catalog)
                #expect(history.entries.allSatisfy { $0.transaction.type == .nonRenewingSubscription })
            }
        }
        // Another purchase of the product shows nothing: a ledger is written from one original transaction id.
        let alone = InAppPurchase(productId: "week", transactionId: "5", originalTransactionId: "5")
        let mapped = Support.map([purchases[0], alone], catalog: other)
        #expect(mapped.transactions[1].payload.type == .nonConsumable)
    }

    @Test func aSubscriptionWithoutAnEndHasItsTypeInARecordAndInAStoreAndItsStatusIsUnknown() throws {
        let purchase = InAppPurchase(
            quantity: 1, productId: "p", transactionId: "1", purchaseDate: Support.june, originalTransactionId: "1",
            originalPurchaseDate: Support.june, webOrderLineItemId: 7)
        let receipt = AppReceipt(
            receiptType: .production, appItemId: 42, bundleId: "com.example.app", receiptCreationDate: Support.june,
            inAppPurchases: [purchase])
        let set = try unwrap(FactSet(Support.verified(receipt), bytes: [1]))
        let history = try unwrap(Customer(resolving: [set])).purchaseHistory(catalog: nil)
        #expect(try Support.mapOne(purchase).payload.type == .autoRenewableSubscription)
        #expect(history.entries.map(\.productType) == [.autoRenewableSubscription])
        let entitlements = history.entitlements(at: Support.june + Support.day)
        #expect(entitlements.map(\.type) == [nil] && entitlements.map(\.status) == [nil])
    }

    @Test func theReasonIsPurchaseForTheFirstTransactionAndRenewalForLaterOnes() throws {
        let later = try Support.mapOne(Self.subscription)
        #expect(later.payload.transactionReason == .renewal)
        #expect(later.provenance[.transactionReason] == .inferred(.transactionIdDiffersFromOriginal))
        let first = try Support.mapOne(
            InAppPurchase(
                productId: "p", transactionId: "1", originalTransactionId: "1", productType: .autoRenewableSubscription)
        )
        #expect(first.payload.transactionReason == .purchase)
        #expect(first.provenance[.transactionReason] == .inferred(.transactionIdEqualsOriginal))
        let unknown = try Support.mapOne(InAppPurchase(productId: "p", transactionId: "1"))
        #expect(unknown.payload.transactionReason == nil)
    }

    @Test func aRestoredNonConsumableKeepsBothIdsAndIsAPurchase() throws {
        let purchase = InAppPurchase(
            productId: "p", transactionId: "8", originalTransactionId: "3", productType: .nonConsumable)
        let mapped = try Support.mapOne(purchase)
        #expect(mapped.payload.transactionId == "8" && mapped.payload.originalTransactionId == "3")
        #expect(mapped.notes == [.restored])
        #expect(mapped.payload.transactionReason == .purchase)
        #expect(mapped.provenance[.transactionReason] == .inferred(.onlySubscriptionsRenew))
    }

    @Test func ownershipIsAttribute1722() throws {
        for (signed, expected): (ReceiptOwnershipType, InAppOwnershipType) in [
            (.purchased, .purchased), (.familyShared, .familyShared),
        ] {
            let mapped = try Support.mapOne(InAppPurchase(productId: "p", transactionId: "1", ownershipType: signed))
            #expect(mapped.payload.inAppOwnershipType == expected)
            #expect(mapped.provenance[.inAppOwnershipType] == .signedAttribute(1722))
        }
        let odd = InAppPurchase(
            productId: "p", transactionId: "1", productType: .consumable,
            ownershipType: ReceiptOwnershipType(rawValue: 5))
        let mapped = try Support.mapOne(odd)
        #expect(mapped.payload.inAppOwnershipType == nil && mapped.notes == [.unknownOwnershipType])
    }

    @Test func withoutAttribute1722OnlyARuleMakesAPurchaser() throws {
        let firstOf2021: Int64 = 1_609_459_200_000
        let lasting = InAppPurchase(productId: "p", transactionId: "1", productType: .nonConsumable)
        let old = try Support.mapOne(lasting, createdAt: firstOf2021 - 1)
        #expect(old.payload.inAppOwnershipType == .purchased)
        #expect(old.provenance[.inAppOwnershipType] == .inferred(.recordedBeforeFamilySharing))
        let new = try Support.mapOne(lasting, createdAt: firstOf2021)
        #expect(new.payload.inAppOwnershipType == nil)
        let consumable = try Support.mapOne(
            InAppPurchase(productId: "p", transactionId: "1", productType: .consumable), createdAt: firstOf2021)
        #expect(consumable.provenance[.inAppOwnershipType] == .inferred(.typeIsNeverFamilyShared))
    }

    @Test(arguments: [
        (ReceiptType.production, Environment.production), (.productionVPP, .production),
        (.productionSandbox, .sandbox), (.productionVPPSandbox, .sandbox), (.xcode, .xcode),
    ])
    func attributeZeroGivesTheEnvironment(type: ReceiptType, expected: Environment) {
        let mapped = Support.map([InAppPurchase(productId: "p", transactionId: "1")], type: type)
        #expect(mapped.transactions[0].payload.environment == expected)
        #expect(mapped.appTransaction?.payload.receiptType == expected)
        #expect(mapped.appTransaction?.legacy.receiptType == type.rawValue)
        #expect(mapped.notes.isEmpty)
    }

    @Test func anUnknownReceiptTypeIsNoEnvironment() {
        let mapped = Support.map(
            [InAppPurchase(productId: "p", transactionId: "1")], type: ReceiptType(rawValue: "ProductionX"))
        #expect(mapped.transactions[0].payload.environment == nil)
        #expect(mapped.notes == [.unknownEnvironment])
    }

    @Test func theAppTransactionComesFromTheAppAttributes() throws {
        let receipt = AppReceipt(
            receiptType: .production, appItemId: 379_968_583, bundleId: "b", applicationVersion: "7",
            receiptCreationDate: 12, versionExternalIdentifier: 16, originalPurchaseDate: 18,
            originalApplicationVersion: "1", platform: 3, preorderDate: 32)
        let app = try unwrap(ReceiptMapper().map(Support.verified(receipt)).appTransaction)
        let expected = AppTransaction {
            $0.receiptType = .production
            $0.appAppleId = 379_968_583
            $0.bundleId = "b"
            $0.applicationVersion = "7"
            $0.versionExternalIdentifier = 16
            $0.receiptCreationDate = 12
            $0.originalPurchaseDate = 18
            $0.originalApplicationVersion = "1"
            $0.preorderDate = 32
        }
        #expect(app.payload == expected)
        #expect(app.provenance[.receiptCreationDate] == .signedAttribute(12))
        #expect(app.provenance[.appAppleId] == .signedAttribute(1))
        #expect(
            app.provenance.absentFields
                == [
                    .deviceVerification, .deviceVerificationNonce, .appTransactionId, .originalPlatform, .storeType,
                ])
    }

    @Test func zerosOfTheSandboxAreNoIdentifiersOfTheApp() throws {
        let receipt = AppReceipt(
            receiptType: .productionSandbox, appItemId: 0, bundleId: "b", versionExternalIdentifier: 0)
        let app = try unwrap(ReceiptMapper().map(Support.verified(receipt)).appTransaction)
        #expect(app.payload.appAppleId == nil && app.payload.versionExternalIdentifier == nil)
        #expect(app.provenance[.appAppleId] == .absent)
    }
}
