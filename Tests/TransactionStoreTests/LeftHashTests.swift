import AppStoreModels
import Foundation
import GRDB
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("The hashes of erased customers")
struct LeftHashTests {
    @Test("The hash of an identity depends on its kind and value, the app, the environment and the secret")
    func parts() {
        let secret = LeftHash.makeSecret()
        let other = StoreScope(environment: .sandbox, bundleId: Samples.scope.bundleId)
        let hashes = [
            LeftHash(of: Samples.original("1"), in: Samples.scope, secret: secret),
            LeftHash(of: Samples.original("2"), in: Samples.scope, secret: secret),
            LeftHash(of: CustomerIdentity(.appTransactionId, "1"), in: Samples.scope, secret: secret),
            LeftHash(of: Samples.original("1"), in: other, secret: secret),
            LeftHash(
                of: Samples.original("1"), in: StoreScope(environment: .production, bundleId: "com.example"),
                secret: secret),
            LeftHash(of: Samples.original("1"), in: Samples.scope, secret: LeftHash.makeSecret()),
        ]
        #expect(Set(hashes.map(\.hash)).count == hashes.count)
        #expect(hashes.allSatisfy { $0.hash.count == 32 && $0.secret.count == 32 })
        #expect(hashes[0] == LeftHash(of: Samples.original("1"), in: Samples.scope, secret: secret))
    }

    /// Computed with Python's `hmac`. A change would make the hashes of existing stores useless.
    @Test("The hash is the HMAC-SHA256 of a JSON array")
    func form() {
        let hash = LeftHash(
            of: Samples.original("1000000831360853"), in: Samples.scope, secret: [UInt8](repeating: 7, count: 32))
        let hex = Printable.hex(hash.hash)
        #expect(hex == "30774a1e93642851091d72ec50c259ea0b05b76134230d7ebe2259436344f02b")
    }

    @Test("Two stores leave different hashes of one id, and one store uses one secret")
    func secrets() async throws {
        let folder = try TemporaryFolder()
        var secrets: Set<[UInt8]> = []
        for name in ["a.sqlite", "b.sqlite"] {
            let store = try SQLiteTransactionStore.open(path: folder.file(name))
            for id in ["1", "2"] {
                _ = try await store.erase(
                    [Samples.original(id)], in: Samples.scope, quarantined: [], leavingHashes: true)
            }
            try await store.close()
            let snapshot = try SQLiteStoreSnapshot(path: folder.file(name))
            try snapshot.begin(.leftHashes)
            var count = 0
            while let row = try snapshot.next() {
                secrets.insert(row.leftHash().secret)
                #expect(row.leftHash().scope == Samples.scope)
                count += 1
            }
            #expect(count == 2)
        }
        #expect(secrets.count == 2)
    }

    @Test("A write finds the secrets by the index, for any number of hashes")
    func cost() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let plan = try queryPlan(of: LeftHashTable.listSecrets, in: folder.file("store.sqlite"))
        #expect(plan.count { $0.contains("SEARCH") && $0.contains("left_hashes") } >= 1, "\(plan)")
        #expect(!plan.contains { $0.contains("SCAN left_hashes") }, "\(plan)")
        try await store.close()
    }

    @Test("An erasure whose hashes cannot be written removes nothing")
    func atomic() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply([Samples.set(Samples.fact("1"))])
        let other = try DatabaseQueue(path: folder.file("store.sqlite"))
        try await other.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER reject BEFORE INSERT ON left_hashes
                    BEGIN SELECT RAISE(ABORT, 'rejected'); END
                    """)
        }
        try other.close()
        await #expect(throws: TransactionStoreError.self) {
            _ = try await store.erase([Samples.original("1")], in: Samples.scope, quarantined: [], leavingHashes: true)
        }
        #expect(try await store.customer(original: "1")?.transactions.count == 1)
        #expect(try await store.counts().leftHashes == 0)
        try await store.close()
    }

    @Test("A backup keeps the hashes")
    func backup() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let set = Samples.set(Samples.fact("1"))
        _ = try await store.apply([set])
        _ = try await store.erase([Samples.original("1")], in: Samples.scope, quarantined: [], leavingHashes: true)
        try SQLiteTransactionStore.backUp(from: folder.file("store.sqlite"), to: folder.file("copy.sqlite"))
        try await store.close()
        let copy = try SQLiteTransactionStore.open(path: folder.file("copy.sqlite"))
        #expect(try await copy.counts().leftHashes == 1)
        #expect(try await copy.apply([set]).erased == 1)
        try await copy.close()
    }
}
