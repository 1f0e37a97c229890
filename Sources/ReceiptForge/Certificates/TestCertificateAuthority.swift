/// A certificate authority with the shape of Apple's: one root, intermediates of three generations, leaves that sign
/// receipts (Reference.md V7). Every name begins with "Test", every key is public.
///
/// A test trusts it explicitly, by ``rootDER`` or ``rootFingerprint``.
public struct TestCertificateAuthority: Sendable {
    /// Which of Apple's generations a receipt imitates.
    public enum Generation: String, CaseIterable, Hashable, Sendable {
        /// SHA-1; certificates from before November 2015 (WWDR with serial 0x19).
        case original
        /// SHA-1; November 2015 to February 2023 (WWDR "G1").
        case g1
        /// SHA-256; September 2022 on (WWDR G5).
        case g5

        public var digest: ForgedDigest { self == .g5 ? .sha256 : .sha1 }
    }

    /// The one built from the fixed keys, the same on every machine.
    public static func shared() throws -> TestCertificateAuthority { try sharedResult.get() }
    private static let sharedResult = Result { try TestCertificateAuthority() }

    public let root: ForgedCertificate
    public let intermediates: [Generation: ForgedCertificate]
    public let leaves: [Generation: ForgedCertificate]
    /// Issues the leaves of iOS 6 receipts of version 2; never part of a receipt.
    public let iTunesStoreIntermediate: ForgedCertificate
    /// Signs iOS 6 receipts of version 2, 2009 to June 2014.
    public let earlyPurchaseReceiptLeaf: ForgedCertificate
    /// Signs iOS 6 receipts of version 2, June 2014 to May 2016.
    public let purchaseReceiptLeaf: ForgedCertificate
    /// Signs what imitates Xcode's receipts. Self-signed.
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

    public func intermediate(_ generation: Generation) throws -> ForgedCertificate {
        guard let certificate = intermediates[generation] else { throw ForgeError.badDescription(generation.rawValue) }
        return certificate
    }

    public func leaf(_ generation: Generation) throws -> ForgedCertificate {
        guard let certificate = leaves[generation] else { throw ForgeError.badDescription(generation.rawValue) }
        return certificate
    }

    /// Leaf, intermediate, root: the certificates of a receipt in Apple's order.
    public func chain(_ generation: Generation) throws -> [ForgedCertificate] {
        [try leaf(generation), try intermediate(generation), root]
    }

    // MARK: What a test needs to trust

    /// The root certificate to trust in tests, DER.
    public static var rootDER: [UInt8] { get throws { try shared().root.der } }
    /// SHA-256 of ``rootDER``.
    public static var rootFingerprint: [UInt8] { get throws { try shared().root.fingerprint } }
    /// The intermediate that a verifier of iOS 6 receipts of version 2 has to bring, DER.
    public static var iTunesStoreIntermediateDER: [UInt8] { get throws { try shared().iTunesStoreIntermediate.der } }
    /// The intermediate that a verifier of iOS 6 receipts of version 3 has to bring, DER.
    public static var version3IntermediateDER: [UInt8] { get throws { try shared().intermediate(.g1).der } }
    /// The leaves of iOS 6 receipts, which a verifier may pin instead: version 2 early, version 2 late, version 3.
    public static var transactionReceiptLeavesDER: [[UInt8]] {
        get throws {
            let authority = try shared()
            return [
                authority.earlyPurchaseReceiptLeaf.der, authority.purchaseReceiptLeaf.der, try authority.leaf(.g1).der,
            ]
        }
    }
    /// The certificate that signs what imitates Xcode's receipts, DER.
    public static var xcodeDER: [UInt8] { get throws { try shared().xcode.der } }
}
