import AppStoreModels
import LegacyReceipts
import Purchases
import TestSupport
import Testing

@Suite struct TransactionReceiptMappingTests {
    typealias Support = MappingSupport

    private func map(_ receipt: TransactionReceipt) throws -> MappedTransaction {
        let mapped = ReceiptMapper().map(Support.verified(receipt))
        #expect(mapped.appTransaction == nil && mapped.transactions.count == 1)
        return try unwrap(mapped.transactions.first)
    }

    @Test func everySignedKeyIsCarriedWithItsName() throws {
        let mapped = try map(
            TransactionReceipt(
                productId: "monthly", transactionId: "160000408504141", originalTransactionId: "160000408504140",
                bundleId: "b", quantity: 1, purchaseDate: 1000, originalPurchaseDate: 500, expiresDate: 2000,
                cancellationDate: 1500, cancellationReason: 0, webOrderLineItemId: "77", isTrialPeriod: true,
                purchaseInfo: [
                    .init(key: "purchase-date-ms", value: "1000"), .init(key: "purchase-date", value: ""),
                    .init(key: "expires-date-formatted", value: ""), .init(key: "cancellation-date-ms", value: ""),
                ]))
        #expect(mapped.payload.transactionId == "160000408504141")
        #expect(mapped.provenance[.transactionId] == .signedKey("transaction-id"))
        #expect(mapped.provenance[.purchaseDate] == .signedKey("purchase-date-ms"))
        #expect(mapped.provenance[.originalPurchaseDate] == .signedKey("original-purchase-date"))
        #expect(mapped.provenance[.expiresDate] == .signedKey("expires-date-formatted"))
        #expect(mapped.payload.revocationDate == 1500 && mapped.payload.revocationReason == .other)
        #expect(mapped.provenance[.revocationDate] == .signedKey("cancellation-date-ms"))
        #expect(mapped.provenance[.bundleId] == .signedKey("bid"))
        #expect(mapped.payload.type == .autoRenewableSubscription)
        #expect(mapped.payload.offerDiscountType == .freeTrial)
        #expect(mapped.provenance[.offerType] == .signedKey("is-trial-period"))
        #expect(mapped.provenance[.transactionReason] == .inferred(.transactionIdDiffersFromOriginal))
        #expect(mapped.provenance[.inAppOwnershipType] == .inferred(.recordedBeforeFamilySharing))
    }

    @Test(
        arguments: [
            ("160000408504141", nil, Environment.production, InferenceRule.productionClaimAndTransactionId, false),
            ("1000000283499967", "Sandbox", .sandbox, .sandboxTransactionId, false),
            ("1000000283499967", nil, .sandbox, .sandboxTransactionId, true),
            ("1000000283499967", "Production", .sandbox, .sandboxTransactionId, true),
            ("160000408504141", "Sandbox", .sandbox, .unsignedClaimOfSandbox, true),
        ] as [(String, String?, Environment, InferenceRule, Bool)])
    func theEnvironmentIsAConclusionAndNeverRaised(
        id: String, claim: String?, expected: Environment, rule: InferenceRule, contradicts: Bool
    ) throws {
        let receipt = TransactionReceipt(productId: "p", transactionId: id, claimedEnvironment: claim)
        let mapped = ReceiptMapper().map(Support.verified(receipt))
        let transaction = try unwrap(mapped.transactions.first)
        #expect(transaction.payload.environment == expected)
        #expect(transaction.provenance[.environment] == .inferred(rule))
        #expect(mapped.notes.contains(.environmentContradiction) == contradicts)
        #expect(transaction.notes.contains(.environmentContradiction) == contradicts)
    }

    @Test func webOrderLineItemZeroIsDropped() throws {
        let mapped = try map(TransactionReceipt(productId: "p", transactionId: "1", webOrderLineItemId: "0"))
        #expect(mapped.payload.webOrderLineItemId == nil && mapped.payload.type == nil)
    }

    @Test func bothKindsMapThroughTheCommonType() throws {
        let receipt = LegacyReceipt.transaction(TransactionReceipt(productId: "p", transactionId: "1"))
        #expect(ReceiptMapper().map(Support.verified(receipt)).transactions.map(\.payload.productId) == ["p"])
        let app = LegacyReceipt.app(AppReceipt(bundleId: "b"))
        #expect(ReceiptMapper().map(Support.verified(app)).appTransaction?.payload.bundleId == "b")
    }
}
