/// Detects whether an unread value contains a document anyway: in a log line, encoded twice, or wrapped too often.
/// Takes linear time. A false positive only causes an unnecessary hint about a column.
enum DocumentTraces {
    /// Shorter values contain no document.
    private static let minimumLength = 64

    static func arePresent(in text: Bytes) -> Bool {
        guard text.count >= minimumLength else { return false }
        return hasReceipt(text) || beginnings.contains { text.contains($0) }
    }

    /// Base64 of a signed message, anywhere.
    private static func hasReceipt(_ text: Bytes) -> Bool {
        var start = 0
        while let found = text.position(of: UInt8(ascii: "M"), from: start) {
            if text.begins(with: "MI", at: found), StoredText.beginsBase64Receipt(text[slice: found..<text.count]) {
                return true
            }
            start = found + 1
        }
        return false
    }

    /// Member names that only documents have, the beginning of an iOS 6 receipt in base64, and headers of JWS.
    private static let beginnings: [StaticString] = [
        "latest_receipt_info", "pending_renewal_info", "unified_receipt", "latest_receipt", "\"in_app\"",
        "\\\"in_app\\\"", "ewoJInNpZ25hdHVyZSI", "eyJhbGciOi", "eyJ4NWMiOl", "eyJraWQiOi",
    ]
}

extension Bytes {
    /// Whether the bytes contain the text.
    fileprivate func contains(_ text: StaticString) -> Bool {
        var start = 0
        while let found = position(of: text.utf8Start.pointee, from: start) {
            if begins(with: text, at: found) { return true }
            start = found + 1
        }
        return false
    }
}
