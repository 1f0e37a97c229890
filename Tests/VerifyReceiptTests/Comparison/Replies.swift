import Foundation
import ReplyComparison
import VerifyReceipt

/// Replies to compare, as objects that tests change in one place.
struct Reply: Sendable {
    /// The JSON text.
    let bytes: [UInt8]

    init(_ object: [String: Any]) {
        let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
        bytes = data.map { Array($0) } ?? []
    }

    private var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }

    /// An app receipt's reply: two renewals of a subscription, as both Apple and we write it.
    static var app: Reply {
        Reply([
            "status": 0, "environment": "Production",
            "receipt": [
                "receipt_type": "Production", "adam_id": 6_001_234_567, "bundle_id": "com.example.orchard",
                "download_id": 503_412_345_678_901_234, "receipt_creation_date": "2024-03-15 10:20:30 Etc/GMT",
                "receipt_creation_date_ms": "1710498030000",
                "receipt_creation_date_pst": "2024-03-15 03:20:30 America/Los_Angeles",
                "request_date_ms": "1710498040123", "in_app": [purchase("1000"), purchase("1001")],
            ] as [String: Any],
            "latest_receipt_info": [latest("1001"), latest("1000")], "latest_receipt": "MIIT",
            "pending_renewal_info": [
                ["original_transaction_id": "1000", "product_id": "monthly", "auto_renew_status": "1"]
            ],
        ])
    }

    /// An iOS 6 reply.
    static var transaction: Reply {
        Reply([
            "status": 0, "receipt": entry, "latest_receipt_info": entry, "latest_receipt": "ewoJ",
        ])
    }

    static var entry: [String: Any] {
        [
            "bid": "com.example.orchard", "transaction_id": "500", "original_transaction_id": "400",
            "product_id": "monthly", "purchase_date_ms": "1584703627636", "expires_date": "1587382027636",
            "unique_identifier": "dd0e33ebf56bb1f3ad4c2dbaa7a0b33ac68b0e85",
        ]
    }

    static func purchase(_ id: String) -> [String: Any] {
        [
            "transaction_id": id, "original_transaction_id": "1000", "product_id": "monthly", "quantity": "1",
            "purchase_date": "2024-03-15 10:20:30 Etc/GMT", "purchase_date_ms": "1710498030000",
            "expires_date_ms": "1713176430000", "is_trial_period": "false", "is_in_intro_offer_period": "false",
            "in_app_ownership_type": "PURCHASED",
        ]
    }

    static func latest(_ id: String) -> [String: Any] {
        var entry = purchase(id)
        entry["subscription_group_identifier"] = "20601234"
        return entry
    }

    // MARK: Changes

    /// Sets a member, or takes it away. The path is `receipt.in_app.0.quantity` and the like.
    func with(_ path: String, _ value: Any?) -> Reply {
        Reply(Self.changed(object, path.split(separator: ".")[...], value) as? [String: Any] ?? [:])
    }

    private static func changed(_ node: Any, _ path: ArraySlice<Substring>, _ value: Any?) -> Any? {
        guard let step = path.first else { return value }
        if var object = node as? [String: Any] {
            object[String(step)] = changed(object[String(step)] ?? [String: Any](), path.dropFirst(), value)
            return object
        }
        guard var array = node as? [Any], let index = Int(step), array.indices.contains(index) else { return value }
        if let element = changed(array[index], path.dropFirst(), value) {
            array[index] = element
        } else {
            array.remove(at: index)
        }
        return array
    }

    func reversed(_ path: String) -> Reply {
        var node: Any = object
        for step in path.split(separator: ".") { node = (node as? [String: Any])?[String(step)] ?? [] }
        return with(path, Array((node as? [Any] ?? []).reversed()))
    }
}

/// The differences between two replies.
func compared(
    _ apples: Reply, _ ours: Reply, _ context: ComparisonContext = ComparisonContext()
) throws -> ReplyComparison {
    try ReplyComparison(apples: apples.bytes, ours: ours.bytes, context: context)
}

/// A value of a member in a test's table.
enum MemberValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    case text(String)
    case number(Int)
    case bool(Bool)
    case null

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }

    var object: Any {
        switch self {
        case .text(let text): text
        case .number(let number): number
        case .bool(let bool): bool
        case .null: NSNull()
        }
    }
}
