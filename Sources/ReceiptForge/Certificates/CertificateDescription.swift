/// The content of a forged certificate, which ``issued(by:)`` signs. Each part can be wrong: take the description of a certificate
/// of ``TestCertificateAuthority``, and change it.
public struct CertificateDescription: ForgedDescription {
    /// The basic constraints extension (RFC 5280, 4.2.1.9), critical unless it is absent. A path length of nil is
    /// omitted.
    public enum BasicConstraints: Hashable, Sendable {
        /// The certificate has no such extension.
        case absent
        /// The extension without `cA`: the certificate is not an authority.
        case endEntity
        /// The extension with `cA` true: an authority. At most `pathLength` intermediates may follow it on the way to a
        /// leaf.
        case certificateAuthority(pathLength: Int64?)
    }

    /// Bits of the key usage extension, first bit first (RFC 5280, 4.2.1.3).
    public struct KeyUsage: OptionSet, Hashable, Sendable {
        /// The 16 bits of the BIT STRING. The first bit of the extension is the most significant one.
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// Bit 0. Leaves that sign receipts have it.
        public static let digitalSignature = Self(rawValue: 1 << 15)
        /// Bit 2: the key encrypts other keys.
        public static let keyEncipherment = Self(rawValue: 1 << 13)
        /// Bit 5. Certificate authorities have it.
        public static let keyCertSign = Self(rawValue: 1 << 10)
        /// Bit 6: the key signs revocation lists.
        public static let crlSign = Self(rawValue: 1 << 9)
    }

    /// The serial number, big endian. Leading zeros are removed.
    public var serial: [UInt8]
    /// The subject. The issuer's name comes from the certificate that signs.
    public var subject: DistinguishedName
    /// The start of validity, in whole seconds.
    public var notBefore: ForgedInstant
    /// The end of validity, in whole seconds.
    public var notAfter: ForgedInstant
    /// The key that the certificate certifies, not the one that signs it.
    public var key: TestKey
    /// The digest of the issuer's signature over this certificate.
    public var digest: ForgedDigest
    /// Whether the certificate is an authority.
    public var basicConstraints: BasicConstraints
    /// Nil omits the extension.
    public var keyUsage: KeyUsage?
    /// The purposes (RFC 5280, 4.2.1.12). Empty omits the extension.
    public var extendedKeyUsage: [ForgedObjectIdentifier] = []
    /// Whether the extended key usage is critical. Verifiers that do not implement a critical extension reject the
    /// certificate.
    public var extendedKeyUsageIsCritical = true
    /// Marker extensions with the value NULL, whose presence alone matters.
    public var markers: [ForgedObjectIdentifier] = []
    /// The certificate policy (RFC 5280, 4.2.1.4), with a notice that this is a test certificate. Nil omits the
    /// extension.
    public var policy: ForgedObjectIdentifier?
    /// Subject and authority key identifiers.
    public var keyIdentifiers = true
    /// Includes an OCSP responder and a revocation list, as Apple's certificates do, with host names that cannot exist.
    public var revocationPointers = true
    /// The OCSP responder among those. The top-level domain "invalid" never resolves (RFC 2606).
    public var ocspResponder = "http://ocsp.test-authority.invalid/ocsp"
    /// Adds a critical extension that is unknown to every verifier.
    public var unknownCriticalExtension = false
    /// Changes one bit of the signature after signing.
    public var brokenSignature = false

    /// Signs the certificate.
    ///
    /// - Parameter issuer: the signer; nil for a self-signed certificate.
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
        // A change of the last byte of s keeps the form of an ECDSA signature; its middle contains tags and lengths.
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
    /// The issuer's name, encoded. A SignerInfo identifies the certificate by it and the serial number.
    public let issuer: [UInt8]
    /// The serial number as in its description, big endian.
    public let serial: [UInt8]
    /// The key of the certificate.
    public let key: TestKey
}

