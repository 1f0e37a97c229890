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
    public static var version: String { "1" }
}

extension KeyedDecodingContainer {
    /// Checks a member that must have a fixed value.
    func require(_ constant: String, forKey key: Key) throws {
        guard try decode(String.self, forKey: key) == constant else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "The value must be \(constant).")
        }
    }
}
