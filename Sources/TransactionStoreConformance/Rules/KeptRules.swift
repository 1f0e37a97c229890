import AppStoreModels
import LegacyReceipts
import Purchases
import TransactionStore

extension StoreConformance {
    /// Two hashes, the lesser one first.
    private static let hashes: (less: Fingerprint, greater: Fingerprint) = {
        let (one, other) = (Fingerprint(of: [1]), Fingerprint(of: [2]))
        return one.bytes.lexicographicallyPrecedes(other.bytes) ? (one, other) : (other, one)
    }()

    static let kept: [StoreRule] = [
        StoreRule(opened: "the newest receipt of each form is stored, in any order") { store in
            let receipts = [
                Samples.receipt("a2", at: 2), Samples.receipt("a3", at: 3), Samples.receipt("a1", at: 1),
                Samples.receipt("t1", form: .transaction, at: 1), Samples.receipt("t9", form: .transaction, at: 9),
                Samples.receipt("a3x", at: 3),
            ]
            for (number, order) in [receipts, receipts.reversed()].enumerated() {
                let scope = StoreScope(environment: .sandbox, bundleId: "app\(number)")
                for receipt in order {
                    try await store.add(Samples.fact("1"), scope: scope, receipt: receipt)
                }
                let customer = try require(try await store.customer(original: "1", in: scope))
                try expect(customer.newestAppReceipt?.bytes, equals: Array("a3x".utf8))
                try expect(customer.newestTransactionReceipt?.bytes, equals: Array("t9".utf8))
            }
            try await expect(store.counts().receipts, equals: 4)
        },
        StoreRule(opened: "the hash of a document is kept with its statements, and is not a member of them") { store in
            let (less, greater) = hashes
            // A row that was stored without a hash gets it when the document arrives again.
            let steps: [(hash: Fingerprint?, date: Int64, changed: Int, kept: Fingerprint?)] = [
                (nil, 1, 3, nil), (less, 1, 3, less), (nil, 1, 0, less), (greater, 1, 3, greater),
                (less, 1, 0, greater), (less, 2, 3, less), (less, 2, 0, less),
            ]
            for step in steps {
                let result = try await store.apply([FactSupport.answer(step.hash, signedAt: step.date)])
                try expect(result.changed, equals: step.changed)
                let customer = try require(try await store.customer(original: "1"))
                let transaction = try require(customer.transactions.first)
                let info = try require(customer.renewalInfos.first)
                let app = try require(customer.appTransaction)
                for origins in [transaction.origins, info.origins, app.origins] {
                    try expect(origins.map(\.document), equals: [step.kept], "\(step)")
                }
                try expect(
                    transaction.payload.unknownMembers.isEmpty && info.payload.unknownMembers.isEmpty
                        && app.payload.unknownMembers.isEmpty)
            }
        },
        StoreRule(opened: "of two documents of one date with the same statements, the same one is named, in any order")
        { store in
            let (less, greater) = hashes
            let documents = [nil, less, greater].map { FactSupport.answer($0, signedAt: 1) }
            for customer in try await outcomes(inEveryOrderOf: documents, store) {
                let origins =
                    customer.transactions.map(\.origins) + customer.renewalInfos.map(\.origins)
                    + [customer.appTransaction?.origins ?? []]
                try expect(origins.map { $0.map(\.document) }, equals: Array(repeating: [greater], count: 3))
            }
        },
        StoreRule(opened: "two merged customers have the app transaction of the same document, in any order") {
            store in
            let (less, greater) = hashes
            for (number, order) in [[less, greater], [greater, less]].enumerated() {
                let scope = StoreScope(environment: .production, bundleId: "app\(number)")
                for (place, hash) in order.enumerated() {
                    let origin = FactOrigin(source: .receipt, signedDate: 1, document: hash)
                    let app = AppTransactionFact(payload: Samples.app("1").payload, origin: origin)
                    try await store.add(scope: scope, identities: [Samples.original("\(place + 1)")], app: app)
                }
                try await store.add(Samples.fact("1"), Samples.fact("2"), scope: scope)
                let app = try require(try await store.customer(original: "1", in: scope)?.appTransaction)
                try expect(app.origins.map(\.document), equals: [greater])
            }
        },
        StoreRule(opened: "the statements of two documents decide which one is kept, not their hashes") { store in
            let (less, greater) = hashes
            func fact(_ hash: Fingerprint, isTrialPeriod: Bool) -> TransactionFact {
                TransactionFact(
                    payload: Samples.payload("1"), legacy: LegacyTransactionFields(isTrialPeriod: isTrialPeriod),
                    origin: FactOrigin(source: .receipt, signedDate: 1, document: hash))
            }
            var kept: Set<Bool?> = []
            for (number, hashes) in [(less, greater), (greater, less)].enumerated() {
                let sets = [fact(hashes.0, isTrialPeriod: true), fact(hashes.1, isTrialPeriod: false)].map {
                    Samples.set($0)
                }
                let customers = try await outcomes(inEveryOrderOf: sets, store, apps: "hashes\(number)")
                kept.formUnion(customers.map { $0.transactions.first?.legacy.isTrialPeriod })
            }
            try expect(kept.count == 1 && !kept.contains(nil))
        },
        StoreRule(opened: "legacy values of a receipt are kept with the modern app transaction") { store in
            let none = LegacyAppTransactionFields()
            var single = none
            single.receiptType = "Production"
            var volume = none
            volume.receiptType = "ProductionVPP"
            volume.expirationDate = .max
            volume.volumePurchaseDate = -1
            volume.volumePurchaseOrganization = "A \"school\"\n\u{0}é"
            let steps: [(app: AppTransactionFact, changed: Int, kept: LegacyAppTransactionFields)] = [
                (Samples.app("1", at: 1), 1, none),
                // A row of an earlier version has no such values. It gets them when the document arrives again.
                (Samples.app("1", at: 1, legacy: volume), 1, volume), (Samples.app("1", at: 1), 0, volume),
                (Samples.app("1", at: 1, legacy: single), 0, volume),
                // StoreKit 2 does not state these values, and an unsigned document does not override a receipt.
                (Samples.app("2", source: .signedTransaction, at: 2), 1, volume),
                (Samples.app("2", source: .recordedReply, at: 3, legacy: single), 1, volume),
                (Samples.app("3", at: 3, legacy: single), 1, single),
                (Samples.app("2", at: 2, legacy: volume), 0, single),
            ]
            for (place, step) in steps.enumerated() {
                let set = Samples.set(identities: [Samples.original("1")], app: step.app)
                try expect(try await store.apply([set]).changed, equals: step.changed, "step \(place)")
                let app = try require(try await store.customer(original: "1")?.appTransaction)
                try expect(app.legacy, equals: step.kept, "step \(place)")
            }
            // Merged customers have the newest too.
            try await store.add(identities: [Samples.original("2")], app: Samples.app("0", at: 4, legacy: volume))
            try await store.add(Samples.fact("1"), Samples.fact("2"))
            for id in ["1", "2"] {
                try await expect(store.customer(original: id)?.appTransaction?.legacy, equals: volume)
            }
        },
        StoreRule(opened: "a newer unsigned document without legacy fields leaves those of an older reply") { store in
            var single = LegacyAppTransactionFields()
            single.receiptType = "Production"
            var volume = LegacyAppTransactionFields()
            volume.receiptType = "ProductionVPP"
            let steps: [(app: AppTransactionFact, changed: Int, version: String, kept: LegacyAppTransactionFields)] = [
                (Samples.app("2", source: .recordedReply, at: 2, legacy: volume), 1, "2", volume),
                (Samples.app("4", source: .recordedStoreKit2, at: 4), 1, "4", volume),
                (Samples.app("1", source: .recordedReply, at: 1, legacy: single), 0, "4", volume),
                (Samples.app("3", source: .recordedReply, at: 3, legacy: single), 1, "4", single),
                (Samples.app("5", source: .recordedReply, at: 5, legacy: volume), 1, "5", volume),
            ]
            for (place, step) in steps.enumerated() {
                let set = Samples.set(identities: [Samples.original("1")], app: step.app)
                try expect(try await store.apply([set]).changed, equals: step.changed, "step \(place)")
                let app = try require(try await store.customer(original: "1")?.appTransaction)
                try expect(app.payload.applicationVersion, equals: step.version, "step \(place)")
                try expect(app.legacy, equals: step.kept, "step \(place)")
            }
            try await expect(store.counts().appTransactions, equals: 1)
        },
        StoreRule(opened: "a signed renewal info wins over a recorded one; of the same kind the newest wins") { store in
            _ = try await store.apply([
                Samples.set(renewals: [Samples.renewal("1", product: "recorded", source: .recordedReply, at: 9)]),
                Samples.set(renewals: [Samples.renewal("1", product: "new", at: 5)]),
                Samples.set(renewals: [Samples.renewal("1", product: "old", at: 2)]),
            ])
            let infos = try require(try await store.customer(original: "1")?.renewalInfos)
            try expect(infos.map(\.payload.autoRenewProductId), equals: ["new"])
            try expect(infos.first?.isSigned, equals: true)
            try await expect(store.counts().renewalInfos, equals: 1)
        },
        StoreRule(opened: "renewal infos are ordered by the numeric value of their ids") { store in
            let set = Samples.set(renewals: ["10", "9", "100"].map { Samples.renewal($0) })
            try await store.add(set)
            let ids = try await store.customer(original: "9")?.renewalInfos.map(\.payload.originalTransactionId)
            try expect(ids, equals: ["9", "10", "100"])
        },
        StoreRule(opened: "a notification is applied once") { store in
            let first = Samples.set(
                Samples.fact("1", product: "a", source: .notificationV2, at: 1),
                notification: Samples.notification("uuid-1"))
            let forged = Samples.set(
                Samples.fact("1", product: "b", source: .notificationV2, at: 2),
                notification: Samples.notification("uuid-1"))
            try await expect(store.hasProcessed(notificationUUID: "uuid-1"), equals: false)
            try await expect(store.apply([first]).repeatedNotifications, equals: 0)
            try await expect(store.hasProcessed(notificationUUID: "uuid-1"))
            let again = try await store.apply([forged])
            try expect(again.repeatedNotifications, equals: 1)
            try expect(again.changed, equals: 0)
            try await expect(store.customer(original: "1")?.transactions.first?.payload.productId, equals: "a")
            try await expect(store.counts().notifications, equals: 1)
        },
        StoreRule(opened: "a notification that appears twice in one call is applied once") { store in
            let set = Samples.set(Samples.fact("1"), notification: Samples.notification("uuid-1"))
            let result = try await store.apply([set, set])
            try expect(result.changed, equals: 1)
            try expect(result.repeatedNotifications, equals: 1)
        },
        StoreRule(opened: "a notification without a customer is recorded as processed") { store in
            let set = Samples.set(notification: Samples.notification("test"))
            try expect(set.identities.isEmpty)
            try await store.add(set)
            try await expect(store.hasProcessed(notificationUUID: "test"))
            try await expect(store.counts().customers, equals: 0)
        },
        StoreRule(opened: "unknown JSON members from Apple are stored unchanged") { store in
            func grow<Payload: JSONModel>(_ payload: Payload, _ members: String) throws -> Payload {
                var writer = JSONWriter()
                writer.model(payload)
                return try JSONValue.parse(writer.finish().dropLast() + Array(",\(members)}".utf8)).decode()
            }
            let members = #""future":{"list":[1.50,null,"x"]},"since":12345678901234567890,"zero":null"#
            let signed = FactOrigin(source: .notificationV2, signedDate: 2)
            let transaction = try grow(Samples.payload("1"), members)
            let renewal = try grow(Samples.renewal("1").payload, members)
            let app = try grow(Samples.app("1.0").payload, members)
            let set = Samples.set(
                TransactionFact(payload: transaction, legacy: nil, origin: signed),
                renewals: [RenewalInfoFact(payload: renewal, origin: signed)],
                app: AppTransactionFact(payload: app, origin: signed))
            try await expect(store.apply([set]).changed > 0)
            try await expect(store.apply([set]).changed, equals: 0)
            try await store.add(Samples.fact("1", at: 3), app: Samples.app("1.1", at: 3))
            let customer = try require(try await store.customer(original: "1"))
            try expect(transaction.unknownMembers.names, equals: ["future", "since", "zero"])
            try expect(customer.transactions.first?.payload.unknownMembers, equals: transaction.unknownMembers)
            try expect(customer.renewalInfos.first?.payload.unknownMembers, equals: renewal.unknownMembers)
            try expect(customer.appTransaction?.payload.unknownMembers, equals: app.unknownMembers)
        },
        StoreRule(opened: "an empty store has zero counts; an empty call changes nothing") { store in
            try await expect(store.apply([]), equals: AppliedFacts())
            let zero = StoreCounts(
                transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
            try await expect(store.counts(), equals: zero)
            try await store.checkReadiness()
            try await expect(store.counts(), equals: zero)
        },
        StoreRule(opened: "counts are numbers of stored items, not of documents") { store in
            for source in FactSource.allCases {
                try await store.add(
                    Samples.fact("1", source: source), Samples.fact("2", original: "1", source: source),
                    renewals: [Samples.renewal("1", source: source)], app: Samples.app("1", source: source),
                    receipt: Samples.receipt(source.rawValue))
            }
            let expected = StoreCounts(
                transactions: 2, renewalInfos: 1, appTransactions: 1, customers: 1, receipts: 1, notifications: 0)
            try await expect(store.counts(), equals: expected)
        },
    ]
}
