import AppStoreModels
import AppStoreSync
import ProductCatalog
import Purchases
import Testing
import TransactionStore

@Suite("Cases of consumption requests")
struct ConsumptionCaseTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.orchard")

    /// A refunded row of an old reply. Rows of that time state no type.
    private static func refundedRow(_ id: String) -> TransactionFact {
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = 2_000
        let payload = JWSTransactionDecodedPayload {
            $0.transactionId = id
            $0.originalTransactionId = "1"
            $0.productId = "lifetime"
            $0.purchaseDate = 1_000
            $0.price = 4_990
            $0.currency = "USD"
        }
        return TransactionFact(
            payload: payload, legacy: legacy, origin: FactOrigin(source: .recordedReply, signedDate: 3_000))
    }

    @Test("With the type that the catalog states, restored copies of a purchase are one purchase and one refund")
    func copiesAreRefundedOnce() throws {
        var entry = CatalogEntry(subject: .productId("lifetime"), source: CatalogSource(file: "catalog.yaml"))
        entry.type = .nonConsumable
        let catalog = try ProductCatalog(entries: [entry])
        let customer = try #require(
            Customer(
                resolving: [FactSet(scope: Self.scope, transactions: [Self.refundedRow("1"), Self.refundedRow("2")])]))
        let task = ConsumptionTask(
            notificationUUID: "uuid", scope: Self.scope, originalTransactionId: "1", transactionId: "2", reason: nil,
            requestedDate: 4_000, purchasedPosition: nil)
        let one = ConsumptionCase(task, of: customer, catalog: catalog, acknowledged: nil)
        #expect(one.refunds == 1 && one.refunds == customer.revokedPurchases(catalog: catalog).count)
        #expect(one.lifetimePurchased == ["USD": 4_990] && one.lifetimeRefunded == ["USD": 4_990])
        #expect(one.transaction?.type == .nonConsumable)
        // Without a type, nothing shows that they are copies.
        let untyped = ConsumptionCase(task, of: customer, catalog: nil, acknowledged: nil)
        #expect(untyped.refunds == 2 && untyped.refunds == customer.revokedPurchases(catalog: nil).count)
        #expect(untyped.transaction?.type == nil)
    }
}