extension CertificateDescription {
    /// The extensions in the order in which Apple's newer certificates have them.
    func extensions(of key: SigningKey, issuedBy issuerKey: SigningKey) -> [[UInt8]] {
        var list: [[UInt8]] = []
        if let constraints = basicConstraintsValue { list.append(Self.entry(.basicConstraints, true, constraints)) }
        if keyIdentifiers {
            let identifier = DERWriter.value(0x80, issuerKey.identifier)
            list.append(Self.entry(.authorityKeyIdentifier, false, DERWriter.sequence(identifier)))
        }
        if revocationPointers { list.append(Self.entry(.authorityInformationAccess, false, accessDescription)) }
        if let policy { list.append(Self.entry(.certificatePolicies, false, Self.policies(policy))) }
        if revocationPointers { list.append(Self.entry(.crlDistributionPoints, false, Self.distributionPoint)) }
        if keyIdentifiers {
            list.append(Self.entry(.subjectKeyIdentifier, false, DERWriter.octetString(key.identifier)))
        }
        if let keyUsage { list.append(Self.entry(.keyUsage, true, Self.bits(keyUsage))) }
        if !extendedKeyUsage.isEmpty {
            let usages = DERWriter.sequence(of: extendedKeyUsage.map(DERWriter.objectIdentifier))
            list.append(Self.entry(.extendedKeyUsage, extendedKeyUsageIsCritical, usages))
        }
        list += markers.map { Self.entry($0, false, DERWriter.null) }
        if unknownCriticalExtension {
            // An arc of the documentation range (RFC 5612), which no verifier implements.
            let unknown = ForgedObjectIdentifier(1, 3, 6, 1, 4, 1, 32473, 1)
            list.append(Self.entry(unknown, true, DERWriter.utf8String("unknown")))
        }
        return list
    }

    private var basicConstraintsValue: [UInt8]? {
        switch basicConstraints {
        case .absent: nil
        case .endEntity: DERWriter.sequence()
        case .certificateAuthority(nil): DERWriter.sequence(DERWriter.boolean(true))
        case .certificateAuthority(let length?):
            DERWriter.sequence(DERWriter.boolean(true), DERWriter.integer(length))
        }
    }

    private static func entry(_ type: ForgedObjectIdentifier, _ critical: Bool, _ value: [UInt8]) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.objectIdentifier(type), critical ? DERWriter.boolean(true) : [], DERWriter.octetString(value))
    }

    /// A BIT STRING with named bits: no trailing zero bits (X.690, 11.2.2).
    private static func bits(_ usage: KeyUsage) -> [UInt8] {
        let bytes = [UInt8(usage.rawValue >> 8), UInt8(truncatingIfNeeded: usage.rawValue)]
        let used = bytes[1] != 0 ? bytes : [bytes[0]]
        guard let last = used.last, last != 0 else { return DERWriter.bitString([]) }
        return DERWriter.bitString(used, unusedBits: UInt8(last.trailingZeroBitCount))
    }

    private var accessDescription: [UInt8] {
        DERWriter.sequence(DERWriter.sequence(DERWriter.objectIdentifier(.ocsp), Self.uri(ocspResponder)))
    }

    private static let distributionPoint = DERWriter.sequence(
        DERWriter.sequence(
            DERWriter.explicit(0, DERWriter.explicit(0, uri("http://crl.test-authority.invalid/ca.crl")))))

    private static func uri(_ text: String) -> [UInt8] { DERWriter.value(0x86, Array(text.utf8)) }

    private static func policies(_ policy: ForgedObjectIdentifier) -> [UInt8] {
        let statement = DERWriter.sequence(
            DERWriter.objectIdentifier(.certificationPracticeStatement),
            DERWriter.ia5String("https://www.test-authority.invalid/policy/"))
        let notice = DERWriter.sequence(
            DERWriter.objectIdentifier(.userNotice),
            DERWriter.sequence(
                DERWriter.utf8String(
                    "This is a test certificate. Its private key is public. It vouches for nothing and for nobody, and "
                        + "no software should trust it except the tests of the package that it was made for.")))
        return DERWriter.sequence(
            DERWriter.sequence(DERWriter.objectIdentifier(policy), DERWriter.sequence(statement, notice)))
    }
}
