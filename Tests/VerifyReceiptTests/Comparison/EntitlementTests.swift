import Purchases
import ReplyComparison
import TestSupport
import Testing
import VerifyReceipt

@Suite("Entitlement by two replies") struct EntitlementTests {
    private static let context = ComparisonContext(now: Granting.moment)

    private func entitlement(_ apples: Reply, _ ours: Reply) throws -> EntitlementComparison {
        try compared(apples, ours, Self.context).entitlement
    }

    private func expect(_ test: EntitlementCase) throws {
        let entitlement = try entitlement(test.apples, test.ours)
        let difference = try unwrap(entitlement.differences.first)
        #expect(entitlement.isDifferent && entitlement.obstacle == nil && entitlement.differences.count == 1)
        #expect(difference.grantedBy == test.side && difference.reason == test.reason)
        #expect(difference.productId == test.product && difference.originalTransactionId == test.original)
        #expect(entitlement.grantedByOursOnly == (test.side == .ours ? 1 : 0))
        #expect(entitlement.grantedByAppleOnly == (test.side == .apple ? 1 : 0))
    }

    @Test("A purchase that one reply grants and the other does not", arguments: EntitlementCase.all)
    func purchases(test: EntitlementCase) throws { try expect(test) }

    @Test("Another status is another entitlement", arguments: EntitlementCase.statuses)
    func statuses(test: EntitlementCase) throws {
        try expect(test)
        let denied = test.side == .ours ? test.apples : test.ours
        let status = try compared(denied, denied).appleStatus
        #expect(try entitlement(test.apples, test.ours).differences.first?.status == status)
    }

    static let alike: [(String, Reply, Reply)] = [
        ("both over, at another date", Granting.expired, Granting.listing([Granting.period("999", until: "1")])),
        (
            "another renewal that runs", Granting.active,
            Granting.listing([Granting.period("1009", until: "1810498040123")])
        ),
        (
            "a refund of a period that is over",
            Granting.listing([Granting.period("1000", until: Granting.past, ["cancellation_date_ms": "1"])]),
            Granting.expired
        ),
        (
            "a refund of an older period",
            Granting.listing([
                Granting.period("1001", until: Granting.future),
                Granting.period("1000", until: Granting.past, ["cancellation_date_ms": "1"]),
            ]), Granting.active
        ),
        ("a refund in both", EntitlementCase.all[0].apples, EntitlementCase.all[0].apples),
        (
            "a date as text, and in milliseconds",
            Granting.listing([
                Granting.period("1001", until: "", ["expires_date": "2024-03-15 10:20:41 Etc/GMT"]),
                Granting.period("1000", until: "", ["expires_date": "2024-03-15 10:20:39 Etc/GMT"]),
            ]), Granting.listing([Granting.period("1001", until: "1710498041000")])
        ),
        (
            "no list, and a list of what the receipt holds",
            Granting.listing([]).with("latest_receipt_info", nil).with("receipt.in_app", [Granting.owned("3000")]),
            Granting.listing([Granting.owned("3000")]).with("receipt.in_app", [Granting.owned("3000")])
        ),
        (
            "an emptied list",
            Granting.listing([]).with("receipt.in_app", [Granting.period("1001", until: Granting.future)]),
            Granting.active
        ),
        ("two refusals", Granting.status(21002), Granting.status(21003)),
        ("both expired by their status", Granting.expiredTransaction, Granting.expiredTransaction),
        (
            "a grace period that is over, too",
            Granting.graced.with("pending_renewal_info.0.grace_period_expires_date_ms", "1710498040123"),
            Granting.expired
        ),
        (
            "a grace period, though billing is not being retried",
            Granting.graced.with("pending_renewal_info.0.is_in_billing_retry_period", "0"), Granting.expired
        ),
        (
            "an upgrade that only one states, and the dates show in the other",
            Granting.listing([
                Granting.period("1002", until: Granting.future, product: "yearly"),
                Granting.period(
                    "1001", until: Granting.future,
                    ["purchase_date_ms": "1710400000000", "is_upgraded": "true"]),
            ]),
            Granting.listing([
                Granting.period("1002", until: Granting.future, product: "yearly"),
                Granting.period("1001", until: Granting.future, ["purchase_date_ms": "1710400000000"]),
            ])
        ),
        (
            "a renewal that was billed ahead and has not begun", Granting.expired,
            Granting.listing([
                Granting.period("1001", until: Granting.future, ["purchase_date_ms": "1710498099000"]),
                Granting.period("1000", until: Granting.past),
            ])
        ),
        (
            "a grace period of what was refunded",
            Granting.graced.with("latest_receipt_info.0.cancellation_date_ms", "1710490000000"), Granting.expired
        ),
    ]

