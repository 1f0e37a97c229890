import AppStoreModels
import Foundation
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore

@Suite("offers", .timeLimit(.minutes(10)))
struct OffersTests {
    static let winBack = [
        "--kind", "win-back", "--offer-id", "come-back", "--group", StoredPurchases.group, "--paid-months", "3",
        "--minimum-months-since", "2", "--maximum-months-since", "24", "--months-between-offers", "6",
    ]
    /// Month 8 and 9 of the calendar.
    static let september = "2023-09-15T17:00:00Z"

    func offers(_ arguments: [String], in folder: Folder, store: String = "store.sqlite") async throws
        -> Outcome
    {
        try await Command.run(
            ["offers", "--store", "sqlite:\(store)", "--bundle-id", StoredPurchases.bundleId] + arguments, in: folder)
    }

    /// The rows by column name.
    func table(_ outcome: Outcome) throws -> [[String: String]] {
        #expect(outcome.status == 0, "\(outcome.error)")
        let rows = try CSV.rows(outcome.output)
        let header = try #require(rows.first)
        return rows.dropFirst().map { row in
            #expect(row.count == header.count)
            return Dictionary(uniqueKeysWithValues: zip(header, row))
        }
    }

    @Test("win-back: who is eligible, since when, until when and why")
    func winBack() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await offers(Self.winBack + ["--at", Self.september], in: folder)
        let rows = try table(outcome)
        #expect(rows.count == 1)
        let row = try #require(rows.first)
        #expect(row["eligibility"] == "eligible")
        #expect(row["offerIdentifier"] == "come-back")
        #expect(row["originalTransactionIds"] == "100")
        #expect(row["appAccountTokens"] == StoredPurchases.token)
        #expect(row["eligibleFrom"] == "2023-06-15T17:00:00Z")
        #expect(row["eligibleUntil"] == "2025-04-15T17:00:00Z")
        let reasons = row["reasons"] ?? ""
        #expect(reasons.contains("paidMonths satisfied (3 months, transaction 102)"), "\(reasons)")
        #expect(reasons.contains("minimumMonthsSince satisfied (from 2023-06-15T17:00:00Z, transaction 102)"))
        #expect(outcome.error == "Verdicts: 1 eligible, 2 notEligible, 1 unknown.\n")
    }

    @Test("--all lists every verdict, in the order of the customers, however they were stored")
    func all() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        try await StoredPurchases.makeStore(StoredPurchases.sets.reversed(), in: folder, "other.sqlite")
        let arguments = Self.winBack + ["--at", Self.september, "--all"]
        let outcome = try await offers(arguments, in: folder)
        let rows = try table(outcome)
        #expect(rows.map { $0["originalTransactionIds"] } == ["100", "200", "300", "400"])
        #expect(rows.map { $0["eligibility"] } == ["eligible", "notEligible", "unknown", "notEligible"])
        #expect(rows[1]["reasons"]?.contains("paidMonths failed (1 months, transaction 201)") == true)
        #expect(rows[2]["reasons"]?.contains("paidMonths unknown") == true)
        #expect(rows[3]["changesAt"] == "2028-03-15T17:00:00Z")
        let other = try await offers(arguments, in: folder, store: "other.sqlite")
        #expect(other.output == outcome.output)
        let counted = try await offers(arguments + ["--count-unpriced-as-paid"], in: folder)
        #expect(try table(counted)[2]["eligibility"] == "eligible")
        let stale = try await offers(arguments + ["--current-through", "2023-03-01"], in: folder)
        #expect(try table(stale)[0]["eligibility"] == "unknown")
    }

    @Test("A file of offers says the same as the flags, and is refused with its line")
    func file() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let yaml = """
            version: 1
            winBackOffers:
              come-back:
                group: "\(StoredPurchases.group)"
                paidMonths: 3
                monthsSince: {minimum: 2, maximum: 24}
                monthsBetweenOffers: 6
              sooner:
                group: "\(StoredPurchases.group)"
                product: premium
                paidMonths: 1
                monthsSince: {minimum: 1}
            """
        try folder.write("offers.yaml", yaml.utf8)
        let arguments = ["--kind", "win-back", "--offers", "offers.yaml", "--at", Self.september]
        let rows = try table(try await offers(arguments, in: folder))
        #expect(rows.map { $0["offerIdentifier"] } == ["come-back", "sooner", "sooner"])
        #expect(rows.map { $0["originalTransactionIds"] } == ["100", "100", "200"])
        #expect(rows[2]["productId"] == "premium" && rows[2]["eligibleUntil"] == "")
        for (text, message) in [
            ("winBackOffers: {}", "begin with version: 1"), ("version: 2", "1 to 1"),
            ("version: 1", "winBackOffers is missing"),
            (
                "version: 1\nwinBackOffers:\n  a:\n    paidMonths: 3",
                "offers.yaml:4: winBackOffers.a.group: group is missing"
            ),
            (yaml + "\n    paid: 3", "unknown key \"paid\""),
            (yaml.replacing("maximum: 24", with: "maximum: 2"), "maximum must be more than minimum"),
            (yaml + "\n    priority: low", "offers.yaml:13: winBackOffers.sooner.priority: priority must be high or"),
            (yaml.replacing("paidMonths: 3", with: "paidMonths: 9999"), "must be 0 to 1200"),
        ] {
            try folder.write("offers.yaml", text.utf8)
            let outcome = try await offers(arguments, in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
    }

    @Test("win-back: a catalog with rules needs no other file, and lists offers of high priority first")
    func catalogRules() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let yaml = """
            version: 1
            groups: {g: {identifier: "\(StoredPurchases.group)"}}
            products:
              premium:
                type: auto-renewable
                group: g
                offers:
                - {type: winBack, id: autumn, paidMonths: 1, monthsSince: {minimum: 1}}
                - type: winBack
                  id: come-back
                  paidMonths: 3
                  monthsSince: {minimum: 2, maximum: 24}
                  monthsBetweenOffers: 6
                  startDate: 2023-09-15
                  endDate: 2023-09-15
                  priority: high
                - {type: winBack, id: bare}
            """
        try folder.write("products.yaml", yaml.utf8)
        func listed(_ date: String) async throws -> [String] {
            let arguments = ["--kind", "win-back", "--catalog", "products.yaml", "--at", date]
            return try table(try await offers(arguments, in: folder)).map {
                "\($0["originalTransactionIds"] ?? "") \($0["offerIdentifier"] ?? "") \($0["eligibleUntil"] ?? "")"
            }
        }
        // The last day is part of the offer, in US Pacific time.
        #expect(
            try await listed(Self.september) == ["100 come-back 2023-09-16T07:00:00Z", "100 autumn ", "200 autumn "])
        #expect(try await listed("2023-09-16T06:59:59Z").first == "100 come-back 2023-09-16T07:00:00Z")
        #expect(try await listed("2023-09-16T07:00:00Z") == ["100 autumn ", "200 autumn "])
        for (text, message) in [
            (yaml.replacing(" {identifier: \"\(StoredPurchases.group)\"}", with: " {name: Premium}"), "no identifier"),
            ("version: 1", "has no win-back offer with rules"),
        ] {
            try folder.write("products.yaml", text.utf8)
            let outcome = try await offers(["--kind", "win-back", "--catalog", "products.yaml"], in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
    }

    @Test("promotional: who turned auto-renewal off or lapsed, with the expiration intent; --all lists the others")
    func promotional() async throws {
        let folder = try Folder()
        let sets = StoredPurchases.sets
        let changed = [
            StoredPurchases.set(sets[0].transactions, tokens: [StoredPurchases.token]) {
                $0.expirationIntent = .cancelled
            },
            StoredPurchases.set(sets[1].transactions) {
                $0.expirationIntent = .billingError
                $0.isInBillingRetryPeriod = true
            },
            StoredPurchases.set(sets[2].transactions) { $0.autoRenewStatus = .on }, sets[3],
        ]
        try await StoredPurchases.makeStore(changed, in: folder)
        let arguments = ["--kind", "promotional", "--at", "2023-04-20"]
        let outcome = try await offers(arguments, in: folder)
        let rows = try table(outcome)
        #expect(rows.map { $0["originalTransactionId"] } == ["100", "200", "400"])
        #expect(rows.map { $0["situation"] } == ["lapsed", "billingRetry", "autoRenewOff"])
        #expect(rows.map { $0["expirationIntent"] } == ["1", "2", ""])
        #expect(rows.map { $0["status"] } == ["expired", "billingRetry", "active"])
        #expect(rows[0]["appAccountTokens"] == StoredPurchases.token)
        #expect(outcome.error == "Verdicts: 1 autoRenewOff, 1 billingRetry, 1 lapsed, 1 renewing.\n")
        let all = try table(try await offers(arguments + ["--all"], in: folder))
        #expect(all.map { $0["situation"] } == ["lapsed", "billingRetry", "renewing", "autoRenewOff"])
        #expect(try table(try await offers(arguments + ["--group", "other"], in: folder)).isEmpty)
        let later = try table(try await offers(["--kind", "promotional", "--at", "2023-05-20"], in: folder))
        #expect(later.map { $0["situation"] } == ["lapsed", "lapsed", "autoRenewOff"])
    }

    @Test("introductory: who had none in the group and does not subscribe")
    func introductory() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let arguments = ["--kind", "introductory", "--at", Self.september]
        let rows = try table(try await offers(arguments, in: folder))
        #expect(rows.map { $0["originalTransactionIds"] } == ["100", "300"])
        #expect(rows[0]["eligibleFrom"] == "2023-04-15T17:00:00Z")
        let all = try table(try await offers(arguments + ["--all"], in: folder))
        #expect(all[1]["reasons"]?.contains("noIntroductoryOfferBefore failed (transaction 200)") == true)
        let elsewhere = try table(try await offers(arguments + ["--group", "other"], in: folder))
        #expect(elsewhere.count == 4)
    }

    @Test("introductory: the offers of the catalog, also without a subscription; customer says the same")
    func introductoryOffersOfTheCatalog() async throws {
        let folder = try Folder()
        let purchase = StoredPurchases.purchase("500", "lifetime", .nonConsumable, month: 0)
        let scope = StoreScope(environment: .production, bundleId: StoredPurchases.bundleId)
        try await StoredPurchases.makeStore(
            [FactSet(scope: scope, identities: [], transactions: [purchase])], in: folder)
        let arguments = ["--kind", "introductory", "--at", Self.september, "--all"]
        let without = try await offers(arguments, in: folder)
        #expect(try table(without).isEmpty)
        #expect(without.error == "Verdicts: none.\n")
        let catalog = """
            version: 1
            groups: {g: {identifier: "\(StoredPurchases.group)"}}
            products:
              premium:
                type: auto-renewable
                period: P1M
                group: g
                offers: [{type: introductory, paymentMode: free, period: P1W}]
            """
        try folder.write("products.yaml", catalog.utf8)
        let rows = try table(try await offers(arguments + ["--catalog", "products.yaml"], in: folder))
        #expect(rows.map { $0["eligibility"] } == ["eligible"])
        #expect(rows.map { $0["subscriptionGroupIdentifier"] } == [StoredPurchases.group])
        let customer = try await Command.run(
            [
                "customer", "500", "--store", "sqlite:store.sqlite", "--catalog", "products.yaml", "--at",
                Self.september,
            ], in: folder)
        #expect(customer.output.contains("introductory  \(StoredPurchases.group)"), "\(customer.output)")
    }

    @Test("entitlement: who has access, and until when")
    func entitlement() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let arguments = ["--kind", "entitlement", "--at", "2023-06-01"]
        let rows = try table(try await offers(arguments, in: folder))
        #expect(rows.map { $0["originalTransactionId"] } == ["300", "400"])
        #expect(rows.map { $0["status"] } == ["active", "active"])
        #expect(rows[0]["accessEnds"] == "2023-07-15T17:00:00Z")
        let all = try table(try await offers(arguments + ["--all"], in: folder))
        #expect(all.map { $0["status"] } == ["expired", "expired", "active", "active"])
        #expect(all.allSatisfy { $0["isCurrent"] == "true" })
    }

    @Test("entitlement: all types of products, by the catalog, with the terms of all documents of a customer")
    func allTypes() async throws {
        let folder = try Folder()
        func purchase(_ id: String, _ product: String, _ type: ProductType?, month: Int64, refunded: Int64? = nil)
            -> FactSet
        {
            StoredPurchases.set(
                [StoredPurchases.purchase(id, product, type, month: month, refunded: refunded)],
                tokens: [StoredPurchases.token])
        }
        let first = purchase("500", "pass", .nonRenewingSubscription, month: 0)
        try await StoredPurchases.makeStore(
            [
                StoredPurchases.sets[0], first, purchase("501", "pass", nil, month: 1),
                purchase("502", "lifetime", .nonConsumable, month: 1),
            ], in: folder)
        try folder.write("products.yaml", StoredPurchases.catalog.utf8)
        func rows(_ arguments: String...) async throws -> [[String: String]] {
            try table(
                try await offers(["--kind", "entitlement", "--at", "2023-05-01", "--all"] + arguments, in: folder))
        }
        let found = try await rows("--catalog", "products.yaml")
        #expect(found.map { $0["productId"] } == ["premium", "pass", "lifetime"])
        #expect(found.map { $0["status"] } == ["expired", "active", "active"])
        #expect(found.map { $0["entitlement"] } == ["", "club", ""])
        #expect(found.map { $0["level"] } == ["1", "", ""])
        // Two terms of three months, one after the other.
        #expect(found.map { $0["accessEnds"] } == ["2023-04-15T17:00:00Z", "2023-07-15T18:00:00Z", ""])
        #expect(found[1]["type"] == "Non-Renewing Subscription" && found[1]["transactionId"] == "501")
        let unknown = try await rows()
        #expect(unknown.map { $0["status"] } == ["expired", "unknown", "active"])
        // A refund of the first purchase moves the term of the second one to its own date.
        try await StoredPurchases.makeStore(
            [purchase("500", "pass", .nonRenewingSubscription, month: 0, refunded: 2)], in: folder)
        let refunded = try await rows("--catalog", "products.yaml")
        #expect(refunded[1]["status"] == "active" && refunded[1]["accessEnds"] == "2023-05-15T18:00:00Z")
    }

    @Test("Legacy receipts: the group comes from a catalog, and without one the verdict is unknown")
    func legacy() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/receipt", Forged.named("auto-renewable").bytes)
        #expect(try await folder.migrate("in", "--into", "sqlite:legacy.sqlite").status == 0)
        func verdict(_ more: String...) async throws -> [String: String] {
            let outcome = try await Command.run(
                [
                    "offers", "--store", "sqlite:legacy.sqlite", "--bundle-id", "com.example.orchard", "--all",
                    "--at", "2030-01-01",
                ] + Array(Self.winBack) + more, in: folder)
            return try #require(try table(outcome).first)
        }
        let open = try await verdict()
        #expect(open["eligibility"] == "unknown")
        #expect(open["reasons"]?.contains("groupsKnown unknown") == true)
        let catalog = """
            version: 1
            groups: {g: {identifier: "\(StoredPurchases.group)"}}
            products:
              com.example.orchard.premium.monthly: {type: auto-renewable, period: P1M, group: g}
            """
        try folder.write("products.yaml", catalog.utf8)
        let placed = try await verdict("--catalog", "products.yaml")
        #expect(placed["reasons"]?.contains("groupsKnown") == false)
        #expect(placed["reasons"]?.contains("subscribedBefore satisfied") == true)
    }

    @Test("Customers of another app or environment are not listed")
    func otherScope() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await offers(
            ["--kind", "introductory", "--environment", "Sandbox"], in: folder)
        #expect(try table(outcome).isEmpty)
        #expect(outcome.error == "No customer of com.example.app is in the store.\n")
    }

    @Test("A wrong path makes no store, and a usage error says what is missing")
    func refusals() async throws {
        let folder = try Folder()
        let missing = try await offers(["--kind", "introductory"], in: folder)
        #expect(missing.status == 2 && missing.error.contains("The file store.sqlite does not exist"))
        #expect(folder.names("").isEmpty)
        for (arguments, message) in [
            (["--kind", "win-back"], "needs --offer-id"),
            (Self.winBack + ["--offers", "x.yaml"], "by --offers or by flags, not both"),
            (["--kind", "introductory", "--paid-months", "3"], "are for --kind win-back"),
            (["--kind", "introductory", "--at", "yesterday"], "is not a date like"),
            (["--kind", "introductory", "--at", "1969-01-01"], "is not a date like"),
            (Self.winBack.map { $0 == "24" ? "2" : $0 }, "more than --minimum-months-since"),
            (Self.winBack.map { $0 == "24" ? "2400" : $0 }, "Months are 0 to 1200"),
        ] {
            let outcome = try await offers(arguments, in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
        let secret = try await offers(["--kind", "introductory"], in: folder, store: "x")
        #expect(secret.status == 2)
        let server = try await Command.run(
            "offers", "--store", "postgres://user:hush@127.0.0.1:1/x?connect_timeout=2", "--bundle-id", "b", "--kind",
            "introductory")
        #expect(server.status == 2 && !server.error.contains("hush"))
    }
}
