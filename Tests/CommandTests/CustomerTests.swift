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

    @Test("Shows a customer as text: the query, and the tables that have rows")
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

    @Test("--json has all tables with the names of the export, and the data of the catalog")
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

    @Test(
        "--json has the other data that --erase removes: receipts, requests, entries, notifications, quarantined records"
    )
    func data() async throws {
        let folder = try Folder()
        let scope = StoreScope(environment: .production, bundleId: StoredPurchases.bundleId)
        let fact = StoredPurchases.fact("100", original: "100", 0, 1)
        let receipt = KnownReceipt(form: .app, bytes: Array("receipt".utf8), signedDate: StoredPurchases.month(1))
        let notification = ProcessedNotification(
            notificationUUID: "a", notificationType: "CONSUMPTION_REQUEST", subtype: nil,
            signedDate: StoredPurchases.month(1), body: Array(#"{"data":{"originalTransactionId":"100"}}"#.utf8))
        let other = ProcessedNotification(
            notificationUUID: "b", notificationType: "REFUND", subtype: nil,
            signedDate: StoredPurchases.month(1), body: Array(#"{"data":{"originalTransactionId":"1001"}}"#.utf8))
        try await StoredPurchases.makeStore(
            StoredPurchases.sets + [
                FactSet(scope: scope, transactions: [fact], receipt: receipt),
                FactSet(scope: scope, transactions: [fact], notification: notification),
                FactSet(scope: scope, notification: other),
            ], in: folder)
        let lines = ["anna", "bert"].map { user in
            #"{"reason":"unknownForm","verdict":"notAReceipt","message":"m","source":{"input":"a","line":1},"#
                + #""record":{"user_id":"\#(user)"},"original":"x"}"#
        }
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply(
            MigrationStep(
                users: [
                    UserClaim(
                        scope: scope, identity: CustomerIdentity(.originalTransactionId, "100"), userId: "anna")
                ], quarantined: lines.map { QuarantinedRecord(line: Array($0.utf8)) }))
        try await store.close()
        let outcome = try await customer("anna", "--json", in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
        let root = try outcome.object()
        let match = try #require((root["matches"] as? [[String: Any]])?.first)
        let receipts = try #require(match["receipts"] as? [[String: Any]])
        #expect(receipts.map { $0["receipt"] as? String } == ["cmVjZWlwdA=="])
        #expect(receipts.map { $0["form"] as? String } == ["app"])
        let requests = try #require(match["consumption_requests"] as? [[String: Any]])
        #expect(requests.map { $0["notificationUUID"] as? String } == ["a"])
        #expect(requests.map { $0["deadline"] as? Int } == [Int(StoredPurchases.month(1)) + 12 * 3_600_000])
        let entries = try #require(match["ledger_entries"] as? [[String: Any]])
        let events = entries.compactMap { $0["event"] as? String }
        #expect(Set(events) == ["started", "renewed", "consumptionRequested"] && events.count == entries.count)
        #expect(Set(entries.compactMap { $0["transactionId"] as? String }) == ["100", "101", "102"])
        let notifications = try #require(match["notifications"] as? [[String: Any]])
        #expect(notifications.map { $0["notificationUUID"] as? String } == ["a"])
        #expect((notifications.first?["body"] as? String)?.contains(#""originalTransactionId":"100""#) == true)
        let records = try #require(root["quarantined_records"] as? [[String: Any]])
        #expect(records.compactMap { ($0["record"] as? [String: Any])?["user_id"] as? String } == ["anna"])
        let erased = try await customer("anna", "--erase", "--yes", in: folder).output
        for (name, count) in [
            ("receipts", 1), ("ledger entries", entries.count), ("consumption requests", 1), ("notifications", 1),
            ("records in quarantine", 1),
        ] { #expect(erased.contains(" \(name) \(count)"), "\(erased)") }
    }

    @Test("Exits with 1 if no customer has the id, and lists the kinds of id that it searched")
    func none() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await customer("7\u{1B}[31m", in: folder)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(
            outcome.error == """
                No customer has the id 7\\u{1b}[31m. Searched as transactionId, originalTransactionId, \
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
        #expect(missing.status == 2 && missing.error.contains("The file store.sqlite does not exist"))
        #expect(folder.names(".").isEmpty)
        try await StoredPurchases.makeStore(in: folder)
        #expect(try await customer("", in: folder).status == 2)
        #expect(try await customer("7", "--catalog", "none.yaml", in: folder).status == 2)
        #expect(try await customer("7", "--at", "soon", in: folder).status == 2)
    }
}
