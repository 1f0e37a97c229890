import AppStoreModels
import Encodings
import Purchases
import TransactionStore

extension StoreConformance {
    private static let token = "0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d"

    /// Two purchases of one customer, with all other kinds of facts.
    private static func everything(in scope: StoreScope = Samples.scope) -> [FactSet] {
        [
            Samples.set(
                Samples.fact("1"), Samples.fact("2", original: "2") { $0.type = .nonRenewingSubscription },
                scope: scope, identities: [CustomerIdentity(.appAccountToken, token)],
                renewals: [Samples.renewal("1")], app: Samples.app("1.0"), receipt: Samples.receipt("receipt", at: 1))
        ]
    }

    private static func notification(_ uuid: String, body: String) -> FactSet {
        Samples.set(notification: Samples.notification(uuid, "NEW", body: body))
    }

    /// A user and a verified receipt of a customer.
    static func userAndReceipt(_ original: String, _ number: UInt8) -> MigrationStep {
        MigrationStep(
            users: [
                UserClaim(scope: Samples.scope, identity: Samples.original(original), userId: "user", carried: "{}")
            ],
            receipts: [
                VerifiedReceipt(
                    key: [UInt8](repeating: number, count: 32), scope: Samples.scope, form: .app,
                    identities: [Samples.original(original)])
            ])
    }

