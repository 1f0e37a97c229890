import Foundation
import ReplyComparison
import Testing
import VerifyReceipt

/// One change to Apple's reply or ours, and the one difference that it makes.
struct ComparisonCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let path: String
    let rule: ComparisonRule
    let replies: @Sendable () -> (apples: Reply, ours: Reply)

    init(
        _ name: String, _ rule: ComparisonRule, _ path: String,
        _ replies: @escaping @Sendable () -> (apples: Reply, ours: Reply)
    ) {
        testDescription = name
        self.rule = rule
        self.path = path
        self.replies = replies
    }

    /// Ours is changed.
    static func ours(
        _ name: String, _ rule: ComparisonRule, _ path: String, at change: String? = nil, _ value: MemberValue?,
        base: @escaping @Sendable () -> Reply = { .app }
    ) -> ComparisonCase {
        ComparisonCase(name, rule, path) { (base(), base().with(change ?? path, value?.object)) }
    }

    /// Apple's is changed.
    static func apples(
        _ name: String, _ rule: ComparisonRule, _ path: String, at change: String? = nil, _ value: MemberValue?,
        base: @escaping @Sendable () -> Reply = { .app }
    ) -> ComparisonCase {
        ComparisonCase(name, rule, path) { (base().with(change ?? path, value?.object), base()) }
    }
}

@Suite("Comparison of replies") struct ReplyComparisonTests {
    static let wrongCases: [ComparisonCase] = [
        .ours("a signed value differs", .signedFieldDiffers, "receipt.bundle_id", "com.example.other"),
        .ours("a signed value is missing", .signedFieldMissing, "receipt.adam_id", nil),
        .ours("a value was invented", .inventedField, "receipt.receipt_color", "red"),
        .apples("a signed value was invented", .inventedField, "receipt.adam_id", nil),
        .ours("the environment differs", .signedFieldDiffers, "environment", "Sandbox"),
        .ours(
            "a purchase's date differs", .signedFieldDiffers, "receipt.in_app[].purchase_date_ms",
            at: "receipt.in_app.0.purchase_date_ms", "1710498031000"),
        .ours(
            "a date's text differs while its milliseconds agree", .signedFieldDiffers, "receipt.in_app[].purchase_date",
            at: "receipt.in_app.0.purchase_date", "2024-03-15 11:20:30 Etc/GMT"),
        .ours(
            "a purchase of the receipt is missing", .purchaseOfReceipt, "receipt.in_app[]", at: "receipt.in_app.1", nil),
        .ours(
            "a purchase of the receipt is not in latest_receipt_info", .purchaseOfReceipt, "latest_receipt_info[]",
            at: "latest_receipt_info.1", nil),
        .ours(
            "what latest_receipt_info repeats of the receipt differs", .signedFieldDiffers,
            "latest_receipt_info[].expires_date_ms", at: "latest_receipt_info.0.expires_date_ms", "1"),
        .ours("the list of a subscription is missing", .missingList, "latest_receipt_info", nil),
        .ours("a list where an object belongs", .shape, "pending_renewal_info", at: "pending_renewal_info", "none"),
        ComparisonCase("in_app is not in the order of the encoding", .encodedOrder, "receipt.in_app (order)") {
            (.app, Reply.app.reversed("receipt.in_app"))
        },
        ComparisonCase("an app receipt answered as an iOS 6 receipt", .shape, "receipt") { (.app, .transaction) },
        .ours("a status that the request decides", .status, "status", 21007),
        .apples("we accept what Apple refuses", .status, "status", 21003),
        .ours("our store fails", .status, "status", 21005),
        .ours(
            "a key of purchase-info is missing", .signedFieldMissing, "receipt.unique_identifier", nil,
            base: { .transaction }),
    ]

