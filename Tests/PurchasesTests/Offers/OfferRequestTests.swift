import AppStoreModels
import Purchases
import TestSupport
import Testing

@Suite("Checks before an offer is signed")
struct OfferRequestTests {
    private func other(group: String?) -> JWSTransactionDecodedPayload {
        Samples.period("other", 0, 1, group: group) {
            $0.transactionId = "o0"
            $0.originalTransactionId = "other"
        }
    }

    @Test("A promotional offer is for customers who bought a subscription of the group, in any situation")
    func promotional() {
        func request(_ transactions: [JWSTransactionDecodedPayload]) -> PromotionalRequest {
            Samples.history(transactions).promotionalRequest(group: Samples.group, at: Samples.month(5))
        }
        let bought = Samples.history(Samples.monthly(0..<3)).promotionalCandidates(at: Samples.month(5))
        #expect(bought.first.map(PromotionalRequest.redeemable) == request(Samples.monthly(0..<3)))
        #expect(request([other(group: "elsewhere")]) == .neverSubscribed)
        #expect(request([]) == .neverSubscribed)
    }

    @Test("A subscription of an unknown group may be of the group")
    func groupUnknown() {
        func request(_ transactions: [JWSTransactionDecodedPayload]) -> PromotionalRequest {
            Samples.history(transactions).promotionalRequest(group: Samples.group, at: Samples.month(5))
        }
        #expect(request([other(group: nil)]) == .groupUnknown(productId: "other"))
        guard case .redeemable = request(Samples.monthly(0..<3) + [other(group: nil)]) else {
            Issue.record("The subscription of the group decides.")
            return
        }
    }

    @Test("An introductory offer that the customer had counts forever")
    func hadIntroductoryOffer() {
        var periods = Samples.monthly(0..<3)
        func verdict() -> OfferVerdict {
            Samples.history(periods).introductoryEligibility(group: Samples.group, at: Samples.month(5))
        }
        #expect(!verdict().hadIntroductoryOffer)
        periods[0].offerType = .introductory
        #expect(verdict().hadIntroductoryOffer)
    }

    @Test("A developer's decision allows another introductory offer, but not one during a subscription")
    func introductoryOfferByDecision() {
        let used = Samples.period(0, 3) { $0.offerType = .introductory }
        func verdict(at month: Int64) -> OfferVerdict {
            Samples.history([used]).introductoryEligibility(group: Samples.group, at: Samples.month(month))
        }
        #expect(!verdict(at: 2).isEligibleByDecision)
        #expect(verdict(at: 5).isEligibleByDecision && verdict(at: 5).eligibility == .notEligible)
    }

    /// A customer with two purchases, one period each.
    @inline(never)
    private func customer(_ sources: [FactSource] = [.receipt, .receipt]) throws -> Customer {
        let facts = zip(["10", "20"], sources).map { id, source in
            let payload = Samples.period(0, 1) {
                $0.transactionId = id
                $0.originalTransactionId = id
            }
            return TransactionFact(
                payload: payload, legacy: nil, origin: FactOrigin(source: source, signedDate: Samples.month(0)))
        }
        let scope = StoreScope(environment: .production, bundleId: "com.example.app")
        return try unwrap(Customer(resolving: [FactSet(scope: scope, transactions: facts)]))
    }

    @Test("The App Store must answer about each signed purchase and the redeeming one, and know one of them")
    func answers() throws {
        let customer = try customer()
        func answers(
            _ times: [String: Int64], unknown: Set<String> = [], redeeming: String? = "10", of customer: Customer
        ) -> OfferAnswers {
            customer.offerAnswers(redeeming: redeeming, times: times, unknown: unknown, notBefore: 100)
        }
        #expect(answers([:], of: customer) == .due(["10", "20"]))
        #expect(answers(["10": 100, "20": 99], of: customer) == .due(["20"]))
        #expect(answers(["10": 100, "20": 100], of: customer) == .complete)
        // A purchase that the App Store does not know counts as it is, unless it redeems the offer.
        #expect(answers(["10": 100], unknown: ["20"], of: customer) == .complete)
        #expect(answers(["20": 100], unknown: ["10"], of: customer) == .notKnown)
        #expect(answers([:], unknown: ["10", "20"], redeeming: nil, of: customer) == .notKnown)
        #expect(answers(["10": 100, "20": 100, "30": 100], of: customer) == .erased)
        // If there are signed purchases, unsigned ones need no answer, except the redeeming one.
        let mixed = try self.customer([.receipt, .recordedReply])
        #expect(answers(["10": 100], of: mixed) == .complete)
        #expect(answers(["10": 100], redeeming: "20", of: mixed) == .due(["20"]))
        let unsigned = try self.customer([.recordedReply, .recordedReply])
        #expect(answers(["10": 100], of: unsigned) == .due(["20"]))
    }

    @Test("StoreKit redeems an offer with any transaction of the customer, or the appTransactionId")
    func redeeming() throws {
        let customer = try customer()
        #expect(customer.redeems("10") && customer.redeems("20"))
        #expect(!customer.redeems("30"))
    }
}
