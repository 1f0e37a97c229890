import Purchases
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// Clients send the same receipt again and again: what the store has taken in is not written again.
@Suite struct KnownReceiptTests {
    @Test func aReceiptThatTheStoreHasTakenInIsNotWrittenAgain() async throws {
        let store = MemoryStore()
        let endpoint = try testEndpoint(store: store)
        let bytes = try appReceipt([month(0), month(1)])
        let first = try await endpoint.ask(body(bytes))
        #expect(await store.setCount == 1)
        for _ in 0..<2 { #expect(try await endpoint.ask(body(bytes)).reply.body == first.reply.body) }
        #expect(await store.setCount == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func aNewerReceiptAfterAnOlderOneIsStored(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let endpoint = try testEndpoint(store: store)
            let newer = try appReceipt([month(0), month(1)])
            _ = try await endpoint.ask(body(appReceipt([month(1)])))
            let reply = try await endpoint.ask(body(newer))
            #expect(reply.latest?.count == 2)
            #expect(try await endpoint.ask(body(newer)).reply.body == reply.reply.body)
        }
    }

    @Test func aSetWithAnIdentityThatTheCustomerLacksIsTakenIn() async throws {
        let store = MemoryStore()
        let scope = StoreTests.scope
        let receipt = KnownReceipt(form: .app, bytes: [1, 2, 3], signedDate: 5)
        func set(_ ids: String..., receipt: KnownReceipt) -> FactSet {
            FactSet(scope: scope, identities: ids.map { .init(.originalTransactionId, $0) }, receipt: receipt)
        }
        _ = try await store.apply([set("1", receipt: receipt)])
        let found = try await store.customer([.init(.originalTransactionId, "1")], in: scope)
        let customer = try unwrap(found)
        #expect(customer.hasTakenIn(set("1", receipt: receipt)))
        #expect(!customer.hasTakenIn(set("1", "2", receipt: receipt)))
        #expect(!customer.hasTakenIn(FactSet(scope: scope, identities: customer.identities)))
        // The same bytes with another date were read by another version.
        let redated = KnownReceipt(form: .app, bytes: [1, 2, 3], signedDate: 6)
        let reshaped = KnownReceipt(form: .transaction, bytes: [1, 2, 3], signedDate: 5)
        for other in [redated, reshaped] { #expect(!customer.hasTakenIn(set("1", receipt: other))) }
    }
}
