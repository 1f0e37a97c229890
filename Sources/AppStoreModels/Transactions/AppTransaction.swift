/// The download or purchase of the app itself (StoreKit, AppTransaction; App Store Server API,
/// JWSAppTransactionDecodedPayload).
///
/// The names of the properties are the names of the JSON members. A field that is not known is absent (`nil`); nothing
/// is filled in.
public struct AppTransaction: Codable, Hashable, Sendable {
    /// The server environment that signed the app transaction.
    public var receiptType: Environment?

    /// The App Store's number for the app; absent in Xcode.
    public var appAppleId: Int64?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The app version that the app transaction applies to. Only on the device.
    public var applicationVersion: String?

    /// The App Store's number for that version. Only on the device.
    public var versionExternalIdentifier: Int64?

    /// When the App Store signed the app transaction. In milliseconds since 1970-01-01 00:00 UTC.
    public var receiptCreationDate: Int64?

    /// When the customer first obtained the app. In milliseconds since 1970-01-01 00:00 UTC.
    public var originalPurchaseDate: Int64?

    /// The app version that the customer first obtained.
    public var originalApplicationVersion: String?

    /// The device verification value, base64. Only on the device.
    public var deviceVerification: String?

    /// The UUID text used to compute ``deviceVerification``. Only on the device.
    public var deviceVerificationNonce: String?

    /// When the customer ordered the app before its release. In milliseconds since 1970-01-01 00:00 UTC.
    public var preorderDate: Int64?

    /// The identifier of the app download, unique per Apple Account and app.
    public var appTransactionId: String?

    /// The platform on which the customer first obtained the app.
    public var originalPlatform: PurchasePlatform?

    /// The store from which the customer obtained the app (App Store Server API 1.22).
    public var storeType: StoreType?

    /// Members of the JSON object that this package does not know. They are kept and written again.
    public var unknownMembers = UnknownMembers()

    /// Without any field: what a migration begins with, for each of millions.
    package init() {}

    /// Every field is absent unless given.
    public init(
        receiptType: Environment? = nil,
        appAppleId: Int64? = nil,
        bundleId: String? = nil,
        applicationVersion: String? = nil,
        versionExternalIdentifier: Int64? = nil,
        receiptCreationDate: Int64? = nil,
        originalPurchaseDate: Int64? = nil,
        originalApplicationVersion: String? = nil,
        deviceVerification: String? = nil,
        deviceVerificationNonce: String? = nil,
        preorderDate: Int64? = nil,
        appTransactionId: String? = nil,
        originalPlatform: PurchasePlatform? = nil,
        storeType: StoreType? = nil
    ) {
        self.receiptType = receiptType
        self.appAppleId = appAppleId
        self.bundleId = bundleId
        self.applicationVersion = applicationVersion
        self.versionExternalIdentifier = versionExternalIdentifier
        self.receiptCreationDate = receiptCreationDate
        self.originalPurchaseDate = originalPurchaseDate
        self.originalApplicationVersion = originalApplicationVersion
        self.deviceVerification = deviceVerification
        self.deviceVerificationNonce = deviceVerificationNonce
        self.preorderDate = preorderDate
        self.appTransactionId = appTransactionId
        self.originalPlatform = originalPlatform
        self.storeType = storeType
    }
}

extension AppTransaction {
    private enum CodingKeys: String, CodingKey {
        case receiptType, appAppleId, bundleId, applicationVersion, versionExternalIdentifier, receiptCreationDate,
            originalPurchaseDate, originalApplicationVersion, deviceVerification, deviceVerificationNonce, preorderDate,
            appTransactionId, originalPlatform, storeType
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        receiptType = try values.value(.receiptType)
        appAppleId = try values.value(.appAppleId)
        bundleId = try values.value(.bundleId)
        applicationVersion = try values.value(.applicationVersion)
        versionExternalIdentifier = try values.value(.versionExternalIdentifier)
        receiptCreationDate = try values.milliseconds(.receiptCreationDate)
        originalPurchaseDate = try values.milliseconds(.originalPurchaseDate)
        originalApplicationVersion = try values.value(.originalApplicationVersion)
        deviceVerification = try values.value(.deviceVerification)
        deviceVerificationNonce = try values.value(.deviceVerificationNonce)
        preorderDate = try values.milliseconds(.preorderDate)
        appTransactionId = try values.value(.appTransactionId)
        originalPlatform = try values.value(.originalPlatform)
        storeType = try values.value(.storeType)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(receiptType, forKey: .receiptType)
        try values.encodeIfPresent(appAppleId, forKey: .appAppleId)
        try values.encodeIfPresent(bundleId, forKey: .bundleId)
        try values.encodeIfPresent(applicationVersion, forKey: .applicationVersion)
        try values.encodeIfPresent(versionExternalIdentifier, forKey: .versionExternalIdentifier)
        try values.encodeIfPresent(receiptCreationDate, forKey: .receiptCreationDate)
        try values.encodeIfPresent(originalPurchaseDate, forKey: .originalPurchaseDate)
        try values.encodeIfPresent(originalApplicationVersion, forKey: .originalApplicationVersion)
        try values.encodeIfPresent(deviceVerification, forKey: .deviceVerification)
        try values.encodeIfPresent(deviceVerificationNonce, forKey: .deviceVerificationNonce)
        try values.encodeIfPresent(preorderDate, forKey: .preorderDate)
        try values.encodeIfPresent(appTransactionId, forKey: .appTransactionId)
        try values.encodeIfPresent(originalPlatform, forKey: .originalPlatform)
        try values.encodeIfPresent(storeType, forKey: .storeType)
        try unknownMembers.encode(to: encoder)
    }
}

extension AppTransaction: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("receiptType", receiptType)
        writer.member("appAppleId", appAppleId)
        writer.member("bundleId", bundleId)
        writer.member("applicationVersion", applicationVersion)
        writer.member("versionExternalIdentifier", versionExternalIdentifier)
        writer.member("receiptCreationDate", receiptCreationDate)
        writer.member("originalPurchaseDate", originalPurchaseDate)
        writer.member("originalApplicationVersion", originalApplicationVersion)
        writer.member("deviceVerification", deviceVerification)
        writer.member("deviceVerificationNonce", deviceVerificationNonce)
        writer.member("preorderDate", preorderDate)
        writer.member("appTransactionId", appTransactionId)
        writer.member("originalPlatform", originalPlatform)
        writer.member("storeType", storeType)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
