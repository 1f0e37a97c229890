/// Everything that a forged certificate says, each part of it free to be wrong.
public struct CertificateDescription: Sendable {
    public enum BasicConstraints: Hashable, Sendable {
        case absent
        case endEntity
        case certificateAuthority(pathLength: Int64?)
    }

    /// Bits of the key usage extension, first bit first (RFC 5280, 4.2.1.3).
    public struct KeyUsage: OptionSet, Hashable, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        public static let digitalSignature = Self(rawValue: 1 << 15)
        public static let keyEncipherment = Self(rawValue: 1 << 13)
        public static let keyCertSign = Self(rawValue: 1 << 10)
        public static let crlSign = Self(rawValue: 1 << 9)
    }

    public var serial: [UInt8]
    public var subject: DistinguishedName
    public var notBefore: ForgedInstant
    public var notAfter: ForgedInstant
    public var key: TestKey
    /// The digest of the issuer's signature over this certificate.
    public var digest: ForgedDigest
    public var basicConstraints: BasicConstraints
    /// Nothing: the extension is left out.
    public var keyUsage: KeyUsage?
    public var extendedKeyUsage: [ForgedObjectIdentifier] = []
    public var extendedKeyUsageIsCritical = true
    /// Extensions whose mere presence says something, with the value NULL.
    public var markers: [ForgedObjectIdentifier] = []
    public var policy: ForgedObjectIdentifier?
    /// Subject and authority key identifiers.
    public var keyIdentifiers = true
    /// Where an Apple certificate names its OCSP responder and revocation list, this one names hosts that cannot exist.
    public var revocationPointers = true
    /// The OCSP responder among those. The top-level domain "invalid" never resolves (RFC 2606).
    public var ocspResponder = "http://ocsp.test-authority.invalid/ocsp"
    /// Adds a critical extension that no verifier can know.
    public var unknownCriticalExtension = false
    /// Changes one bit of the signature after signing.
    public var brokenSignature = false

    public init(
        serial: [UInt8], subject: DistinguishedName, notBefore: ForgedInstant, notAfter: ForgedInstant, key: TestKey,
        digest: ForgedDigest, basicConstraints: BasicConstraints, keyUsage: KeyUsage?,
        markers: [ForgedObjectIdentifier] = [], policy: ForgedObjectIdentifier? = nil
    ) {
        self.serial = serial
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.key = key
        self.digest = digest
        self.basicConstraints = basicConstraints
        self.keyUsage = keyUsage
        self.markers = markers
        self.policy = policy
    }

    /// This description with some things changed.
    public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    /// Signs the certificate.
    ///
    /// - Parameter issuer: who signs; nothing for a self-signed certificate.
    public func issued(by issuer: ForgedCertificate?) throws -> ForgedCertificate {
        let issuerName = issuer?.subject ?? subject.der
        let issuerKey = try SigningKey.of(issuer?.key ?? key)
        let ownKey = try SigningKey.of(key)
        let algorithm = issuerKey.signatureAlgorithm(digest)
        let toBeSigned = DERWriter.sequence(
            DERWriter.explicit(0, DERWriter.integer(2)), DERWriter.unsignedInteger(serial), algorithm, issuerName,
            DERWriter.sequence(DERWriter.time(notBefore), DERWriter.time(notAfter)), subject.der,
            ownKey.subjectPublicKeyInfo,
            DERWriter.explicit(3, DERWriter.sequence(of: extensions(of: ownKey, issuedBy: issuerKey))))
        var signature = try issuerKey.signature(over: toBeSigned, digest)
        // In the last byte of s an ECDSA signature stays one in form; its middle holds tags and lengths.
        if brokenSignature { signature[issuerKey.isRSA ? signature.count / 2 : signature.count - 1] ^= 0x04 }
        let der = DERWriter.sequence(toBeSigned, algorithm, DERWriter.bitString(signature))
        return ForgedCertificate(der: der, subject: subject.der, issuer: issuerName, serial: serial, key: key)
    }
}

/// A certificate that has been signed.
public struct ForgedCertificate: Hashable, Sendable {
    /// The certificate itself.
    public let der: [UInt8]
    /// The subject's name, encoded.
    public let subject: [UInt8]
    /// The issuer's name, encoded; what a SignerInfo points at together with the serial number.
    public let issuer: [UInt8]
    public let serial: [UInt8]
    /// The key that the certificate is about.
    public let key: TestKey

    /// SHA-256 of the certificate, 32 bytes.
    public var fingerprint: [UInt8] { ForgedDigest.sha256(der) }
}
