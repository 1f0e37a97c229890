import AppStoreModels
import LegacyReceipts
import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Facts of a verified receipt")
struct ReceiptFactTests {
    private let bytes: [UInt8] = [1, 2, 3]

    @Test func aPurchaseIsFiledAsTheReceiptStatesIt() throws {
        let set = try #require(FactSet(FactSupport.receipt([FactSupport.purchase()]), bytes: bytes))
        #expect(set.scope == StoreSamples.scope)
        #expect(set.identities == [StoreSamples.original("100")])
        #expect(set.receipt == KnownReceipt(form: .app, bytes: bytes, signedDate: StoreSamples.june))
        let fact = try #require(set.transactions.first)
        #expect(fact.origin == FactOrigin(source: .receipt, signedDate: StoreSamples.june))
        #expect(fact.payload.transactionId == "200")
        #expect(fact.payload.productId == "monthly")
        #expect(fact.payload.type == .autoRenewableSubscription)
        #expect(fact.payload.expiresDate == StoreSamples.june + 30 * StoreSamples.day)
        #expect(fact.payload.webOrderLineItemId == "77")
        #expect(fact.payload.quantity == 1)
        #expect(fact.legacy?.isTrialPeriod == false)
        #expect(fact.legacy?.isInIntroOfferPeriod == true)
        #expect(set.appTransaction?.payload.applicationVersion == "7")
        #expect(set.appTransaction?.payload.originalApplicationVersion == "1")
    }

    @Test("The facts of a receipt have the hash of the kept receipt, which is computed once")
    func hash() throws {
        let receipt = FactSupport.receipt([FactSupport.purchase()])
        let set = try #require(FactSet(receipt, bytes: bytes))
        let hash = Fingerprint(of: bytes)
        #expect(set.receipt?.hash == hash && set.receipt?.digest == hash.description)
        #expect(set.transactions.map(\.origin.document) == [hash])
        #expect(set.appTransaction?.origin.document == hash)
        // The hash of the caller is used, not checked.
        let given = Fingerprint(of: [9])
        let known = try #require(FactSet(receipt.map { LegacyReceipt.app($0) }, bytes: bytes, hash: given))
        #expect(known.receipt?.hash == given && known.transactions.map(\.origin.document) == [given])
        // It does not make two receipts with the same bytes different.
        #expect(known.receipt == set.receipt && Set([known.receipt, set.receipt]).count == 1)
    }

    @Test func conclusionsAreNotStored() throws {
        // The mapping concludes ownership (before 2021), reason, and here that the period was upgraded.
        let upgrade = InAppPurchase(
            productId: "yearly", transactionId: "201", purchaseDate: StoreSamples.june + 5000,
            originalTransactionId: "100", productType: .autoRenewableSubscription,
            expiresDate: StoreSamples.june + 365 * StoreSamples.day)
        let cancelled = FactSupport.purchase(cancelledAt: StoreSamples.june + 5000)
        let set = try #require(FactSet(FactSupport.receipt([cancelled, upgrade]), bytes: bytes))
        let fact = try #require(set.transactions.first)
        #expect(fact.payload.inAppOwnershipType == nil)
        #expect(fact.payload.transactionReason == nil)
        #expect(fact.payload.isUpgraded == nil)
        #expect(fact.payload.revocationDate == nil)
        #expect(fact.legacy?.cancellationDate == StoreSamples.june + 5000)
        #expect(fact.legacy?.inAppOwnershipType == nil)
    }

    @Test func aTypeThatIsConcludedIsNotStored() throws {
        let purchase = InAppPurchase(
            productId: "p", transactionId: "1", purchaseDate: 1, originalTransactionId: "1", expiresDate: 2)
        let set = try #require(FactSet(FactSupport.receipt([purchase]), bytes: bytes))
        #expect(set.transactions.first?.payload.type == nil)
        #expect(set.transactions.first?.payload.expiresDate == 2)
    }

    @Test(arguments: [(ReceiptOwnershipType.purchased, InAppOwnershipType.purchased), (.familyShared, .familyShared)])
    func ownershipIsStoredWhereTheAttributeIsThere(_ attribute: ReceiptOwnershipType, _ expected: InAppOwnershipType)
        throws
    {
        let purchase = InAppPurchase(productId: "p", transactionId: "1", ownershipType: attribute)
        let fact = try #require(FactSet(FactSupport.receipt([purchase]), bytes: bytes)?.transactions.first)
        #expect(fact.legacy?.inAppOwnershipType == expected)
        #expect(fact.payload.inAppOwnershipType == expected)
    }

    @Test func aReceiptWithoutPurchasesIsKnownByItsDigest() throws {
        let set = try #require(FactSet(FactSupport.receipt([]), bytes: bytes))
        let digest = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"
        #expect(set.identities == [CustomerIdentity(.receiptDigest, digest)])
        #expect(set.transactions.isEmpty)
        #expect(set.appTransaction != nil)
    }

    @Test func aPurchaseWithoutAnOriginalIdIsKnownByItsOwn() throws {
        let set = try #require(FactSet(FactSupport.receipt([FactSupport.purchase(original: nil)]), bytes: bytes))
        #expect(set.identities == [StoreSamples.original("200")])
    }

    @Test func xcodeReceiptsAreNotStored() {
        let receipt = FactSupport.receipt([FactSupport.purchase("0", original: "0")], type: .xcode)
        #expect(FactSet(receipt, bytes: bytes) == nil)
        let disguised = FactSupport.verified(FactSupport.receipt([FactSupport.purchase()]).payload, by: .xcode)
        #expect(FactSet(disguised, bytes: bytes) == nil)
    }

