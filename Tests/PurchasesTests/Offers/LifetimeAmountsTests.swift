import AppStoreModels
import Purchases
import Testing

@Suite("Amounts that a customer paid")
struct LifetimeAmountsTests {
    private func purchase(
        _ price: Int64?, _ currency: String? = "USD",
        _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.price = price
        payload.currency = currency
        configure(&payload)
        return payload
    }

    @Test("Prices are added by currency; purchases without a price or a currency add nothing")
    func sums() {
        let amounts = LifetimeAmounts([
            purchase(9_990), purchase(1_000), purchase(500, "EUR"), purchase(nil), purchase(0), purchase(-5),
            purchase(700, nil),
        ])
        #expect(amounts.purchased == ["USD": 10_990, "EUR": 500])
        #expect(amounts.refunded.isEmpty && amounts.refunds == 0)
    }

    @Test("A refund without a percentage is a full one, and a percentage is between 0 and 100 %")
    func refunds() {
        func refund(_ percentage: Int32?) -> LifetimeAmounts {
            LifetimeAmounts([
                purchase(2_000) {
                    $0.revocationDate = 1
                    $0.revocationPercentage = percentage
                }
            ])
        }
        let parts: [(Int32?, Int64)] = [
            (nil, 2_000), (100_000, 2_000), (25_500, 510), (0, 0), (-1, 0), (200_000, 2_000),
        ]
        for (percentage, part) in parts {
            let amounts = refund(percentage)
            #expect(amounts.purchased == ["USD": 2_000] && amounts.refunded == ["USD": part])
            #expect(amounts.refunds == 1)
        }
        #expect(LifetimeAmounts([purchase(nil) { $0.revocationDate = 1 }]).refunds == 1)
    }

    @Test("Upgrades and the end of Family Sharing are no refunds, and shared purchases do not count")
    func others() {
        let upgraded = purchase(2_000) {
            $0.revocationDate = 1
            $0.isUpgraded = true
        }
        let unshared = purchase(1_000) {
            $0.revocationDate = 1
            $0.revocationType = .familyRevoke
        }
        let shared = purchase(500) {
            $0.revocationDate = 1
            $0.revocationType = .refundFull
            $0.inAppOwnershipType = .familyShared
        }
        let amounts = LifetimeAmounts([upgraded, unshared, shared])
        #expect(amounts.purchased == ["USD": 3_000] && amounts.refunded.isEmpty && amounts.refunds == 0)
    }

    @Test("An assigned subscription does not count, also a period whose documents do not state the assignment")
    func assignedPeriods() throws {
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = Samples.month(0) + Samples.day
        let refunded = TransactionFact(
            payload: Samples.period(0, 1) { $0.inAppOwnershipType = nil }, legacy: legacy,
            origin: FactOrigin(source: .receipt, signedDate: Samples.month(2)))
        for (ownership, refunds) in [(InAppOwnershipType.purchased, 1), (InAppOwnershipType.assigned, 0)] {
            let renewal = TransactionFact(
                payload: Samples.period(1, 2) { $0.inAppOwnershipType = ownership }, legacy: nil,
                origin: FactOrigin(source: .appStoreServerAPI, signedDate: Samples.month(2)))
            let scope = StoreScope(environment: .production, bundleId: "com.example.app")
            let customer = try #require(
                Customer(resolving: [FactSet(scope: scope, transactions: [refunded, renewal])]))
            #expect(customer.lifetimeAmounts(catalog: nil).refunds == refunds)
        }
    }

    @Test("The refunds and revocations of a report include the end of Family Sharing, and not refunded seats")
    func refundsOfAReport() throws {
        let payloads = [
            Samples.period(0, 1) { $0.revocationDate = Samples.month(1) },
            Samples.period(2, 3) {
                $0.originalTransactionId = "shared"
                $0.inAppOwnershipType = .familyShared
                $0.revocationDate = Samples.month(3)
                $0.revocationType = .familyRevoke
            },
            Samples.period(4, 5) {
                $0.originalTransactionId = "team"
                $0.quantity = 5
                $0.multiSeatInfo = TransactionMultiSeatInfo { $0.revokedSeatQuantity = 2 }
            },
        ]
        let facts = payloads.map { payload in
            TransactionFact(
                payload: payload, legacy: nil,
                origin: FactOrigin(source: .appStoreServerAPI, signedDate: Samples.month(6)))
        }
        let scope = StoreScope(environment: .production, bundleId: "com.example.app")
        let customer = try #require(Customer(resolving: [FactSet(scope: scope, transactions: facts)]))
        #expect(Set(customer.revokedPurchases(catalog: nil).compactMap(\.transactionId)) == ["t0", "t2"])
        #expect(customer.lifetimeAmounts(catalog: nil).refunds == 2)
    }

    @Test(
        "The price of a transaction with seats is that of one seat; an assigned purchase was paid by another; no sum overflows"
    )
    func seats() {
        let team = purchase(1_000) {
            $0.quantity = 5
            $0.multiSeatInfo = TransactionMultiSeatInfo()
        }
        let partly = LifetimeAmounts([
            purchase(1_000) {
                $0.quantity = 5
                $0.multiSeatInfo = TransactionMultiSeatInfo { $0.revokedSeatQuantity = 2 }
            }
        ])
        #expect(partly.purchased == ["USD": 5_000] && partly.refunded == ["USD": 2_000] && partly.refunds == 1)
        let assigned = purchase(1_000) { $0.inAppOwnershipType = .assigned }
        #expect(LifetimeAmounts([assigned]).purchased.isEmpty)
        let apples = purchase(1_000) { $0.quantity = 5 }
        #expect(LifetimeAmounts([team]).purchased == ["USD": 5_000])
        #expect(LifetimeAmounts([apples]).purchased == ["USD": 1_000])
        #expect(LifetimeAmounts([purchase(.max), purchase(.max)]).purchased == ["USD": .max])
    }
}