    static let databaseCases: [ComparisonCase] = [
        .ours(
            "the subscription group", .databaseField, "latest_receipt_info[].subscription_group_identifier",
            at: "latest_receipt_info.0.subscription_group_identifier", nil),
        .ours("a renewal that only Apple knows", .databaseField, "pending_renewal_info", nil),
        .ours(
            "another state of the renewal", .databaseField, "pending_renewal_info[].auto_renew_status",
            at: "pending_renewal_info.0.auto_renew_status", "0"),
        .ours("the receipt of today", .reissuedReceipt, "latest_receipt", "MIIU"),
        .ours("the moment of asking", .requestDate, "receipt.request_date_ms", "1710498099999"),
        .apples("a member of the future", .unknownField, "receipt.receipt_color", "red"),
        .apples(
            "a period extended after the receipt was signed", .changedSinceReceipt,
            "latest_receipt_info[].expires_date_ms", at: "latest_receipt_info.0.expires_date_ms", "1713276430000"),
        .apples(
            "a refund after the receipt was signed", .changedSinceReceipt,
            "latest_receipt_info[].cancellation_date_ms", at: "latest_receipt_info.0.cancellation_date_ms",
            "1713276430000"),
        ComparisonCase("a renewal that the receipt does not hold", .purchaseNotInReceipt, "latest_receipt_info[]") {
            let list = [Reply.latest("1002"), Reply.latest("1001"), Reply.latest("1000")]
            return (Reply.app.with("latest_receipt_info", list), .app)
        },
        .apples(
            "a purchase that Apple's list has no longer", .purchaseNotListed, "latest_receipt_info[]",
            at: "latest_receipt_info.1", nil),
        .apples("an outage", .temporaryFailure, "status", 21009),
        .apples("an outage that answers 21002", .temporaryFailure, "status", 21002),
        .apples("an outage with its own number", .temporaryFailure, "status", 21104),
        .apples("a deleted account", .accountState, "status", 21010),
        .apples("refunded", .renewedOrRefunded, "status", 21006, base: { .transaction }),
        .ours("renewed since", .renewedOrRefunded, "status", 21006, base: { .transaction }),
        ComparisonCase("another renewal in an iOS 6 reply", .purchaseNotInReceipt, "latest_receipt_info.transaction_id")
        {
            (Reply.transaction.with("latest_receipt_info.transaction_id", "600"), .transaction)
        },
    ]

    static let formattingCases: [ComparisonCase] = [
        .ours("a number as a string", .numberOrString, "receipt.adam_id", "6001234567"),
        .ours(
            "a string as a number", .numberOrString, "receipt.in_app[].quantity", at: "receipt.in_app.0.quantity", 1),
        .ours(
            "a boolean for a string", .booleanOrString, "receipt.in_app[].is_trial_period",
            at: "receipt.in_app.0.is_trial_period", false),
        .apples("milliseconds of the database", .milliseconds, "receipt.receipt_creation_date_ms", "1710498030466"),
        .ours(
            "milliseconds cut", .milliseconds, "latest_receipt_info.purchase_date_ms", "1584703627000",
            base: { .transaction }),
        .ours(
            "the same moment in another notation", .dateText, "receipt.receipt_creation_date", "2024-03-15T10:20:30Z"),
        .apples("digits lost by a JavaScript recorder", .roundedNumber, "receipt.download_id", 503_412_345_678_901_248),
        .apples("null for no member", .nullOrAbsent, "receipt.download_id", .null),
        .ours("our second spelling", .addition, "is-retryable", true),
        .apples("an exception's name", .undocumented, "exception", "java.lang.NullPointerException"),
        ComparisonCase("the order of latest_receipt_info", .listOrder, "latest_receipt_info (order)") {
            (Reply.app.reversed("latest_receipt_info"), .app)
        },
        ComparisonCase("an empty list that clients ask for", .addition, "pending_renewal_info") {
            (Reply.app.with("pending_renewal_info", nil), Reply.app.with("pending_renewal_info", [String]()))
        },
        ComparisonCase("an ownership that clients demand", .addition, "receipt.in_app[].in_app_ownership_type") {
            (Reply.app.with("receipt.in_app.0.in_app_ownership_type", nil), .app)
        },
        ComparisonCase("the other refusal", .refusalCode, "status") {
            (Reply(["status": 21002]), Reply(["status": 21003, "environment": "Production"]))
        },
        ComparisonCase("a wrong password as Apple answers it since 2020", .refusalCode, "status") {
            (Reply(["status": 21003]), Reply(["status": 21004]))
        },
        ComparisonCase("letters of a UUID", .letterCase, "latest_receipt_info[].app_account_token") {
            let uuid = "9E6A5D4E-0A58-4B34-8B0A-111122223333"
            return (
                Reply.app.with("latest_receipt_info.0.app_account_token", uuid),
                Reply.app.with("latest_receipt_info.0.app_account_token", uuid.lowercased())
            )
        },
    ]

