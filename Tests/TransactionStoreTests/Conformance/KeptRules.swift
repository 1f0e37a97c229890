import AppStoreModels
import Purchases
import Testing
import TransactionStore

extension StoreConformance {
    private typealias Samples = StoreSamples

    static let kept: [StoreRule] = [
        StoreRule(opened: "of each form the newest receipt is kept, whichever comes first") { store in
            let receipts = [
                Samples.receipt("a2", at: 2), Samples.receipt("a3", at: 3), Samples.receipt("a1", at: 1),
                Samples.receipt("t1", form: .transaction, at: 1), Samples.receipt("t9", form: .transaction, at: 9),
                Samples.receipt("a3x", at: 3),
            ]
            for (number, order) in [receipts, receipts.reversed()].enumerated() {
                let scope = StoreScope(environment: .sandbox, bundleId: "app\(number)")
                for receipt in order {
                    _ = try await store.apply([Samples.set(Samples.fact("1"), scope: scope, receipt: receipt)])
                }
                let customer = try #require(try await store.customer(original: "1", in: scope))
                #expect(customer.newestAppReceipt?.bytes == Array("a3x".utf8))
                #expect(customer.newestTransactionReceipt?.bytes == Array("t9".utf8))
            }
            #expect(try await store.counts().receipts == 4)
        },
        StoreRule(opened: "a signed renewal info stands before a recorded one, the newest of them wins") { store in
            _ = try await store.apply([
                Samples.set(renewals: [Samples.renewal("1", product: "recorded", source: .recordedReply, at: 9)]),
                Samples.set(renewals: [Samples.renewal("1", product: "new", at: 5)]),
                Samples.set(renewals: [Samples.renewal("1", product: "old", at: 2)]),
            ])
            let infos = try #require(try await store.customer(original: "1")?.renewalInfos)
            #expect(infos.map(\.payload.autoRenewProductId) == ["new"])
            #expect(infos.first?.isSigned == true)
            #expect(try await store.counts().renewalInfos == 1)
        },
        StoreRule(opened: "renewal infos come by the value of their ids") { store in
            let set = Samples.set(renewals: ["10", "9", "100"].map { Samples.renewal($0) })
            _ = try await store.apply([set])
            let ids = try await store.customer(original: "9")?.renewalInfos.map(\.payload.originalTransactionId)
            #expect(ids == ["9", "10", "100"])
        },
        StoreRule(opened: "a notification is taken in once") { store in
            let first = Samples.set(
                Samples.fact("1", product: "a", source: .notificationV2, at: 1),
                notification: Samples.notification("uuid-1"))
            let forged = Samples.set(
                Samples.fact("1", product: "b", source: .notificationV2, at: 2),
                notification: Samples.notification("uuid-1"))
            #expect(try await store.hasProcessed(notificationUUID: "uuid-1") == false)
            #expect(try await store.apply([first]).repeatedNotifications == 0)
            #expect(try await store.hasProcessed(notificationUUID: "uuid-1"))
            let again = try await store.apply([forged])
            #expect(again.repeatedNotifications == 1)
            #expect(again.changed == 0)
            #expect(try await store.customer(original: "1")?.transactions.first?.payload.productId == "a")
            #expect(try await store.counts().notifications == 1)
        },
        StoreRule(opened: "a notification that comes twice in one call is taken in once") { store in
            let set = Samples.set(Samples.fact("1"), notification: Samples.notification("uuid-1"))
            let result = try await store.apply([set, set])
            #expect(result.changed == 1)
            #expect(result.repeatedNotifications == 1)
        },
        StoreRule(opened: "a notification about nobody is remembered") { store in
            let set = Samples.set(notification: Samples.notification("test"))
            #expect(set.identities.isEmpty)
            _ = try await store.apply([set])
            #expect(try await store.hasProcessed(notificationUUID: "test"))
            #expect(try await store.counts().customers == 0)
        },
        StoreRule(opened: "members of Apple's that this version does not know are kept to the letter") { store in
            func grow<Payload: Decodable & JSONWritable>(_ payload: Payload, _ members: String) throws -> Payload {
                var writer = JSONWriter()
                payload.write(to: &writer)
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
            #expect(try await store.apply([set]).changed > 0)
            #expect(try await store.apply([set]).changed == 0)
            _ = try await store.apply([Samples.set(Samples.fact("1", at: 3), app: Samples.app("1.1", at: 3))])
            let customer = try #require(try await store.customer(original: "1"))
            #expect(transaction.unknownMembers.names == ["future", "since", "zero"])
            #expect(customer.transactions.first?.payload.unknownMembers == transaction.unknownMembers)
            #expect(customer.renewalInfos.first?.payload.unknownMembers == renewal.unknownMembers)
            #expect(customer.appTransaction?.payload.unknownMembers == app.unknownMembers)
        },
        StoreRule(opened: "an empty store counts nothing, an empty call changes nothing") { store in
            #expect(try await store.apply([]) == AppliedFacts())
            let zero = StoreCounts(
                transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
            #expect(try await store.counts() == zero)
            try await store.checkReadiness()
            #expect(try await store.counts() == zero)
        },
        StoreRule(opened: "counts are of what is known, not of the documents") { store in
            for source in FactSource.allCases {
                _ = try await store.apply([
                    Samples.set(
                        Samples.fact("1", source: source), Samples.fact("2", original: "1", source: source),
                        renewals: [Samples.renewal("1", source: source)], app: Samples.app("1", source: source),
                        receipt: Samples.receipt(source.rawValue))
                ])
            }
            let expected = StoreCounts(
                transactions: 2, renewalInfos: 1, appTransactions: 1, customers: 1, receipts: 1, notifications: 0)
            #expect(try await store.counts() == expected)
        },
    ]
}
