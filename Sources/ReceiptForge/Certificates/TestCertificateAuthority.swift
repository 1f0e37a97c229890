/// A certificate authority with the structure of Apple's: one root, intermediates of three generations, and leaves that
/// sign receipts (Reference.md V7). Every name begins with "Test", and every key is public.
///
/// Tests trust it explicitly, with ``rootDER``.
public struct TestCertificateAuthority: Sendable {
    /// Which of Apple's generations a receipt imitates.
    public enum Generation: String, CaseIterable, Hashable, Sendable {
        /// SHA-1; certificates from before November 2015 (WWDR with serial 0x19).
        case original
        /// SHA-1; November 2015 to February 2023 (WWDR "G1").
        case g1
        /// SHA-256; September 2022 on (WWDR G5).
        case g5

        /// The digest of signatures over receipts: SHA-256 for ``g5``, otherwise SHA-1.
        public var digest: ForgedDigest { self == .g5 ? .sha256 : .sha1 }
    }

    /// The authority with the fixed keys, the same on every machine.
    public static func shared() throws -> TestCertificateAuthority { try sharedResult.get() }
    private static let sharedResult = Result { try TestCertificateAuthority() }

    /// The self-signed root, in the place of Apple Root CA. Tests must trust it explicitly.
    public let root: ForgedCertificate
    /// The certificates that issue the leaves, one for each generation.
    public let intermediates: [Generation: ForgedCertificate]
    /// The certificates that sign receipts, one for each generation.
    public let leaves: [Generation: ForgedCertificate]
    /// Issues the leaves of iOS 6 receipts of version 2; never part of a receipt.
    public let iTunesStoreIntermediate: ForgedCertificate
    /// Signs iOS 6 receipts of version 2, 2009 to June 2014.
    public let earlyPurchaseReceiptLeaf: ForgedCertificate
    /// Signs iOS 6 receipts of version 2, June 2014 to May 2016.
    public let purchaseReceiptLeaf: ForgedCertificate
    /// Signs imitations of Xcode's receipts. Self-signed.
    public let xcode: ForgedCertificate

    private init() throws {
        let root = try Self.rootDescription.issued(by: nil)
        var intermediates: [Generation: ForgedCertificate] = [:]
        var leaves: [Generation: ForgedCertificate] = [:]
        for generation in Generation.allCases {
            let intermediate = try Self.intermediateDescription(generation).issued(by: root)
            intermediates[generation] = intermediate
            leaves[generation] = try Self.leafDescription(generation).issued(by: intermediate)
        }
        self.root = root
        self.intermediates = intermediates
        self.leaves = leaves
        iTunesStoreIntermediate = try Self.iTunesStoreDescription.issued(by: root)
        earlyPurchaseReceiptLeaf = try Self.purchaseReceiptDescription(early: true).issued(by: iTunesStoreIntermediate)
        purchaseReceiptLeaf = try Self.purchaseReceiptDescription(early: false).issued(by: iTunesStoreIntermediate)
        xcode = try Self.xcodeDescription.issued(by: nil)
    }

    /// The certificate that issues the leaf of a generation.
    /// - Throws: ``ForgeError`` `badDescription` if there is none. Each generation has one.
    public func intermediate(_ generation: Generation) throws -> ForgedCertificate {
        guard let certificate = intermediates[generation] else { throw ForgeError.badDescription(generation.rawValue) }
        return certificate
    }

    /// The certificate that signs receipts of a generation.
    /// - Throws: ``ForgeError`` `badDescription` if there is none. Each generation has one.
    public func leaf(_ generation: Generation) throws -> ForgedCertificate {
        guard let certificate = leaves[generation] else { throw ForgeError.badDescription(generation.rawValue) }
        return certificate
    }

    /// Leaf, intermediate, root: the certificates of a receipt in Apple's order.
    public func chain(_ generation: Generation) throws -> [ForgedCertificate] {
        [try leaf(generation), try intermediate(generation), root]
    }

    // MARK: Trust anchors for tests

