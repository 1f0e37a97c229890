/// A PKCS#7/CMS SignedData message to be written (RFC 2315, 9; RFC 5652, 5), with room for every mistake.
///
/// The default is Apple's shape (Reference.md V5.1): DER, version 1, certificates leaf first, one signer
/// without signed attributes.
public struct ForgedSignedData: Sendable {
    public enum Encoding: Hashable, Sendable {
        /// Definite lengths throughout.
        case der
        /// Xcode's way: indefinite lengths around the content, the content in segments of at most so many bytes.
        case ber(segmentLength: Int)
        /// As `ber`, with segments inside of segments.
        case berNestedSegments(segmentLength: Int)
    }

    public var content: [UInt8]
    public var contentType: ForgedObjectIdentifier = .data
    public var certificates: [[UInt8]]
    public var signers: [ForgedSigner]
    public var encoding: Encoding = .der
    /// The content bytes are themselves an OCTET STRING that holds the content; the signature covers both.
    public var wrapsContentTwice = false
    /// Leaves out the content, as in a detached signature.
    public var isDetached = false

    public init(content: [UInt8], certificates: [[UInt8]], signers: [ForgedSigner]) {
        self.content = content
        self.certificates = certificates
        self.signers = signers
    }

    /// The message for a chain in Apple's order: the first certificate signs, all of them are embedded.
    public init(content: [UInt8], chain: [ForgedCertificate], digest: ForgedDigest) {
        self.init(
            content: content, certificates: chain.map(\.der),
            signers: chain.first.map { [ForgedSigner(certificate: $0, digest: digest)] } ?? [])
    }

    /// This message with some things changed.
    public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    /// The bytes that a signature without signed attributes covers.
    var contentBytes: [UInt8] { wrapsContentTwice ? DERWriter.octetString(content) : content }

    /// Signs and writes the message, ContentInfo included.
    ///
    /// - Throws: what swift-crypto throws when a test key cannot be used.
    public func encoded() throws -> [UInt8] {
        let digestAlgorithms = DERWriter.setOf(
            Set(signers.map(\.claimedDigest)).map { DERWriter.sequence(DERWriter.objectIdentifier($0), DERWriter.null) }
        )
        let embedded =
            certificates.isEmpty ? [] : DERWriter.value(ASN1Tag.context(0), DERWriter.concatenated(certificates))
        let signerInfos = DERWriter.set(inOrderGiven: try signers.map { try $0.encoded(over: contentBytes) })
        let parts = [DERWriter.integer(1), digestAlgorithms, encapsulatedContent, embedded, signerInfos]
        let identifier = DERWriter.objectIdentifier(.signedData)
        if case .der = encoding {
            return DERWriter.sequence(identifier, DERWriter.explicit(0, DERWriter.sequence(of: parts)))
        }
        return BERWriter.indefinite(
            ASN1Tag.sequence, identifier,
            BERWriter.indefinite(ASN1Tag.context(0), BERWriter.indefinite(ASN1Tag.sequence, of: parts)))
    }

    private var encapsulatedContent: [UInt8] {
        let type = DERWriter.objectIdentifier(contentType)
        if isDetached { return DERWriter.sequence(type) }
        switch encoding {
        case .der:
            return DERWriter.sequence(type, DERWriter.explicit(0, DERWriter.octetString(contentBytes)))
        case .ber(let length): return indefiniteContent(type, segmentLength: length, nested: false)
        case .berNestedSegments(let length): return indefiniteContent(type, segmentLength: length, nested: true)
        }
    }

    private func indefiniteContent(_ type: [UInt8], segmentLength: Int, nested: Bool) -> [UInt8] {
        let segments = BERWriter.segmentedOctetString(contentBytes, segmentLength: segmentLength, nested: nested)
        return BERWriter.indefinite(ASN1Tag.sequence, type, BERWriter.indefinite(ASN1Tag.context(0), segments))
    }
}
