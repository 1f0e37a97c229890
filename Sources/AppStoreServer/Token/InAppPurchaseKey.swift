internal import Crypto

/// An In-App Purchase key of App Store Connect: what signs the tokens of the App Store Server API, and offers.
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
    /// It accepts all line endings, white space around the text, and lines of any length.
    /// - Throws: ``InAppPurchaseKeyError``.
    public init(pem: String, keyID: String, issuerID: String) throws(InAppPurchaseKeyError) {
        guard !keyID.isEmpty else { throw .missingKeyID }
        guard !issuerID.isEmpty else { throw .missingIssuerID }
        guard pem.utf8.count <= Self.maximumLength,
            let content = Self.content(of: pem), let der = Base64.decodeLenient(content)
        else { throw .notPEM }
        guard let key = try? P256.Signing.PrivateKey(derRepresentation: der) else { throw .notAP256PrivateKey }
        self.keyID = keyID
        self.issuerID = issuerID
        privateKey = key
    }

    /// The identifier; never the key.
    public var description: String { "In-App Purchase key \(keyID)" }

    /// Whether both are the same key with the same identifiers.
    package func isSame(as other: InAppPurchaseKey) -> Bool {
        keyID == other.keyID && issuerID == other.issuerID
            && privateKey.publicKey.rawRepresentation == other.privateKey.publicKey.rawRepresentation
    }

    /// A P-256 key in PEM is some 240 bytes long.
    private static let maximumLength = 16_384

    /// The base64 between the lines of dashes.
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
    /// Shows the identifiers, so that dumping the value does not show the key.
    public var customMirror: Mirror {
        Mirror(self, children: ["keyID": keyID, "issuerID": issuerID])
    }
}

/// Why a key cannot be used.
public enum InAppPurchaseKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The key identifier is empty. App Store Connect shows it beside the key.
    case missingKeyID
    /// The issuer identifier is empty. App Store Connect shows it above the list of keys.
    case missingIssuerID
    /// The text is not PEM with a private key. Give the `.p8` file as it was downloaded.
    case notPEM
    /// The PEM holds something else than a private key for P-256. Give the key of App Store Connect, not a certificate.
    case notAP256PrivateKey

    /// One sentence for a person.
    public var description: String {
        switch self {
        case .missingKeyID: "The key identifier is empty; App Store Connect shows it beside the key."
        case .missingIssuerID: "The issuer identifier is empty; App Store Connect shows it above the list of keys."
        case .notPEM: "This is not a PEM text with BEGIN PRIVATE KEY; give the .p8 file as it was downloaded."
        case .notAP256PrivateKey: "The PEM text does not hold a private key for the curve P-256."
        }
    }
}
