import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Which documents are about one customer, without a store")
struct CustomerGroupTests {
    /// The original transaction ids of each customer.
    private func groups(_ sets: FactSet...) -> [[String]] {
        Customer.all(resolving: sets).map { $0.identities.map(\.value) }
    }

    @Test func documentsThatShareAnIdentity() {
        let (one, two) = (Samples.set(Samples.fact("1")), Samples.set(Samples.fact("2")))
        let both = Samples.set(Samples.fact("10", original: "1"), Samples.fact("20", original: "2"))
        #expect(groups(one, two) == [["1"], ["2"]])
        #expect(groups(one, two, both) == [["1", "2"]])
    }

    @Test func signedDocumentsOfOneTransactionUnderTwoOriginalIds() {
        let receipt = Samples.set(Samples.fact("7", original: "1"))
        let refund = Samples.fact("7", original: "2", source: .notificationV2) { $0.revocationDate = Samples.june }
        let other = Samples.set(Samples.fact("7", original: "3", source: .recordedReply))
        #expect(groups(receipt, other, Samples.set(refund)) == [["1", "2"], ["3"]])
        let moved = Samples.set(refund, scope: Samples.sandbox)
        #expect(groups(receipt, moved) == [["1"], ["2"]])
    }
}