    private func expect(_ test: ComparisonCase, _ kind: DifferenceKind) throws {
        let replies = test.replies()
        let comparison = try compared(replies.apples, replies.ours)
        let found = comparison.differences.map { "\($0.path) \($0.rule.rawValue)" }
        #expect(found == ["\(test.path) \(test.rule.rawValue)"])
        #expect(comparison.differences.first?.kind == kind)
        #expect(comparison.counts.differing == 1)
    }

    @Test("Mismatch", arguments: wrongCases) func wrong(test: ComparisonCase) throws {
        try expect(test, .mismatch)
    }

    @Test("Only their database can know", arguments: databaseCases) func database(test: ComparisonCase) throws {
        try expect(test, .serverState)
    }

    @Test("Formatting", arguments: formattingCases) func formatting(test: ComparisonCase) throws {
        try expect(test, .formatting)
    }

    @Test("Equal replies have no difference, and every member is counted once", arguments: [Reply.app, .transaction])
    func equal(reply: Reply) throws {
        let comparison = try compared(reply, reply)
        #expect(comparison.isIdentical && comparison.differences.isEmpty)
        let sums = comparison.fields.values.reduce(into: ParityCounts()) { $0 += $1 }
        #expect(sums == comparison.counts)
        #expect(comparison.counts.equalDerivable > 0 && comparison.counts.equalServerState > 0)
    }

    @Test("Derivable and server state are counted apart") func sources() throws {
        let counts = try compared(.app, .app).fields
        for path in [
            "status", "environment", "receipt.bundle_id", "receipt.in_app[].quantity", "receipt.in_app (order)",
        ] {
            #expect(counts[path].map { $0.equalDerivable > 0 && $0.equalServerState == 0 } == true, "\(path)")
        }
        let state = [
            "receipt.request_date_ms", "latest_receipt", "latest_receipt_info[].subscription_group_identifier",
            "pending_renewal_info[].auto_renew_status",
        ]
        for path in state {
            #expect(counts[path].map { $0.equalServerState > 0 && $0.equalDerivable == 0 } == true, "\(path)")
        }
    }

    @Test("Asked at the same moment, the request date is ours to get right") func sameMoment() throws {
        let ours = Reply.app.with("receipt.request_date_ms", "1710498099999")
        let comparison = try compared(.app, ours, ComparisonContext(isSameMoment: true, now: 1_710_498_040_123))
        #expect(comparison.differences.map(\.rule) == [.signedFieldDiffers])
    }

    @Test("Before its time a member was not there") func laterMember() throws {
        let old = Reply.app.with("receipt.request_date_ms", "1400000000000")
        let apples = old.with("receipt.receipt_creation_date_ms", nil)
        #expect(try compared(apples, old).differences.map(\.rule) == [.laterMember])
    }

    @Test("21006 of Apple is our fault where our own reply shows the period over") func expired() throws {
        let apples = Reply.transaction.with("status", 21006)
        for (now, rule) in [(1_587_382_027_636, ComparisonRule.status), (1_587_382_027_635, .renewedOrRefunded)] {
            let comparison = try compared(apples, .transaction, ComparisonContext(now: Int64(now)))
            #expect(comparison.differences.map(\.rule) == [rule])
        }
    }

    @Test("Refusals are compared by their bodies too") func refusals() throws {
        let apples = Reply(["status": 21003, "environment": "Sandbox"])
        let comparison = try compared(apples, Reply(["status": 21003]))
        #expect(comparison.differences.map(\.rule) == [.signedFieldMissing])
    }
}

extension Reply: CustomTestStringConvertible {
    var testDescription: String { "\(bytes.count) bytes" }
}
