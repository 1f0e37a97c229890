/// One SignerInfo: who claims to have signed, how, and what was signed in truth.
public struct ForgedSigner: Sendable {
    /// The issuer's name, encoded, that the SignerInfo gives.
    public var issuer: [UInt8]
    public var serial: [UInt8]
    /// The key that signs.
    public var key: TestKey
    /// The digest that is signed.
    public var digest: ForgedDigest
    /// The digest that the SignerInfo names.
    public var claimedDigest: ForgedObjectIdentifier
    /// The signature algorithm that the SignerInfo names: rsaEncryption in Apple's receipts, sometimes
    /// sha256WithRSAEncryption in Xcode's.
    public var signatureAlgorithm: ForgedObjectIdentifier = .rsaEncryption
    public var signedAttributes: ForgedSignedAttributes?
    /// Signs these bytes in place of the content: a swapped payload.
    public var signsInstead: [UInt8]?
    /// Changes one bit of the signature.
    public var brokenSignature = false

    public init(certificate: ForgedCertificate, digest: ForgedDigest) {
        issuer = certificate.issuer
        serial = certificate.serial
        key = certificate.key
        self.digest = digest
        claimedDigest = digest.objectIdentifier
    }

    /// This signer with some things changed.
    public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    func encoded(over content: [UInt8]) throws -> [UInt8] {
        let signed = signsInstead ?? content
        let attributes = signedAttributes.map { $0.encoded(content: signed, digest: digest) }
        // The attributes are signed as the SET that they are, not as the [0] under which they travel (RFC 5652, 5.4).
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

/// Signed attributes, which Apple's receipts do without and CMS allows (RFC 5652, 11).
public struct ForgedSignedAttributes: Hashable, Sendable {
    public enum MessageDigest: Hashable, Sendable {
        case right
        case wrong
        case missing
    }

    /// Nothing: the attribute is missing.
    public var contentType: ForgedObjectIdentifier? = .data
    public var messageDigest: MessageDigest = .right
    public var signingTime: ForgedInstant?

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
