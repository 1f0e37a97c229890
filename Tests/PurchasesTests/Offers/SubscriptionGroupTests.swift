import Purchases
import Testing

@Suite("Subscription groups of products")
struct SubscriptionGroupTests {
    private func statement(
        _ product: String?, of subscription: String?, group: String? = nil, isSigned: Bool = true
    ) -> SubscriptionGroups.Statement {
        SubscriptionGroups.Statement(
            productId: product, subscriptionId: subscription, group: group, isSigned: isSigned)
    }

    @Test("The group is of a transaction, else of the catalog, else of other products of the subscription")
    func order() {
        let statements = [
            statement("month", of: "1", group: "apple"), statement("year", of: "1"), statement("week", of: "1"),
            statement("other", of: "2"), statement(nil, of: "1"),
        ]
        let groups = SubscriptionGroups.ofProducts(statements, catalog: ["month": "catalog", "year": "catalog"])
        #expect(groups == ["month": "apple", "year": "catalog", "week": "apple"])
    }

    @Test("The group that a signed document states comes before that of a row, in any order of the transactions")
    func signed() {
        let row = statement("month", of: "1", group: "1", isSigned: false)
        let statements = [row, statement("month", of: "2", group: "9"), statement("month", of: "3", group: "8")]
        for order in [statements, statements.reversed(), [statements[1], row, statements[2]]] {
            #expect(SubscriptionGroups.ofProducts(order, catalog: ["month": "2"]) == ["month": "8"])
        }
        // A row alone comes before the catalog, whose groups can be those of a test.
        #expect(SubscriptionGroups.ofProducts([row], catalog: ["month": "2"]) == ["month": "1"])
    }

    @Test("A group reaches all products that subscriptions connect")
    func connected() {
        let statements = [
            statement("a", of: "1"), statement("b", of: "1"), statement("b", of: "2"),
            statement("c", of: "2", group: "20"), statement("d", of: "3"),
        ]
        #expect(SubscriptionGroups.ofProducts(statements, catalog: [:]) == ["a": "20", "b": "20", "c": "20"])
        #expect(SubscriptionGroups.ofProducts(Array(statements.prefix(2)), catalog: [:]).isEmpty)
    }
}
