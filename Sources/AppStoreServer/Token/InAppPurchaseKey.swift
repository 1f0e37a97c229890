internal import Crypto
internal import Encodings
internal import Foundation

/// An In-App Purchase key from App Store Connect. It signs offers and the tokens of the App Store Server API.
///
/// It is created in App Store Connect under Users and Access, Integrations, In-App Purchase, and can be downloaded once, as
/// `SubscriptionKey_<KEYID>.p8`. An App Store Connect API key is another kind of key; the App Store Server API answers 401
/// to its tokens.
public struct InAppPurchaseKey: Sendable, CustomStringConvertible {
    /// The identifier of the key.
    public let keyID: String

    /// The issuer identifier of the team, a UUID text.
    public let issuerID: String

    let privateKey: P256.Signing.PrivateKey

    /// Reads a key file of App Store Connect: PEM with `BEGIN PRIVATE KEY`, PKCS#8, curve P-256.
    ///
    /// It accepts all line endings, also line feeds that are written as `\n`, white space around the text, and lines of any
    /// length.
    /// - Throws: ``InAppPurchaseKeyError``.
    public init(pem: String, keyID: String, issuerID: String) throws(InAppPurchaseKeyError) {
        guard !keyID.isEmpty else { throw .missingKeyID }
        guard !issuerID.isEmpty else { throw .missingIssuerID }
        guard pem.utf8.count <= Self.maximumLength,
            let content = Self.content(of: pem),
            let der = try? Base64.decodeLeniently(Array(content.utf8).span)
        else { throw .notPEM }
        guard let key = try? P256.Signing.PrivateKey(derRepresentation: der) else { throw .notAP256PrivateKey }
        self.keyID = keyID
        self.issuerID = issuerID
        privateKey = key
    }

    /// The identifier, never the key.
    public var description: String { "In-App Purchase key \(keyID)" }

    /// Whether both have the same key and the same identifiers.
    package func isSame(as other: InAppPurchaseKey) -> Bool {
        keyID == other.keyID && issuerID == other.issuerID
            && privateKey.publicKey.rawRepresentation == other.privateKey.publicKey.rawRepresentation
    }

    /// A P-256 key in PEM has about 240 bytes.
    private static let maximumLength = 16_384

    /// The base64 between the BEGIN and END lines.
    private static func content(of pem: String) -> String? {
        for label in ["PRIVATE KEY", "EC PRIVATE KEY"] {
            let begin = "-----BEGIN \(label)-----"
            let end = "-----END \(label)-----"
            guard let start = pem.firstRange(of: begin)?.upperBound,
                let stop = pem[start...].firstRange(of: end)?.lowerBound
            else { continue }
            return String(pem[start..<stop])
        }
        return nil
    }
}

extension InAppPurchaseKey: CustomReflectable {
    /// Shows only the identifiers, so that a dump of the value does not reveal the key.
    public var customMirror: Mirror {
        Mirror(self, children: ["keyID": keyID, "issuerID": issuerID])
    }
}

/// Why a key cannot be used.
public enum InAppPurchaseKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The key identifier is empty. Pass the one that App Store Connect shows next to the key.
    case missingKeyID
    /// The issuer identifier is empty. Pass the one that App Store Connect shows above the list of keys.
    case missingIssuerID
    /// The text is not PEM with a private key. Use the `.p8` file as it was downloaded.
    case notPEM
    /// The PEM text is not a private key for P-256. Use the key from App Store Connect, not a certificate.
    case notAP256PrivateKey

    /// One sentence for a person.
    public var description: String {
        switch self {
        case .missingKeyID: "The key identifier is empty; App Store Connect shows it next to the key."
        case .missingIssuerID: "The issuer identifier is empty; App Store Connect shows it above the list of keys."
        case .notPEM: "This is not a PEM text with BEGIN PRIVATE KEY; use the .p8 file as it was downloaded."
        case .notAP256PrivateKey: "The PEM text does not contain a private key for the curve P-256."
        }
    }
}
