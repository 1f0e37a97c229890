/// A PKCS#7/CMS SignedData message to write (RFC 2315, 9; RFC 5652, 5). Each part can be wrong.
///
/// The default is Apple's form (Reference.md V5.1): DER, version 1, leaf certificate first, one signer without signed
/// attributes.
public struct ForgedSignedData: ForgedDescription {
    /// The encoding rules for the message around the content.
    public enum Encoding: Hashable, Sendable {
        /// Definite lengths throughout.
        case der
        /// The form of Xcode: indefinite lengths around the content, and the content in segments of at most this many bytes.
        case ber(segmentLength: Int)
        /// As `ber`, with nested segments.
        case berNestedSegments(segmentLength: Int)
    }

    /// The content, usually ``ForgedAppReceipt/content``.
    public var content: [UInt8]
    /// The content type that the message states. Apple's receipts state `data`.
    public var contentType: ForgedObjectIdentifier = .data
    /// The embedded certificates in DER, in the order of the message. Empty omits the field.
    public var certificates: [[UInt8]]
    /// The signers. Apple's receipts have one.
    public var signers: [ForgedSigner]
    /// The encoding. Apple's receipts are DER.
    public var encoding: Encoding = .der
    /// The content bytes are themselves an OCTET STRING that contains the content; the signature covers both.
    public var wrapsContentTwice = false
    /// Omits the content, as in a detached signature.
    public var isDetached = false

    /// A message in Apple's form with any combination of parts.
    ///
    /// - Parameters:
    ///   - content: the bytes that are signed.
    ///   - certificates: the embedded certificates in DER. They need not contain a signer's.
    ///   - signers: empty for a message without a signature.
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

    /// The bytes that a signature without signed attributes covers.
    var contentBytes: [UInt8] { wrapsContentTwice ? DERWriter.octetString(content) : content }

    /// Signs and writes the message, including ContentInfo.
    ///
    /// - Throws: errors of swift-crypto if a test key cannot be used.
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

/// One SignerInfo: the stated signer and algorithms, and the bytes that are actually signed.
public struct ForgedSigner: ForgedDescription {
    /// The encoded issuer name in the SignerInfo.
    public var issuer: [UInt8]
    /// The serial number in the SignerInfo, big endian. With the issuer it identifies the signer's certificate.
    public var serial: [UInt8]
    /// The key that signs.
    public var key: TestKey
    /// The digest for the signature.
    public var digest: ForgedDigest
    /// The digest algorithm that the SignerInfo states.
    public var claimedDigest: ForgedObjectIdentifier
    /// The signature algorithm that the SignerInfo states: rsaEncryption in Apple's receipts, sometimes
    /// sha256WithRSAEncryption in Xcode's.
    public var signatureAlgorithm: ForgedObjectIdentifier = .rsaEncryption
    /// Attributes that are signed in place of the content. Nil in Apple's receipts.
    public var signedAttributes: ForgedSignedAttributes?
    /// Signs these bytes in place of the content: a swapped payload.
    public var signsInstead: [UInt8]?
    /// Changes one bit of the signature.
    public var brokenSignature = false

    /// A signer with Apple's form: it states what it uses, and has no signed attributes.
    ///
    /// - Parameters:
    ///   - certificate: identifies the signer, and its key signs.
    ///   - digest: the digest for the signature.
    public init(certificate: ForgedCertificate, digest: ForgedDigest) {
        issuer = certificate.issuer
        serial = certificate.serial
        key = certificate.key
        self.digest = digest
        claimedDigest = digest.objectIdentifiers.digest
    }

    func encoded(over content: [UInt8]) throws -> [UInt8] {
        let signed = signsInstead ?? content
        let attributes = signedAttributes.map { $0.encoded(content: signed, digest: digest) }
        // The signature covers the attributes encoded as a SET, not with the tag [0] that the message contains (RFC
        // 5652, 5.4).
        let toBeSigned = attributes.map { DERWriter.setOf($0) } ?? signed
        var signature = try SigningKey.of(key).signature(over: toBeSigned, digest)
        if brokenSignature { signature[signature.count / 2] ^= 0x10 }
        return DERWriter.sequence(
            DERWriter.integer(1), DERWriter.sequence(issuer, DERWriter.unsignedInteger(serial)),
            DERWriter.sequence(DERWriter.objectIdentifier(claimedDigest), DERWriter.null),
            attributes.map { DERWriter.value(ASN1Tag.context(0), Array(DERWriter.sorted($0).joined())) } ?? [],
            DERWriter.sequence(DERWriter.objectIdentifier(signatureAlgorithm), DERWriter.null),
            DERWriter.octetString(signature))
    }
}

/// Signed attributes. CMS allows them (RFC 5652, 11); Apple's receipts have none.
public struct ForgedSignedAttributes: Hashable, Sendable {
    /// The digest of the content in the signed attributes.
    public enum MessageDigest: Hashable, Sendable {
        /// The digest of the content.
        case right
        /// The digest of other content.
        case wrong
        /// No message-digest attribute.
        case missing
    }

    /// Nil omits the attribute.
    public var contentType: ForgedObjectIdentifier? = .data
    /// The message-digest attribute, which alone binds the content to the signature (RFC 5652, 11.2).
    public var messageDigest: MessageDigest = .right
    /// The signing-time attribute (RFC 5652, 11.3). Nil omits it.
    public var signingTime: ForgedInstant?

    /// Signed attributes, genuine unless stated otherwise.
    ///
    /// - Parameters:
    ///   - contentType: the content type that they state; nil omits it.
    ///   - messageDigest: whether the digest matches the content.
    ///   - signingTime: nil omits it.
    public init(
        contentType: ForgedObjectIdentifier? = .data, messageDigest: MessageDigest = .right,
        signingTime: ForgedInstant? = nil
    ) {
        self.contentType = contentType
        self.messageDigest = messageDigest
        self.signingTime = signingTime
    }

    func encoded(content: [UInt8], digest: ForgedDigest) -> [[UInt8]] {
        var list: [[UInt8]] = []
        if let contentType {
            list.append(Self.attribute(.contentType, DERWriter.objectIdentifier(contentType)))
        }
        if let signingTime { list.append(Self.attribute(.signingTime, DERWriter.time(signingTime))) }
        switch messageDigest {
        case .right: list.append(Self.attribute(.messageDigest, DERWriter.octetString(digest(content))))
        case .wrong: list.append(Self.attribute(.messageDigest, DERWriter.octetString(digest(content + [0]))))
        case .missing: break
        }
        return list
    }

    private static func attribute(_ type: ForgedObjectIdentifier, _ value: [UInt8]) -> [UInt8] {
        DERWriter.sequence(DERWriter.objectIdentifier(type), DERWriter.setOf([value]))
    }
}
