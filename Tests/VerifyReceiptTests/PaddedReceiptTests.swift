import LegacyReceipts
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt

/// A genuine receipt with unsigned bytes around it: what is kept and handed out is the receipt without them.
@Suite struct PaddedReceiptTests {
    private func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0x41, count: 100_000) }

    @Test(arguments: StoreKind.allCases)
    func paddingIsNeitherStoredNorHandedOut(_ kind: StoreKind) async throws {
        let bytes = try appReceipt([month(0)])
        try await kind.withStore { store in
            let endpoint = try testEndpoint(store: store)
            let reply = try await endpoint.ask(body(padded(bytes)))
            #expect(reply.status == 0 && reply.json["latest_receipt"]?.string == base64(bytes))
            let facts = try VerifyReceiptEndpoint.facts(of: bytes)
            let customer = try #require(try await store.customer(facts.identities, in: facts.scope))
            #expect(customer.newestAppReceipt?.bytes == bytes)
            // Without the padding it is the receipt that is known already, so nothing is written.
            #expect(customer.hasTakenIn(facts))
            #expect(try await store.apply([facts]).changed == 0 || kind == .memory)
        }
    }

    @Test func paddingOfATransactionReceiptIsNeitherStoredNorHandedOut() async throws {
        let bytes = try transactionReceipt()
        let text = String(decoding: bytes, as: UTF8.self)
        let other = Array((text + "\n// \(String(repeating: "x", count: 50_000))").utf8)
        let store = MemoryStore()
        let endpoint = try testEndpoint(store: store)
        let reply = try await endpoint.ask(body(other), now: ForgedInstant(2015, 3, 10).milliseconds)
        #expect(reply.status == 0 && reply.json["latest_receipt"]?.string == base64(bytes))
        let facts = try VerifyReceiptEndpoint.facts(of: bytes)
        let customer = try #require(try await store.customer(facts.identities, in: facts.scope))
        #expect(customer.newestTransactionReceipt?.bytes == bytes)
    }

    @Test func aPaddedReceiptBringsOneWriteAndNotOnePerVariant() async throws {
        let store = MemoryStore()
        let endpoint = try testEndpoint(store: store)
        let bytes = try appReceipt([month(0)])
        for count in 0..<20 {
            let variant = bytes + [UInt8](repeating: UInt8(count), count: count)
            #expect(try await endpoint.ask(body(variant)).status == 0)
        }
        #expect(await store.setCount == 1)
    }

    @Test func variantsShareOneEntryOfTheCache() async throws {
        let endpoint = try testEndpoint { $0.receiptCacheBytes = 1 << 20 }
        let bytes = try appReceipt([month(0)])
        #expect(try await endpoint.ask(body(bytes)).status == 0)
        for count in 1...300 {
            let variant = bytes + [UInt8](repeating: UInt8(count % 251), count: count)
            #expect(try await endpoint.ask(body(variant)).status == 0)
        }
        let before = endpoint.receiptLookups.misses
        #expect(try await endpoint.ask(body(bytes)).status == 0)
        #expect(endpoint.receiptLookups.misses == before)
    }
}
