import AppStoreModels
import AppStoreSync
import Purchases
import Testing
import TransactionStore

@Suite("Apple's rules for answers about consumption")
struct ConsumptionRuleTests {
    @inline(never)
    private func problem(type: ProductType?, expires: Int64?) throws -> String? {
        let scope = StoreScope(environment: .production, bundleId: "com.example.orchard")
        let payload = JWSTransactionDecodedPayload {
            $0.transactionId = "1"
            $0.originalTransactionId = "1"
            $0.productId = "premium"
            $0.type = type
            $0.expiresDate = expires
        }
        let fact = TransactionFact(
            payload: payload, legacy: nil, origin: FactOrigin(source: .receipt, signedDate: 1_000))
        let task = ConsumptionTask(
            notificationUUID: "uuid", scope: scope, originalTransactionId: "1", transactionId: "1", reason: nil,
            requestedDate: 1_000, purchasedPosition: nil)
        let customer = Customer(resolving: [FactSet(scope: scope, transactions: [fact])])
        let rules = try ConsumptionRules(
            json: Array(#"{"rules":[{"answer":{"deliveryStatus":"DELIVERED","sampleContentProvided":false}}]}"#.utf8))
        let consent = ConsumptionConsent(customerConsented: true, consumptionPercentage: 50_000)
        do {
            _ = try ConsumptionCase(task, of: customer, catalog: nil, acknowledged: nil).answer(
                by: rules, with: consent)
            return nil
        } catch let problem as ConsumptionProblem {
            return problem.message
        }
    }

    @Test("An auto-renewable subscription has no consumption percentage, also if only its end shows the type")
    func subscription() throws {
        let message = "An auto-renewable subscription has no consumptionPercentage (rules[0])."
        #expect(try problem(type: .autoRenewableSubscription, expires: 2_000) == message)
        #expect(try problem(type: nil, expires: 2_000) == message)
        #expect(try problem(type: .consumable, expires: nil) == nil)
        #expect(try problem(type: nil, expires: nil) == nil)
    }
}