    static let erasure: [StoreRule] = [
        StoreRule(opened: "an erased customer leaves nothing, and others keep everything") { store in
            for scope in [Samples.scope, Samples.sandbox] { _ = try await store.apply(everything(in: scope)) }
            try await store.add(Samples.fact("10"), receipt: Samples.receipt("other", at: 1))
            for (original, number) in [("1", UInt8(1)), ("10", 10)] {
                _ = try await store.apply(userAndReceipt(original, number))
            }
            let before = try await store.counts()
            let erased = try await store.erase("2")
            var expected = ErasedRows()
            expected.identities = 3
            expected.transactions = 2
            expected.renewalInfos = 1
            expected.appTransactions = 1
            expected.receipts = 1
            expected.ledgerEntries = 2
            expected.userClaims = 1
            expected.verifiedReceipts = 1
            try expect(erased, equals: expected)
            for identity in [Samples.original("1"), Samples.original("2"), CustomerIdentity(.appAccountToken, token)] {
                try await expect(store.customer([identity], in: Samples.scope) == nil)
            }
            try await expect(store.users(of: [Samples.original("1")], in: Samples.scope).isEmpty)
            try await expect(
                store.identities(of: .transactionId("2"), limit: 10).map(\.scope), equals: [Samples.sandbox])
            let keys = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 10, count: 32)]
            try await expect(store.verifiedReceipts(keys).map(\.key), equals: [keys[1]])
            try await expect(
                store.users(of: [Samples.original("10")], in: Samples.scope).map(\.userId), equals: ["user"])
            try await expect(store.customer(original: "10")?.newestAppReceipt?.bytes, equals: Array("other".utf8))
            try await expect(store.customer(original: "1", in: Samples.sandbox)?.transactions.count, equals: 2)
            let after = try await store.counts()
            try expect(after.transactions, equals: before.transactions - 2)
            try expect(after.customers, equals: before.customers - 1)
            let entries = try await LedgerAudit.check(store)
            try expect(entries.count { $0.scope == Samples.scope }, equals: 1)
            try expect(entries.count { $0.scope == Samples.sandbox }, equals: 2)
            try await expect(store.erase("2"), equals: ErasedRows())
        },
        StoreRule(opened: "the rows to erase are those that are erased then, and asking changes nothing") { store in
            let record = QuarantinedRecord(line: Array("{\"reason\":\"a\"}".utf8))
            _ = try await store.apply(everything())
            try await store.add(
                Samples.set(Samples.fact("1", source: .appStoreServerAPI)), Samples.consumptionRequest("a", of: "1"),
                Samples.consumptionRequest("b", of: "10"), notification("c", body: "{\"id\":\"2\"}"),
                Samples.set(
                    Samples.fact("11", original: "1", source: .notificationV2), app: Samples.app("2.0"),
                    receipt: Samples.receipt("blob", form: .transaction), unclaimedSeatIds: ["seat"]))
            _ = try await store.apply(userAndReceipt("1", 1))
            _ = try await store.apply(MigrationStep(quarantined: [record]))
            try await store.remember(
                ["1", "11", "12"].map {
                    UnknownTransaction(scope: Samples.scope, transactionId: $0, answeredDate: 1)
                })
            let unknown = StoreScope(environment: .sandbox, bundleId: "unknown")
            for leavingHashes in [true, false] {
                let before = try await StoreState(store)
                let first = try await store.rowsToErase(
                    [Samples.original("2")], in: Samples.scope, quarantined: [record.key], leavingHashes: leavingHashes)
                let again = try await store.rowsToErase(
                    [Samples.original("2")], in: Samples.scope, quarantined: [record.key], leavingHashes: leavingHashes)
                try expect(again, equals: first)
                try expect(first.leftHashes > 0, equals: leavingHashes)
                let none = try await store.rowsToErase(
                    [Samples.original("2")], in: unknown, quarantined: [], leavingHashes: false)
                try expect(none, equals: ErasedRows())
                let after = try await StoreState(store)
                try expect(after, equals: before)
            }
            let rows = try await store.rowsToErase(
                [Samples.original("2")], in: Samples.scope, quarantined: [record.key], leavingHashes: true)
            let erased = try await store.erase(
                [Samples.original("2")], in: Samples.scope, quarantined: [record.key], leavingHashes: true)
            try expect(rows, equals: erased)
            for (name, count) in [
                ("identities", erased.identities), ("transactions", erased.transactions),
                ("renewal infos", erased.renewalInfos), ("app transactions", erased.appTransactions),
                ("receipts", erased.receipts), ("notifications", erased.notifications),
                ("ledger entries", erased.ledgerEntries), ("tasks", erased.consumptionTasks),
                ("unknown", erased.unknownTransactions), ("users", erased.userClaims),
                ("verified receipts", erased.verifiedReceipts), ("quarantined", erased.quarantined),
                ("hashes", erased.leftHashes),
            ] { try expect(count > 0, name) }
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "the positions of erased entries are not used again, and consumers go on") { store in
            _ = try await store.apply([Samples.set(Samples.fact("1")), Samples.set(Samples.fact("2"))])
            let last = try require(try await store.changes(after: 0, limit: 10).last)
            for original in ["2", "1"] {
                _ = try await store.erase(original)
            }
            try await expect(store.changes(after: 0, limit: 10).isEmpty)
            // A consumer that has read the entries before they were erased.
            try await store.acknowledge(last.position, by: "shop")
            try await store.add(Samples.fact("3"))
            let next = try await store.changes(after: last.position, limit: 1)
            try expect(LedgerAudit.text(next), equals: "3 purchased")
            try await expect(LedgerAudit.check(store).count, equals: 1)
        },
        StoreRule(opened: "a customer with more purchases than one statement names is erased") { store in
            let numbers = 1...1_001
            let facts = numbers.map { Samples.fact("\($0)", original: "\($0)") }
            let identities = [CustomerIdentity(.appAccountToken, token)]
            _ = try await store.apply([
                FactSet(scope: Samples.scope, identities: identities, transactions: facts),
                Samples.set(Samples.fact("10000")),
            ])
            try await store.remember(
                [1, 999].map { UnknownTransaction(scope: Samples.scope, transactionId: "\($0)", answeredDate: 1) })
            try await expect(
                store.entries(ofPurchases: numbers.map { "\($0)" }, in: Samples.scope).count, equals: numbers.count)
            let erased = try await store.erase("1")
            try expect(erased.identities, equals: 1_002)
            try expect(erased.transactions, equals: 1_001)
            try expect(erased.ledgerEntries, equals: 1_001)
            try expect(erased.unknownTransactions, equals: 2)
            try await expect(store.text, equals: "10000 purchased")
        },
        StoreRule(opened: "the position of an erased entry takes no place in a page of the ledger") { store in
            _ = try await store.apply([Samples.set(Samples.fact("1")), Samples.set(Samples.fact("2"))])
            for original in ["2", "1"] { _ = try await store.erase(original) }
            try await store.add(Samples.fact("3"))
            let page = try await store.changes(after: 0, limit: 1)
            try expect(LedgerAudit.text(page), equals: "3 purchased")
        },
        StoreRule(opened: "a transaction under two original ids keeps its entries until both are erased") { store in
            func seven(_ original: String, at delay: Int64, isRefunded: Bool = false) -> TransactionFact {
                Samples.fact("7", original: original, source: .notificationV2, at: Samples.june + delay) {
                    $0.revocationDate = isRefunded ? Samples.june : nil
                }
            }
            try await store.add(seven("1", at: 0))
            try await store.add(seven("2", at: 1, isRefunded: true))
            // As a merge does with a store in which only the first one was erased.
            let hashes = LeftHash.hashes(of: [Samples.original("1")], in: Samples.scope, secret: LeftHash.makeSecret())
            _ = try await store.apply(MigrationStep(leftHashes: hashes))
            try await expect(store.customer(original: "1") == nil)
            try await expect(LedgerAudit.text(LedgerAudit.check(store)), equals: "7 purchased, 7 revoked")
            for delay in Int64(2)...4 { try await store.add(seven("2", at: delay)) }
            try await expect(LedgerAudit.text(LedgerAudit.check(store)), equals: "7 purchased, 7 revoked, 7 reinstated")
            try await expect(store.erase("2").ledgerEntries, equals: 3)
            try await expect(store.text, equals: "")
        },
        StoreRule(opened: "later documents create an erased customer again, as a new customer") { store in
            _ = try await store.apply(everything())
            _ = try await store.erase([CustomerIdentity(.appAccountToken, token)], in: Samples.scope, quarantined: [])
            _ = try await store.apply(everything())
            let customer = try require(try await store.customer(original: "1"))
            try expect(customer.transactions.count, equals: 2)
            try expect(customer.newestAppReceipt != nil && customer.appTransaction != nil)
            try await expect(Set(LedgerAudit.check(store).map(\.event)), equals: [.purchased])
        },
        StoreRule(opened: "a notification that names an erased identity is erased, in a JWS too") { store in
            let nested = #"{"appAccountToken":"\#(token.uppercased())"}"#
            let encoded = Base64.encodeURL(nested.utf8)
            let bodies = [
                #"{"data":{"signedTransactionInfo":"eyJhIjoxfQ.\#(encoded).c2ln"}}"#,
                #"{"transaction_id":1}"#, #"{"transaction_id":"11","text":"x1"}"#, "{}",
            ]
            _ = try await store.apply(everything())
            for (number, body) in bodies.enumerated() {
                try await store.add(notification("uuid-\(number)", body: body))
            }
            let erased = try await store.erase("1")
            try expect(erased.notifications, equals: 2)
            for number in bodies.indices {
                try await expect(
                    store.hasProcessed(notificationUUID: "uuid-\(number)"), equals: number > 1, "\(number)")
            }
        },
        StoreRule(opened: "requests for consumption information about an erased customer are erased") { store in
            let sets = [Samples.consumptionRequest("a", of: "1"), Samples.consumptionRequest("b", of: "2")]
            _ = try await store.apply(sets)
            try await expect(store.erase("1").consumptionTasks, equals: 1)
            try await expect(store.openConsumptionTasks(after: nil, limit: 10).map(\.notificationUUID), equals: ["b"])
            // The store still knows the notification: a repeated one opens nothing.
            try await store.add(sets[0])
            try await expect(store.openConsumptionTasks(after: nil, limit: 10).count, equals: 1)
        },
        StoreRule(opened: "quarantined records are erased by their keys, and others stay") { store in
            let lines = ["a", "b", "c"].map { QuarantinedRecord(line: Array("{\"reason\":\"\($0)\"}".utf8)) }
            _ = try await store.apply(MigrationStep(quarantined: lines))
            let unknown = StoreScope(environment: .production, bundleId: "unknown")
            let keys = [lines[0].key, lines[2].key]
            try await expect(store.erase([], in: unknown, quarantined: keys).quarantined, equals: 2)
            try await expect(store.erase([], in: unknown, quarantined: keys), equals: ErasedRows())
            try await expect(store.quarantine(after: nil, limit: 10).map(\.key), equals: [lines[1].key])
        },
        StoreRule(opened: "erasing no customer changes nothing") { store in
            _ = try await store.apply(everything())
            try await expect(store.erase([], in: Samples.scope, quarantined: []), equals: ErasedRows())
            try await expect(store.erase("9"), equals: ErasedRows())
            let unknown = StoreScope(environment: .production, bundleId: "unknown")
            try await expect(store.erase([Samples.original("1")], in: unknown, quarantined: []), equals: ErasedRows())
            try await expect(store.customer(original: "1")?.transactions.count, equals: 2)
            // The command that erases quarantined records names no app.
            let none = StoreScope(environment: .production, bundleId: "")
            try await expect(store.erase([], in: none, quarantined: []), equals: ErasedRows())
            try await expect(store.erase([], in: none, quarantined: [], leavingHashes: true), equals: ErasedRows())
            try await expect(store.scopes(), equals: [Samples.scope])
        },
    ]
}

/// The data of a store that a test can read.
private struct StoreState: Equatable {
    let counts: StoreCounts
    let unknown: Int64
    let ledger: String
    let scopes: Int
    let customer: ComparableCustomer?

    init(_ store: any CompleteTransactionStore) async throws {
        counts = try await store.counts()
        unknown = try await store.unknownTransactionCount()
        ledger = try await store.text
        scopes = try await store.scopes().count
        customer = ComparableCustomer(try await store.customer(original: "1"))
    }
}
