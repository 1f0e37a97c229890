import AppStoreModels
import ProductCatalog
import Purchases
import TestSupport
import Testing

@Suite("The end of the term of a non-renewing subscription")
struct TermEndTests {
    private let june = MappingSupport.june
    private var end: Int64 { june + 7 * MappingSupport.day }

    /// A term of one week from June.
    @inline(never)
    private func term(cancelled: Int64? = nil) throws -> NonRenewingTerm {
        let catalog = try MappingSupport.catalog(
            MappingSupport.entry("week") {
                $0.type = .nonRenewingSubscription
                $0.duration = SubscriptionPeriod(value: 7, unit: .day)
            })
        let payload = JWSTransactionDecodedPayload {
            $0.transactionId = "1"
            $0.originalTransactionId = "1"
            $0.productId = "week"
            $0.type = .nonRenewingSubscription
            $0.purchaseDate = june
            $0.originalPurchaseDate = june
        }
        var legacy = LegacyTransactionFields()
        legacy.cancellationDate = cancelled
        let fact = TransactionFact(
            payload: payload, legacy: legacy, origin: FactOrigin(source: .receipt, signedDate: june))
        let scope = StoreScope(environment: .production, bundleId: "com.example.app")
        let customer = try unwrap(Customer(resolving: [FactSet(scope: scope, transactions: [fact])]))
        return try unwrap(customer.nonRenewingTerms(catalog)["1"])
    }

    @Test("A term ends once when its time has come, unless that was before the beginning")
    func ends() throws {
        let term = try self.term()
        #expect(term.change(isEnded: false, from: june, to: end - 1) == nil)
        #expect(term.change(isEnded: false, from: june, to: end) == .endedByTime)
        #expect(term.change(isEnded: true, from: june, to: end) == nil)
        #expect(term.change(isEnded: false, from: end, to: end) == nil)
    }

    @Test("A term that had ended and was moved goes on")
    func goesOn() throws {
        #expect(try term().change(isEnded: true, from: june, to: end - 1) == .billingRecovered)
    }

    @Test("The next end of a term is its end; a refunded term does not end")
    func nextEnd() throws {
        let (term, refunded) = (try self.term(), try self.term(cancelled: june + 1))
        #expect(term.nextEnd(after: end - 1) == end && term.nextEnd(after: end) == nil)
        #expect(refunded.nextEnd(after: june) == nil)
        for isEnded in [false, true] {
            #expect(refunded.change(isEnded: isEnded, from: june, to: end) == nil)
            #expect(refunded.change(isEnded: isEnded, from: june, to: june) == nil)
        }
    }
}