    /// The root certificate to trust in tests, DER.
    public static var rootDER: [UInt8] { get throws { try shared().root.der } }
    /// The intermediate that a verifier of iOS 6 receipts of version 2 must supply, DER.
    public static var iTunesStoreIntermediateDER: [UInt8] { get throws { try shared().iTunesStoreIntermediate.der } }
    /// The intermediate that a verifier of iOS 6 receipts of version 3 must supply, DER.
    public static var version3IntermediateDER: [UInt8] { get throws { try shared().intermediate(.g1).der } }
    /// The intermediate that a verifier of iOS 6 receipts of version 4 must supply, DER.
    public static var version4IntermediateDER: [UInt8] { get throws { try shared().intermediate(.g5).der } }
    /// The leaves of iOS 6 receipts, which a verifier can pin instead: version 2 early, version 2 late, versions 3 and 4.
    public static var transactionReceiptLeavesDER: [[UInt8]] {
        get throws {
            let authority = try shared()
            return [
                authority.earlyPurchaseReceiptLeaf.der, authority.purchaseReceiptLeaf.der, try authority.leaf(.g1).der,
                try authority.leaf(.g5).der,
            ]
        }
    }
    /// The certificate that signs imitations of Xcode's receipts, DER.
    public static var xcodeDER: [UInt8] { get throws { try shared().xcode.der } }
}

/// The descriptions of the authority's certificates. Dates and extensions are those of the certificates in Reference.md V7.1 to
/// V7.3. Names, keys and serial numbers are the test authority's own.
extension TestCertificateAuthority {
    static let organization = "Test Apple Inc."
    static let relations = "Test Worldwide Developer Relations"

    static let rootName = DistinguishedName.countryFirst(
        organization: organization, unit: "Test Certification Authority", commonName: "Test Apple Root CA",
        tag: ASN1Tag.printableString)

