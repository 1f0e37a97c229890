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
        originalPlatform: PurchasePlatform? = nil
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
    }
}

extension AppTransaction {
    /// Reads Apple's JSON; unknown members are ignored and `null` counts as absent.
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
        writer.endObject()
    }
}
