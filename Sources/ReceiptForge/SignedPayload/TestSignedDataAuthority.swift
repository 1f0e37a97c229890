import Foundation

/// A test authority for JWS of the App Store: root and intermediate with P-384, leaf with P-256, Apple's markers
/// (Reference.md S4). Every name begins with "Test", and every key is public.
///
/// Tests trust it explicitly, with ``rootCertificate``.
public struct TestSignedDataAuthority: Sendable {
    /// Signs payloads.
    public let leaf: ForgedCertificate
    /// The certificate that issued the leaf.
    public let intermediate: ForgedCertificate
    /// The certificate that issued the intermediate.
    public let root: ForgedCertificate

    public init(leaf: ForgedCertificate, intermediate: ForgedCertificate, root: ForgedCertificate) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
    }

    /// The authority with the fixed certificates, which have the same bytes on every machine.
    public static let standard = TestSignedDataAuthority(
        leaf: certificate(leafDescription, issuer: intermediateDescription, leafBase64),
        intermediate: certificate(intermediateDescription, issuer: rootDescription, intermediateBase64),
        root: certificate(rootDescription, issuer: rootDescription, rootBase64))

    /// An authority with changed certificates.
    ///
    /// - Parameter change: changes leaf, intermediate and root before they are issued.
    public static func issued(
        _ change: (
            _ leaf: inout CertificateDescription, _ intermediate: inout CertificateDescription,
            _ root: inout CertificateDescription
        ) -> Void
    ) throws -> TestSignedDataAuthority {
        var (leaf, intermediate, root) = (leafDescription, intermediateDescription, rootDescription)
        change(&leaf, &intermediate, &root)
        let rootCertificate = try root.issued(by: nil)
        let intermediateCertificate = try intermediate.issued(by: rootCertificate)
        return TestSignedDataAuthority(
            leaf: try leaf.issued(by: intermediateCertificate), intermediate: intermediateCertificate,
            root: rootCertificate)
    }

    /// An untrusted authority.
    ///
    /// - Parameter impostor: gives the certificates the names and serial numbers of the standard authority's, so that only
    ///   keys and signatures differ.
    public static func foreign(impostor: Bool = false) throws -> TestSignedDataAuthority {
        try issued { leaf, intermediate, root in
            (leaf.key, intermediate.key) = (.foreignSignedDataLeaf, .foreignSignedDataIntermediate)
            root.key = .foreignSignedDataRootCA
            if impostor { return }
            leaf.subject = .foreign("Foreign Test Receipt Signing")
            intermediate.subject = .foreign("Foreign Test Intermediate CA")
            root.subject = .foreign("Foreign Test Root CA")
        }
    }

    /// The root's DER, for tests that trust it explicitly.
    public var rootCertificate: [UInt8] { root.der }

    /// Leaf, intermediate, root, DER.
    public var certificates: [[UInt8]] { [leaf.der, intermediate.der, root.der] }

    /// A payload with the App Store's header, unsigned.
    public func signedPayload(_ payload: [UInt8]) -> ForgedSignedPayload {
        ForgedSignedPayload(payload: payload, certificates: certificates, key: leaf.key)
    }

    /// Signs a payload's JSON: compact JWS with `alg` ES256 and `x5c` of three.
    public func sign(payload: [UInt8]) throws -> String { try signedPayload(payload).text() }

    /// A payload as StoreKit testing in Xcode signs it, with one self-signed certificate.
    public static func xcodeSignedPayload(_ payload: [UInt8]) throws -> ForgedSignedPayload {
        let certificate = try xcodeDescription.issued(by: nil)
        return ForgedSignedPayload(payload: payload, certificates: [certificate.der], key: certificate.key).with {
            let text = Data(certificate.der).base64EncodedString()
            $0.header = Array(
                "{\"kid\":\"Apple_Xcode_Key\",\"typ\":\"JWT\",\"x5c\":[\"\(text)\"],\"alg\":\"ES256\"}".utf8)
        }
    }

    private static func certificate(
        _ description: CertificateDescription, issuer: CertificateDescription, _ base64: String
    ) -> ForgedCertificate {
        ForgedCertificate(
            der: Array(Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()),
            subject: description.subject.der, issuer: issuer.subject.der, serial: description.serial,
            key: description.key)
    }
}

