internal import AppStoreModels
internal import Crypto

/// Redacts values for reports and logs.
enum Redaction {
    /// The longest text that is quoted, in bytes of UTF-8.
    static let maximumLength = 128

    /// Members that contain receipts, or identify an account or a device.
    private static let named: Set<String> = [
        "latest_receipt", "latest_expired_receipt", "app_account_token", "unique_identifier",
        "unique_vendor_identifier",
        "receipt-data", "password",
    ]

    /// - Parameters:
    ///   - value: the value of the member.
    ///   - key: the name of the member.
    ///   - isKnown: whether the member is in Reference.md. Texts of unknown members are redacted, because they can
    ///     contain any data.
    static func text(_ value: JSONValue, of key: String, isKnown: Bool) -> String {
        switch value {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .integer(let integer): isKnown ? String(integer) : name(Array(String(integer).utf8), label: "number")
        case .number(let text): isKnown ? quoted(text) : name(Array(text.utf8), label: "number")
        case .string(let text):
            isKnown && !named.contains(key) ? quoted(text) : name(Array(text.utf8), label: "sha256")
        case .array(let array): "list of \(array.count)"
        case .object(let object): "object of \(object.members.count)"
        }
    }

    /// The path component of a member. A hostile reply may contain any name.
    static func key(_ key: String) -> String {
        let plain = key.utf8.allSatisfy { byte in
            byte.isASCIIAlphanumeric || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
        return plain && !key.isEmpty && key.utf8.count <= 64 ? key : "(\(name(Array(key.utf8))))"
    }

    /// An id as differences quote it.
    static func id(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text): quoted(text)
        case .integer(let integer): String(integer)
        default: nil
        }
    }

    /// The first 12 hexadecimal digits of the SHA-256.
    static func name(_ bytes: [UInt8]) -> String { Printable.hex(SHA256.hash(data: bytes).prefix(6)) }

    private static func name(_ bytes: [UInt8], label: String) -> String { "\(label):\(name(bytes))" }

    /// Short printable ASCII unchanged, anything else as its digest.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.count <= maximumLength && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
        return isPlain ? text : name(Array(text.utf8), label: "sha256")
    }
}
