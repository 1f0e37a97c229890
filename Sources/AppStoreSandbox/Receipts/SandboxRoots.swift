internal import Encodings
internal import ReceiptForge

/// The sandbox's roots in PEM, which a client must trust explicitly. They are test roots with public keys.
public struct SandboxRoots: Sendable {
    /// The root of JWS: transactions, renewal infos, app transactions, notifications.
    public let signedData: String
    /// The root of legacy receipts.
    public let receipts: String
    /// The intermediate of iOS 6 receipts, which do not contain it themselves.
    public let transactionReceiptIntermediate: String

    /// - Throws: an error of the cryptography library, which no caller can cause.
    public init() throws {
        signedData = Self.pem(TestSignedDataAuthority.standard.rootCertificate)
        receipts = Self.pem(try TestCertificateAuthority.rootDER)
        let intermediates = try SandboxReceiptChain.certificates().dropFirst().prefix(1)
        transactionReceiptIntermediate = intermediates.map { Self.pem($0.der) }.joined()
    }

    /// Both roots for one file.
    public var text: String { signedData + receipts }

    private static func pem(_ der: [UInt8]) -> String {
        let text = Base64.encode(der)
        // Lines of 64 characters (RFC 7468, 2).
        let lines = stride(from: 0, to: text.count, by: 64).map { "\(text.dropFirst($0).prefix(64))\n" }
        return "-----BEGIN CERTIFICATE-----\n\(lines.joined())-----END CERTIFICATE-----\n"
    }
}
