internal import AppStoreModels
internal import Foundation

/// The common part of the JWS creators (Reference.md S6.2 to S6.4): the base claims, without `exp`.
struct RequestSigner: Sendable {
    let audience: String
    let key: InAppPurchaseKey
    let bundleID: String
    let clock: ServerClock

    func sign(_ nonce: UUIDText, claims: (inout JSONWriter) -> Void) throws -> String {
        try CompactJWS.sign(with: key) { writer in
            writer.member("iss", key.issuerID)
            writer.member("iat", clock.now() / 1000)
            writer.member("aud", audience)
            writer.member("bid", bundleID)
            writer.member("nonce", nonce.text)
            claims(&writer)
        }
    }
}

/// A UUID as text in lower case, the form that signatures want.
public struct UUIDText: Sendable, Hashable, CustomStringConvertible {
    /// 36 characters, lower case.
    public let text: String

    /// A new random one.
    public init() {
        text = UUID().uuidString.lowercased()
    }

    /// An existing one in either case; nil if the text is not a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.text = uuid.uuidString.lowercased()
    }

    /// The text.
    public var description: String { text }
}

/// Why something cannot be signed.
public enum SignatureCreatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A field that must be given is empty. Fill the field that the value names.
    case empty(String)
    /// A field of a promotional offer holds U+2063, which separates the fields of the signed text. Remove it.
    case separatorInField

    /// One sentence for a person.
    public var description: String {
        switch self {
        case .empty(let field): "\(field) is empty."
        case .separatorInField: "A field holds the character U+2063, which separates the fields of the signed text."
        }
    }
}
