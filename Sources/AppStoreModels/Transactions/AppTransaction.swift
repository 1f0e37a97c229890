/// The download or purchase of the app itself (StoreKit, AppTransaction; App Store Server API,
/// JWSAppTransactionDecodedPayload).
///
/// The names of the properties are the names of the JSON members. An unknown field is nil; there are no default
/// values.
public struct AppTransaction: AppStoreModel, Payload {
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

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package typealias Field = AppTransactionField
    package static let names = PayloadNames(of: Self.self)

    /// The table of the members. All code that handles every member is a visitor of this table.
    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("receiptType", Field.receiptType, &receiptType)
        try visitor.member("appAppleId", Field.appAppleId, &appAppleId)
        try visitor.member("bundleId", Field.bundleId, &bundleId)
        try visitor.member("applicationVersion", Field.applicationVersion, &applicationVersion)
        try visitor.member("versionExternalIdentifier", Field.versionExternalIdentifier, &versionExternalIdentifier)
        try visitor.date("receiptCreationDate", Field.receiptCreationDate, &receiptCreationDate)
        try visitor.date("originalPurchaseDate", Field.originalPurchaseDate, &originalPurchaseDate)
        try visitor.member("originalApplicationVersion", Field.originalApplicationVersion, &originalApplicationVersion)
        try visitor.member("deviceVerification", Field.deviceVerification, &deviceVerification)
        try visitor.member("deviceVerificationNonce", Field.deviceVerificationNonce, &deviceVerificationNonce)
        try visitor.date("preorderDate", Field.preorderDate, &preorderDate)
        try visitor.member("appTransactionId", Field.appTransactionId, &appTransactionId)
        try visitor.member("originalPlatform", Field.originalPlatform, &originalPlatform)
        try visitor.member("storeType", Field.storeType, &storeType)
    }

    package init(written bytes: UnsafeBufferPointer<UInt8>, texts: inout CommonTexts) throws(PayloadReadingError) {
        try self.init(members: bytes, texts: &texts)
    }

    package mutating func write(to writer: inout JSONWriter) { writeMembers(to: &writer) }

    package mutating func presentFields() -> UInt64 { PresentFields.bits(of: &self) }
}

extension AppTransaction {
    /// A property of StoreKit 27 whose JSON Apple does not document. The value keeps it in ``unknownMembers``.
    package static let undocumentedNames: Set<String> = ["revocationDate"]
}

/// Every field of ``AppTransaction`` (Reference.md S5.3).
///
/// Each case has Apple's name of its field, and stands for the property of the same name. The documentation of that
/// property states what the field means.
public enum AppTransactionField: UInt8, PayloadField {
    case receiptType, appAppleId, bundleId, applicationVersion, versionExternalIdentifier, receiptCreationDate
    case originalPurchaseDate, originalApplicationVersion, deviceVerification, deviceVerificationNonce, preorderDate
    case appTransactionId, originalPlatform, storeType

    /// Apple's name of the field, which is its JSON key.
    public var name: StaticString { AppTransaction.names[self] }
}
