import Purchases
import Testing

@Suite("Subscription groups of products")
struct SubscriptionGroupTests {
    private func statement(
        _ product: String?, of subscription: String?, group: String? = nil, isSigned: Bool = true,
        isGroupSigned: Bool? = nil
    ) -> SubscriptionGroups.Statement {
        SubscriptionGroups.Statement(
            productId: product, subscriptionId: subscription, group: group, isGroupSigned: isGroupSigned ?? isSigned,
            isSigned: isSigned)
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
        // A row alone comes after the catalog.
        #expect(SubscriptionGroups.ofProducts([row], catalog: ["month": "2"]) == ["month": "2"])
        #expect(SubscriptionGroups.ofProducts([row], catalog: [:]) == ["month": "1"])
    }

    @Test("A transaction is in the group that a signed document states about it, else in that of its product")
    func groupOfTransaction() {
        let known = ["month": "2"]
        #expect(statement("month", of: "1", group: "9").group(known) == "9")
        #expect(statement("month", of: "1", group: "1", isGroupSigned: false).group(known) == "2")
        #expect(statement("month", of: "1").group(known) == "2")
        #expect(statement("year", of: "1", group: "1", isSigned: false).group(known) == "1")
        #expect(statement(nil, of: "1").group(known) == nil)
    }

    @Test("The group that a row states counts last, also if the row adds it to a signed purchase")
    func rowBesideSigned() {
        let added = statement("month", of: "1", group: "forged", isGroupSigned: false)
        let received = statement("month", of: "1")
        let other = statement("month", of: "2", group: "forged", isSigned: false)
        for statements in [[added], [received, other], [other, received], [added, other]] {
            #expect(SubscriptionGroups.ofProducts(statements, catalog: [:]) == ["month": "forged"])
            #expect(SubscriptionGroups.ofProducts(statements, catalog: ["month": "20"]) == ["month": "20"])
        }
        // The known group of another product of the subscription comes before that of a row.
        let year = statement("year", of: "1", group: "forged", isSigned: false)
        #expect(
            SubscriptionGroups.ofProducts([received, year], catalog: ["month": "20"]) == ["month": "20", "year": "20"])
        let upgraded = statement("year", of: "1", group: "20")
        for order in [[added, upgraded], [upgraded, added]] {
            #expect(SubscriptionGroups.ofProducts(order, catalog: [:]) == ["month": "20", "year": "20"])
        }
        let unknown = statement("year", of: "1", isSigned: false)
        #expect(
            SubscriptionGroups.ofProducts([received, unknown], catalog: ["year": "20"]) == [
                "month": "20", "year": "20",
            ])
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