    @Test("A purchase that neither or both grant is not a difference", arguments: EntitlementTests.alike.indices)
    func unchanged(index: Int) throws {
        let (name, apples, ours) = Self.alike[index]
        for (one, other) in [(apples, ours), (ours, apples)] {
            let entitlement = try entitlement(one, other)
            #expect(entitlement.obstacle == nil && !entitlement.isDifferent, "\(name): \(entitlement.differences)")
        }
    }

    @Test(
        "Apple's temporary failures give no verdict", arguments: [21005, 21009, 21100, 21104, 21199, 500, 503])
    func temporary(status: Int) throws {
        for ours in [Granting.active, .transaction, Granting.status(21003), Granting.status(status)] {
            for apples in [Granting.status(status), Granting.status(status).with("is_retryable", true)] {
                let comparison = try compared(apples, ours, Self.context)
                #expect(comparison.entitlement.obstacle == .temporaryFailure && !comparison.entitlement.isDifferent)
                #expect(comparison.counts.mismatch == 0)
            }
        }
    }

    @Test("Neither without a status, nor of periods at an unknown moment") func obstacles() throws {
        let stripped = Granting.status(0).with("status", nil)
        #expect(try entitlement(stripped, Granting.active).obstacle == .noStatus)
        #expect(try entitlement(Granting.active, stripped).obstacle == .noStatus)
        #expect(try compared(.transaction, .transaction).entitlement.obstacle == .unknownMoment)
        #expect(try compared(Granting.status(21003), Granting.status(21003)).entitlement.obstacle == nil)
    }

    static let unreadable: [(String, Reply)] = [
        ("a date in no known form", Granting.active.with("latest_receipt_info.0.expires_date_ms", "soon")),
        ("a list that is none", Granting.active.with("latest_receipt_info", 5)),
        ("a purchase without a product", Granting.active.with("latest_receipt_info.0.product_id", nil)),
        ("a purchase without an id of its own", Granting.active.with("latest_receipt_info.0.transaction_id", nil)),
        (
            "one id for two products",
            Granting.listing([Granting.owned("7"), Granting.owned("7")])
                .with("latest_receipt_info.1.product_id", "bush")
        ),
        (
            "a period without a beginning",
            Granting.active.with("latest_receipt_info.0.purchase_date_ms", nil)
                .with("latest_receipt_info.0.purchase_date", nil)
        ),
    ]

    @Test("The grants of an unreadable reply are unknown, and its fields are compared", arguments: unreadable.indices)
    func unreadableReplies(index: Int) throws {
        let (name, reply) = Self.unreadable[index]
        for (apples, ours) in [(reply, Granting.expired), (Granting.expired, reply), (reply, reply)] {
            let comparison = try compared(apples, ours, Self.context)
            #expect(comparison.entitlement.obstacle == .unreadablePurchases, "\(name)")
            #expect(!comparison.entitlement.isDifferent && !comparison.fields.isEmpty)
            var report = ParityReport()
            report.add(try compared(Granting.active, Granting.active, Self.context), place: "1")
            #expect(report.hasParity)
            report.add(comparison, place: "2")
            #expect(!report.hasParity && report.table().contains("unreadable purchases: 1"), "\(name)")
        }
    }

    @Test("More than 10,000 entries are not read") func manyEntries() throws {
        func reply(_ count: Int) -> Reply {
            Granting.listing((0..<count).map { ["transaction_id": "\($0 + 1)", "product_id": "tree"] })
        }
        // The receipt has one more.
        let context = ComparisonContext(now: Granting.moment, maximumDifferences: 0)
        #expect(try compared(reply(10_000), Granting.expired, context).entitlement.obstacle == .unreadablePurchases)
        #expect(try compared(reply(9_999), Granting.expired, context).entitlement.grantedByAppleOnly == 9_999)
    }

    @Test("A status without purchases grants nothing, and is readable") func statusAlone() throws {
        #expect(try entitlement(Granting.status(0), Granting.status(0)).obstacle == nil)
        #expect(try entitlement(Granting.status(0), Granting.active).grantedByOursOnly == 1)
    }

    @Test("The moment is that of Apple's reply, not of the comparison") func moment() throws {
        let late = ComparisonContext(now: 1_900_000_000_000)
        #expect(try compared(Granting.active, Granting.expired, late).entitlement.isDifferent)
        let then = Granting.active.with("receipt.request_date_ms", "1900000000000")
        #expect(try !compared(then, Granting.expired, Self.context).entitlement.isDifferent)
    }

