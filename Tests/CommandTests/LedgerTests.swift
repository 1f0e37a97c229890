import AppStoreModels
import Foundation
import Purchases
import SQLiteTransactionStore
import Testing
import TransactionStore

@Suite("ledger", .timeLimit(.minutes(10)))
struct LedgerTests {
    private func ledger(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        var all = ["ledger"] + arguments
        all.insert(contentsOf: ["--store", "sqlite:store.sqlite"], at: 2)
        return try await Command.run(all, in: folder)
    }

    private func entries(_ outcome: Outcome) throws -> [[String: Any]] {
        #expect(outcome.status == 0, "\(outcome.error)")
        return try outcome.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private func words(_ entries: [[String: Any]]) -> [String] {
        entries.map { "\($0["transactionId"] ?? "") \($0["event"] ?? "")" }
    }

    @Test("A consumer reads, acknowledges, and continues from there")
    func consuming() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let first = try entries(try await ledger("read", "--consumer", "shop", "--limit", "2", in: folder))
        #expect(words(first) == ["100 started", "101 renewed"])
        let transaction = try #require(first.first?["transaction"] as? [String: Any])
        #expect(transaction["productId"] as? String == "premium")
        #expect(transaction["bundleId"] as? String == StoredPurchases.bundleId)
        #expect(transaction["environment"] as? String == "Production")
        let position = try #require(first.last?["position"] as? Int)
        let done = try await ledger("acknowledge", "--consumer", "shop", "--position", "\(position)", in: folder)
        #expect(done.output == "shop has acknowledged all entries up to \(position).\n")
        var refund = StoredPurchases.fact("100", original: "100", 0, 1) { $0.revocationDate = 1 }
        refund = TransactionFact(
            payload: refund.payload, legacy: nil, origin: FactOrigin(source: .notificationV2, signedDate: .max))
        try await StoredPurchases.makeStore([StoredPurchases.set([refund])], in: folder)
        let rest = try entries(try await ledger("read", "--consumer", "shop", in: folder))
        #expect(
            words(rest) == [
                "102 renewed", "200 started", "201 renewed", "300 started", "400 started", "100 refunded",
            ])
        #expect(rest.last?["before"] as? String == "active" && rest.last?["after"] as? String == "refunded")
        let all = try entries(try await ledger("read", in: folder))
        #expect(words(all).count == 8)
        #expect(all.first?["before"] == nil && all.first?["after"] as? String == "active")
        let after = try entries(try await ledger("read", "--after", "\(position)", in: folder))
        #expect(words(after) == words(rest))
    }

    @Test("sweep adds the entry of a subscription that ended without a document, once, and none for earlier ends")
    func sweep() async throws {
        let folder = try Folder()
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        func subscription(_ id: String, endedBefore seconds: Int64) -> FactSet {
            FactSet(
                scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
                transactions: [StoredPurchases.fact(id, original: id, 0, 1) { $0.expiresDate = now - seconds * 1_000 }])
        }
        try await StoredPurchases.makeStore(
            [subscription("1", endedBefore: 90_000), subscription("2", endedBefore: 3_600)], in: folder)
        let first = try await ledger("sweep", "--delay-seconds", "86400", in: folder)
        #expect(first.output == "Purchases that were due: 1. Entries added: 0.\n", "\(first.error)")
        let second = try await ledger("sweep", in: folder)
        #expect(second.output == "Purchases that were due: 1. Entries added: 1.\n", "\(second.error)")
        let third = try await ledger("sweep", in: folder)
        #expect(third.output == "Purchases that were due: 0. Entries added: 0.\n", "\(third.error)")
        let all = try entries(try await ledger("read", in: folder))
        #expect(words(all) == ["1 started", "2 started", "2 expired"])
        #expect(all.last?["before"] as? String == "active" && all.last?["after"] as? String == "expired")
        #expect(all.map { $0["byTime"] as? Bool } == [nil, nil, true])
        let refused = try await ledger("sweep", "--delay-seconds", "-1", in: folder)
        #expect(refused.status != 0)
    }

    @Test("sweep adds the entry of a term that has ended, with the catalog that states its length")
    func sweepOfTerms() async throws {
        let folder = try Folder()
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        try folder.write("weeks.yaml", "version: 1\nproducts:\n  pass: {type: non-renewing, duration: P7D}\n".utf8)
        let pass = StoredPurchases.fact("1", original: "1", 0, 1) {
            $0.productId = "pass"
            $0.subscriptionGroupIdentifier = nil
            $0.type = .nonRenewingSubscription
            $0.expiresDate = nil
            $0.purchaseDate = now - 7 * StoredPurchases.day - 3_600_000
            $0.originalPurchaseDate = $0.purchaseDate
        }
        try await StoredPurchases.makeStore([StoredPurchases.set([pass])], in: folder)
        let catalog = ["--catalog", "weeks.yaml"]
        for (arguments, purchases, added) in [
            (["--delay-seconds", "86400"] + catalog, 1, 0), ([], 0, 0), (catalog, 1, 1), (catalog, 0, 0),
        ] as [([String], Int, Int)] {
            let all = ["ledger", "sweep", "--store", "sqlite:store.sqlite"] + arguments
            let outcome = try await Command.run(all, in: folder)
            let expected = "Purchases that were due: \(purchases). Entries added: \(added).\n"
            #expect(outcome.output == expected, "\(arguments) \(outcome.error)")
        }
        let all = try entries(try await ledger("read", "--catalog", "weeks.yaml", in: folder))
        #expect(words(all) == ["1 started", "1 expired"])
        #expect(all.map { $0["byTime"] as? Bool } == [nil, true])
    }

    @Test("Each line names its app and environment, and a consumer can leave out the others")
    func scopes() async throws {
        let folder = try Folder()
        let scopes: [(Environment, String)] = [
            (.production, "com.example.app"), (.sandbox, "com.example.app"), (.production, "com.example.other"),
            (.production, "com.example.app"),
        ]
        let sets = scopes.enumerated().map { index, scope in
            let id = String(100 + index)
            return FactSet(
                scope: StoreScope(environment: scope.0, bundleId: scope.1),
                transactions: [StoredPurchases.fact(id, original: id, 0, 1)])
        }
        try await StoredPurchases.makeStore(sets, in: folder)
        let all = try entries(try await ledger("read", in: folder))
        #expect(
            all.map { "\($0["environment"] ?? "") \($0["bundleId"] ?? "")" }
                == scopes.map { "\($0.0.rawValue) \($0.1)" })
        for (arguments, ids) in [
            (["--bundle-id", "com.example.app"], ["100", "101", "103"]),
            (["--environment", "Production"], ["100", "102", "103"]),
            (["--environment", "sandbox"], ["101"]),
            (["--bundle-id", "com.example.app", "--environment", "Production"], ["100", "103"]),
            (["--bundle-id", "com.example.app", "--environment", "Production", "--limit", "1"], ["100"]),
            (["--bundle-id", "com.example.nobody"], []),
        ] {
            let outcome = try await Command.run(
                ["ledger", "read", "--store", "sqlite:store.sqlite"] + arguments, in: folder)
            #expect(try entries(outcome).map { $0["transactionId"] as? String } == ids, "\(arguments)")
        }
    }

    @Test("With a catalog, an entry has the term that all documents of the customer give")
    func terms() async throws {
        let folder = try Folder()
        func set(_ id: String, month: Int64, refunded: Int64? = nil) -> FactSet {
            StoredPurchases.set(
                [
                    StoredPurchases.purchase(
                        id, "pass", .nonRenewingSubscription, month: month, refunded: refunded)
                ], tokens: [StoredPurchases.token])
        }
        try await StoredPurchases.makeStore([set("500", month: 0), set("501", month: 1)], in: folder)
        try folder.write("products.yaml", StoredPurchases.catalog.utf8)
        func terms() async throws -> [String] {
            try entries(try await ledger("read", "--catalog", "products.yaml", in: folder)).map { entry in
                let transaction = entry["transaction"] as? [String: Any]
                return "\(entry["event"] ?? "") \(entry["termStart"] ?? "") \(transaction?["expiresDate"] ?? "")"
            }
        }
        func formerTerms() async throws -> [[Int64?]] {
            try entries(try await ledger("read", "--catalog", "products.yaml", in: folder)).map { entry in
                ["termStartBefore", "expiresDateBefore"].map { entry[$0] as? Int64 }
            }
        }
        // Three calendar months in UTC, one after the other.
        let day = StoredPurchases.day
        let (start, end) = (StoredPurchases.month(0), StoredPurchases.month(0) + 90 * day)
        #expect(try await terms() == ["started \(start) \(end)", "started \(end) \(end + 91 * day)"])
        let plain = try entries(try await ledger("read", in: folder))
        #expect(plain.allSatisfy { $0["termStart"] == nil })
        #expect(plain.allSatisfy { ($0["transaction"] as? [String: Any])?["expiresDate"] == nil })
        // The refund has an entry, and so has the term that it moves; it is the new one wherever it is read.
        try await StoredPurchases.makeStore([set("500", month: 0, refunded: 2)], in: folder)
        let moved = StoredPurchases.month(1)
        #expect(
            try await terms() == [
                "started \(start) \(end)", "started \(moved) \(moved + 89 * day)", "refunded \(start) \(end)",
                "termMoved \(moved) \(moved + 89 * day)",
            ])
        // Only the entry of the moved term has the one of before.
        #expect(try await formerTerms() == [[nil, nil], [nil, nil], [nil, nil], [end, end + 91 * day]])
        let withoutCatalog = try entries(try await ledger("read", in: folder))
        #expect(withoutCatalog.allSatisfy { $0["expiresDateBefore"] == nil })
    }

    @Test("An entry has the term of its purchase also if only another transaction of the purchase states the type")
    func termByOtherTransaction() async throws {
        let folder = try Folder()
        let bought = StoredPurchases.purchase("500", "pass", nil, month: 0)
        let restored = StoredPurchases.fact("501", original: "500", 1, 1) {
            $0.productId = "pass"
            $0.subscriptionGroupIdentifier = nil
            $0.type = .nonRenewingSubscription
            $0.originalPurchaseDate = StoredPurchases.month(0)
            $0.expiresDate = nil
        }
        try await StoredPurchases.makeStore([StoredPurchases.set([bought, restored])], in: folder)
        try folder.write("products.yaml", "version: 1\nproducts:\n  pass: {duration: P7D}\n".utf8)
        let all = try entries(try await ledger("read", "--catalog", "products.yaml", in: folder))
        let starts = all.filter { $0["transactionId"] as? String == "500" }.map { $0["termStart"] as? Int64 }
        #expect(starts == [StoredPurchases.month(0)])
    }

    @Test("An entry of an unclaimed seat has the claim")
    func unclaimedSeats() async throws {
        let folder = try Folder()
        let claim = "b2158121-7af9-49d4-9561-1f588205523e"
        let set = FactSet(
            scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
            transactions: [StoredPurchases.fact("100", original: "100", 0, 1)], unclaimedSeatIds: [claim])
        try await StoredPurchases.makeStore([set, set], in: folder)
        let all = try entries(try await ledger("read", in: folder))
        #expect(all.map { $0["event"] as? String } == ["started", "seatUnclaimed"])
        #expect(all.map { $0["seatClaimId"] as? String } == [nil, claim])
    }

    @Test("A failed, recovered and expired renewal has the states of the subscription before and after")
    func states() async throws {
        let folder = try Folder()
        let steps: [(String, String?, String)] = [
            ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", "100"), ("GRACE_PERIOD_EXPIRED", nil, "100"),
            ("DID_RENEW", "BILLING_RECOVERY", "101"), ("EXPIRED", "VOLUNTARY", "101"),
        ]
        let sets = steps.enumerated().map { number, step in
            FactSet(
                scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
                transactions: [
                    StoredPurchases.fact(step.2, original: "100", step.2 == "100" ? 0 : 1, step.2 == "100" ? 1 : 2)
                ],
                notification: ProcessedNotification(
                    notificationUUID: "\(number)", notificationType: step.0, subtype: step.1,
                    signedDate: StoredPurchases.month(1), body: Array("{}".utf8)))
        }
        try await StoredPurchases.makeStore(sets, in: folder)
        let all = try entries(try await ledger("read", in: folder))
        let lines = all.map { entry in
            ["transactionId", "event", "before", "after"].map { "\(entry[$0] ?? "-")" }.joined(separator: " ")
        }
        #expect(
            lines == [
                "100 started - active", "100 gracePeriodEntered active inGracePeriod",
                "100 gracePeriodExpired inGracePeriod inBillingRetry", "101 renewed - active",
                "101 billingRecovered inBillingRetry active", "101 expired active expired",
            ])
    }

    @Test("An entry about a price increase has the new price, next to that of the period in the transaction")
    func priceIncrease() async throws {
        let folder = try Folder()
        let date = StoredPurchases.month(0) + StoredPurchases.day
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = "100"
        info.priceIncreaseStatus = .pending
        info.renewalPrice = 12_990
        let set = FactSet(
            scope: StoreScope(environment: .production, bundleId: StoredPurchases.bundleId),
            transactions: [StoredPurchases.fact("100", original: "100", 0, 1)],
            renewalInfos: [
                RenewalInfoFact(payload: info, origin: FactOrigin(source: .notificationV2, signedDate: date))
            ],
            notification: ProcessedNotification(
                notificationUUID: "1", notificationType: "PRICE_INCREASE", subtype: "PENDING", signedDate: date,
                body: Array("{}".utf8)))
        try await StoredPurchases.makeStore([set], in: folder)
        let all = try entries(try await ledger("read", in: folder))
        let increase = try #require(all.first { $0["event"] as? String == "priceIncreasePending" }, "\(all)")
        #expect(increase["renewalPrice"] as? Int == 12_990)
        #expect((increase["transaction"] as? [String: Any])?["price"] as? Int == 9_990)
        let first = try #require(all.first)
        #expect(first["event"] as? String == "started" && first["renewalPrice"] == nil)
    }

    @Test("Invalid positions for reading and acknowledging are rejected")
    func refusals() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        for (arguments, message) in [
            (["acknowledge", "--consumer", "shop", "--position", "99"], "the last entry has 7"),
            (["acknowledge", "--consumer", "", "--position", "1"], "1 to 256 characters"),
            (["read", "--consumer", "shop", "--after", "1"], "--consumer or --after, not both"),
            (["read", "--limit", "0"], "--limit takes a number from 1"),
        ] {
            let outcome = try await Command.run(
                ["ledger", arguments[0], "--store", "sqlite:store.sqlite"] + arguments.dropFirst(), in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
        let missing = try await Command.run("ledger", "read", "--store", "sqlite:missing.sqlite", in: folder)
        #expect(missing.status == 2 && missing.error.contains("The file missing.sqlite does not exist"))
        #expect(!folder.names("").contains("missing.sqlite"))
    }

    @Test("prune keeps entries that a consumer has not acknowledged, and names the consumer")
    func pruning() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        func run(_ arguments: String...) async throws -> Outcome {
            try await Command.run(
                ["ledger", arguments[0], "--store", "sqlite:store.sqlite"] + arguments.dropFirst(), in: folder)
        }
        let old = try await run("prune", "--before", "2020-01-01T00:00:00Z")
        #expect(old.status == 0 && old.output == "No entries are removed.\n")
        _ = try await run("acknowledge", "--consumer", "shop", "3")
        _ = try await run("acknowledge", "--consumer", "mail", "7")
        #expect(try await run("consumers").output == "7  mail\n3  shop\n")
        let kept = try await run("prune", "--before", "2999-01-01T00:00:00Z")
        #expect(
            kept.output == """
                All entries up to position 3 are removed.
                The consumer shop has acknowledged 3: the entries after it are kept.

                """)
        let rest = try entries(try await run("read", "--consumer", "shop"))
        #expect(words(rest) == ["200 started", "201 renewed", "300 started", "400 started"])
        #expect(rest.allSatisfy { ($0["recordedDate"] as? Int ?? 0) > 1_700_000_000_000 })
        let all = try await run("read")
        #expect(all.status == 2 && all.output.isEmpty)
        #expect(all.error.contains("The entries up to 3 were removed, and this reader has read only those up to 0."))
        let forced = try await run("prune", "--before", "2999-01-01T00:00:00Z", "--force")
        #expect(
            forced.output == """
                All entries up to position 7 are removed.
                The consumer shop has acknowledged 3: it misses the removed entries after it.

                """)
        for command in [["read"], ["follow", "--once"], ["follow", "--once", "--acknowledge-on-exit-0", "true"]] {
            let outcome = try await Command.run(
                ["ledger"] + command + ["--store", "sqlite:store.sqlite", "--consumer", "shop"], in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains("The consumer shop cannot read on. The entries up to 7"), "\(outcome.error)")
        }
        // A reader that cannot begin is not kept as a consumer, for which entries would stay.
        #expect(try await run("follow", "--once", "--consumer", "new").status == 2)
        #expect(try await run("consumers").output == "7  mail\n3  shop\n")
        #expect(try await run("forget", "--consumer", "shop").output == "The consumer shop is removed.\n")
        #expect(try await run("forget", "--consumer", "shop").error.contains("The consumer shop does not exist."))
        #expect(try await run("consumers").output == "7  mail\n")
        #expect(try await run("read", "--consumer", "mail").status == 0)
    }

    @Test("A closed reader is not an error")
    func closedPipe() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await Command.shell(
            "{ \"$COMMAND\" ledger read --store sqlite:store.sqlite; echo \"$?\" >status; } | true", in: folder)
        #expect(outcome.error.isEmpty)
        #expect(try folder.text("status") == "0\n")
    }
}