    @Test func receiptsOfNoScopeAreNotStored() {
        let purchases = [FactSupport.purchase()]
        #expect(FactSet(FactSupport.receipt(purchases, type: nil), bytes: bytes) == nil)
        #expect(FactSet(FactSupport.receipt(purchases, type: ReceiptType(rawValue: "New")), bytes: bytes) == nil)
        #expect(FactSet(FactSupport.receipt(purchases, bundleId: ""), bytes: bytes) == nil)
        #expect(FactSet(FactSupport.receipt(purchases, bundleId: "a\u{0}"), bytes: bytes) == nil)
        let long = String(repeating: "a", count: CustomerIdentity.maximumLength + 1)
        #expect(FactSet(FactSupport.receipt(purchases, bundleId: long), bytes: bytes) == nil)
    }

    @Test func volumePurchasesBelongToProduction() {
        let receipt = FactSupport.receipt([FactSupport.purchase()], type: .productionVPP)
        #expect(FactSet(receipt, bytes: bytes)?.scope.environment == .production)
    }

    @Test func aVolumePurchaseIsFiledAsTheReceiptStatesIt() throws {
        let set = try VolumePurchase.set()
        #expect(set.appTransaction?.legacy == VolumePurchase.legacy)
        #expect(set.appTransaction?.payload.receiptType == .production)
        // Every receipt has a type.
        let other = try #require(FactSet(FactSupport.receipt([FactSupport.purchase()]), bytes: bytes))
        var single = LegacyAppTransactionFields()
        single.receiptType = "Production"
        #expect(other.appTransaction?.legacy == single)
    }

    @Test func theLegacyFieldsOfAStoredReceiptAreThoseOfItsOwnAppTransaction() throws {
        let set = try VolumePurchase.set()
        let row = FactRow(try #require(set.appTransaction))
        let receipt = try #require(set.receipt).bytes
        #expect(LegacyAppTransactionFields.stored(of: receipt, ofAppTransaction: row.payload) == row.legacy)
        #expect(!row.legacy.isEmpty)
        #expect(LegacyAppTransactionFields.stored(of: receipt, ofAppTransaction: Array("{}".utf8)).isEmpty)
        #expect(LegacyAppTransactionFields.stored(of: bytes, ofAppTransaction: row.payload).isEmpty)
    }

    @Test func theLegacyFieldsOfAStoredReceiptAreReadAtAnySize() throws {
        let set = try VolumePurchase.set(size: DecodingLimits.defaultMaximumSize)
        let row = FactRow(try #require(set.appTransaction))
        let receipt = try #require(set.receipt).bytes
        #expect(receipt.count > DecodingLimits.defaultMaximumSize)
        #expect(LegacyAppTransactionFields.stored(of: receipt, ofAppTransaction: row.payload) == row.legacy)
    }

    @Test func aTransactionReceiptIsFiledByItsPurchaseDate() throws {
        let receipt = TransactionReceipt(
            productId: "p", transactionId: "20000000000001", originalTransactionId: "10000000000001",
            bundleId: "com.example.app", quantity: 1, purchaseDate: 5000, expiresDate: 9000, isTrialPeriod: true)
        let set = try #require(FactSet(FactSupport.verified(receipt), bytes: bytes))
        #expect(set.scope == StoreSamples.scope)
        #expect(set.receipt == KnownReceipt(form: .transaction, bytes: bytes, signedDate: 5000))
        #expect(set.appTransaction == nil)
        let fact = try #require(set.transactions.first)
        #expect(fact.origin.signedDate == 5000)
        #expect(fact.legacy?.isTrialPeriod == true)
        #expect(fact.payload.type == nil)
        #expect(fact.payload.environment == nil)
    }

    /// Purchase date, cancellation date, date of the facts, date of the receipt to hand out.
    @Test(
        arguments: [
            (5000, 9000, 9000, 5001), (5000, 5000, 5001, 5001), (5000, 4000, 5001, 5001), (5000, nil, 5000, 5000),
            (.max, 9000, .max, .max), (.min, .max, .max, .min + 1),
        ] as [(Int64, Int64?, Int64, Int64)])
    func aTransactionReceiptWithARefundCountsFromTheRefundOn(
        purchased: Int64, cancelled: Int64?, stated: Int64, kept: Int64
    ) throws {
        let receipt = TransactionReceipt(
            productId: "p", transactionId: "20000000000001", bundleId: "com.example.app", purchaseDate: purchased,
            cancellationDate: cancelled)
        let set = try #require(FactSet(FactSupport.verified(receipt), bytes: bytes))
        #expect(set.transactions.first?.origin.signedDate == stated)
        #expect(set.receipt?.signedDate == kept)
        #expect(receipt.statedDate == stated)
    }

    @Test func anEditedTransactionReceiptStaysInTheSandbox() throws {
        // Claims production by leaving the environment out; its id is one of the sandbox.
        let receipt = TransactionReceipt(
            productId: "p", transactionId: "1000000028349996", originalTransactionId: "1000000028349996",
            bundleId: "com.example.app", purchaseDate: 5000)
        let set = try #require(FactSet(FactSupport.verified(receipt), bytes: bytes))
        #expect(set.scope.environment == .sandbox)
    }

    @Test func aHundredThousandPurchasesAreOneSet() throws {
        let purchases = (1...100_000).map { InAppPurchase(productId: "p", transactionId: "\($0)") }
        let set = try #require(FactSet(FactSupport.receipt(purchases), bytes: bytes))
        #expect(set.transactions.count == 100_000)
        #expect(set.identities.count == 100_000)
    }
}
