import Crypto
import CryptoExtras
import Foundation

/// A digest that receipts or certificates are signed with.
public enum ForgedDigest: String, Hashable, Sendable, CaseIterable {
    /// All receipts until 2023, and some long after (verifyreceipt reference, 7.4).
    case sha1
    /// Receipts since the change of technote TN3138.
    case sha256
    /// Never used by Apple in receipts.
    case sha512

    var objectIdentifier: ForgedObjectIdentifier {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }

    var signatureAlgorithm: ForgedObjectIdentifier {
        switch self {
        case .sha1: .sha1WithRSA
        case .sha256: .sha256WithRSA
        case .sha512: .sha512WithRSA
        }
    }

    /// The digest of some bytes.
    public func callAsFunction(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}

/// One of the fixed test keys, parsed once and ready to sign.
struct SigningKey: Sendable {
    private let privateKey: _RSA.Signing.PrivateKey
    /// SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
    let subjectPublicKeyInfo: [UInt8]
    /// SHA-1 of the public key's bits (RFC 5280, 4.2.1.2, method 1).
    let identifier: [UInt8]

    private init(pem: String) throws {
        privateKey = try _RSA.Signing.PrivateKey(unsafePEMRepresentation: pem)
        subjectPublicKeyInfo = Array(privateKey.publicKey.derRepresentation)
        identifier = Array(Insecure.SHA1.hash(data: privateKey.publicKey.pkcs1DERRepresentation))
    }

    /// PKCS#1 v1.5, deterministic (RFC 8017, 8.2.1).
    func signature(over bytes: [UInt8], _ digest: ForgedDigest) throws -> [UInt8] {
        let padding = _RSA.Signing.Padding.insecurePKCS1v1_5
        let signature =
            switch digest {
            case .sha1: try privateKey.signature(for: Insecure.SHA1.hash(data: bytes), padding: padding)
            case .sha256: try privateKey.signature(for: SHA256.hash(data: bytes), padding: padding)
            case .sha512: try privateKey.signature(for: SHA512.hash(data: bytes), padding: padding)
            }
        return Array(signature.rawRepresentation)
    }

    // Parsing a key checks its primes, which costs more than a signature.
    private static let parsed: [TestKey: Result<SigningKey, any Error>] = Dictionary(
        uniqueKeysWithValues: TestKey.allCases.map { key in (key, Result { try SigningKey(pem: key.privateKeyPEM) }) })

    static func of(_ key: TestKey) throws -> SigningKey {
        guard let result = parsed[key] else { throw ForgeError.unknownKey(key.rawValue) }
        return try result.get()
    }
}

/// What can go wrong while forging.
public enum ForgeError: Error, Hashable, Sendable {
    /// A test key is missing from the table.
    case unknownKey(String)
    /// A case of the catalogue asks for something that its parts do not have.
    case badDescription(String)
}
