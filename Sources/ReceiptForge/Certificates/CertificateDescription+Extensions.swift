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
            // An arc of the documentation range (RFC 5612), so that no verifier can know the extension.
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
