internal import AppStoreModels
internal import AppStoreServer
internal import Crypto
internal import Encodings
internal import Foundation

/// The public half of the developer's In-App Purchase key, with its identifiers.
public struct SandboxKey: Sendable {
    /// The identifier of the key.
    public let keyID: String
    /// The issuer identifier of the team.
    public let issuerID: String
    private let publicKey: P256.Signing.PublicKey

    /// The key of PEM with `BEGIN PUBLIC KEY`, curve P-256.
    /// - Throws: ``SandboxError``, `invalidRequest`.
    public init(publicKeyPEM: String, keyID: String, issuerID: String) throws {
        publicKey = try required(
            try? P256.Signing.PublicKey(pemRepresentation: publicKeyPEM), .invalidRequest,
            "key: not a PEM text with a public key for the curve P-256")
        self.keyID = keyID
        self.issuerID = issuerID
    }

    /// The public half of a private key in PEM (`BEGIN PRIVATE KEY`), the form of App Store Connect.
    /// - Throws: ``SandboxError``, `invalidRequest`.
    public init(privateKeyPEM: String, keyID: String, issuerID: String) throws {
        let key = try required(
            try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM), .invalidRequest,
            "key: not a PEM text with a private key for the curve P-256")
        self.keyID = keyID
        self.issuerID = issuerID
        publicKey = key.publicKey
    }

    /// A test key made from a seed. It is public and protects nothing.
    public static func privateKeyPEM(seed: UInt64) throws -> String {
        let bytes = SHA256.hash(data: Array("In-App Purchase test key \(seed)".utf8))
        return try P256.Signing.PrivateKey(rawRepresentation: Array(bytes)).pemRepresentation
    }

    /// Whether `signature`, in DER, is the key's over `text`.
    func isValid(der signature: [UInt8], over text: [UInt8]) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return publicKey.isValidSignature(signature, for: text)
    }

    /// The claims of a compact JWS that the key has signed with ES256 (RFC 7515, 3.1); nil for everything else.
    func claims(of token: String) -> JSONObject? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= 16_384, parts.count == 3, let header = Base64.decodeURL(parts[0]),
            let payload = Base64.decodeURL(parts[1]), let signature = Base64.decodeURL(parts[2]),
            let head = try? JSONValue.parse(header), head["alg"]?.string == "ES256", head["kid"]?.string == keyID,
            let raw = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            publicKey.isValidSignature(raw, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return (try? JSONValue.parse(payload))?.object
    }
}
