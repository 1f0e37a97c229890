import AppStoreModels
import PostgreSQLTransactionStore
import Purchases
import Synchronization
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("PostgreSQL replicas", .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLReplicaTests {
    /// Documents about few purchases, so that they often overlap: joins, ties, several scopes, notifications.
    private static func randomSet(_ generator: inout SeededGenerator) -> FactSet {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        let facts = (0..<number(1...3)).map { _ in
            let original = number(1...60)
            let source = FactSource.allCases[number(0...FactSource.allCases.count - 1)]
            return StoreSamples.fact(
                "\(original)0\(number(1...3))", original: "\(original)", product: "p\(number(1...4))", source: source,
                at: Int64(number(1...5)))
        }
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: "app\(number(1...2))"), transactions: facts,
            appTransaction: number(1...3) == 1 ? StoreSamples.app("\(number(1...9))", at: Int64(number(1...4))) : nil,
            receipt: number(1...2) == 1 ? StoreSamples.receipt("r\(number(1...9))", at: Int64(number(1...4))) : nil)
    }

    /// What a document says does not depend on when it comes, so that any interleaving has to end as the model does.
    @Test("Replicas that write at once, in different orders and batches, end as one writer would", arguments: 1...4)
    func interleaved(seed: UInt64) async throws {
        try await TestSchema.with { schema in
            var generator = SeededGenerator(seed: seed)
            let sets = (0..<150).map { _ in Self.randomSet(&generator) }
            var model = ModelStore()
            for set in sets { model.apply(set) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for replica in 0..<4 {
                    var own = SeededGenerator(seed: seed &* 1000 &+ UInt64(replica))
                    let shuffled = sets.shuffled(using: &own)
                    group.addTask {
                        let store = try await schema.open()
                        let size = [1, 3, 10, 50][replica]
                        try await withThrowingTaskGroup(of: Void.self) { writers in
                            for start in stride(from: 0, to: shuffled.count, by: size) {
                                let part = Array(shuffled[start..<min(start + size, shuffled.count)])
                                writers.addTask { _ = try await store.apply(part) }
                            }
                            try await writers.waitForAll()
                        }
                        try await store.close()
                    }
                }
                try await group.waitForAll()
            }
            let store = try await schema.open()
            for (scope, identity) in model.allIdentities {
                let expected = ComparableCustomer(try model.customer([identity], in: scope))
                #expect(ComparableCustomer(try await store.customer([identity], in: scope)) == expected)
            }
            try await LedgerAudit.check(store)
            try await store.close()
            try Self.checkNothingIsLoose(schema)
        }
    }

    /// Every fact belongs to a purchase, every receipt to a customer with identities.
    private static func checkNothingIsLoose(_ schema: TestSchema) throws {
        let name = schema.name
        for table in ["transactions", "renewal_infos"] {
            let loose = try schema.server.sql(
                "SELECT count(*) FROM \(name).\(table) WHERE purchase NOT IN (SELECT id FROM \(name).identities)")
            #expect(loose == "0")
        }
        for table in ["app_transactions", "receipts"] {
            let loose = try schema.server.sql(
                "SELECT count(*) FROM \(name).\(table) WHERE customer NOT IN (SELECT customer FROM \(name).identities)")
            #expect(loose == "0")
        }
    }

    @Test("Bulk loads of the same new customers at once end with each once")
    func sameNewCustomers() async throws {
        try await TestSchema.with { schema in
            let sets = (1...3000).map {
                StoreSamples.set(StoreSamples.fact("\($0)"), receipt: StoreSamples.receipt("r\($0)"))
            }
            let stores = [try await schema.open(), try await schema.open(), try await schema.open()]
            let changed = try await withThrowingTaskGroup(of: Int.self) { group in
                for (number, store) in stores.enumerated() {
                    let own = number == 1 ? sets.reversed() : sets
                    group.addTask { try await store.apply(own).changed }
                }
                return try await group.reduce(0, +)
            }
            #expect(changed == 6000)
            let counts = try await stores[0].counts()
            #expect(counts.transactions == 3000)
            #expect(counts.customers == 3000)
            #expect(counts.receipts == 3000)
            for store in stores { try await store.close() }
        }
    }

    @Test("Replicas that meet at new customers end with each once, and with all of its facts")
    func meetingAtNewCustomers() async throws {
        try await TestSchema.with { schema in
            let stores = [try await schema.open(), try await schema.open(), try await schema.open()]
            for round in 1...60 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, store) in stores.enumerated() {
                        let fact = StoreSamples.fact("\(round)00\(number)", original: "\(round)")
                        group.addTask { _ = try await store.apply([StoreSamples.set(fact)]) }
                    }
                    try await group.waitForAll()
                }
                #expect(try await stores[0].customer(original: "\(round)")?.transactions.count == stores.count)
            }
            #expect(try await stores[0].counts().customers == 60)
            for store in stores { try await store.close() }
            try Self.checkNothingIsLoose(schema)
        }
    }

    @Test("In one call, texts that differ in bytes but not to Unicode are kept apart")
    func normalForms() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            let texts = ["é", "e\u{301}"]
            let result = try await store.apply(
                texts.map { text in
                    let scope = StoreScope(environment: .production, bundleId: text)
                    return StoreSamples.set(
                        StoreSamples.fact("1", product: text), scope: scope,
                        notification: StoreSamples.notification(text))
                })
            #expect(result.changed == 2)
            #expect(result.repeatedNotifications == 0)
            for text in texts {
                let scope = StoreScope(environment: .production, bundleId: text)
                let customer = try await store.customer(original: "1", in: scope)
                let products = customer?.transactions.map { Array(($0.payload.productId ?? "").utf8) }
                #expect(products == [Array(text.utf8)])
            }
            try await store.close()
        }
    }

    @Test("Waiting too long for another writer is busy")
    func busy() async throws {
        try await TestSchema.with { schema in
            var options = schema.options()
            options.lockTimeout = 0.2
            let store = try await PostgreSQLTransactionStore.open(url: schema.server.url, options: options)
            let holder = try await schema.open()
            _ = try await holder.apply([StoreSamples.set(StoreSamples.fact("1"))])
            let code = try await schema.server.locking("\(schema.name).identities") {
                await storeErrorCode { _ = try await store.apply([StoreSamples.set(StoreSamples.fact("1"))]) }
            }
            #expect(code == .busy)
            // The server may take a while to end the other session.
            try await eventually("it writes again") {
                await storeErrorCode { _ = try await store.apply([StoreSamples.set(StoreSamples.fact("2"))]) } == nil
            }
            try await store.close()
            try await holder.close()
        }
    }

    @Test("When no connection becomes free, calls are busy, and later ones are served")
    func exhausted() async throws {
        try await TestSchema.with { schema in
            var options = schema.options()
            options.maximumConnections = 1
            options.connectionTimeout = 0.2
            let store = try await PostgreSQLTransactionStore.open(url: schema.server.url, options: options)
            let codes = SeenCodes()
            await withTaskGroup(of: Void.self) { group in
                do {
                    try await schema.server.locking("\(schema.name).identities") {
                        try await eventually("a call finds no connection") {
                            // One after the other: look-ups that come at once share a statement, and so a connection.
                            group.addTask {
                                codes.add(await storeErrorCode { _ = try await store.customer(original: "1") })
                            }
                            return codes.contains(.busy)
                        }
                    }
                } catch {
                    Issue.record(error)
                }
            }
            #expect(codes.contains(.busy))
            // A busy machine may take longer than that once more.
            try await eventually("a call is served") {
                await storeErrorCode {
                    let customer = try await store.customer(original: "1")
                    #expect(customer == nil)
                } == nil
            }
            try await store.close()
        }
    }
}

private final class SeenCodes: Sendable {
    private let codes = Mutex<Set<TransactionStoreError.Code>>([])

    func add(_ code: TransactionStoreError.Code?) {
        guard let code else { return }
        codes.withLock { _ = $0.insert(code) }
    }

    func contains(_ code: TransactionStoreError.Code) -> Bool { codes.withLock { $0.contains(code) } }
}
