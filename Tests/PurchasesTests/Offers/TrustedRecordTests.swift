import AppStoreModels
import ProductCatalog
import Purchases
import TestSupport
import Testing

@Suite("Unsigned documents in a reply")
struct TrustedRecordTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.app")

    private func fact(
        _ id: String, _ source: FactSource, cancelled: Int64? = nil, type: ProductType? = .autoRenewableSubscription
    ) -> TransactionFact {
        let payload = Samples.period(0, 1) {
            $0.transactionId = id
            $0.originalTransactionId = id
            $0.type = type
            if type != .autoRenewableSubscription { $0.expiresDate = nil }
        }
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = cancelled
        legacy.cancellationReason = cancelled.map { _ in 1 }
        let date = source == .receipt ? Samples.month(0) : Samples.month(1)
        return TransactionFact(payload: payload, legacy: legacy, origin: FactOrigin(source: source, signedDate: date))
    }

    @inline(never)
    private func customer(_ facts: [TransactionFact], _ infos: [RenewalInfoFact] = []) throws -> Customer {
        try unwrap(Customer(resolving: [FactSet(scope: Self.scope, transactions: facts, renewalInfos: infos)]))
    }

    @Test("A cancellation that only an unsigned document states counts for callers that trust it")
    func cancellation() throws {
        let date = Samples.month(0) + Samples.day
        let found = try customer([fact("10", .receipt), fact("10", .recordedReply, cancelled: date)]).transactions
        let transaction = try unwrap(found.first)
        #expect(transaction.completeLegacy.cancellationDate == nil)
        #expect(transaction.trustedLegacy.cancellationDate == date && transaction.trustedLegacy.cancellationReason == 1)
        // A signed one counts for all.
        let signed = try unwrap(try customer([fact("10", .receipt, cancelled: date)]).transactions.first)
        #expect(signed.completeLegacy.cancellationDate == date && signed.trustedLegacy == signed.completeLegacy)
    }

    @Test("A reply lists unsigned transactions only for callers that trust them, and finished consumables for none")
    func listing() throws {
        let facts = [
            fact("10", .receipt), fact("20", .recordedReply), fact("30", .receipt, type: .consumable),
            fact("40", .recordedReply, type: .consumable),
        ]
        func listed(newestList: Int64?, trustsRecorded: Bool) throws -> [String] {
            try customer(facts).transactions.filter {
                $0.isListed(newestList: newestList, catalog: nil, trustsRecorded: trustsRecorded)
            }.compactMap(\.payload.transactionId).sorted()
        }
        #expect(try listed(newestList: Samples.month(0), trustsRecorded: false) == ["10", "30"])
        #expect(try listed(newestList: Samples.month(1), trustsRecorded: false) == ["10"])
        #expect(try listed(newestList: Samples.month(1), trustsRecorded: true) == ["10", "20"])
    }

    @Test("Recorded renewal infos count if a signed transaction of their subscription is known, or if they are trusted")
    func renewalInfos() throws {
        let stated: [(String, FactSource)] = [
            ("10", .recordedReply), ("20", .recordedReply), ("20", .notificationV2), ("30", .recordedReply),
        ]
        let infos = stated.map { id, source in
            RenewalInfoFact(
                payload: JWSRenewalInfoDecodedPayload { $0.originalTransactionId = id },
                origin: FactOrigin(source: source, signedDate: Samples.month(1)))
        }
        let customer = try customer([fact("10", .receipt), fact("30", .recordedReply)], infos)
        func counting(trustsRecorded: Bool) -> [String?] {
            customer.countingRenewalInfos(trustsRecorded: trustsRecorded).map(\.payload.originalTransactionId)
        }
        #expect(counting(trustsRecorded: false) == ["10", "20"])
        #expect(counting(trustsRecorded: true) == ["10", "20", "30"])
    }
}
