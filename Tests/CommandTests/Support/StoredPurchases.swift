import AppStoreModels
import Encodings
import Purchases
import SQLiteTransactionStore
import TransactionStore

/// A store with subscribers, on a calendar of whole months from 2023-01-15, 10:00 in California.
enum StoredPurchases {
    static let group = "20456789"
    static let bundleId = "com.example.app"

    static let day: Int64 = 86_400_000

    static func month(_ number: Int64) -> Int64 { PacificTime.adding(months: number, to: 1_673_805_600_000) }

    static func fact(
        _ id: String, original: String, _ from: Int64, _ to: Int64, price: Int64? = 9990,
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = original
        payload.productId = "premium"
        payload.subscriptionGroupIdentifier = group
        payload.type = .autoRenewableSubscription
        payload.purchaseDate = month(from)
        payload.expiresDate = month(to)
        payload.price = price
        configure(&payload)
        return TransactionFact(
            payload: payload, legacy: nil, origin: FactOrigin(source: .notificationV2, signedDate: month(to)))
    }

    /// - Parameters:
    ///   - facts: the transactions.
    ///   - tokens: the account tokens.
    ///   - renewal: changes the renewal information, in which auto-renewal is off.
    static func set(
        _ facts: [TransactionFact], tokens: [String] = [],
        renewal: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        let originals = Set(facts.compactMap(\.payload.originalTransactionId)).sorted()
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: bundleId),
            identities: tokens.map { CustomerIdentity(.appAccountToken, $0) }, transactions: facts,
            renewalInfos: originals.map { original in
                var info = JWSRenewalInfoDecodedPayload()
                info.originalTransactionId = original
                info.autoRenewStatus = .off
                renewal(&info)
                let date = facts.map(\.origin.signedDate).max() ?? 0
                return RenewalInfoFact(
                    payload: info, origin: FactOrigin(source: .notificationV2, signedDate: date))
            })
    }

    static let token = "0b1f3d5e-0000-4000-8000-00000000000a"

    /// 100 paid three months; 200 had a trial and paid one; 300 paid an unknown amount; 400 subscribes for years.
    static let sets: [FactSet] = [
        set(
            [
                fact("100", original: "100", 0, 1), fact("101", original: "100", 1, 2),
                fact("102", original: "100", 2, 3),
            ], tokens: [token]),
        set([
            fact("200", original: "200", 0, 1, price: 0) {
                $0.offerType = .introductory
                $0.offerDiscountType = .freeTrial
            },
            fact("201", original: "200", 1, 2),
        ]),
        set([fact("300", original: "300", 0, 6, price: nil)]),
        set([fact("400", original: "400", 0, 60)]),
    ]

    /// A purchase of another type than a subscription that renews; 0 months are the beginning of the calendar.
    static func purchase(
        _ id: String, _ product: String, _ type: ProductType?, month: Int64, refunded: Int64? = nil
    ) -> TransactionFact {
        var fact = Self.fact(id, original: id, month, month) {
            $0.productId = product
            $0.subscriptionGroupIdentifier = nil
            $0.type = type
            $0.expiresDate = nil
            $0.originalPurchaseDate = $0.purchaseDate
            $0.revocationDate = refunded.map { StoredPurchases.month($0) }
        }
        if let refunded {
            fact = TransactionFact(
                payload: fact.payload, legacy: nil,
                origin: FactOrigin(source: .notificationV2, signedDate: StoredPurchases.month(refunded)))
        }
        return fact
    }

    /// The products of ``purchase(_:_:_:month:refunded:)`` in the tests.
    static let catalog = """
        version: 1
        groups: {premium: {identifier: "20456789"}}
        products:
          premium: {type: auto-renewable, period: P1M, group: premium, level: 1}
          pass: {type: non-renewing, duration: P3M, entitlement: club}
          lifetime: {type: non-consumable}
        """

    static func makeStore(_ sets: [FactSet] = sets, in folder: Folder, _ name: String = "store.sqlite") async throws {
        let store = try SQLiteTransactionStore.open(path: folder.file(name))
        for set in sets { _ = try await store.apply([set]) }
        try await store.close()
    }
}
