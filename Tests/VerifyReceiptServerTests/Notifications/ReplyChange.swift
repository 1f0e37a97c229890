import Foundation
import VerifyReceipt

/// The two lists of a reply that a store can change, flattened, so that two replies can be held against each other.
struct FlatReply {
    private(set) var values: [String: String] = [:]
    private(set) var status = -1
    /// Date members that lack one of their three forms.
    private(set) var incompleteDates: [String] = []

    init(_ reply: VerifyReceiptReply) throws {
        let object = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any] ?? [:]
        status = object["status"] as? Int ?? -1
        add(object["latest_receipt_info"], "latest", id: "transaction_id")
        add(object["pending_renewal_info"], "pending", id: "original_transaction_id")
    }

    private mutating func add(_ list: Any?, _ name: String, id: String) {
        for entry in list as? [[String: String]] ?? [] {
            let path = "\(name)/\(entry[id] ?? "")"
            for (key, value) in entry {
                if key.hasSuffix("_ms") {
                    let date = String(key.dropLast(3))
                    if entry[date] == nil || entry[date + "_pst"] == nil { incompleteDates.append("\(path)/\(date)") }
                }
                // The other two forms of a date say the same.
                if entry[key + "_ms"] != nil || key.hasSuffix("_pst") { continue }
                values["\(path)/\(key)"] = value
            }
        }
    }

    /// What is different: `path = value`, `path gone`, and for a whole new entry `path new: product until expiry`.
    func changes(since before: FlatReply) -> [String] {
        var changes: Set<String> = []
        for (path, value) in values where before.values[path] != value {
            let entry = path.split(separator: "/").prefix(2).joined(separator: "/")
            if before.values.keys.contains(where: { $0.hasPrefix(entry + "/") }) {
                changes.insert("\(path) = \(value)")
            } else {
                changes.insert("\(entry) new: \(values["\(entry)/product_id"] ?? "?")")
            }
        }
        for path in before.values.keys where values[path] == nil { changes.insert("\(path) gone") }
        return changes.sorted()
    }
}
