internal import Encodings

/// Detects whether an unread value contains a document anyway: in a log line, in hexadecimal, encoded twice, compressed, or
/// wrapped too often.
/// Takes linear time. A false positive only causes an unnecessary hint about a column.
enum DocumentTraces {
    /// Shorter values contain no document.
    static let minimumLength = 64

    static func arePresent(in text: Bytes) -> Bool {
        guard text.count >= minimumLength else { return false }
        return hasReceipt(text) || beginnings.contains { text.contains($0) } || hasEncodedTwice(text)
            || hasCompressed(text) || hasHex(text) || hasSignedMessage(text)
    }

    /// Whether the row of an unknown table may be a record: as ``arePresent(in:)``, or if it names a transaction like
    /// rows of replies and StoreKit 2 JSON. In the caller's own columns such names are no documents.
    static func areLikely(in row: Bytes) -> Bool {
        arePresent(in: row) || row.contains("\"original_transaction_id") || row.contains("\"originalTransactionId")
    }

    /// Base64 of a signed message, anywhere.
    private static func hasReceipt(_ text: Bytes) -> Bool {
        text.contains(UInt8(ascii: "M")) { found in
            text.begins(with: "MI", at: found) && StoredText.beginsBase64Receipt(text[slice: found..<text.count])
        }
    }

    /// The base64 of a receipt in base64, anywhere.
    private static func hasEncodedTwice(_ text: Bytes) -> Bool {
        // The base64 of `MI`, without its last bits.
        text.contains(UInt8(ascii: "T")) { found in
            text.begins(with: "TUl", at: found)
                && StoredText.decode(text[slice: found..<text.count].prefix(48))
                    .withUnsafeBufferPointer(StoredText.beginsBase64Receipt)
        } || text.contains("ZXdvSkluTnBaMjVoZEhWeVpTSQ")
    }

    /// The base64 of gzip (RFC 1952, 2.3.1) at the start of a word: one without reserved flags and with a known system.
    private static func hasCompressed(_ text: Bytes) -> Bool {
        text.contains(UInt8(ascii: "H")) { found in
            guard text.begins(with: "H4sI", at: found), found == 0 || text[found - 1].base64Value == nil else {
                return false
            }
            let header = StoredText.decode(text[slice: found..<text.count].prefix(16))
            return header.count >= 10 && header[3] < 0x20 && (header[9] <= 13 || header[9] == 0xFF)
        }
    }

    /// The object identifier of SignedData in hexadecimal, also with a character between its bytes.
    private static func hasHex(_ text: Bytes) -> Bool {
        text.contains(UInt8(ascii: "0")) { beginsHex(text, at: $0) }
    }

    private static func beginsHex(_ text: Bytes, at start: Int) -> Bool {
        var index = start
        for byte in StoredText.signedMessageIdentifier {
            if index < text.count, text[index].isWhiteSpace || text[index] == UInt8(ascii: ":") { index += 1 }
            guard index + 1 < text.count, text[index].hexValue == byte >> 4, text[index + 1].hexValue == byte & 0xF
            else { return false }
            index += 2
        }
        return true
    }

    /// The bytes of a signed message, also with the escapes of a dump: what begins the object identifier of SignedData has none.
    private static func hasSignedMessage(_ text: Bytes) -> Bool {
        text.contains(0x2A) { found in
            text[slice: found..<text.count].starts(with: StoredText.signedMessageIdentifier[2..<6])
        }
    }

    /// Member names that only documents have, the beginnings of an iOS 6 receipt and of a request in base64, and headers of JWS.
    /// An iOS 6 receipt has `purchase-info`, which is also in hexadecimal and, in three positions, in base64. The object identifier
    /// of SignedData can be in decimal numbers, as Node.js writes a buffer.
    private static let beginnings: [StaticString] = [
        "latest_receipt_info", "pending_renewal_info", "unified_receipt", "latest_receipt", "\"in_app\"",
        "\\\"in_app\\\"", "latest_expired_receipt_info", "ewoJInNpZ25hdHVyZSI", "eyJhbGciOi", "eyJ4NWMiOl",
        "eyJraWQiOi", "eyJyZWNlaXB0LWRhdGEi", "purchase-info", "70757263686173652D696E666F",
        "70757263686173652d696e666f", "cHVyY2hhc2UtaW5mb", "B1cmNoYXNlLWluZm", "wdXJjaGFzZS1pbmZv",
        "42,134,72,134,247,13,1,7,2", "42, 134, 72, 134, 247, 13, 1, 7, 2",
    ]
}

extension Bytes {
    /// Whether the bytes contain the text.
    func contains(_ text: StaticString) -> Bool {
        contains(text.utf8Start.pointee) { begins(with: text, at: $0) }
    }
}
