import AppStoreModels
import Foundation
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

/// The consumption requests that a store keeps.
@Suite("app-store consumption, the requests in a store", .timeLimit(.minutes(10)))
struct ConsumptionTests {
    private static let reason = "UNINTENDED_PURCHASE"

    /// The notification about a purchase, of a number of hours after the beginning of the calendar.
    private static func request(_ uuid: String, _ fact: TransactionFact, hours: Int64) -> FactSet {
        FactSet(
            scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId), transactions: [fact],
            notification: ProcessedNotification(
                notificationUUID: uuid, notificationType: "CONSUMPTION_REQUEST", subtype: nil,
                signedDate: StoredPurchases.month(0) + hours * 3_600_000,
                body: Array("{\"data\":{\"consumptionRequestReason\":\"\(reason)\"}}".utf8)))
    }

    private static func coins(_ id: String, price: Int64 = 990, refunded: Bool = false) -> TransactionFact {
        var fact = StoredPurchases.purchase(id, "coins", .consumable, month: 0, refunded: refunded ? 0 : nil)
        fact = TransactionFact(
            payload: {
                var payload = fact.payload
                payload.price = price
                payload.currency = "USD"
                payload.appAccountToken = StoredPurchases.token
                payload.revocationPercentage = refunded ? 50_000 : nil
                return payload
            }(), legacy: nil, origin: fact.origin)
        return fact
    }

    /// Requests about two purchases of one customer, who had another one refunded in part, and about a subscription.
    private func makeStore(in folder: Folder) async throws {
        let month = StoredPurchases.fact("100", original: "100", 0, 1) { $0.currency = "EUR" }
        try await StoredPurchases.makeStore(
            [
                StoredPurchases.set([Self.coins("1")]),
                StoredPurchases.set([Self.coins("2", price: 19_900, refunded: true)]),
                Self.request("b", Self.coins("1"), hours: 2), Self.request("a", month, hours: 24),
                Self.request("c", Self.coins("3"), hours: 1),
            ], in: folder)
    }

    private func run(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(
            ["app-store", "consumption"] + arguments + ["--store", "sqlite:store.sqlite"], in: folder)
    }

    /// 13.5 hours after the beginning of the calendar: of the three, one deadline has passed.
    private static let at = Date(timeIntervalSince1970: Double(StoredPurchases.month(0)) / 1000 + 13.5 * 3600)
        .formatted(.iso8601)

    @Test("pending lists the soonest deadline first, marks missed requests, and shows what the store has")
    func pending() async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        let outcome = try await run("pending", "--at", Self.at, in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        try #require(lines.count == 6, "\(outcome.output)")
        #expect(lines[0].hasPrefix("state deadline transactionId productId type reason delivered elapsed purchased"))
        #expect(lines[1] == "MISSED 2023-01-16T07:00:00Z 3 coins Consumable \(Self.reason) - - 21.88 USD 9.95 USD c")
        #expect(lines[2] == "open 2023-01-16T08:00:00Z 1 coins Consumable \(Self.reason) - - 21.88 USD 9.95 USD b")
        #expect(
            lines[3]
                == "open 2023-01-17T06:00:00Z 100 premium Auto-Renewable Subscription \(Self.reason) - 3 % 9.99 EUR - a"
        )
        #expect(lines[4].hasPrefix("Missed: 1."))
        let same = try await run("--pending", "--at", Self.at, in: folder)
        #expect(same.output == outcome.output)
    }

    @Test("pending --json has Apple's names, and the deadline 12 hours after the request")
    func pendingJSON() async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        let outcome = try await run("--pending", "--json", "--at", Self.at, in: folder)
        let tasks = try #require(try outcome.object()["tasks"] as? [[String: Any]], "\(outcome)")
        try #require(tasks.count == 3)
        #expect(tasks.map { $0["state"] as? String } == ["missed", "open", "open"])
        let task = tasks[1]
        #expect(task["notificationUUID"] as? String == "b" && task["transactionId"] as? String == "1")
        #expect(task["requestedDate"] as? Int64 == StoredPurchases.month(0) + 2 * 3_600_000)
        #expect(task["deadline"] as? Int64 == StoredPurchases.month(0) + 14 * 3_600_000)
        #expect(task["consumptionRequestReason"] as? String == Self.reason)
        #expect(task["environment"] as? String == "Production" && task["appAccountToken"] as? String != nil)
        #expect(task["lifetimePurchased"] as? [String: Int] == ["USD": 21_880])
        #expect(task["lifetimeRefunded"] as? [String: Int] == ["USD": 9_950] && task["refunds"] as? Int == 1)
        #expect(task["isDelivered"] == nil)
    }

    @Test("pending --catalog counts the refunds of restored copies as report does")
    func refundsOfCopies() async throws {
        let folder = try Folder()
        // Rows of an old reply state no type.
        let copies = ["500", "501"].map { id in
            var payload = StoredPurchases.purchase(id, "lifetime", nil, month: 0).payload
            payload.originalTransactionId = "500"
            var legacy = LegacyTransactionFields()
            legacy.cancellationDate = StoredPurchases.month(1)
            return TransactionFact(
                payload: payload, legacy: legacy,
                origin: FactOrigin(source: .recordedReply, signedDate: StoredPurchases.month(1)))
        }
        let rows = FactSet(
            scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
            identities: [CustomerIdentity(.appAccountToken, StoredPurchases.token)], transactions: copies)
        try await StoredPurchases.makeStore([rows, Self.request("a", Self.coins("1"), hours: 2)], in: folder)
        try folder.write("products.yaml", StoredPurchases.catalog.utf8)
        for (catalog, refunds) in [(["--catalog", "products.yaml"], 1), ([], 2)] {
            let pending = try await Command.run(
                ["app-store", "consumption", "pending", "--json", "--store", "sqlite:store.sqlite"] + catalog,
                in: folder)
            let tasks = try #require(try pending.object()["tasks"] as? [[String: Any]], "\(pending)")
            #expect(tasks.map { $0["refunds"] as? Int } == [refunds], "\(pending)")
            let report = try await Command.run(["report", "--store", "sqlite:store.sqlite"] + catalog, in: folder)
            #expect(report.status == 0, "\(report)")
            #expect(try folder.text("report.html").contains("<b>\(refunds)</b>refunds and revocations"))
        }
    }

    @Test("pending --consumer shows what the consumer of the ledger has acknowledged; an unknown consumer is an error")
    func delivered() async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let first = try #require(try await store.changes(after: 0, limit: 10).first { $0.transactionId == "1" })
        try await store.acknowledge(first.position, by: "shop")
        try await store.close()
        let outcome = try await run("--pending", "--json", "--consumer", "shop", in: folder)
        let tasks = try #require(try outcome.object()["tasks"] as? [[String: Any]], "\(outcome)")
        let delivered = Dictionary(
            uniqueKeysWithValues: tasks.map { ($0["transactionId"] as? String ?? "", $0["isDelivered"] as? Bool) })
        #expect(delivered == ["1": true, "3": false, "100": false])
        let unknown = try await run("--pending", "--consumer", "missing", in: folder)
        #expect(unknown.status == 2 && unknown.error == "Error: The ledger has no consumer missing.\n", "\(unknown)")
    }

    @Test("pending --rules shows the answer of the first rule whose conditions all hold")
    func rules() async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let first = try #require(try await store.changes(after: 0, limit: 10).first { $0.transactionId == "1" })
        try await store.acknowledge(first.position, by: "shop")
        try await store.close()
        func preferences(_ conditions: String...) async throws -> [String: String] {
            let rules = conditions.enumerated().map {
                """
                {"when": \($1), "answer": {"deliveryStatus": "DELIVERED", "sampleContentProvided": true,
                    "refundPreference": "\($0 == 0 ? "DECLINE" : "GRANT_FULL")"}}
                """
            }
            try folder.write("rules.json", "{\"rules\": [\(rules.joined(separator: ","))]}".utf8)
            let outcome = try await run(
                "--pending", "--json", "--consumer", "shop", "--rules", "rules.json", in: folder)
            let tasks = try #require(try outcome.object()["tasks"] as? [[String: Any]], "\(outcome)")
            var found: [String: String] = [:]
            for task in tasks { found[task["transactionId"] as? String ?? ""] = task["refundPreference"] as? String }
            return found
        }
        let all = ["1": "DECLINE", "3": "DECLINE", "100": "DECLINE"]
        #expect(try await preferences("{}") == all)
        #expect(try await preferences("{\"consumptionRequestReason\": \"\(Self.reason)\"}") == all)
        #expect(try await preferences("{\"consumptionRequestReason\": \"LEGAL\"}") == [:])
        #expect(
            try await preferences("{\"type\": \"Consumable\"}", "{}")
                == ["1": "DECLINE", "3": "DECLINE", "100": "GRANT_FULL"])
        #expect(try await preferences("{\"productId\": \"premium\"}") == ["100": "DECLINE"])
        #expect(try await preferences("{\"productId\": \"prem*\"}") == ["100": "DECLINE"])
        #expect(try await preferences("{\"productId\": \"prem\"}") == [:])
        #expect(try await preferences("{\"isDelivered\": true}") == ["1": "DECLINE"])
        #expect(try await preferences("{\"isDelivered\": false}") == ["3": "DECLINE", "100": "DECLINE"])
        #expect(try await preferences("{\"minimumRefunds\": 1}") == ["1": "DECLINE", "3": "DECLINE"])
        #expect(try await preferences("{\"minimumRefunds\": 2}") == [:])
        #expect(try await preferences("{\"type\": \"Consumable\", \"isDelivered\": false}") == ["3": "DECLINE"])
        let text = try await run("--pending", "--consumer", "shop", "--rules", "rules.json", in: folder).output
        #expect(text.contains("rule") && text.contains("rules[0]  DECLINE"), "\(text)")
    }

    @Test("The rules that the documentation shows are rules", arguments: ["MIGRATION.md", "Documentation/AppStore.md"])
    func documentedRules(document: String) async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await store.acknowledge(1, by: "shop")
        try await store.close()
        let text = try String(contentsOf: PackageFolder.url.appending(path: document), encoding: .utf8)
        let rules = text.components(separatedBy: "```").filter { $0.hasPrefix("json\n{\"rules\"") }
        #expect(rules.count == 1)
        for block in rules {
            try folder.write("rules.json", block.dropFirst(5).utf8)
            let outcome = try await run("--pending", "--consumer", "shop", "--rules", "rules.json", in: folder)
            #expect(outcome.status == 0 && outcome.output.contains("rules["), "\(outcome)")
        }
    }

    @Test("dismiss removes a request from the list for good, and says which are not open")
    func dismiss() async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        let first = try await run("dismiss", "C", "b", in: folder)
        #expect(first.status == 0 && first.output == "Dismissed: 2; not open: 0\n", "\(first)")
        let second = try await run("dismiss", "b", "unknown", in: folder)
        #expect(second.status == 1 && second.output == "Dismissed: 0; not open: 2\n", "\(second)")
        #expect(try await run("--pending", "--at", Self.at, in: folder).output.hasSuffix(" a\n"))
        _ = try await run("dismiss", "a", in: folder)
        #expect(try await run("--pending", in: folder).output == "No open consumption requests.\n")
    }

    @Test("dismiss --missed-before removes only requests whose deadline passed before the date")
    func dismissMissed() async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        for (date, expected) in [("2023-01-16T07:00:00Z", 0), (Self.at, 1), (Self.at, 0)] {
            let outcome = try await run("dismiss", "--missed-before", date, in: folder)
            #expect(outcome.status == 0 && outcome.output == "Dismissed: \(expected)\n", "\(outcome)")
        }
        let left = try await run("--pending", "--json", in: folder)
        let tasks = try #require(try left.object()["tasks"] as? [[String: Any]], "\(left)")
        #expect(tasks.map { $0["notificationUUID"] as? String } == ["b", "a"])
        let future = try await run("dismiss", "--missed-before", "9000-01-01", in: folder)
        #expect(future.status == 2 && future.error.contains("takes a date in the past"), "\(future)")
        for arguments in [["dismiss"], ["dismiss", "b", "--missed-before", Self.at]] {
            let outcome = try await Command.run(
                ["app-store", "consumption"] + arguments + ["--store", "sqlite:store.sqlite"], in: folder)
            #expect(outcome.status == 2 && outcome.error.contains("Give the UUIDs of requests, or --missed-before."))
        }
    }

    @Test("store stats and store check count the open requests")
    func counted() async throws {
        let folder = try Folder()
        try await makeStore(in: folder)
        _ = try await run("dismiss", "c", in: folder)
        for command in ["stats", "check"] {
            let outcome = try await Command.run(["store", command, "--store", "sqlite:store.sqlite"], in: folder)
            let lines = outcome.output.split(separator: "\n")
            #expect(outcome.status == 0 && lines.contains("open consumption requests: 2"), "\(outcome)")
        }
        let json = try await Command.run(["store", "stats", "--store", "sqlite:store.sqlite", "--json"], in: folder)
        #expect(try json.object()["openConsumptionRequests"] as? Int == 2, "\(json)")
    }

    @Test("pending of a store that is not there is an error and makes none")
    func missing() async throws {
        let folder = try Folder()
        #expect(try await run("--pending", in: folder).status == 2 && folder.names("").isEmpty)
    }
}
