// TEST KEYS. They are public and were created for this file. They sign nothing of value: only certificates whose
// subjects begin with "Test" or "Foreign Test", and receipts for apps that do not exist. A verifier trusts them only if
// its caller adds their root.

/// The fixed keys of the test certificate authorities: RSA for receipts, elliptic curves for signed data (JWS).
///
/// They are fixed because PKCS#1 v1.5 signatures are deterministic: the same key and the same bytes always give the
/// same receipt, on every machine. ECDSA signatures are not deterministic.
public enum TestKey: String, CaseIterable, Hashable, Sendable {
    /// Signs the intermediates, in the place of Apple Root CA.
    case rootCA
    /// The SHA-1 intermediates, in the place of the Worldwide Developer Relations authority.
    case wwdr
    /// The SHA-256 intermediate, in the place of WWDR G5.
    case wwdrG5
    /// The leaves that sign SHA-1 receipts.
    case receiptSigning
    /// The leaf that signs SHA-256 receipts.
    case receiptSigningG5
    /// The intermediate of iOS 6 receipts.
    case iTunesStoreCA
    /// A developer's own certificate under the intermediate.
    case developer
    /// The self-signed certificate in the place of Xcode's StoreKit one.
    case xcode
    /// An untrusted root.
    case foreignRootCA
    /// An intermediate under the foreign root.
    case foreignIntermediate
    /// A leaf under the foreign intermediate.
    case foreignLeaf
    /// The RSA-1024 leaf of iOS 6 receipts of version 2.
    case purchaseReceipt
    /// An RSA-1024 leaf that is not pinned.
    case foreignPurchaseReceipt
    /// Signs the intermediate of signed data (JWS), in the place of Apple Root CA - G3. P-384.
    case signedDataRootCA
    /// The intermediate of signed data, in the place of WWDR G6. P-384.
    case signedDataIntermediate
    /// The leaf that signs JWS. P-256.
    case signedDataLeaf
    /// A developer's own certificate under the intermediate of signed data. P-256.
    case signedDataDeveloper
    /// The self-signed certificate in the place of Xcode's for JWS. P-256.
    case signedDataXcode
    /// Signs the revocation status of certificates for the intermediate (OCSP). P-256.
    case signedDataResponder
    /// An untrusted root of signed data. P-384.
    case foreignSignedDataRootCA
    /// An intermediate under that root. P-384.
    case foreignSignedDataIntermediate
    /// A leaf under that intermediate. P-256.
    case foreignSignedDataLeaf

    /// The private key in PEM (RSA: PKCS#1; elliptic curves: PKCS#8).
    public var privateKeyPEM: String {
        let label = isRSA ? "RSA PRIVATE KEY" : "PRIVATE KEY"
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----"
    }

    /// The keys for signed data are elliptic-curve keys, as Apple's are.
    private var isRSA: Bool { !rawValue.hasPrefix("signedData") && !rawValue.hasPrefix("foreignSignedData") }

    /// The private key in DER, in lines of 64 characters (RFC 7468, 2).
    private var base64: String { Self.base64[rawValue] ?? "" }

    /// The fixed certificate of a key of the authority of signed data.
    var certificateBase64: String { Self.base64[rawValue + "Certificate"] ?? "" }

    private static let base64: [String: String] = {
        let keys = String(decoding: PackageResources.TestKeys_txt, as: UTF8.self).split(separator: "\n\n").map { key in
            let lines = key.split(separator: "\n")
            return (String(lines[0]), lines.dropFirst().joined(separator: "\n"))
        }
        return Dictionary(keys) { first, _ in first }
    }()
}
