/// The limits of decoding and verifying. All limits of the library are here.
///
/// The defaults accept every receipt that Apple's endpoint accepts. Raise them for your own data only.
public struct DecodingLimits: Hashable, Sendable {
    /// 3 MiB, the body size that Apple's endpoint accepts (Reference.md C3).
    public static let defaultMaximumSize = 3 * 1024 * 1024
    /// Levels of nested constructed elements below the one being read.
    public static let defaultMaximumDepth = 16
    /// Apple embeds three.
    public static let defaultMaximumCertificates = 8
    /// Apple's receipts have one signer.
    public static let maximumSigners = 1
    /// Attributes, including those of purchases. The largest known receipt has about 4,000.
    public static let defaultMaximumAttributes = 300_000
    /// Keys in a property list, outer or inner. Apple writes at most 30.
    public static let defaultMaximumKeys = 256
    /// Extensions of one certificate.
    static let maximumCertificateExtensions = 64

    /// The size in bytes of the receipt after base64 is removed.
    public var maximumSize: Int
    /// The levels of nesting.
    public var maximumDepth: Int
    /// The certificates in one receipt.
    public var maximumCertificates: Int
    /// The attributes in one app receipt, including those of its purchases.
    public var maximumAttributes: Int
    /// The keys in one property list of a transaction receipt.
    public var maximumKeys: Int

    /// Limits that are the defaults except for the given ones.
    public init(
        maximumSize: Int = Self.defaultMaximumSize, maximumDepth: Int = Self.defaultMaximumDepth,
        maximumCertificates: Int = Self.defaultMaximumCertificates,
        maximumAttributes: Int = Self.defaultMaximumAttributes, maximumKeys: Int = Self.defaultMaximumKeys
    ) {
        self.maximumSize = maximumSize
        self.maximumDepth = maximumDepth
        self.maximumCertificates = maximumCertificates
        self.maximumAttributes = maximumAttributes
        self.maximumKeys = maximumKeys
    }

    /// The defaults.
    public static let standard = DecodingLimits()
}
