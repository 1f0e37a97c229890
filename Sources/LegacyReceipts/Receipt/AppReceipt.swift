/// The signed content of an app receipt (iOS 7 and later, macOS), attribute by attribute.
///
/// Decoding returns it as `Unverified`, verifying as `Verified`. All dates are milliseconds since 1970-01-01T00:00:00Z.
/// Reference.md V5.2 lists the attribute numbers. A missing or empty attribute is nil.
public struct AppReceipt: Hashable, Sendable {
    /// Attribute 0, `receipt_type`. The oldest Mac receipts lack it.
    public internal(set) var receiptType: ReceiptType?
    /// Attribute 1, `adam_id` and `app_item_id`; 0 in the sandbox.
    public internal(set) var appItemId: Int64?
    /// Attribute 2, `bundle_id`.
    public internal(set) var bundleId: String
    /// Attribute 2 including its tag and length. The device hash uses this form.
    public internal(set) var bundleIdEncoded: ArraySlice<UInt8>
    /// Attribute 3, `application_version`: the build string.
    public internal(set) var applicationVersion: String?
    /// Attribute 4: an opaque value that is part of the device hash.
    public internal(set) var opaqueValue: ArraySlice<UInt8>?
    /// Attribute 5: the SHA-1 device hash (20 bytes), see ``DeviceIdentifier``.
    public internal(set) var sha1Hash: ArraySlice<UInt8>?
    /// Attribute 6: opaque; its meaning is unknown.
    public internal(set) var opaqueAttribute6: ArraySlice<UInt8>?
    /// Attribute 7: opaque; its meaning is unknown.
    public internal(set) var opaqueAttribute7: ArraySlice<UInt8>?
    /// Attribute 8: a creation date that stays the same when Apple issues the receipt again; absent in the sandbox.
    public internal(set) var carriedCreationDate: Int64?
    /// Attribute 9: four ASCII bytes as an integer, probably a build tag of the issuing service.
    public internal(set) var serviceTag: Int64?
    /// Attribute 10: the age rating, for example `4+`.
    public internal(set) var ageRating: String?
    /// Attribute 11: the developer's id; 0 in the sandbox.
    public internal(set) var developerId: Int64?
    /// Attribute 12, `receipt_creation_date`: the time of the signature, for which the certificates are checked.
    public internal(set) var receiptCreationDate: Int64?
    /// Attribute 13: the operating system as MMmmpp (150101 is 15.1.1).
    public internal(set) var operatingSystemVersion: Int64?
    /// Attribute 14: a code of the device model.
    public internal(set) var deviceModelCode: Int64?
    /// Attribute 15, `download_id`; can exceed 2^53.
    public internal(set) var downloadId: Int64?
    /// Attribute 16, `version_external_identifier`.
    public internal(set) var versionExternalIdentifier: Int64?
    /// Attributes 17, `in_app`: the purchases in the order of the encoding, which Apple's replies keep.
    public internal(set) var inAppPurchases: [InAppPurchase]
    /// Attribute 18, `original_purchase_date` of the app.
    public internal(set) var originalPurchaseDate: Int64?
    /// Attribute 19, `original_application_version`.
    public internal(set) var originalApplicationVersion: String?
    /// Attribute 20: text, empty in all known receipts.
    public internal(set) var attribute20: String?
    /// Attribute 21, `expiration_date` of the receipt: Volume Purchase Program, and 4001-01-01 from Xcode.
    public internal(set) var expirationDate: Int64?
    /// Attribute 22: a date in Volume Purchase Program receipts.
    public internal(set) var volumePurchaseDate: Int64?
    /// Attribute 23: the organization's name in Volume Purchase Program receipts.
    public internal(set) var volumePurchaseOrganization: String?
    /// Attribute 25: the platform, 3 for iOS and 2 for macOS.
    public internal(set) var platform: Int64?
    /// Attribute 32, `preorder_date`.
    public internal(set) var preorderDate: Int64?
    /// Attributes without a property here, repeated attributes, and known attributes whose value is not in the
    /// documented form; in the order of the encoding. All signed attributes are kept.
    public internal(set) var unknownAttributes: [RawAttribute]

    /// Bytes after the end of the PKCS#7 structure. They are not signed. Apple's endpoint (Reference.md C3) and this
    /// library ignore them.
    public internal(set) var trailingByteCount: Int

    init() {
        bundleId = ""
        bundleIdEncoded = []
        inAppPurchases = []
        unknownAttributes = []
        trailingByteCount = 0
    }

    /// The environment of ``receiptType``; nil if the type is missing or unknown.
    public var environment: ReceiptEnvironment? { receiptType?.environment }
}
