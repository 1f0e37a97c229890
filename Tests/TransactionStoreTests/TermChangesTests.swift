import AppStoreModels
import Purchases
import Testing
import TransactionStore

/// Times are days.
@Suite("Moved terms of non-renewing subscriptions")
struct TermChangesTests {
    private func bought(
        _ id: String, restoring original: String? = nil, on day: Int64, isRefunded: Bool = false
    ) -> StoredTransaction {
        let payload = JWSTransactionDecodedPayload {
            $0.transactionId = id
            $0.originalTransactionId = original
            $0.productId = "pass"
            $0.type = .nonRenewingSubscription
            $0.purchaseDate = day
            $0.originalPurchaseDate = day
            if isRefunded { $0.revocationDate = day + 1 }
        }
        return StoredTransaction(payload, origin: FactOrigin(source: .appStoreServerAPI, signedDate: 100))
    }

    @Test("A restored copy counts as its purchase, in the order of the terms before a document as in that after it")
    func copies() {
        func transactions(isRefunded: Bool) -> [StoredTransaction] {
            [
                bought("6", restoring: "5", on: 0, isRefunded: isRefunded),
                bought("7", restoring: "5", on: 0, isRefunded: isRefunded), bought("8", on: 10), bought("9", on: 30),
            ]
        }
        let before = TermChanges(of: transactions(isRefunded: false), known: [:])
        #expect(before.moved.isEmpty && before.bases["6"] == before.bases["7"])
        let after = TermChanges(of: transactions(isRefunded: true), known: before.bases)
        #expect(after.moved == ["8", "9"])
        let earlier = after.earlierPurchases.mapValues { EarlierPurchases.decode($0) }
        #expect(earlier == ["8": ["5"], "9": ["5", "8"]])
    }
}
