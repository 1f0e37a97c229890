/// Finds out whether a value that nothing was read from holds a document all the same: inside of a log line, encoded once
/// more, or wrapped too often. Linear, and wrong at worst in that a column is looked at without need.
enum DocumentTraces {
    /// Shorter values hold no document.
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

    /// Members that only documents have, an iOS 6 receipt in base64, and the header of a JWS.
    private static let beginnings: [StaticString] = [
        "latest_receipt_info", "pending_renewal_info", "unified_receipt", "latest_receipt", "\"in_app\"",
        "\\\"in_app\\\"", "ewoJInNpZ25hdHVyZSI", "eyJhbGciOi", "eyJ4NWMiOl", "eyJraWQiOi",
    ]
}

extension Bytes {
    /// Whether the text stands anywhere in the bytes.
    fileprivate func contains(_ text: StaticString) -> Bool {
        var start = 0
        while let found = position(of: text.utf8Start.pointee, from: start) {
            if begins(with: text, at: found) { return true }
            start = found + 1
        }
        return false
    }
}
