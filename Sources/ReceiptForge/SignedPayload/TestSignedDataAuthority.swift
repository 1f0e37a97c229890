internal import Encodings

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

    /// An authority with these certificates, which need not be one chain. ``standard`` is the one with fixed
    /// certificates.
    public init(leaf: ForgedCertificate, intermediate: ForgedCertificate, root: ForgedCertificate) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
    }

    /// The authority with the fixed certificates, which have the same bytes on every machine. ECDSA signatures are random, so
    /// issuing the certificates again gives the same content with different signatures. These were issued once from the
    /// descriptions.
    public static let standard = TestSignedDataAuthority(
        leaf: certificate(leafDescription, issuer: intermediateDescription),
        intermediate: certificate(intermediateDescription, issuer: rootDescription),
        root: certificate(rootDescription, issuer: rootDescription))

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
            let text = Base64.encode(certificate.der)
            $0.header = Array(
                "{\"kid\":\"Apple_Xcode_Key\",\"typ\":\"JWT\",\"x5c\":[\"\(text)\"],\"alg\":\"ES256\"}".utf8)
        }
    }

    private static func certificate(
        _ description: CertificateDescription, issuer: CertificateDescription
    ) -> ForgedCertificate {
        let base64 = Array(description.key.certificateBase64.utf8)
        return ForgedCertificate(
            der: (try? Base64.decodeLeniently(base64.span)) ?? [],
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
            keyUsage: [.keyCertSign, .crlSign], revocationPointers: false)
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
            digest: .sha256, basicConstraints: .absent, keyUsage: .digitalSignature, revocationPointers: false)
    }

    /// Signs OCSP answers for the intermediate (RFC 6960, 4.2.2.2).
    public static var responderDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x7E, 0x57, 0x03],
            subject: .commonNameFirst(
                "Test OCSP Responder", unit: Receipts.relations, organization: Receipts.organization),
            notBefore: ForgedInstant(2021, 3, 18), notAfter: ForgedInstant(2036, 3, 18), key: .signedDataResponder,
            digest: .sha384, basicConstraints: .endEntity, keyUsage: .digitalSignature,
            extendedKeyUsage: [.ocspSigning], extendedKeyUsageIsCritical: false, revocationPointers: false)
    }
}
