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

/// A UUID as lowercase text, the form that signatures require.
public struct UUIDText: Sendable, Hashable, CustomStringConvertible {
    /// 36 characters in lowercase.
    public let text: String

    /// A new random UUID.
    public init() {
        text = UUID().uuidString.lowercased()
    }

    /// An existing UUID in uppercase or lowercase; nil if the text is not a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.text = uuid.uuidString.lowercased()
    }

    /// The text.
    public var description: String { text }
}

/// Why something cannot be signed.
public enum SignatureCreatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A required field is empty. Fill in the named field.
    case empty(String)
    /// A field of a promotional offer contains U+2063, which separates the fields of the signed text. Remove it.
    case separatorInField

    /// Two errors of the same kind are equal. Names of fields are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    private var kind: Int {
        switch self {
        case .empty: 0
        case .separatorInField: 1
        }
    }

    /// One sentence for a person.
    public var description: String {
        switch self {
        case .empty(let field): "\(field) is empty."
        case .separatorInField: "A field contains the character U+2063, which separates the fields of the signed text."
        }
    }
}
