import AppStoreModels
import LegacyReceipts
import Purchases
import TestSupport
import Testing

@Suite("Purchases in the signed documents of one record")
struct SignedTransactionsTests {
    private typealias Support = MappingSupport

    /// The transaction 52 from two documents, resolved as those of one record, whichever of the two has the greater hash.
    private func resolved(_ documents: [MappedReceipt]) throws -> [JWSTransactionDecodedPayload] {
        try [["a", "b"], ["b", "a"]].map { hashes in
            let records = zip(hashes, documents).map { hash, document in
                SignedRecord(sha256: String(repeating: hash, count: 64), receipt: document)
            }.sorted { $0.isNewer(than: $1) }
            let signed = SignedTransactions(records, ReceiptMapper())
            var payload = JWSTransactionDecodedPayload()
            (payload.transactionId, payload.productId) = ("52", "monthly")
            let identity = try unwrap(PurchaseIdentity(payload))
            let found = records.compactMap { signed.transaction(identity, of: $0.reference) }
            // Exactly one document decides.
            #expect(found.count == 1)
            return try unwrap(found.first).payload
        }
    }

    /// The transaction 52 as a store resolves it.
    private func stored(_ sets: [FactSet]) throws -> JWSTransactionDecodedPayload {
        let customer = try unwrap(Customer(resolving: sets))
        return try unwrap(customer.transactions.first { $0.payload.transactionId == "52" }).payload
    }

    @Test("Of two signed transactions of one date, the one counts that a store keeps")
    func signedTransactionsOfOneDate() throws {
        let scope = StoreScope(environment: .production, bundleId: "com.example.app")
        let documents = [false, true].map { isUpgraded in
            var payload = JWSTransactionDecodedPayload()
            (payload.transactionId, payload.originalTransactionId) = ("52", "52")
            (payload.bundleId, payload.environment, payload.productId) = (scope.bundleId, scope.environment, "monthly")
            payload.type = .autoRenewableSubscription
            payload.purchaseDate = Support.june
            payload.expiresDate = Support.june + 30 * Support.day
            payload.signedDate = Support.june + 2 * Support.day
            payload.isUpgraded = isUpgraded ? true : nil
            return Support.verified(payload)
        }
        let sets = documents.map { FactSet(scope: scope, source: .signedTransaction, transactions: [$0]) }
        let known = try stored(sets)
        #expect(try stored(sets.reversed()).isUpgraded == known.isUpgraded)
        let mapped = documents.map { ReceiptMapper().map(SignedDocument.transaction($0)) }
        for mapped in [mapped, mapped.reversed()] {
            #expect(try resolved(mapped).map(\.isUpgraded) == [known.isUpgraded, known.isUpgraded])
        }
    }

    @Test("Of two receipts of one second with different original ids, the one counts that a store lets decide")
    func receiptsOfOneSecond() throws {
        let receipts = ["1", "2"].map { original in
            AppReceipt(
                receiptType: .production, bundleId: "com.example.app", receiptCreationDate: Support.june + Support.day,
                inAppPurchases: [
                    InAppPurchase(
                        productId: "monthly", transactionId: "52", purchaseDate: Support.june,
                        originalTransactionId: original, expiresDate: Support.june + 30 * Support.day)
                ])
        }
        let sets = try receipts.map { try unwrap(FactSet(Support.verified($0), bytes: [])) }
        #expect(try stored(sets).originalTransactionId == "2")
        #expect(try stored(sets.reversed()).originalTransactionId == "2")
        let mapped = receipts.map { ReceiptMapper().map(Support.verified($0)) }
        #expect(try resolved(mapped).map(\.originalTransactionId) == ["2", "2"])
    }
}
