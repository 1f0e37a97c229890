import AppStoreModels
import Purchases
import Testing

@Suite("Transactions that share memory")
struct SharedTransactionTests {
    @Test("A change of a transaction changes no copy of it, and no transaction that begins without members")
    func copies() {
        var payload = JWSTransactionDecodedPayload()
        payload.price = 1
        let first = SharedTransaction(payload)
        var second = first
        second.payload.price = 2
        #expect(first.payload.price == 1 && second.payload.price == 2 && first != second)
        second.payload.price = 1
        #expect(first == second)

        var mapped = MappedTransaction(standing: .recorded)
        let copy = mapped
        mapped.payload.price = 3
        #expect(mapped.payload.price == 3 && copy.payload.price == nil)
        #expect(MappedTransaction(standing: .recorded).payload.price == nil)
    }
}
