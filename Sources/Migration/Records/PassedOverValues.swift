import AppStoreModels

/// The values in a reply, notification or row that its reader skips, and that may be documents. They are members that
/// Apple's documents do not have, and long texts in place of short values.
struct PassedOverValues {
    struct Value {
        let path: String
        let text: [UInt8]
    }

    /// The role of an object in the document.
    enum Place {
        case document
        case unifiedReceipt
        /// The `receipt` of a reply, or a row.
        case receipt
        /// A row of `in_app`.
        case purchase
        case renewal

        /// The role of the objects in a member; nil if the reader of the document does not read them.
        fileprivate func inside(_ name: String) -> Place? {
            switch (self, name) {
            case (.document, "unified_receipt"): .unifiedReceipt
            case (.document, "receipt"), (.document, "latest_receipt_info"),
                (.document, "latest_expired_receipt_info"), (.unifiedReceipt, "latest_receipt_info"):
                .receipt
            case (.document, "pending_renewal_info"), (.unifiedReceipt, "pending_renewal_info"): .renewal
            case (.receipt, "in_app"): .purchase
            default: nil
            }
        }

        /// Whether a member is a receipt that is verified together with the document.
        fileprivate func hasEmbeddedReceipt(_ name: String) -> Bool {
            switch self {
            case .document: name == "latest_receipt" || name == "latest_expired_receipt"
            case .unifiedReceipt: name == "latest_receipt"
            case .receipt, .purchase, .renewal: false
            }
        }
    }

    /// Each text once.
    private(set) var values: [Value] = []
    private var seen: Set<[UInt8]> = []

    init(in document: JSONValue, _ place: Place) {
        if let object = document.object { add(object, place, "") }
    }

    private mutating func add(_ object: JSONObject, _ place: Place, _ path: String) {
        // Renewal information of StoreKit 2 may stand in this place.
        if place == .renewal, !object.members.contains(where: { Self.renewalMarks.contains($0.key) }) {
            return add(JSONValue.object(object).json, path)
        }
        for member in object.members {
            guard !place.hasEmbeddedReceipt(member.key) || Self.isNoReceipt(member.value) else { continue }
            switch member.value {
            case .string(let text):
                guard text.utf8.count >= DocumentTraces.minimumLength else { continue }
                add(Array(text.utf8), Self.joined(path, member.key))
            case .object, .array:
                let memberPath = Self.joined(path, member.key)
                guard let inside = place.inside(member.key) else {
                    add(member.value.json, memberPath)
                    continue
                }
                if let object = member.value.object { add(object, inside, memberPath) }
                for element in member.value.array ?? [] {
                    if let object = element.object { add(object, inside, memberPath + "[]") }
                }
            case .null, .bool, .integer, .number: continue
            }
        }
    }

    private mutating func add(_ text: [UInt8], _ path: String) {
        guard text.withUnsafeBufferPointer({ DocumentTraces.areLikely(in: $0) }), seen.insert(text).inserted else {
            return
        }
        values.append(Value(path: path, text: text))
    }

    /// Whether a value in place of an embedded receipt is JSON or a JWS, which the reader of the document passes over. Base64 has no
    /// full stop.
    private static func isNoReceipt(_ value: JSONValue) -> Bool {
        guard let text = value.string?.utf8 else { return false }
        if text.first == UInt8(ascii: "{") { return (try? JSONValue.parse(Array(text))) != nil }
        return text.starts(with: "eyJ".utf8) && text.contains(UInt8(ascii: "."))
    }

    private static func joined(_ path: String, _ name: String) -> String {
        path.isEmpty ? MemberPath.bounded(name) : MemberPath.joined(path, MemberPath.bounded(name))
    }

    /// Each entry of `pending_renewal_info` has one of these (Reference.md V3.6).
    private static let renewalMarks: Set<String> = [
        "original_transaction_id", "product_id", "auto_renew_product_id", "auto_renew_status", "expiration_intent",
        "is_in_billing_retry_period",
    ]
}
