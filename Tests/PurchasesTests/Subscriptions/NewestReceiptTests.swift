import AppStoreModels
import Purchases
import TestSupport
import Testing

@Suite("The newest app receipt of a customer")
struct NewestReceiptTests {
    @Test("A stored receipt replaces a submitted one only if it was signed later")
    func newer() throws {
        let payload = JWSTransactionDecodedPayload {
            $0.transactionId = "10"
            $0.productId = "p"
        }
        let set = FactSet(
            scope: StoreScope(environment: .production, bundleId: "com.example.app"),
            transactions: [
                TransactionFact(
                    payload: payload, legacy: nil, origin: FactOrigin(source: .receipt, signedDate: 20_000))
            ], receipt: KnownReceipt(form: .app, bytes: [1], signedDate: 20_000))
        let customer = try unwrap(Customer(resolving: [set]))
        #expect(customer.appReceipt(newerThan: 19_999) == customer.newestAppReceipt)
        #expect(customer.appReceipt(newerThan: 19_999) != nil)
        #expect(customer.appReceipt(newerThan: 20_000) == nil)
        #expect(customer.appReceipt(newerThan: nil) == nil)
    }
}
