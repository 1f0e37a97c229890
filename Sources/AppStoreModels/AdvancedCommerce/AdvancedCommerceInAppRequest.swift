/// An Advanced Commerce request that an app passes to StoreKit as a signed JWS (Advanced Commerce API; Reference.md S5.8).
///
/// Its JSON carries `operation` and `version`, which Apple requires.
public protocol AdvancedCommerceInAppRequest: Codable, Hashable, Sendable {
    /// The value of `operation` in the JSON.
    static var operation: String { get }

    /// The value of `version` in the JSON.
    static var version: String { get }
}

extension AdvancedCommerceInAppRequest {
    /// The only version there is.
    public static var version: String { AdvancedCommerceVersion.text }
}

enum AdvancedCommerceVersion: FixedTextValue {
    static let text = "1"
}

/// The value of a member that is always the same.
protocol FixedTextValue {
    static var text: String { get }
}

extension FixedTextValue where Self: AdvancedCommerceInAppRequest {
    static var text: String { operation }
}

/// A member with a fixed value, so that the compiler synthesizes the coding of a request that has one. It is written
/// with the value, and reading any other value fails.
struct FixedText<Value: FixedTextValue>: Codable, Hashable, Sendable {
    init() {}

    /// - Throws: `DecodingError` for a missing member, a wrong type or another value.
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard try container.decode(String.self) == Value.text else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The value must be \(Value.text).")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Value.text)
    }
}