/// The descriptions of the authority's certificates. Curves, extensions and the dates of root and intermediate are those of the
/// certificates in Reference.md S4. Names, keys and serial numbers are the test authority's own.
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
            subject: .commonNameFirst(
                "Test Worldwide Developer Relations Certification Authority", unit: "Test G6",
                organization: Receipts.organization),
            notBefore: ForgedInstant(2021, 3, 17, 20, 37, 10), notAfter: ForgedInstant(2036, 3, 19),
            key: .signedDataIntermediate, digest: .sha384, basicConstraints: .certificateAuthority(pathLength: 0),
            keyUsage: [.keyCertSign, .crlSign], markers: [.intermediateMarker])
    }

    /// The leaf, with the marker 6.11.1, P-256. It is valid nearly as long as the intermediate, instead of Apple's two years, for
    /// simulated clocks.
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

    /// The single certificate of data that Xcode signs: self-signed, P-256.
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

    /// Signs OCSP answers for the intermediate (RFC 6960, 4.2.2.2).
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

/// The fixed certificates. ECDSA signatures are random, so issuing the certificates again gives the same content with
/// different signatures. These were issued once from the descriptions.
extension TestSignedDataAuthority {
    static let rootBase64 = """
        MIICczCCAfigAwIBAgIELX5XATAKBggqhkjOPQQDAzBwMSAwHgYDVQQDDBdUZXN0IEFwcGxlIFJvb3QgQ0EgLSBHMzElMCMGA1UE
        CwwcVGVzdCBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTEYMBYGA1UECgwPVGVzdCBBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzAeFw0x
        NDA0MzAxODE5MDZaFw0zOTA0MzAxODE5MDZaMHAxIDAeBgNVBAMMF1Rlc3QgQXBwbGUgUm9vdCBDQSAtIEczMSUwIwYDVQQLDBxU
        ZXN0IENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRgwFgYDVQQKDA9UZXN0IEFwcGxlIEluYy4xCzAJBgNVBAYTAlVTMHYwEAYHKoZI
        zj0CAQYFK4EEACIDYgAErWurIHCDIHSm1NYtC2uusZI2+CVZiVj1Mr5EW2iO7gwQBi9pi4hnF7wZb0r2WBjHSBJwWjtxtbb+0fn4
        O6BYNBn60btnvmutXNiF2QiSnDdeM76YTGlm9Rcqly6hRXpeo2MwYTAPBgNVHRMBAf8EBTADAQH/MB8GA1UdIwQYMBaAFK1O2xIB
        JzN4GEOz0unNBeN4dKl2MB0GA1UdDgQWBBStTtsSASczeBhDs9LpzQXjeHSpdjAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwMD
        aQAwZgIxANsoWQA5vi7kg6DebP7jzMKXbcPgRpEyzLhLJHnFfUsk7LNaPc8yFpET7ezLCjAjbgIxAOhqGQ6CBeT8+kH7h9FGEmQv
        5Qk0cfhGnMNpv05hl6neN33A23eQ3iGf5PMtj4xI9Q==
        """

    static let intermediateBase64 = """
        MIIDJjCCAq2gAwIBAgIUflc5PkNITVJXXGFma3B1en+EiY4wCgYIKoZIzj0EAwMwcDEgMB4GA1UEAwwXVGVzdCBBcHBsZSBSb290
        IENBIC0gRzMxJTAjBgNVBAsMHFRlc3QgQ2VydGlmaWNhdGlvbiBBdXRob3JpdHkxGDAWBgNVBAoMD1Rlc3QgQXBwbGUgSW5jLjEL
        MAkGA1UEBhMCVVMwHhcNMjEwMzE3MjAzNzEwWhcNMzYwMzE5MDAwMDAwWjB+MUMwQQYDVQQDDDpUZXN0IFdvcmxkd2lkZSBEZXZl
        bG9wZXIgUmVsYXRpb25zIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRAwDgYDVQQLDAdUZXN0IEc2MRgwFgYDVQQKDA9UZXN0IEFw
        cGxlIEluYy4xCzAJBgNVBAYTAlVTMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAExLYO0D43ZZTqhCBZtpCJnkVzK+9Jnq1VH7anbEd/
        9V3AL0ldyoI8CRYcT028CIPkLZrit6nazwYoCHWCVhp0mh17b1Y4CtIhJpZGmDsJEVo8juOXCYftqw+0TzLIiCJQo4H5MIH2MBIG
        A1UdEwEB/wQIMAYBAf8CAQAwHwYDVR0jBBgwFoAUrU7bEgEnM3gYQ7PS6c0F43h0qXYwQwYIKwYBBQUHAQEENzA1MDMGCCsGAQUF
        BzABhidodHRwOi8vb2NzcC50ZXN0LWF1dGhvcml0eS5pbnZhbGlkL29jc3AwOQYDVR0fBDIwMDAuoCygKoYoaHR0cDovL2NybC50
        ZXN0LWF1dGhvcml0eS5pbnZhbGlkL2NhLmNybDAdBgNVHQ4EFgQUXoLxiRZwF6NzbvvCLtwSGcXRjZ0wDgYDVR0PAQH/BAQDAgEG
        MBAGCiqGSIb3Y2QGAgEEAgUAMAoGCCqGSM49BAMDA2cAMGQCMF7s+oO/pPpnvui/3tOYrvMHmr16e0aY7aXsLR2dhnTWtIfQcR1I
        q/UMn8+GApRUcAIwSVyFM71IpE3BzkMIvI2nM9VGO3fZKB0J8ktOXm8uxKvb2LN+grYJhM0t9GMFAjVS
        """

