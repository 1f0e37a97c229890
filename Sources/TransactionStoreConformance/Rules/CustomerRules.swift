import AppStoreModels
import Purchases
import TestSupport
import TransactionStore

extension StoreConformance {
    private static func ids(_ customer: Customer?) -> [String] {
        customer?.transactions.compactMap(\.payload.transactionId) ?? []
    }

    static let customers: [StoreRule] = [
        StoreRule(opened: "an old receipt finds renewals that were stored later") { store in
            try await store.add(Samples.fact("1"))
            try await store.add(Samples.fact("7", original: "1", source: .notificationV2, at: Samples.june + 1))
            try expect(ids(try await store.customer(original: "1")), equals: ["7", "1"])
        },
        StoreRule(opened: "a customer from one document has exactly the facts of the document") { store in
            var legacy = LegacyTransactionFields()
            legacy.isTrialPeriod = true
            legacy.itemId = "77"
            let set = Samples.set(
                Samples.fact("10", original: "1", legacy: legacy) { $0.quantity = 2 },
                Samples.fact("9", original: "1", at: Samples.june + 5), Samples.fact("1"), Samples.fact("30"),
                renewals: [Samples.renewal("1"), Samples.renewal("30", source: .receipt)], app: Samples.app("2"),
                receipt: Samples.receipt("one"))
            let stated = try require(Customer(resolving: [set]))
            try await store.add(set)
            let stored = try await store.customer(set.identities, in: set.scope)
            try expect(ComparableCustomer(stored), equals: ComparableCustomer(stated))
            try expect(stored?.hasTakenIn(set) == true && stated.hasTakenIn(set))
            // Of two statements of the same date, the same one always stays.
            let two = Samples.set(Samples.fact("50"), Samples.fact("50", product: "other"))
            try await store.add(two)
            let other = try await store.customer(two.identities, in: two.scope)
            try expect(ComparableCustomer(other), equals: ComparableCustomer(Customer(resolving: [two])))
        },
        StoreRule(opened: "a receipt that contains ids of two customers merges them") { store in
            _ = try await store.apply([
                Samples.set(Samples.fact("1"), receipt: Samples.receipt("one", at: 1)),
                Samples.set(Samples.fact("2"), app: Samples.app("2"), receipt: Samples.receipt("two", at: 2)),
            ])
            try expect(ids(try await store.customer(original: "1")), equals: ["1"])
            try await expect(store.counts().customers, equals: 2)
            try await store.add(Samples.fact("1"), Samples.fact("2"))
            let one = ComparableCustomer(try await store.customer(original: "1"))
            try expect(one, equals: ComparableCustomer(try await store.customer(original: "2")))
            try expect(one?.transactions.count, equals: 2)
            try expect(one?.identities, equals: [Samples.original("1"), Samples.original("2")])
            try expect(one?.receipts.first??.bytes, equals: Array("two".utf8))
            try expect(one?.app?.applicationVersion, equals: "2")
            let counts = try await store.counts()
            try expect(counts.customers, equals: 1)
            try expect(counts.receipts, equals: 1)
            try expect(counts.appTransactions, equals: 1)
        },
        StoreRule(opened: "signed documents of one transaction under two original ids join customers, in any order") {
            store in
            let documents = [
                Samples.set(
                    Samples.fact("7", original: "1"), Samples.fact("8", original: "1", product: "other"),
                    receipt: Samples.receipt("one", at: 1)),
                Samples.set(
                    Samples.fact("7", original: "2", source: .notificationV2, at: Samples.june + 1) {
                        $0.revocationDate = Samples.june
                    }, app: Samples.app("2"), receipt: Samples.receipt("two", at: 2)),
                // Unsigned data must not merge two customers.
                Samples.set(Samples.fact("7", original: "3", source: .recordedReply, at: Samples.june + 2)),
            ]
            for one in try await outcomes(inEveryOrderOf: documents, store) {
                let (scope, app) = (one.scope, one.scope.bundleId)
                let two = try await store.customer(original: "2", in: scope)
                try expect(ComparableCustomer(one), equals: ComparableCustomer(two), app)
                try expect(one.identities, equals: [Samples.original("1"), Samples.original("2")], app)
                try expect(ids(one), equals: ["8", "7"], app)
                // As in the ledger.
                try expect(one.transactions.map(\.deliveryState), equals: [.purchased, .revoked], app)
                try expect(one.newestAppReceipt?.bytes, equals: Array("two".utf8), app)
                try expect(one.appTransaction?.payload.applicationVersion, equals: "2", app)
                let three = try require(try await store.customer(original: "3", in: scope))
                try expect(three.identities, equals: [Samples.original("3")], app)
            }
            let entries = try await LedgerAudit.check(store)
            let last = Dictionary(grouping: entries.filter { $0.transactionId == "7" }, by: \.scope)
                .mapValues { $0.last?.event }
            try expect(last.count, equals: 12)
            try expect(Set(last.values), equals: [.revoked])
            let counts = try await store.counts()
            try expect([counts.customers, counts.receipts, counts.appTransactions], equals: [24, 12, 12])
        },
        StoreRule(opened: "two transactions of signed documents join three customers, whichever comes last") { store in
            let documents = [
                Samples.set(Samples.fact("7", original: "1")),
                Samples.set(Samples.fact("7", original: "2"), Samples.fact("8", original: "2")),
                Samples.set(Samples.fact("8", original: "3")),
            ]
            for customer in try await outcomes(inEveryOrderOf: documents, store, original: "3") {
                try expect(customer.identities, equals: ["1", "2", "3"].map(Samples.original), customer.scope.bundleId)
                try expect(ids(customer), equals: ["8", "7"], customer.scope.bundleId)
            }
        },
        StoreRule(opened: "a call that merges customers says so") { store in
            func merges(_ facts: TransactionFact...) async throws -> Bool {
                try await store.apply([Samples.set(facts)]).mergesCustomers
            }
            let moved = Samples.fact("7", original: "2", source: .notificationV2)
            try await expect(merges(Samples.fact("7", original: "1")), equals: false)
            try await expect(merges(Samples.fact("7", original: "3", source: .recordedReply)), equals: false)
            try await expect(merges(moved), equals: true)
            try await expect(merges(moved), equals: false)
            try await expect(merges(Samples.fact("4")), equals: false)
            try await expect(merges(Samples.fact("4"), Samples.fact("8", original: "1")), equals: true)
        },
        StoreRule(opened: "a look-up with ids of two separate customers returns the facts of both") { store in
            _ = try await store.apply([Samples.set(Samples.fact("1")), Samples.set(Samples.fact("2"))])
            let both = try await store.customer([Samples.original("2"), Samples.original("1")], in: Samples.scope)
            try expect(ids(both), equals: ["2", "1"])
            try expect(ids(try await store.customer(original: "1")), equals: ["1"])
        },
        StoreRule(opened: "a look-up of several customers returns each one completely, also among unknown ids") {
            store in
            for id in ["1", "2"] {
                try await store.add(
                    Samples.fact(id), Samples.fact(id + "9", original: id), renewals: [Samples.renewal(id)],
                    app: Samples.app(id, at: Samples.june + Int64(id.utf8.count)),
                    receipt: Samples.receipt(id, at: id == "1" ? 2 : 1))
            }
            let stranger = Samples.original("77")
            let (one, two) = (Samples.original("1"), Samples.original("2"))
            let lists = [
                [one, two], [two, one], [stranger, two, one], [two, stranger, one, two], [one, two, stranger],
            ]
            for asked in lists {
                let both = try require(try await store.customer(asked, in: Samples.scope))
                try expect(ids(both), equals: ["29", "19", "2", "1"])
                try expect(both.identities, equals: [one, two])
                try expect(both.renewalInfos.compactMap(\.payload.originalTransactionId), equals: ["1", "2"])
                try expect(both.newestAppReceipt?.bytes, equals: Array("1".utf8))
                try expect(both.appTransaction?.payload.applicationVersion, equals: "2")
            }
            try await expect(store.customer([stranger], in: Samples.scope) == nil)
            try await expect(store.customer([stranger, Samples.original("78")], in: Samples.scope) == nil)
            try await expect(store.customer([], in: Samples.scope) == nil)
        },
        StoreRule(opened: "an account token joins customers, in uppercase or lowercase") { store in
            let token = "0B1F3D5E-0000-4000-8000-00000000000A"
            _ = try await store.apply([
                Samples.set(Samples.fact("1", source: .signedTransaction) { $0.appAccountToken = token }),
                Samples.set(Samples.fact("2", source: .signedTransaction) { $0.appAccountToken = token.lowercased() }),
            ])
            try expect(ids(try await store.customer(original: "1")), equals: ["2", "1"])
            let asked = CustomerIdentity(.appAccountToken, token)
            try expect(ids(try await store.customer([asked], in: Samples.scope)), equals: ["2", "1"])
        },
        StoreRule(opened: "an app transaction id joins customers") { store in
            var app = AppTransaction()
            app.appTransactionId = "704"
            let origin = FactOrigin(source: .signedTransaction, signedDate: 1)
            _ = try await store.apply([
                Samples.set(Samples.fact("1", source: .signedTransaction) { $0.appTransactionId = "704" }),
                Samples.set(app: AppTransactionFact(payload: app, origin: origin)),
                Samples.set(renewals: [Samples.renewal("2") { $0.appTransactionId = "704" }]),
            ])
            let customer = try require(try await store.customer(original: "2"))
            try expect(ids(customer), equals: ["1"])
            try expect(customer.renewalInfos.count, equals: 1)
            try expect(customer.appTransaction?.payload.appTransactionId, equals: "704")
        },
        StoreRule(opened: "an identity that identifies no customer joins no customers") { store in
            let zeroToken = "00000000-0000-0000-0000-000000000000"
            let tokens = ["1": zeroToken, "2": zeroToken, "3": "default", "4": "default", "5": "", "6": ""]
            for (id, token) in tokens {
                let fact = Samples.fact(id, source: .signedTransaction) {
                    $0.appAccountToken = token
                    $0.appTransactionId = id == "5" || id == "6" ? "0" : ""
                }
                try await store.add(fact)
            }
            try await expect(store.counts().customers, equals: 6)
            let asked = [CustomerIdentity(.appAccountToken, zeroToken), CustomerIdentity(.appTransactionId, "0")]
            try await expect(store.customer(asked, in: Samples.scope) == nil)
        },
        StoreRule(opened: "a transaction with id 0 is not stored") { store in
            try await store.add(Samples.fact("0"), Samples.fact("0000"), Samples.fact(""))
            try await expect(store.counts().transactions, equals: 0)
            try await expect(store.counts().customers, equals: 0)
        },
        StoreRule(opened: "the original transaction id before a migration joins customers") { store in
            let moved = Samples.fact("9", source: .signedTransaction) { $0.previousOriginalTransactionId = "1" }
            _ = try await store.apply([Samples.set(Samples.fact("1")), Samples.set(moved)])
            try expect(ids(try await store.customer(original: "1")), equals: ["9", "1"])
        },
        StoreRule(opened: "the same ids in another environment or app belong to another customer") { store in
            let scopes = [
                Samples.scope, Samples.sandbox, StoreScope(environment: .production, bundleId: "com.example.other"),
            ]
            for (number, scope) in scopes.enumerated() {
                let fact = Samples.fact("1", product: "p\(number)")
                try await store.add(
                    Samples.set(fact, scope: scope, renewals: [Samples.renewal("1", product: "r\(number)")]))
            }
            for (number, scope) in scopes.enumerated() {
                let customer = try require(try await store.customer(original: "1", in: scope))
                try expect(customer.transactions.map(\.payload.productId), equals: ["p\(number)"])
                try expect(customer.transactions.first?.payload.environment, equals: scope.environment)
                try expect(customer.transactions.first?.payload.bundleId, equals: scope.bundleId)
                try expect(customer.renewalInfos.map(\.payload.autoRenewProductId), equals: ["r\(number)"])
            }
            try await expect(store.counts().customers, equals: 3)
        },
        StoreRule(opened: "a receipt without purchases makes a separate customer") { store in
            let receipt = Samples.receipt("empty")
            let set = Samples.set(app: Samples.app("1"), receipt: receipt)
            _ = try await store.apply([set, set, Samples.set(receipt: Samples.receipt("other"))])
            try expect(set.identities, equals: [CustomerIdentity(.receiptDigest, receipt.digest)])
            let customer = try require(try await store.customer(set.identities, in: Samples.scope))
            try expect(customer.newestAppReceipt, equals: receipt)
            try expect(customer.appTransaction?.payload.applicationVersion, equals: "1")
            try await expect(store.counts().customers, equals: 2)
        },
        StoreRule("random documents give the same customers as the reference implementation") { place in
            for seed in UInt64(1)...12 { try await checkAgainstModel(place, seed: seed) }
        },
    ]

