/// Object identifiers of receipts and their certificates, by their encoded contents (X.690, 8.19).
enum ObjectIdentifier {
    // PKCS#7 and CMS (RFC 5652).
    static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]

    // Digests and signatures (RFC 3279, RFC 4055, RFC 5754).
    static let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
    static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
    static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    static let sha1WithRSA: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05]
    static let sha256WithRSA: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]

    // X.509 extensions (RFC 5280, 4.2).
    static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
    static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
    static let certificatePolicies: [UInt8] = [0x55, 0x1D, 0x20]

    // Apple's marker extensions (Reference.md V7.2, V7.3 and V6).
    /// 1.2.840.113635.100.6.2.1: an intermediate of Worldwide Developer Relations.
    static let worldwideDeveloperRelationsMarker: [UInt8] = apple + [0x06, 0x02, 0x01]
    /// 1.2.840.113635.100.6.2.2: the iTunes Store intermediate.
    static let iTunesStoreMarker: [UInt8] = apple + [0x06, 0x02, 0x02]
    /// 1.2.840.113635.100.6.11.1: a leaf that signs receipts.
    static let receiptSigningMarker: [UInt8] = apple + [0x06, 0x0B, 0x01]
    /// 1.2.840.113635.100.6.5.1: a leaf that signs version 2 transaction receipts.
    static let transactionReceiptSigningMarker: [UInt8] = apple + [0x06, 0x05, 0x01]

    private static let apple: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64]
}

extension Span<UInt8> {
    /// Whether a range of these bytes is exactly the given ones.
    func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        guard range.count == other.count else { return false }
        for index in 0..<other.count where self[range.lowerBound + index] != other[index] { return false }
        return true
    }
}
