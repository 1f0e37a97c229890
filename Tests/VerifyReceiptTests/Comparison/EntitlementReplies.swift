import ReplyComparison
import Testing
import VerifyReceipt

/// Replies that grant something, or do not.
enum Granting {
    /// Within the request's second of ``Reply/app``.
    static let moment: Int64 = 1_710_498_040_123
    static let future = "1713176430000"
    static let past = "1707000000000"

    static func period(
        _ id: String, until end: String, of original: String = "1000", product: String = "monthly",
        _ more: [String: String] = [:]
    ) -> [String: Any] {
        var entry = Reply.purchase(id)
        entry["original_transaction_id"] = original
        entry["product_id"] = product
        entry["expires_date_ms"] = end
        return entry.merging(more) { $1 }
    }

    /// A purchase without an end.
    static func owned(_ id: String, _ more: [String: String] = [:]) -> [String: Any] {
        var entry = Reply.purchase(id).merging(more) { $1 }
        entry["original_transaction_id"] = id
        entry["product_id"] = "tree"
        entry["expires_date_ms"] = nil
        return entry
    }

    /// A restored copy of a purchase without an end.
    static func copy(_ id: String, of original: String) -> [String: Any] {
        var entry = owned(id)
        entry["original_transaction_id"] = original
        return entry
    }

    /// The receipt holds the period that is over; the list is the store's, or Apple's database's.
    static func listing(_ latest: [[String: Any]]) -> Reply {
        Reply.app.with("receipt.in_app", [period("1000", until: past)]).with("latest_receipt_info", latest)
    }

    /// A reply with nothing but a status.
    static func status(_ status: Int) -> Reply { Reply(["status": status]) }

    static let active = listing([period("1001", until: future), period("1000", until: past)])
    static let expired = listing([period("1000", until: past)])
    /// The monthly product was renewed while the yearly one was current.
    static let twoProducts = listing([
        period("1003", until: "1713276430000", ["purchase_date_ms": "1710498035000"]),
        period("1002", until: future, product: "yearly", ["purchase_date_ms": "1710450000000"]),
        period("1001", until: "1710498035000", ["purchase_date_ms": "1710400000000"]),
    ])
    static let graced = expired.with(
        "pending_renewal_info",
        [
            [
                "original_transaction_id": "1000", "product_id": "monthly", "auto_renew_status": "1",
                "expiration_intent": "2", "is_in_billing_retry_period": "1", "grace_period_expires_date_ms": future,
            ]
        ])

    /// An iOS 6 reply of a running subscription, and the one after its end.
    static let transaction = Reply.transaction.with("receipt.expires_date", future)
        .with("latest_receipt_info.expires_date", future)
    static let expiredTransaction = Reply([
        "status": 21006, "receipt": Reply.entry, "latest_expired_receipt_info": Reply.entry,
    ])
}