    /// Looks up to four identities at once, in any order: of one or several customers, mixed with unknown identities.
    private static func checkListsAgainstModel(
        _ store: any TransactionStore, _ model: ModelStore, _ generator: inout SeededGenerator, _ seed: UInt64
    ) async throws {
        let strangers = [
            Samples.original("999"), CustomerIdentity(.appTransactionId, "998"), Samples.original("0"),
            CustomerIdentity(.appAccountToken, "nobody"),
        ]
        let known = Dictionary(grouping: model.allIdentities, by: \.0)
        // The seed makes the lists reproducible.
        for (scope, all) in known.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            for _ in 0..<12 {
                var asked = (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
                    all.randomElement(using: &generator)?.1
                }
                if Bool.random(using: &generator) { asked.append(strangers[Int.random(in: 0...3, using: &generator)]) }
                asked.shuffle(using: &generator)
                let expected = ComparableCustomer(try model.customer(asked.filter(\.isMeaningful), in: scope))
                let found = ComparableCustomer(try await store.customer(asked, in: scope))
                try expect(found, equals: expected, "seed \(seed), \(asked)")
            }
        }
    }

    private static func checkAgainstModel(_ place: StorePlace, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let store = try await place.open()
        var model = ModelStore()
        let app = "app\(seed)"
        for _ in 0..<25 {
            let sets = (0..<Int.random(in: 1...4, using: &generator)).map { _ in randomSet(app, &generator) }
            _ = try await store.apply(sets)
            for set in sets { model.apply(set) }
        }
        var checked: [StoreScope: Set<CustomerIdentity>] = [:]
        for (scope, identity) in model.allIdentities where checked[scope, default: []].insert(identity).inserted {
            let expected = ComparableCustomer(try model.customer([identity], in: scope))
            try expect(
                ComparableCustomer(try await store.customer([identity], in: scope)), equals: expected, "seed \(seed)")
        }
        try await checkListsAgainstModel(store, model, &generator, seed)
        try await store.close()
    }

    private static func randomSet(_ bundleId: String, _ generator: inout SeededGenerator) -> FactSet {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func chance(_ percent: Int) -> Bool { number(1...100) <= percent }
        func source() -> FactSource { FactSource.allCases[number(0...FactSource.allCases.count - 1)] }
        let facts = (0..<number(0...2)).map { _ -> TransactionFact in
            let original = "\(number(1...14))"
            // Signed documents that state one of the last transactions under several original ids join their customers.
            let id = chance(30) ? original : chance(5) ? "990\(number(1...3))" : "\(original)0\(number(1...3))"
            var legacy: LegacyTransactionFields?
            if chance(50) { legacy = LegacyTransactionFields(isTrialPeriod: chance(50)) }
            if chance(20) { legacy?.cancellationDate = Int64(number(1...3)) * 1000 }
            return Samples.fact(
                id, original: original, product: "p\(number(1...3))", source: source(), at: Int64(number(1...4)),
                legacy: legacy
            ) {
                if chance(20) { $0.isUpgraded = true }
                if chance(4) { $0.appAccountToken = "0B1F3D5E-0000-4000-8000-00000000000\(number(1...3))" }
                if chance(4) { $0.appTransactionId = "70\(number(1...3))" }
            }
        }
        var renewals: [RenewalInfoFact] = []
        if chance(25) {
            renewals.append(Samples.renewal("\(number(1...14))", source: source(), at: Int64(number(1...4))))
        }
        var app: AppTransactionFact?
        if chance(30) {
            var legacy = LegacyAppTransactionFields()
            if chance(50) { legacy.receiptType = chance(50) ? "Production" : "ProductionVPP" }
            app = Samples.app("\(number(1...5))", source: source(), at: Int64(number(1...3)), legacy: legacy)
        }
        var receipt: KnownReceipt?
        if chance(40) {
            let form: KnownReceipt.Form = chance(70) ? .app : .transaction
            receipt = Samples.receipt("r\(number(1...5))", form: form, at: Int64(number(1...3)))
        }
        return FactSet(
            scope: StoreScope(environment: chance(80) ? .production : .sandbox, bundleId: bundleId),
            transactions: facts, renewalInfos: renewals, appTransaction: app, receipt: receipt,
            notification: chance(20) ? Samples.notification("\(bundleId)-\(number(1...20))") : nil)
    }
}
