/// The trust anchors for receipts.
///
/// ``apple`` is the default: Apple's roots by fingerprint. The verifier uses no system trust store, no network and no clock.
/// A receipt contains its certificates, and they are checked for the time of the signature.
public struct TrustPolicy: Sendable {
    /// SHA-256 fingerprints of roots that an embedded certificate must match to be an anchor.
    public var roots: Set<Fingerprint>
    /// Roots that the caller adds, in DER, for the caller's own test receipts.
    public var additionalRoots: [[UInt8]]
    /// Intermediates for transaction receipts, in DER, because those receipts contain only the leaf. They are needed
    /// only for a leaf that is neither pinned nor issued by one of Apple's intermediates of Reference.md V7.5.
    public var additionalIntermediates: [[UInt8]]
    /// Leaves of transaction receipts that are trusted by their fingerprint.
    public var transactionReceiptLeaves: Set<Fingerprint>
    /// Intermediates that are trusted by their fingerprint. The package contains those of Apple that issued leaves since
    /// 2013; others must be in ``additionalIntermediates`` too.
    public var transactionReceiptIntermediates: Set<Fingerprint>
    /// Whether receipts of Xcode's StoreKit testing are accepted. Their key is on every developer's Mac, so they can be
    /// forged. For test servers only.
    public var acceptsXcodeReceipts: Bool

    /// A policy that trusts Apple's pinned certificates, unless other values are given. Receipts of Xcode are rejected
    /// by default. DER is not parsed here: ``ReceiptVerifier/init(trust:limits:)`` throws for a malformed certificate.
    public init(
        roots: Set<Fingerprint> = Self.appleRoots, additionalRoots: [[UInt8]] = [],
        additionalIntermediates: [[UInt8]] = [],
        transactionReceiptLeaves: Set<Fingerprint> = Self.appleTransactionReceiptLeaves,
        transactionReceiptIntermediates: Set<Fingerprint> = Self.appleTransactionReceiptIntermediates,
        acceptsXcodeReceipts: Bool = false
    ) {
        self.roots = roots
        self.additionalRoots = additionalRoots
        self.additionalIntermediates = additionalIntermediates
        self.transactionReceiptLeaves = transactionReceiptLeaves
        self.transactionReceiptIntermediates = transactionReceiptIntermediates
        self.acceptsXcodeReceipts = acceptsXcodeReceipts
    }

    /// Only Apple's roots and leaves.
    public static let apple = TrustPolicy()

    /// Apple Root CA, Apple Root CA - G2 and Apple Root CA - G3 (Reference.md V7.1).
    public static let appleRoots = PinnedRoots.apple

    /// The leaves that signed transaction receipts until 2023 (Reference.md V7.5).
    public static let appleTransactionReceiptLeaves: Set<Fingerprint> = [
        Fingerprint(0x1583_2E01_B45A_6CFD, 0xC0B0_E9D5_E494_42A5, 0x108D_1A10_3BE9_3E8C, 0x90AF_F472_ED5C_147C),
        Fingerprint(0xC6E6_22C3_0086_A42D, 0x67D5_5143_211B_BA9F, 0x7A76_8E0A_5FC1_A440, 0x8F4D_5CFB_067B_4E8A),
        Fingerprint(0xFCFD_FCE9_AC64_E0FC, 0x3568_CCFF_5D0C_700C, 0x7BE3_ED41_03DF_D8B5, 0x0F08_4083_58FE_937C),
    ]

    /// The intermediates of the leaves: iTunes Store CA, and Worldwide Developer Relations CA G1, G5, G7 and G8
    /// (Reference.md V7.5).
    public static let appleTransactionReceiptIntermediates: Set<Fingerprint> = [
        Fingerprint(0x447A_D654_8461_0F20, 0xFDC3_3804_C859_7A1E, 0x208F_BE4E_F9C5_6534, 0x85CC_7D3D_F730_C016),
        Fingerprint(0xCE05_7691_D730_F89C, 0xA25E_916F_7335_F4C8, 0xA157_13DC_D273_A658, 0xC024_023F_8EB8_09C2),
        Fingerprint(0x53FD_0082_78E5_A595, 0xFE1E_908A_E9C5_E567, 0x5F26_2432_64A5_A643, 0x8C02_3E3C_E287_0760),
        Fingerprint(0x0F57_0D75_0237_3A21, 0x02E2_106F_AAA8_FA48, 0x4494_4A07_EE67_6198, 0x484F_4D6C_E15B_EA47),
        Fingerprint(0x2990_1BAD_EA37_C9F3, 0x00CE_9869_956B_EEB0, 0x01D7_E71B_FFB2_E2D9, 0x533E_132A_4E87_E6BD),
    ]

    /// Xcode's StoreKit testing certificate (Reference.md V7.4). Tests replace it with a certificate that has a known
    /// key.
    package var xcodeCertificate = Fingerprint(
        0xFF0B_A36E_721D_2DB7, 0x41D2_AA11_E611_2EF7, 0x8BF7_131B_46C7_F035, 0xB008_91D0_45C8_64FE)
}