    @Test("Purchases that only ours grants come first; all are counted, and only the requested number is kept")
    func bounded() throws {
        let mine = (0..<30).map { Granting.owned("5\($0)") }
        let theirs = (0..<20).map { Granting.owned("6\($0)") }
        let entitlement = try compared(
            Granting.listing(theirs), Granting.listing(mine),
            ComparisonContext(now: Granting.moment, maximumDifferences: 31)
        ).entitlement
        #expect(entitlement.grantedByOursOnly == 30 && entitlement.grantedByAppleOnly == 20)
        #expect(entitlement.differences.map(\.grantedBy) == Array(repeating: .ours, count: 30) + [.apple])
    }

    @Test("Texts of a hostile reply are quoted by their digest") func redaction() throws {
        let hostile = Granting.period("1001\u{1B}[2J", until: Granting.future, of: "1\u{7}", product: "p\n")
        let difference = try unwrap(
            try entitlement(Granting.listing([hostile]), Granting.expired).differences.first)
        #expect(difference.productId?.hasPrefix("sha256:") == true)
        #expect(difference.originalTransactionId?.hasPrefix("sha256:") == true)
    }
}

@Suite("A running subscription that only ours lists") struct ActiveNotListedTests {
    private static var foreign: [String: Any] { Granting.period("2001", until: Granting.future, of: "2000") }

    private func rules(_ apples: Reply, _ ours: Reply, _ path: String) throws -> [ComparisonRule] {
        try compared(apples, ours, ComparisonContext(now: Granting.moment)).differences
            .filter { $0.path.hasPrefix(path) }.map(\.rule)
    }

    private func ours(_ entry: [String: Any]) -> Reply {
        Granting.listing([entry, Granting.period("1000", until: Granting.past)])
    }

    @Test("In production it is a mismatch") func production() throws {
        #expect(try rules(Granting.expired, ours(Self.foreign), "latest_receipt_info") == [.activeNotListed])
        #expect(ComparisonRule.activeNotListed.kind == .mismatch)
        let without = Granting.expired.with("latest_receipt_info", nil)
        #expect(try rules(without, ours(Self.foreign), "latest_receipt_info") == [.activeNotListed])
    }

    @Test("A renewal that Apple does not list, of a subscription that Apple lists as over, is no better")
    func renewal() throws {
        let mine = ours(Granting.period("1001", until: Granting.future))
        #expect(try rules(Granting.expired, mine, "latest_receipt_info") == [.activeNotListed])
        let other = Granting.listing([
            Granting.period("1002", until: Granting.future), Granting.period("1000", until: Granting.past),
        ])
        #expect(try Set(rules(other, mine, "latest_receipt_info")) == [.purchaseNotInReceipt, .purchaseNotListed])
    }

    @Test("In the sandbox Apple forgets purchases") func sandbox() throws {
        let (apples, ours) = (
            Granting.expired.with("environment", "Sandbox"), ours(Self.foreign).with("environment", "Sandbox")
        )
        #expect(try rules(apples, ours, "latest_receipt_info") == [.purchaseNotListed])
    }

    @Test("Purchases that are over, refunded, without an end or in the receipt are compared as before")
    func others() throws {
        for entry in [
            Granting.period("2001", until: Granting.past, of: "2000"),
            Granting.period("2001", until: Granting.future, of: "2000", ["cancellation_date_ms": "1"]),
            Granting.owned("3000"),
        ] {
            #expect(try rules(Granting.expired, ours(entry), "latest_receipt_info") == [.purchaseNotListed])
        }
        // Apple's reply without the list shows the receipt.
        let shown = Granting.listing([]).with("latest_receipt_info", nil).with("receipt.in_app", [Self.foreign])
        let mine = Granting.listing([Self.foreign]).with("receipt.in_app", [Self.foreign])
        #expect(try rules(shown, mine, "latest_receipt_info") == [.purchaseNotListed])
    }

    @Test("An iOS 6 reply has no environment: the receipt's decides") func transactionReceipts() throws {
        let foreign = Granting.transaction.with("latest_receipt_info.transaction_id", "900")
            .with("latest_receipt_info.original_transaction_id", "900")
        for (receipt, rule) in [
            (try transactionReceipt(), ComparisonRule.activeNotListed),
            (try sandboxTransactionReceipt(), .purchaseNotInReceipt),
        ] {
            var context = ComparisonContext(now: Granting.moment)
            context.read(request: body(receipt))
            let apples = Granting.transaction.with("latest_receipt_info.transaction_id", "600")
            let comparison = try compared(apples, foreign, context)
            #expect(comparison.differences.map(\.rule) == [rule])
        }
    }
}
