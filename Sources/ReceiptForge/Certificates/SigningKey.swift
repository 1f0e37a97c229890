import Crypto
import CryptoExtras
import Foundation

/// A digest that receipts or certificates are signed with.
public enum ForgedDigest: String, Hashable, Sendable, CaseIterable {
    /// All receipts until 2023, and some long after (Reference.md V7.4).
    case sha1
    /// Receipts since the change in technote TN3138; JWS (ES256).
    case sha256
    /// The certificates of signed data (Reference.md S4).
    case sha384
    /// Never used by Apple in receipts.
    case sha512

    /// The digest itself, and its signatures.
    var objectIdentifiers: (digest: ForgedObjectIdentifier, rsa: ForgedObjectIdentifier, ecdsa: ForgedObjectIdentifier)
    {
        switch self {
        case .sha1: (.sha1, .sha1WithRSA, .ecdsaWithSHA1)
        case .sha256: (.sha256, .sha256WithRSA, .ecdsaWithSHA256)
        case .sha384: (.sha384, .sha384WithRSA, .ecdsaWithSHA384)
        case .sha512: (.sha512, .sha512WithRSA, .ecdsaWithSHA512)
        }
    }

    /// The digest of some bytes.
    public func callAsFunction(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}

/// One of the fixed test keys, parsed once and ready to sign.
struct SigningKey: Sendable {
    private enum PrivateKey: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
    }

    private let privateKey: PrivateKey
    /// SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
    let subjectPublicKeyInfo: [UInt8]
    /// SHA-1 of the public key's bits (RFC 5280, 4.2.1.2, method 1).
    let identifier: [UInt8]

    private init(pem: String) throws {
        let bits: Data
        if pem.hasPrefix("-----BEGIN RSA") {
            let key = try _RSA.Signing.PrivateKey(unsafePEMRepresentation: pem)
            (privateKey, subjectPublicKeyInfo) = (.rsa(key), Array(key.publicKey.derRepresentation))
            bits = key.publicKey.pkcs1DERRepresentation
        } else if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            (privateKey, subjectPublicKeyInfo) = (.p256(key), Array(key.publicKey.derRepresentation))
            bits = key.publicKey.x963Representation
        } else {
            let key = try P384.Signing.PrivateKey(pemRepresentation: pem)
            (privateKey, subjectPublicKeyInfo) = (.p384(key), Array(key.publicKey.derRepresentation))
            bits = key.publicKey.x963Representation
        }
        identifier = Array(Insecure.SHA1.hash(data: bits))
    }

    var isRSA: Bool {
        if case .rsa = privateKey { true } else { false }
    }

    /// The AlgorithmIdentifier of ``signature(over:_:)``: with NULL for RSA (RFC 4055, 5), without parameters for ECDSA
    /// (RFC 5758, 3.2).
    func signatureAlgorithm(_ digest: ForgedDigest) -> [UInt8] {
        switch privateKey {
        case .rsa:
            DERWriter.sequence(DERWriter.objectIdentifier(digest.objectIdentifiers.rsa), DERWriter.null)
        case .p256, .p384:
            DERWriter.sequence(DERWriter.objectIdentifier(digest.objectIdentifiers.ecdsa))
        }
    }

    /// RSA: PKCS#1 v1.5, deterministic (RFC 8017, 8.2.1). ECDSA: DER, different each time.
    func signature(over bytes: [UInt8], _ digest: ForgedDigest) throws -> [UInt8] {
        switch digest {
        case .sha1: try signature(of: Insecure.SHA1.hash(data: bytes))
        case .sha256: try signature(of: SHA256.hash(data: bytes))
        case .sha384: try signature(of: SHA384.hash(data: bytes))
        case .sha512: try signature(of: SHA512.hash(data: bytes))
        }
    }

    private func signature(of digest: some Digest) throws -> [UInt8] {
        switch privateKey {
        case .rsa(let key): Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key): Array(try key.signature(for: digest).derRepresentation)
        case .p384(let key): Array(try key.signature(for: digest).derRepresentation)
        }
    }

    /// ES256: r and s, 32 bytes each (RFC 7518, 3.4).
    func es256Signature(over bytes: [UInt8]) throws -> [UInt8] {
        guard case .p256(let key) = privateKey else { throw ForgeError.badDescription("ES256 wants a key for P-256") }
        return Array(try key.signature(for: bytes).rawRepresentation)
    }

    // Parsing a key checks its primes, which costs more than a signature.
    private static let parsed: [TestKey: Result<SigningKey, any Error>] = Dictionary(
        uniqueKeysWithValues: TestKey.allCases.map { key in (key, Result { try SigningKey(pem: key.privateKeyPEM) }) })

    static func of(_ key: TestKey) throws -> SigningKey {
        guard let result = parsed[key] else { throw ForgeError.unknownKey(key.rawValue) }
        return try result.get()
    }
}

/// An error of the forge.
public enum ForgeError: Error, Hashable, Sendable {
    /// A test key is missing from the table. Add it to `TestKey`.
    case unknownKey(String)
    /// A case refers to a part that does not exist. Correct the case that the value names.
    case badDescription(String)

    /// Two errors of the same kind are equal. Details are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    private var kind: Int {
        switch self {
        case .unknownKey: 0
        case .badDescription: 1
        }
    }
}
