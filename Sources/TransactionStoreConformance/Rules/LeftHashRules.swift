import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static let token = CustomerIdentity(.appAccountToken, "0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d")
    private static let appTransaction = CustomerIdentity(.appTransactionId, "70000001")

    /// Two purchases of one customer, with everything else that a document states.
    private static func everything(in scope: StoreScope = Samples.scope) -> FactSet {
        Samples.set(
            Samples.fact("1"), Samples.fact("2"), scope: scope, identities: [token], renewals: [Samples.renewal("1")],
            app: Samples.app("1.0"), receipt: Samples.receipt("receipt", at: 1))
    }

    private static func app(_ id: String) -> AppTransactionFact {
        var app = Samples.app("1.0").payload
        app.appTransactionId = id
        return AppTransactionFact(
            payload: app, origin: FactOrigin(source: .signedTransaction, signedDate: Samples.june))
    }

    private static func notification(_ uuid: String, body: String = "{}") -> ProcessedNotification {
        Samples.notification(uuid, "DID_RENEW", "BILLING_RECOVERY", body: body)
    }

    private static func erase(_ identity: CustomerIdentity, from store: any CompleteTransactionStore) async throws
        -> ErasedRows
    {
        try await store.erase([identity], in: Samples.scope, quarantined: [], leavingHashes: true)
    }

    static let leftHashes: [StoreRule] = [
        StoreRule(opened: "a left hash keeps out old documents, and the other purchases of a document are stored") {
            store in
            _ = try await store.apply([everything(), everything(in: Samples.sandbox)])
            // The account token leaves no hash.
            try await expect(erase(Samples.original("2"), from: store).leftHashes, equals: 2)
            try await expect(erase(Samples.original("2"), from: store).leftHashes, equals: 0)
            try await expect(store.counts().leftHashes, equals: 2)
            let before = try await store.counts()

            let again = try await store.apply([everything()])
            try expect(again.changed + again.unchanged, equals: 0)
            try expect(again.erased, equals: 5)
            try await expect(store.counts(), equals: before)
            for identity in [Samples.original("1"), Samples.original("2"), token] {
                try await expect(store.customer([identity], in: Samples.scope) == nil, "\(identity)")
            }
            // In another environment the ids are others.
            let elsewhere = try await store.apply([everything(in: Samples.sandbox)])
            try expect(elsewhere.unchanged, equals: 5)
            try expect(elsewhere.erased, equals: 0)

            let mixed = try await store.apply([
                Samples.set(
                    Samples.fact("2"), Samples.fact("5"), renewals: [Samples.renewal("2"), Samples.renewal("5")],
                    app: Samples.app("1.0"), receipt: Samples.receipt("receipt", at: 1))
            ])
            try expect(mixed.changed, equals: 3)
            try expect(mixed.erased, equals: 3)
            let customer = try require(try await store.customer(original: "5"))
            try expect(customer.transactions.map(\.payload.transactionId), equals: ["5"])
            try expect(customer.renewalInfos.map(\.payload.originalTransactionId), equals: ["5"])
            try expect(customer.identities, equals: [Samples.original("5")])
            try expect(customer.newestAppReceipt == nil && customer.appTransaction != nil)
            try await expect(store.customer(original: "2") == nil)
            let entries = try await LedgerAudit.check(store)
            try expect(LedgerAudit.text(entries.filter { $0.scope == Samples.scope }), equals: "5 purchased")
        },
        StoreRule(opened: "a left hash keeps out the purchase under the id that it had before a migration") { store in
            try await store.add(Samples.fact("1"))
            _ = try await erase(Samples.original("1"), from: store)
            for source in [FactSource.signedTransaction, .recordedStoreKit2] {
                let fact = Samples.fact("9", original: "8", source: source) { $0.previousOriginalTransactionId = "1" }
                try await expect(store.apply([Samples.set(fact)]).erased, equals: 1)
                try await expect(store.customer(original: "8") == nil)
            }
        },
        StoreRule(opened: "after a migration between apps, nothing under the new id returns with another purchase") {
            store in
            try await store.add(Samples.fact("1"))
            _ = try await erase(Samples.original("1"), from: store)
            let named = Samples.fact("9", original: "8", source: .signedTransaction) {
                $0.previousOriginalTransactionId = "1"
            }
            let renewed = Samples.fact("10", original: "8", source: .signedTransaction)
            let set = Samples.set(named, renewed, Samples.fact("5"), renewals: [Samples.renewal("8")])
            try await expect(store.apply([set]).erased, equals: 3)
            try await expect(store.customer(original: "8") == nil)
            let customer = try require(try await store.customer(original: "5"))
            try expect(customer.identities, equals: [Samples.original("5")])
            try expect(customer.renewalInfos.isEmpty)
        },
        StoreRule(opened: "no answer about an erased transaction that the App Store does not know is stored") { store in
            try await store.add(Samples.fact("1"))
            _ = try await erase(Samples.original("1"), from: store)
            let answers = ["1", "2"].map {
                UnknownTransaction(scope: Samples.scope, transactionId: $0, answeredDate: 7)
            }
            try await store.remember(answers)
            try await expect(store.unknownTransactions(["1", "2"], in: Samples.scope) == [answers[1]])
        },
        StoreRule(opened: "a new purchase of an erased customer is stored, with its account token and app transaction")
        {
            store in
            func set(_ id: String) -> FactSet {
                let fact = Samples.fact(id, source: .signedTransaction) {
                    $0.appAccountToken = token.value
                    $0.appTransactionId = appTransaction.value
                }
                return Samples.set(fact)
            }
            try await store.add(set("1"))
            try await expect(erase(token, from: store).leftHashes, equals: 2)
            try await expect(store.apply([set("1")]).erased, equals: 1)
            try await expect(store.customer([token], in: Samples.scope) == nil)
            try await expect(store.apply([set("2"), set("3")]).changed, equals: 2)
            let customer = try require(try await store.customer([token], in: Samples.scope))
            try expect(
                customer.identities, equals: [Samples.original("2"), Samples.original("3"), appTransaction, token])
            // The app transaction itself stays out.
            try await expect(store.apply([Samples.set(app: app(appTransaction.value))]).erased, equals: 1)
            try await expect(store.customer([token], in: Samples.scope)?.appTransaction == nil)
        },
        StoreRule(opened: "the hash of an app transaction, or of a receipt without purchases, keeps out that document")
        {
            store in
            let receipt = Samples.receipt("receipt without purchases")
            let digest = CustomerIdentity(.receiptDigest, receipt.digest)
            let sets = [Samples.set(app: app(appTransaction.value)), Samples.set(receipt: receipt)]
            for (set, identity) in zip(sets, [appTransaction, digest]) {
                try await expect(store.apply([set]).changed, equals: 1)
                try await expect(erase(identity, from: store).leftHashes, equals: 1)
                try await expect(store.apply([set]).erased, equals: 1)
                try await expect(store.customer([identity], in: Samples.scope) == nil)
            }
            let others = [Samples.set(app: app("70000002")), Samples.set(receipt: Samples.receipt("another"))]
            try await expect(store.apply(others).changed, equals: 2)
        },
        StoreRule(opened: "a notification about an erased purchase is not stored, and opens and records nothing") {
            store in
            try await store.add(Samples.fact("1"))
            _ = try await erase(Samples.original("1"), from: store)
            let sets = [
                Samples.set(
                    Samples.fact("1", source: .notificationV2), notification: notification("a"),
                    unclaimedSeatIds: ["seat"]),
                Samples.consumptionRequest("b", of: "1"),
                FactSet(
                    scope: Samples.scope, notification: notification("c", body: #"{"original_transaction_id":"1"}"#)),
            ]
            let result = try await store.apply(sets)
            try expect(result.erasedNotifications, equals: 3)
            try expect(result.erased, equals: 2)
            try expect(result.changed + result.unchanged + result.repeatedNotifications, equals: 0)
            for uuid in ["a", "b", "c"] {
                try await expect(!store.hasProcessed(notificationUUID: uuid), uuid)
            }
            try await expect(store.openConsumptionTasks(after: nil, limit: 10).isEmpty)
            try await expect(LedgerAudit.check(store).isEmpty)
            // Of others, everything stays but a text that names the erased purchase.
            let others = [
                Samples.set(
                    Samples.fact("2", source: .notificationV2), notification: notification("d", body: #"{"id":1}"#)),
                FactSet(scope: Samples.scope, notification: notification("e", body: #"{"id":12}"#)),
            ]
            try await expect(store.apply(others).erasedNotifications, equals: 0)
            for uuid in ["d", "e"] { try await expect(store.hasProcessed(notificationUUID: uuid), uuid) }
            try await expect(
                erase(Samples.original("9"), from: store).notifications
                    + erase(Samples.original("1"), from: store)
                    .notifications, equals: 0)
            try await expect(LedgerAudit.check(store).map(\.event), equals: [.purchased, .billingRecovered])
        },
        StoreRule(opened: "a migration's users and verified receipts of an erased customer are not stored") { store in
            _ = try await erase(Samples.original("1"), from: store)
            for (id, number) in [("1", UInt8(1)), ("2", 2)] {
                let isErased = id == "1"
                try await expect(store.apply(userAndReceipt(id, number)).erased, equals: isErased ? 1 : 0)
                try await expect(
                    store.users(of: [Samples.original(id)], in: Samples.scope).count, equals: isErased ? 0 : 1)
                let key = [UInt8](repeating: number, count: 32)
                try await expect(store.verifiedReceipts([key]).count, equals: isErased ? 0 : 1)
            }
        },
        StoreRule("a left hash counts at once for every store of the place, after it is opened again too") { place in
            let (first, second) = (try await place.open(), try await place.open())
            let set = Samples.set(Samples.fact("1"))
            try await expect(second.apply([set]).changed, equals: 1)
            _ = try await erase(Samples.original("1"), from: first)
            try await expect(second.apply([set]).erased, equals: 1)
            try await first.close()
            try await second.close()
            let third = try await place.open()
            try await expect(third.apply([Samples.set(Samples.fact("2")), set]).erased, equals: 1)
            try await expect(third.customer(original: "1") == nil)
            try await third.close()
        },
        StoreRule(openedTwice: "writers that run during an erasure with hashes bring nothing of the customer back") {
            stores in
            let set = Samples.set(Samples.fact("1"), renewals: [Samples.renewal("1")])
            try await stores[0].add(set)
            let erasures = try await concurrently(0..<5) { number -> Int64 in
                if number == 4 { return try await erase(Samples.original("1"), from: stores[0]).leftHashes }
                for _ in 0..<25 { try await stores[number % 2].add(set) }
                return 0
            }
            try expect(erasures.reduce(0, +), equals: 1)
            for store in stores {
                try await expect(store.customer(original: "1") == nil)
                try await expect(LedgerAudit.check(store).isEmpty)
            }
        },
        StoreRule(opened: "a hash that is removed no longer keeps anything out, and the others do") { store in
            try await store.add(everything())
            _ = try await erase(token, from: store)
            try await expect(store.removeLeftHashes(of: [Samples.original("1")], in: Samples.sandbox), equals: 0)
            try await expect(store.removeLeftHashes(of: [token, Samples.original("3")], in: Samples.scope), equals: 0)
            let identities = [Samples.original("1"), Samples.original("1")]
            try await expect(store.removeLeftHashes(of: identities, in: Samples.scope), equals: 1)
            try await expect(store.counts().leftHashes, equals: 1)
            try await expect(store.apply([everything()]).erased, equals: 2)
            let customer = try require(try await store.customer(original: "1"))
            try expect(customer.transactions.map(\.payload.transactionId), equals: ["1"])
        },
        StoreRule("hashes of another store are taken over in any order, and remove what the store has") { place in
            let secrets = [LeftHash.makeSecret(), LeftHash.makeSecret()]
            let hashes =
                LeftHash.hashes(
                    of: [Samples.original("1"), Samples.original("4"), appTransaction], in: Samples.scope,
                    secret: secrets[0])
                + LeftHash.hashes(of: [Samples.original("6")], in: Samples.scope, secret: secrets[1])
            let steps = [
                MigrationStep(leftHashes: Array(hashes[..<2])), MigrationStep(leftHashes: Array(hashes[2...])),
                MigrationStep(
                    facts: [everything(), Samples.set(Samples.fact("3"))],
                    users: [UserClaim(scope: Samples.scope, identity: Samples.original("1"), userId: "user")]),
                MigrationStep(facts: [
                    Samples.set(
                        Samples.fact("4", source: .signedTransaction) { $0.appAccountToken = token.value },
                        Samples.fact("5", source: .signedTransaction), app: app(appTransaction.value)),
                    Samples.set(Samples.fact("6"), receipt: Samples.receipt("six")),
                ]),
            ]
            var places: [[ComparableCustomer?]] = []
            for order in [[0, 1, 2, 3], [2, 3, 1, 0], [3, 0, 2, 1]] {
                let store = try await place.open()
                for number in order { _ = try await store.apply(steps[number]) }
                let counts = try await store.counts()
                for number in order { _ = try await store.apply(steps[number]) }
                try await expect(store.counts(), equals: counts)
                try expect(counts.leftHashes, equals: 4)
                var found: [ComparableCustomer?] = []
                for id in 1...6 {
                    let customer = try await store.customer(original: "\(id)")
                    try expect((customer == nil) == [1, 4, 6].contains(id), "\(order): \(id)")
                    found.append(ComparableCustomer(customer))
                }
                places.append(found)
                try await expect(store.users(of: [Samples.original("1")], in: Samples.scope).isEmpty)
                try await expect(store.customer([token], in: Samples.scope)?.newestAppReceipt == nil)
                let entries = try await LedgerAudit.check(store)
                try expect(Set(entries.map(\.transactionId)), equals: ["2", "3", "5"])
                // The next order begins with an empty store.
                for id in ["2", "3", "5"] {
                    _ = try await store.erase(id)
                }
                let all = [1, 4, 6].map { Samples.original("\($0)") } + [appTransaction]
                try await expect(store.removeLeftHashes(of: all, in: Samples.scope), equals: 4)
                try await store.close()
            }
            try expect(places[1] == places[0] && places[2] == places[0], "the order matters")
        },
        StoreRule(opened: "a left hash and its secret have 32 bytes each") { store in
            let whole = [UInt8](repeating: 1, count: 32)
            for (secret, hash) in [(whole, [UInt8](whole.dropLast())), ([], whole), (whole + [1], whole)] {
                let step = MigrationStep(leftHashes: [LeftHash(scope: Samples.scope, secret: secret, hash: hash)])
                try await expectError(.invalidArgument, "a hash of \(secret.count) and \(hash.count) bytes was added") {
                    _ = try await store.apply(step)
                }
            }
            try await expect(store.counts().leftHashes, equals: 0)
        },
    ]
}
