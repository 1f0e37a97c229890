import AppStoreModels
import Purchases
import Testing

@Suite("The start of a subscription")
struct SubscriptionStartTests {
    private func start(_ transactions: [JWSTransactionDecodedPayload], of id: String) -> Int64? {
        Samples.history(transactions).transactionsByPurchase[id]?.subscriptionStart
    }

    @Test("A subscription starts with the earliest purchase of its transactions")
    func earliest() {
        let periods = Samples.monthly(2..<5)
        #expect(start(periods, of: "original") == Samples.month(2))
        #expect(start(periods.reversed(), of: "original") == Samples.month(2))
        #expect(start(periods, of: "other") == nil)
    }

    @Test("A subscription of which only a late period is known started at its original purchase, as for a product")
    func original() {
        let late = Samples.period(8, 9) { $0.originalPurchaseDate = Samples.month(2) }
        #expect(start([late], of: "original") == Samples.month(2))
        let standing = Samples.history([late]).productStandings(at: Samples.month(8)).first
        #expect(standing?.bought == Samples.month(2))
    }

    @Test("A subscription without an original transaction id has a start too")
    func withoutOriginalId() {
        var period = Samples.period(1, 2)
        period.originalTransactionId = nil
        let standings = Samples.history([period]).subscriptions(at: Samples.month(1))
        #expect(standings.map(\.subscriptionId) == ["t1"])
        #expect(start([period], of: "t1") == Samples.month(1))
    }
}
