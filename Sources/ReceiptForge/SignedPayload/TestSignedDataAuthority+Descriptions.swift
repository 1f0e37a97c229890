/// What the authority's certificates say. Curves, extensions and the dates of root and intermediate follow the certificates
/// listed in Reference.md S4; names, keys and serial numbers are the test authority's own.
extension TestSignedDataAuthority {
    private typealias Receipts = TestCertificateAuthority

    /// The root: CA without a path length, signed with ecdsa-with-SHA384, P-384.
    public static var rootDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x2D, 0x7E, 0x57, 0x01],
            subject: .commonNameFirst(
                "Test Apple Root CA - G3", unit: "Test Certification Authority", organization: Receipts.organization),
            notBefore: ForgedInstant(2014, 4, 30, 18, 19, 6), notAfter: ForgedInstant(2039, 4, 30, 18, 19, 6),
            key: .signedDataRootCA, digest: .sha384, basicConstraints: .certificateAuthority(pathLength: nil),
            keyUsage: [.keyCertSign, .crlSign]
        ).with { $0.revocationPointers = false }
    }

    /// The intermediate, with the marker 6.2.1, P-384.
    public static var intermediateDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x7E, 0x57] + (0..<18).map { 0x39 &+ $0 &* 5 },
            subject: DistinguishedName([
                .init(.commonName, "Test Worldwide Developer Relations Certification Authority"),
                .init(.organizationalUnitName, "Test G6"), .init(.organizationName, Receipts.organization),
                .init(.countryName, "US", tag: ASN1Tag.printableString),
            ]),
            notBefore: ForgedInstant(2021, 3, 17, 20, 37, 10), notAfter: ForgedInstant(2036, 3, 19),
            key: .signedDataIntermediate, digest: .sha384, basicConstraints: .certificateAuthority(pathLength: 0),
            keyUsage: [.keyCertSign, .crlSign], markers: [.intermediateMarker])
    }

    /// The leaf, with the marker 6.11.1, P-256. It lives nearly as long as the intermediate, and not Apple's two years, so
    /// that a simulated clock has room.
    public static var leafDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x7E, 0x57] + (0..<14).map { 0x21 &+ $0 &* 13 },
            subject: .commonNameFirst(
                "Test ECC Mac App Store and iTunes Store Receipt Signing", unit: Receipts.relations,
                organization: Receipts.organization),
            notBefore: ForgedInstant(2021, 3, 18), notAfter: ForgedInstant(2036, 3, 18), key: .signedDataLeaf,
            digest: .sha384, basicConstraints: .endEntity, keyUsage: .digitalSignature,
            markers: [.receiptSigningMarker], policy: .receiptSigningPolicy)
    }

    /// The one certificate of what Xcode signs: self-signed, P-256.
    public static var xcodeDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x7E, 0x57, 0x02],
            subject: DistinguishedName([
                .init(.commonName, "Test StoreKit Testing in Xcode"),
                .init(.organizationName, "Test StoreKit Testing in Xcode"),
            ]),
            notBefore: ForgedInstant(2021, 3, 18), notAfter: ForgedInstant(2036, 3, 18), key: .signedDataXcode,
            digest: .sha256, basicConstraints: .absent, keyUsage: .digitalSignature
        ).with { $0.revocationPointers = false }
    }

    /// Answers for the intermediate whether a certificate was revoked (RFC 6960, 4.2.2.2).
    public static var responderDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x7E, 0x57, 0x03],
            subject: .commonNameFirst(
                "Test OCSP Responder", unit: Receipts.relations, organization: Receipts.organization),
            notBefore: ForgedInstant(2021, 3, 18), notAfter: ForgedInstant(2036, 3, 18), key: .signedDataResponder,
            digest: .sha384, basicConstraints: .endEntity, keyUsage: .digitalSignature
        ).with {
            $0.extendedKeyUsage = [.ocspSigning]
            $0.extendedKeyUsageIsCritical = false
            $0.revocationPointers = false
        }
    }
}
