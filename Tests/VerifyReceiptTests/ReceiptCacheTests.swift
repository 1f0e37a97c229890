import LegacyReceipts
import Purchases
import ReceiptForge
import Testing
import TransactionStore
import VerifyReceipt

/// The signature of a genuine receipt is not verified again; all other checks are.
@Suite struct ReceiptCacheTests {
    @Test func aRememberedReceiptIsAnsweredAsTheFirstTime() async throws {
        for bytes in [
            try appReceipt([month(0), month(1), nonConsumable]), try appReceipt(), try transactionReceipt(),
        ] {
            let endpoint = try testEndpoint()
            let first = try await endpoint.ask(body(bytes)).reply
            let second = try await endpoint.ask(body(bytes)).reply
            #expect([0, 21006].contains(first.status) && first.body == second.body)
            #expect(endpoint.receiptLookups == (1, 1))
            // Dates of the request are its own.
            let later = try await endpoint.ask(body(bytes), now: requestDate + 86_400_000).reply
            #expect(
                later.body == (try await testEndpoint().ask(body(bytes), now: requestDate + 86_400_000)).reply.body)
        }
    }

    @Test func withAStoreToo() async throws {
        let bytes = try appReceipt([month(0), month(1)])
        let renewed = try appReceipt([month(0), month(1), month(2)], at: created.adding(months: 1))
        let endpoint = try testEndpoint(store: MemoryStore())
        #expect(try await endpoint.ask(body(bytes)).latest?.count == 2)
        #expect(try await endpoint.ask(body(renewed)).latest?.count == 3)
        // What the store has learned since is in the answer to a receipt that is remembered.
        #expect(try await endpoint.ask(body(bytes)).latest?.count == 3)
        #expect(endpoint.receiptLookups == (1, 2))
    }

    @Test func aStoreThatLostACachedReceiptStoresItAgain() async throws {
        let bytes = try appReceipt([month(0)])
        let store = EmptiedStore()
        let endpoint = try testEndpoint(store: store)
        _ = try await endpoint.ask(body(bytes))
        await store.empty()
        _ = try await endpoint.ask(body(bytes))
        #expect(await store.applied == 2 && endpoint.receiptLookups == (1, 1))
    }

    @Test func oneByteMoreOrLessOrOtherwiseIsAnotherReceipt() async throws {
        let bytes = try appReceipt([month(0)])
        let endpoint = try testEndpoint()
        let uncached = try testEndpoint { $0.receiptCacheBytes = 0 }
        #expect(try await endpoint.ask(body(bytes)).status == 0)
        for place in stride(from: 0, to: bytes.count, by: 61) {
            var changed = bytes
            changed[place] ^= 1
            let reply = try await endpoint.ask(body(changed))
            #expect(reply.reply.body == (try await uncached.ask(body(changed))).reply.body)
        }
        #expect(try await endpoint.ask(body(Array(bytes.dropLast()))).status != 0)
    }

    /// A receipt that differs in one byte is written to the store, even with the same date.
    @Test func receiptsThatDiffer() throws {
        func known(_ bytes: [UInt8], _ date: Int64 = 1) -> KnownReceipt {
            KnownReceipt(form: .app, bytes: bytes, signedDate: date)
        }
        #expect(known([1, 2, 3]) == known([1, 2, 3]) && known([]) == known([]))
        #expect(known([1, 2, 3]) != known([1, 2, 4]) && known([1, 2, 3]) != known([1, 2]))
        #expect(known([1, 2, 3]) != known([1, 2, 3], 2) && known([1]) != known([]))
        #expect(known([1]) != KnownReceipt(form: .transaction, bytes: [1], signedDate: 1))
    }

    @Test func theEnvironmentIsCheckedEachTime() async throws {
        let endpoint = try testEndpoint()
        let bytes = try sandboxReceipt([month(0)])
        for _ in 0..<2 {
            #expect(try await endpoint.ask(body(bytes), at: .sandbox).status == 0)
            #expect(try await endpoint.ask(body(bytes), at: .production).status == 21007)
        }
        let production = try appReceipt([month(0)])
        for _ in 0..<2 {
            #expect(try await endpoint.ask(body(production)).status == 0)
            #expect(try await endpoint.ask(body(production), at: .sandbox).status == 21008)
        }
    }

    @Test func thePasswordIsCheckedEachTime() async throws {
        let endpoint = try testEndpoint { $0.accountSecrets = [SharedSecret("s3cret")] }
        let bytes = try appReceipt([month(0)])
        for _ in 0..<2 {
            #expect(try await endpoint.ask(body(bytes, password: "s3cret")).status == 0)
            #expect(try await endpoint.ask(body(bytes, password: "wrong")).status == 21004)
            #expect(try await endpoint.ask(body(bytes)).status == 21004)
        }
    }

    @Test func refusedReceiptsAreNotCached() async throws {
        let endpoint = try testEndpoint()
        let forged = damaged(try appReceipt([month(0)]))
        for _ in 0..<3 { #expect(try await endpoint.ask(body(forged)).status == 21003) }
        #expect(endpoint.receiptLookups == (0, 3))
    }

    /// Else one genuine receipt would make any number that fill the memory.
    @Test func aReceiptWithBytesAfterItsEndIsRememberedWithoutThem() async throws {
        let endpoint = try testEndpoint()
        let bytes = try appReceipt([month(0)])
        for _ in 0..<2 { #expect(try await endpoint.ask(body(bytes + [0, 1, 2])).status == 0) }
        #expect(try await endpoint.ask(body(bytes)).status == 0)
        // Each padded one misses by its own bytes; the second one and the plain one hit by what was signed.
        #expect(endpoint.receiptLookups == (2, 3))
    }

    @Test func anotherTrustPolicyHasItsOwnCache() async throws {
        let bytes = try appReceipt([month(0)])
        #expect(try await testEndpoint().ask(body(bytes)).status == 0)
        #expect(try await testEndpoint { $0.trust = .apple }.ask(body(bytes)).status == 21003)
    }

    @Test func withoutMemoryNothingIsRemembered() async throws {
        let endpoint = try testEndpoint { $0.receiptCacheBytes = 0 }
        let bytes = try appReceipt([month(0)])
        for _ in 0..<3 { #expect(try await endpoint.ask(body(bytes)).status == 0) }
        #expect(endpoint.receiptLookups == (0, 0))
    }

    /// Of receipts that come once the memory does not grow, and one that comes all the time stays.
    @Test func theCacheIsBoundedAndKeepsRequestedReceipts() async throws {
        let endpoint = try testEndpoint { $0.receiptCacheBytes = 1 << 20 }
        let often = try appReceipt([month(0)])
        #expect(try await endpoint.ask(body(often)).status == 0)
        let others = try (0..<300).map { try appReceipt([consumable("5300012345\(10_000 + $0)")]) }
        for other in others {
            #expect(try await endpoint.ask(body(other)).status == 0)
            #expect(try await endpoint.ask(body(often)).status == 0)
        }
        #expect(endpoint.receiptLookups == (300, 301))
        // Each takes more than 8 KiB, so that the first ones have gone.
        for other in others.prefix(50) { #expect(try await endpoint.ask(body(other)).status == 0) }
        #expect(endpoint.receiptLookups == (300, 351))
    }

    @Test func aVeryLargeReceiptIsNotRemembered() async throws {
        let endpoint = try testEndpoint { $0.receiptCacheBytes = 1 << 20 }
        let bytes = try appReceipt((0..<60).map { month($0) })
        for _ in 0..<2 { #expect(try await endpoint.ask(body(bytes)).status == 0) }
        #expect(endpoint.receiptLookups == (0, 2))
    }
}

/// A store that forgets everything on command.
private actor EmptiedStore: TransactionStore {
    private var store = MemoryStore()
    private(set) var applied = 0

    func empty() { store = MemoryStore() }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        applied += 1
        return try await store.apply(sets)
    }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        try await store.customer(identities, in: scope)
    }

    func hasProcessed(notificationUUID: String) async throws -> Bool {
        try await store.hasProcessed(notificationUUID: notificationUUID)
    }

    func counts() async throws -> StoreCounts { try await store.counts() }
    func checkReadiness() async throws {}
    func close() async throws {}
}
