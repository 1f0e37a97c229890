import AppStoreModels

/// Percent-encoding by RFC 3986 section 2.1 of all characters except the unreserved ones. It also encodes `+` and `/`,
/// because the tokens of the API may contain them.
enum PercentEncoding {
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 0xF))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A text as one segment of a path; nil for texts that would change the path: empty, `.` and `..`.
    static func pathSegment(_ text: String) -> String? {
        text.isEmpty || text == "." || text == ".." ? nil : encode(text)
    }

    /// `?` and the parameters in order, including repeated names; empty if there are none.
    static func query(_ parameters: [(name: String, value: String)]) -> String {
        guard !parameters.isEmpty else { return "" }
        return "?" + parameters.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte)
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}
