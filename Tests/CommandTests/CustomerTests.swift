import AppStoreModels
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

@Suite("customer", .timeLimit(.minutes(10)))
struct CustomerTests {
    private func customer(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(["customer", "--store", "sqlite:store.sqlite"] + arguments, in: folder)
    }

    @Test("Shows a customer as text: what was asked, and the tables that have rows")
    func text() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await customer("201", "--at", "2023-03-20", in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.first == "1 customer has the id 201. As of 2023-03-20T00:00:00Z.")
        #expect(lines.contains("Customer 1 of 1, found by transactionId"))
        for table in [
            "customers", "entitlements", "subscriptions", "periods", "transactions", "offers_used", "documents",
        ] { #expect(lines.contains(table), "\(table)") }
        #expect(!lines.contains("terms") && !lines.contains("conflicts"))
        let place = try #require(lines.firstIndex(of: "periods"))
        #expect(
            lines[(place + 1)...(place + 3)].map { $0.split(separator: " ").map(String.init) } == [
                [
                    "periodStart", "periodEnd", "productId", "transactionId", "originalTransactionId", "offerType",
                    "isFamilyShared",
                ],
                ["2023-01-15T18:00:00Z", "2023-02-15T18:00:00Z", "premium", "200", "200", "1", "false"],
                ["2023-02-15T18:00:00Z", "2023-03-15T17:00:00Z", "premium", "201", "200", "-", "false"],
            ])
    }

    @Test("--json has all tables with the names of the export, and what the catalog adds")
    func json() async throws {
        let folder = try Folder()
        let pass = StoredPurchases.purchase("500", "pass", .nonRenewingSubscription, month: 0)
        try await StoredPurchases.makeStore(
            StoredPurchases.sets + [StoredPurchases.set([pass], tokens: [StoredPurchases.token])], in: folder)
        try folder.write("products.yaml", StoredPurchases.catalog.utf8)
        let outcome = try await customer(
            StoredPurchases.token.uppercased(), "--json", "--catalog", "products.yaml", "--at", "2023-02-20", in: folder
        )
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
        let root = try outcome.object()
        let match = try #require((root["matches"] as? [[String: Any]])?.first)
        #expect(match["kinds"] as? [String] == ["appAccountToken"])
        let terms = try #require(match["terms"] as? [[String: Any]])
        #expect(terms.map { $0["transactionId"] as? String } == ["500"])
        let entitlements = try #require(match["entitlements"] as? [[String: Any]])
        #expect(entitlements.map { $0["status"] as? String } == ["active", "active"])
    }

    @Test("Exits with 1 if no customer has the id, and says as what it was looked for")
    func none() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await customer("7\u{1B}[31m", in: folder)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(
            outcome.error == """
                No customer has the id 7\\u{1b}[31m. It was looked for as transactionId, originalTransactionId, \
                webOrderLineItemId, appTransactionId, appAccountToken, receiptDigest and userId.

                """)
        let json = try await customer("7", "--json", in: folder)
        #expect(json.status == 1)
        #expect((try json.object()["matches"] as? [Any])?.isEmpty == true)
    }

    @Test("A user id with several customers shows all, and the purchases that the store does not know")
    func users() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let scope = StoreScope(environment: .production, bundleId: StoredPurchases.bundleId)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let users = [("100", "anna"), ("300", "anna"), ("300", "bert"), ("999", "anna")].map { purchase, user in
            UserClaim(scope: scope, identity: CustomerIdentity(.originalTransactionId, purchase), userId: user)
        }
        _ = try await store.apply(MigrationStep(users: users))
        try await store.close()
        let outcome = try await customer("anna", in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("2 customers have the id anna."))
        #expect(outcome.output.contains("\nCustomer 2 of 2, found by userId\n"))
        #expect(outcome.output.contains("\nconflicts\n"))
        #expect(outcome.output.contains("for purchases without a document in the store: 999.\n"))
    }

    @Test("A store that is missing, a catalog that is none and an empty id are errors; nothing is made")
    func errors() async throws {
        let folder = try Folder()
        let missing = try await customer("7", in: folder)
        #expect(missing.status == 2 && missing.error.contains("There is no file store.sqlite"))
        #expect(folder.names(".").isEmpty)
        try await StoredPurchases.makeStore(in: folder)
        #expect(try await customer("", in: folder).status == 2)
        #expect(try await customer("7", "--catalog", "none.yaml", in: folder).status == 2)
        #expect(try await customer("7", "--at", "soon", in: folder).status == 2)
    }
}
