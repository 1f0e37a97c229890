import Foundation

/// A test authority for what the App Store signs today: root and intermediate P-384, leaf P-256, Apple's markers
/// (Reference.md S4). Every name begins with "Test", every key is public.
///
/// A test trusts it explicitly, by ``rootCertificate``.
public struct TestSignedDataAuthority: Sendable {
    /// Signs payloads.
    public let leaf: ForgedCertificate
    /// Issued the leaf.
    public let intermediate: ForgedCertificate
    /// Issued the intermediate.
    public let root: ForgedCertificate

    public init(leaf: ForgedCertificate, intermediate: ForgedCertificate, root: ForgedCertificate) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
    }

    /// The authority of the fixed certificates, the same bytes on every machine.
    public static let standard = TestSignedDataAuthority(
        leaf: certificate(leafDescription, issuer: intermediateDescription, leafBase64),
        intermediate: certificate(intermediateDescription, issuer: rootDescription, intermediateBase64),
        root: certificate(rootDescription, issuer: rootDescription, rootBase64))

    /// An authority whose certificates say something else, issued anew.
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

    /// An authority that nobody trusts.
    ///
    /// - Parameter impostor: gives the certificates the names and serial numbers of the standard authority's, so that only
    ///   keys and signatures tell them apart.
    public static func foreign(impostor: Bool = false) throws -> TestSignedDataAuthority {
        func name(_ commonName: String) -> DistinguishedName {
            .commonNameFirst(
                commonName, unit: "Foreign Test Certification Authority", organization: "Foreign Test Inc.")
        }
        return try issued { leaf, intermediate, root in
            (leaf.key, intermediate.key) = (.foreignSignedDataLeaf, .foreignSignedDataIntermediate)
            root.key = .foreignSignedDataRootCA
            if impostor { return }
            leaf.subject = name("Foreign Test Receipt Signing")
            intermediate.subject = name("Foreign Test Intermediate CA")
            root.subject = name("Foreign Test Root CA")
        }
    }

    /// The root's DER, to be trusted explicitly.
    public var rootCertificate: [UInt8] { root.der }

    /// Leaf, intermediate, root, DER.
    public var certificates: [[UInt8]] { [leaf.der, intermediate.der, root.der] }

    /// A payload with the header that the App Store gives it, not yet signed.
    public func signedPayload(_ payload: [UInt8]) -> ForgedSignedPayload {
        ForgedSignedPayload(payload: payload, certificates: certificates, key: leaf.key)
    }

    /// Signs a payload's JSON: compact JWS with `alg` ES256 and `x5c` of three.
    public func sign(payload: [UInt8]) throws -> String { try signedPayload(payload).text() }

    /// A payload as StoreKit testing in Xcode signs it: with one self-signed certificate.
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
