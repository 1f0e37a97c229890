import AppStoreModels
import Purchases
import TestSupport
import Testing

@Suite("Purchases that no answer of the App Store states")
struct AppStoreAnswerTests {
    private func fact(_ id: String, of original: String, _ source: FactSource) -> TransactionFact {
        let payload = JWSTransactionDecodedPayload {
            $0.transactionId = id
            $0.originalTransactionId = original
            $0.productId = "p"
        }
        return TransactionFact(payload: payload, legacy: nil, origin: FactOrigin(source: source, signedDate: 1))
    }

    @Test("Signed purchases are queried first, each by its newest signed transaction; answered ones are not queried")
    func unanswered() throws {
        let facts = [
            fact("10", of: "10", .receipt), fact("12", of: "10", .receipt), fact("14", of: "10", .recordedReply),
            fact("20", of: "20", .recordedReply), fact("22", of: "20", .recordedReply),
            fact("30", of: "30", .appStoreServerAPI), fact("32", of: "30", .receipt), fact("40", of: "40", .receipt),
        ]
        let scope = StoreScope(environment: .production, bundleId: "com.example.app")
        let customer = try unwrap(Customer(resolving: [FactSet(scope: scope, transactions: facts)]))
        let unanswered = customer.unansweredPurchases
        #expect(unanswered.map(\.originalTransactionId) == ["40", "10", "20"])
        #expect(unanswered.map(\.transactionId) == ["40", "12", "22"])
        #expect(unanswered.map(\.isSigned) == [true, true, false])
        #expect(customer.hasAppStoreAnswer(about: "30") && !customer.hasAppStoreAnswer(about: "10"))
    }
}