/// Two replies, and what only one of them grants.
struct EntitlementCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let apples: Reply
    let ours: Reply
    let side: EntitlementSide
    let reason: EntitlementReason
    var product: String? = "monthly"
    var original: String? = "1000"

    static let all: [EntitlementCase] = [
        EntitlementCase(
            testDescription: "refunded at Apple, active in ours",
            apples: Granting.listing([
                Granting.period("1001", until: Granting.future, ["cancellation_date_ms": "1710490000000"])
            ]),
            ours: Granting.active, side: .ours, reason: .cancelled),
        EntitlementCase(
            testDescription: "refunded in ours, active at Apple", apples: Granting.active,
            ours: Granting.listing([
                Granting.period("1001", until: Granting.future, ["cancellation_date": "2024-03-15 08:06:40 Etc/GMT"])
            ]),
            side: .apple, reason: .cancelled),
        EntitlementCase(
            testDescription: "upgraded to another product at Apple",
            apples: Granting.listing([Granting.period("1001", until: Granting.future, ["is_upgraded": "true"])]),
            ours: Granting.active, side: .ours, reason: .cancelled),
        EntitlementCase(
            testDescription: "renewed at Apple, expired in ours", apples: Granting.active, ours: Granting.expired,
            side: .apple, reason: .expired),
        EntitlementCase(
            testDescription: "prolonged in ours, expired at Apple", apples: Granting.expired, ours: Granting.active,
            side: .ours, reason: .expired),
        EntitlementCase(
            testDescription: "somebody else's subscription in ours", apples: Granting.expired,
            ours: Granting.listing([
                Granting.period("2001", until: Granting.future, of: "2000"),
                Granting.period("1000", until: Granting.past),
            ]), side: .ours, reason: .notListed, original: "2000"),
        EntitlementCase(
            testDescription: "another product of the same subscription at Apple",
            apples: Granting.listing([Granting.period("1001", until: Granting.future, product: "yearly")]),
            ours: Granting.expired, side: .apple, reason: .notListed, product: "yearly"),
        EntitlementCase(
            testDescription: "a purchase without an end at Apple", apples: Granting.listing([Granting.owned("3000")]),
            ours: Granting.expired, side: .apple, reason: .notListed, product: "tree", original: "3000"),
        EntitlementCase(
            testDescription: "a refund of a purchase without an end",
            apples: Granting.listing([Granting.owned("3000", ["cancellation_date_ms": "1710490000000"])]),
            ours: Granting.listing([Granting.owned("3000")]), side: .ours, reason: .cancelled, product: "tree",
            original: "3000"),
        EntitlementCase(
            testDescription: "a refund of one copy of a purchase without an end",
            apples: Granting.listing([
                Granting.owned("3000", ["cancellation_date_ms": "1710490000000"]), Granting.copy("3001", of: "3000"),
            ]),
            ours: Granting.listing([Granting.owned("3000"), Granting.copy("3001", of: "3000")]), side: .ours,
            reason: .cancelled, product: "tree", original: "3000"),
        EntitlementCase(
            testDescription: "a grace period that only Apple knows", apples: Granting.graced, ours: Granting.expired,
            side: .apple, reason: .gracePeriod),
        EntitlementCase(
            testDescription: "a grace period that Apple ended", apples: Granting.expired, ours: Granting.graced,
            side: .ours, reason: .gracePeriod),
        EntitlementCase(
            testDescription: "in_app repeats the receipt, latest_receipt_info tells of the refund",
            apples: Granting.listing([
                Granting.period("1001", until: Granting.future, ["cancellation_date_ms": "1710490000000"])
            ])
            .with("receipt.in_app", [Granting.period("1001", until: Granting.future)]),
            ours: Granting.active.with("receipt.in_app", [Granting.period("1001", until: Granting.future)]),
            side: .ours, reason: .cancelled),
        EntitlementCase(
            testDescription: "the same of a purchase without an end",
            apples: Granting.listing([Granting.owned("3000", ["cancellation_date_ms": "1710490000000"])])
                .with("receipt.in_app", [Granting.owned("3000")]),
            ours: Granting.listing([Granting.owned("3000")]).with("receipt.in_app", [Granting.owned("3000")]),
            side: .ours, reason: .cancelled, product: "tree", original: "3000"),
        EntitlementCase(
            testDescription: "a period of in_app that Apple's list does not have",
            apples: Granting.listing([Granting.owned("3000")])
                .with("receipt.in_app", [Granting.period("1001", until: Granting.future), Granting.owned("3000")]),
            ours: Granting.listing([Granting.period("1001", until: Granting.future), Granting.owned("3000")])
                .with("receipt.in_app", [Granting.period("1001", until: Granting.future), Granting.owned("3000")]),
            side: .ours, reason: .notListed),
        EntitlementCase(
            testDescription: "the period that ends at the very moment is over",
            apples: Granting.listing([Granting.period("1001", until: "1710498040123")]),
            ours: Granting.listing([Granting.period("1001", until: "1710498040124")]), side: .ours, reason: .expired),
        EntitlementCase(
            testDescription: "refunded in ours, one of two current products of a subscription at Apple",
            apples: Granting.twoProducts,
            ours: Granting.twoProducts.with("latest_receipt_info.1.cancellation_date_ms", "1710490000000"),
            side: .apple, reason: .cancelled, product: "yearly"),
    ]

    static let statuses: [EntitlementCase] = [
        EntitlementCase(
            testDescription: "Apple 21002, ours 0", apples: Granting.status(21002), ours: Granting.active, side: .ours,
            reason: .status),
        EntitlementCase(
            testDescription: "Apple 21010, ours 0", apples: Granting.status(21010), ours: Granting.active, side: .ours,
            reason: .status),
        EntitlementCase(
            testDescription: "Apple 0, ours 21003", apples: Granting.active, ours: Granting.status(21003),
            side: .apple, reason: .status),
        EntitlementCase(
            testDescription: "Apple 0, our store fails", apples: Granting.active, ours: Granting.status(21005),
            side: .apple, reason: .status),
        EntitlementCase(
            testDescription: "Apple 21104 for good, ours 0",
            apples: Granting.status(21104).with("is_retryable", false), ours: Granting.active, side: .ours,
            reason: .status),
        EntitlementCase(
            testDescription: "Apple 21010, ours 0 with nothing that is active", apples: Granting.status(21010),
            ours: Granting.expired, side: .ours, reason: .status, product: nil, original: nil),
        EntitlementCase(
            testDescription: "Apple 21006, ours 21003", apples: Granting.expiredTransaction,
            ours: Granting.status(21003), side: .apple, reason: .status, product: nil, original: nil),
        EntitlementCase(
            testDescription: "Apple 21006, ours 0", apples: Granting.expiredTransaction, ours: Granting.transaction,
            side: .ours, reason: .status, original: "400"),
        EntitlementCase(
            testDescription: "Apple 0, ours 21006", apples: Granting.transaction, ours: Granting.expiredTransaction,
            side: .apple, reason: .status, original: "400"),
    ]
}