    static let leafBase64 = """
        MIIESjCCA9GgAwIBAgIQflchLjtIVWJvfImWo7C9yjAKBggqhkjOPQQDAzB+MUMwQQYDVQQDDDpUZXN0IFdvcmxkd2lkZSBEZXZl
        bG9wZXIgUmVsYXRpb25zIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRAwDgYDVQQLDAdUZXN0IEc2MRgwFgYDVQQKDA9UZXN0IEFw
        cGxlIEluYy4xCzAJBgNVBAYTAlVTMB4XDTIxMDMxODAwMDAwMFoXDTM2MDMxODAwMDAwMFowgZYxQDA+BgNVBAMMN1Rlc3QgRUND
        IE1hYyBBcHAgU3RvcmUgYW5kIGlUdW5lcyBTdG9yZSBSZWNlaXB0IFNpZ25pbmcxKzApBgNVBAsMIlRlc3QgV29ybGR3aWRlIERl
        dmVsb3BlciBSZWxhdGlvbnMxGDAWBgNVBAoMD1Rlc3QgQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASQTQBus85Y2o+KbZQbz590iMaC47GAay9EhJTyO5/Oio4sf4Kyw3OshpEhZj18xuJUIMBoG8qX+i0qC7MLxumyo4IC
        FjCCAhIwDAYDVR0TAQH/BAIwADAfBgNVHSMEGDAWgBRegvGJFnAXo3Nu+8Iu3BIZxdGNnTBDBggrBgEFBQcBAQQ3MDUwMwYIKwYB
        BQUHMAGGJ2h0dHA6Ly9vY3NwLnRlc3QtYXV0aG9yaXR5LmludmFsaWQvb2NzcDCCAR4GA1UdIASCARUwggERMIIBDQYKKoZIhvdj
        ZAUGATCB/jA2BggrBgEFBQcCARYqaHR0cHM6Ly93d3cudGVzdC1hdXRob3JpdHkuaW52YWxpZC9wb2xpY3kvMIHDBggrBgEFBQcC
        AjCBtgyBs1RoaXMgaXMgYSB0ZXN0IGNlcnRpZmljYXRlLiBJdHMgcHJpdmF0ZSBrZXkgaXMgcHVibGljLiBJdCB2b3VjaGVzIGZv
        ciBub3RoaW5nIGFuZCBmb3Igbm9ib2R5LCBhbmQgbm8gc29mdHdhcmUgc2hvdWxkIHRydXN0IGl0IGV4Y2VwdCB0aGUgdGVzdHMg
        b2YgdGhlIHBhY2thZ2UgdGhhdCBpdCB3YXMgbWFkZSBmb3IuMDkGA1UdHwQyMDAwLqAsoCqGKGh0dHA6Ly9jcmwudGVzdC1hdXRo
        b3JpdHkuaW52YWxpZC9jYS5jcmwwHQYDVR0OBBYEFG4Mz1opBO4Q7lW0PV+avVDLY3x3MA4GA1UdDwEB/wQEAwIHgDAQBgoqhkiG
        92NkBgsBBAIFADAKBggqhkjOPQQDAwNnADBkAjBKd6uIR3cj8k107S2IlcVJsRuSMiSwo8xU1IohEMJxFJNtDnJGN7k4dQVc+MB0
        x14CMC08Sz+WNrT6Y5+K1hZKx62ozsWQJxQz82wr1eWm6qDzbnUmxm6y05zdAM9m/mfmgA==
        """
}