    /// The root: CA without a path length, critical key usage, its own policy, signed with SHA-1.
    public static var rootDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x02], subject: rootName, notBefore: ForgedInstant(2006, 4, 25, 21, 40, 36),
            notAfter: ForgedInstant(2035, 2, 9, 21, 40, 36), key: .rootCA, digest: .sha1,
            basicConstraints: .certificateAuthority(pathLength: nil), keyUsage: [.keyCertSign, .crlSign],
            policy: .rootPolicy, revocationPointers: false)
    }

    /// The intermediate of app receipts, with the marker 6.2.1.
    public static func intermediateDescription(_ generation: Generation) -> CertificateDescription {
        switch generation {
        case .original:
            intermediate([0x19], ForgedInstant(2008, 2, 14, 18, 56, 35), ForgedInstant(2016, 2, 14, 18, 56, 35))
        case .g1:
            intermediate(
                [0x7E, 0x57, 0xCC, 0x43, 0x96, 0xDA, 0x00, 0x01], ForgedInstant(2013, 2, 7, 21, 48, 47),
                ForgedInstant(2023, 2, 7, 21, 48, 47))
        case .g5:
            CertificateDescription(
                serial: [0x7E, 0x57] + (0..<18).map { 0x3B &+ $0 &* 7 },
                subject: .commonNameFirst(
                    "Test Worldwide Developer Relations Certification Authority", unit: "Test G5",
                    organization: organization),
                notBefore: ForgedInstant(2020, 12, 16, 19, 38, 56), notAfter: ForgedInstant(2030, 12, 10),
                key: .wwdrG5, digest: .sha256, basicConstraints: .certificateAuthority(pathLength: 0),
                keyUsage: [.keyCertSign, .crlSign], markers: [.intermediateMarker])
        }
    }

    /// The two SHA-1 generations share their name and key, as Apple's did.
    private static func intermediate(
        _ serial: [UInt8], _ notBefore: ForgedInstant, _ notAfter: ForgedInstant
    ) -> CertificateDescription {
        CertificateDescription(
            serial: serial,
            subject: .countryFirst(
                organization: organization, unit: relations,
                commonName: "Test Worldwide Developer Relations Certification Authority"),
            notBefore: notBefore, notAfter: notAfter, key: .wwdr, digest: .sha1,
            basicConstraints: .certificateAuthority(pathLength: nil),
            keyUsage: [.digitalSignature, .keyCertSign, .crlSign], markers: [.intermediateMarker])
    }

    /// The leaf that signs app receipts, with the marker 6.11.1.
    public static func leafDescription(_ generation: Generation) -> CertificateDescription {
        switch generation {
        case .original:
            leaf(
                generation, [0x7E, 0x57, 0x43, 0x21, 0x72, 0x74, 0x9C, 0x01], ForgedInstant(2010, 11, 11, 21, 58, 1),
                ForgedInstant(2015, 11, 11, 21, 58, 1))
        case .g1:
            leaf(
                generation, [0x0E, 0x57, 0x57, 0x87, 0xE7, 0x9E, 0x09, 0x02], ForgedInstant(2015, 11, 13, 2, 15, 9),
                ForgedInstant(2023, 2, 7, 21, 48, 47))
        case .g5:
            leaf(
                generation, [0x7E, 0x57] + (0..<14).map { 0x15 &+ $0 &* 11 }, ForgedInstant(2022, 9, 2, 19, 13, 57),
                ForgedInstant(2026, 8, 23, 14, 50, 2))
        }
    }

    private static func leaf(
        _ generation: Generation, _ serial: [UInt8], _ notBefore: ForgedInstant, _ notAfter: ForgedInstant
    ) -> CertificateDescription {
        CertificateDescription(
            serial: serial,
            subject: .commonNameFirst(
                "Test Mac App Store and iTunes Store Receipt Signing", unit: relations, organization: organization),
            notBefore: notBefore, notAfter: notAfter,
            key: generation == .g5 ? .receiptSigningG5 : .receiptSigning, digest: generation.digest,
            basicConstraints: .endEntity, keyUsage: .digitalSignature, markers: [.receiptSigningMarker],
            policy: .receiptSigningPolicy)
    }

    /// The intermediate of iOS 6 receipts, with the marker 6.2.2.
    public static var iTunesStoreDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x1A],
            subject: .countryFirst(
                organization: organization, unit: "Test Certification Authority",
                commonName: "Test iTunes Store Certification Authority"),
            notBefore: ForgedInstant(2009, 5, 19, 18, 31, 30), notAfter: ForgedInstant(2016, 5, 18, 18, 31, 30),
            key: .iTunesStoreCA, digest: .sha1, basicConstraints: .certificateAuthority(pathLength: nil),
            keyUsage: [.digitalSignature, .keyCertSign, .crlSign], markers: [.iTunesStoreIntermediateMarker])
    }

    /// The RSA-1024 leaf of iOS 6 receipts of version 2, with the marker 6.5.1.
    public static func purchaseReceiptDescription(early: Bool) -> CertificateDescription {
        CertificateDescription(
            serial: early
                ? [0x65, 0x14, 0x7E, 0x57, 0xD9, 0x58, 0x04, 0x01] : [0x1B, 0xA9, 0x7E, 0x57, 0xC0, 0x86, 0x6F, 0x02],
            subject: .commonNameFirst(
                "TestPurchaseReceiptCertificate", unit: "Test iTunes Store", organization: organization),
            notBefore: early ? ForgedInstant(2009, 6, 15, 22, 5, 56) : ForgedInstant(2014, 6, 7, 0, 2, 21),
            notAfter: early ? ForgedInstant(2014, 6, 14, 22, 5, 56) : ForgedInstant(2016, 5, 18, 18, 31, 30),
            key: .purchaseReceipt, digest: .sha1, basicConstraints: .endEntity, keyUsage: .digitalSignature,
            markers: [.purchaseReceiptMarker], revocationPointers: false)
    }

    /// The single certificate of an Xcode receipt: self-signed, a CA, for code signing.
    public static var xcodeDescription: CertificateDescription {
        CertificateDescription(
            serial: [0x01],
            subject: DistinguishedName([
                .init(.commonName, "Test StoreKit"), .init(.organizationName, "Test StoreKit"),
                .init(.organizationalUnitName, "Test StoreKit"),
                .init(.countryName, "US", tag: ASN1Tag.printableString),
                .init(.emailAddress, "Test StoreKit", tag: ASN1Tag.ia5String),
            ]),
            notBefore: ForgedInstant(2020, 4, 1, 17, 52, 35), notAfter: ForgedInstant(2040, 3, 27, 17, 52, 35),
            key: .xcode, digest: .sha256, basicConstraints: .certificateAuthority(pathLength: nil),
            keyUsage: [.digitalSignature, .keyCertSign], extendedKeyUsage: [.codeSigning], keyIdentifiers: false,
            revocationPointers: false)
    }
}

/// An untrusted certificate authority with the markers and dates of the test authority's SHA-256 chain.
public struct ForeignAuthority: Sendable {
    /// Leaf, intermediate, root.
    public let certificates: [ForgedCertificate]

    /// - Parameter impostor: gives the certificates the names and serial numbers of the test authority's, so that only keys
    ///   and signatures differ.
    public init(impostor: Bool = false) throws {
        typealias Authority = TestCertificateAuthority
        let root = try Authority.rootDescription.with {
            $0.key = .foreignRootCA
            if !impostor { $0.subject = .foreign("Foreign Test Root CA") }
        }.issued(by: nil)
        let intermediate = try Authority.intermediateDescription(.g5).with {
            $0.key = .foreignIntermediate
            if !impostor { $0.subject = .foreign("Foreign Test Intermediate CA") }
        }.issued(by: root)
        let leaf = try Authority.leafDescription(.g5).with {
            $0.key = .foreignLeaf
            if !impostor { $0.subject = .foreign("Foreign Test Receipt Signing") }
        }.issued(by: intermediate)
        certificates = [leaf, intermediate, root]
    }
}
