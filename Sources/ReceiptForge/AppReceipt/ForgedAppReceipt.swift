internal import AppStoreModels

/// The content of an app receipt (Reference.md V5.2), before it is encoded and signed.
///
/// A property that is nil omits its attribute.
public struct ForgedAppReceipt: ForgedDescription, Hashable {
    /// The order of the attributes in their SET.
    public enum Order: Hashable, Sendable {
        /// By encoding, as DER requires and Apple does.
        case der
        /// By attribute type, as Xcode does.
        case byType

        func set(of attributes: [ForgedAttribute]) -> [UInt8] {
            switch self {
            case .der: DERWriter.setOf(attributes.map(\.encoded))
            case .byType:
                DERWriter.set(inOrderGiven: attributes.sorted { $0.type < $1.type }.map(\.encoded))
            }
        }
    }

    /// The order of the attributes, and of those of each purchase.
    public var order: Order = .der
    /// Attribute 0, for example `ProductionSandbox`. It selects the environment.
    public var receiptType: String?
    /// Attribute 1: the App Store item id of the app; 0 in the sandbox.
    public var appItemId: Int64?
    /// Attribute 2. If nil, attribute 5 is omitted too, because the device hash needs it.
    public var bundleId: String?
    /// Attribute 3.
    public var applicationVersion: String?
    /// Attribute 4, with its version (2 in Apple's receipts, 1 in Xcode's).
    public var opaqueValue: [UInt8]?
    /// The version in attribute 4: 2 in Apple's receipts, 1 in Xcode's.
    public var opaqueValueVersion: Int64 = 2
    /// The device's identifier, from which attribute 5 is computed: the 16 bytes of identifierForVendor, or the 6 bytes
    /// of a Mac's MAC address. If nil, attribute 5 belongs to an unknown device.
    public var deviceGuid: [UInt8]?
    /// Whether the receipt contains attribute 5, ``deviceHash``. It also needs a bundle id.
    public var hasDeviceHash = true
    /// Attribute 6: opaque bytes, 39 to 106 in real receipts; nil in Xcode's.
    public var attribute6: [UInt8]?
    /// Attribute 7: opaque bytes, 39 to 106 in real receipts; nil in Xcode's.
    public var attribute7: [UInt8]?
    /// Attribute 8: the creation date, which does not change when Apple issues the receipt again; `""` in the sandbox.
    public var keptCreationDate: ForgedDate?
    /// Attribute 9: four ASCII characters in an INTEGER.
    public var serviceBuild: String?
    /// Attribute 10, for example `4+`; `""` is possible.
    public var ageRating: String?
    /// Attribute 11: the developer's id; 0 in the sandbox.
    public var developerId: Int64?
    /// Attribute 12, `receipt_creation_date`.
    public var creationDate: ForgedDate?
    /// Attribute 13: the system version as MMmmpp, for example 150101 for 15.1.1.
    public var osVersion: Int64?
    /// Attribute 14: a code of the device model.
    public var deviceModel: Int64?
    /// Attribute 15; 0 in the sandbox. Some real receipts of 2021 omit it.
    public var downloadId: Int64?
    /// Attribute 16; 0 in the sandbox.
    public var versionExternalIdentifier: Int64?
    /// Attribute 17, once for each purchase. ``order`` determines the order in the receipt.
    public var purchases: [ForgedPurchase] = []
    /// Attribute 18: the date of the app's purchase; 2013-08-01T07:00:00Z in the sandbox.
    public var originalPurchaseDate: ForgedDate?
    /// Attribute 19: the app version of that purchase; `1.0` in the sandbox. Receipts before 2013-06-20 omit it.
    public var originalApplicationVersion: String?
    /// Attribute 20, an empty string, on iOS only.
    public var hasAttribute20 = false
    /// Attribute 21: the end of a volume purchase.
    public var expirationDate: ForgedDate?
    /// Attribute 22: a date of a volume purchase.
    public var volumePurchaseDate: ForgedDate?
    /// Attribute 23: the organization of a volume purchase.
    public var volumePurchaseOrganization: String?
    /// Attribute 25: 3 iOS, 2 macOS.
    public var platform: Int64?
    /// Attribute 32: the date of the app's pre-order.
    public var preorderDate: ForgedDate?
    /// Attributes of unknown types.
    public var extra: [ForgedAttribute] = []

    /// A receipt without any attribute.
    public init() {}

    /// Attribute 5: SHA-1 over device identifier, attribute 4 and the bundle id with its tag and length
    /// (Reference.md V7.4).
    public var deviceHash: [UInt8] {
        let guid = deviceGuid ?? opaqueBytes("unknown device of \(bundleId ?? "")", count: 16)
        return ForgedDigest.sha1(guid + (opaqueValue ?? []) + DERWriter.utf8String(bundleId ?? ""))
    }

    /// The purchases in the order of the encoded SET.
    public var purchasesAsEncoded: [ForgedPurchase] {
        guard order == .der else { return purchases }
        return purchases.map { ($0, $0.attribute(order).encoded) }
            .sorted { DERWriter.precedes($0.1, $1.1) }.map(\.0)
    }

    /// The attributes, purchases included.
    public var attributes: [ForgedAttribute] {
        var list: [ForgedAttribute] = []
        if let receiptType { list.append(.text(0, receiptType)) }
        if let appItemId { list.append(.integer(1, appItemId)) }
        if let bundleId { list.append(.text(2, bundleId)) }
        if let applicationVersion { list.append(.text(3, applicationVersion)) }
        if let opaqueValue { list.append(ForgedAttribute(4, version: opaqueValueVersion, value: opaqueValue)) }
        if hasDeviceHash, bundleId != nil { list.append(ForgedAttribute(5, value: deviceHash)) }
        if let attribute6 { list.append(ForgedAttribute(6, value: attribute6)) }
        if let attribute7 { list.append(ForgedAttribute(7, value: attribute7)) }
        if let keptCreationDate { list.append(.date(8, keptCreationDate)) }
        if let number = serviceBuildNumber { list.append(.integer(9, number)) }
        if let ageRating { list.append(ForgedAttribute(10, value: DERWriter.ia5String(ageRating))) }
        if let developerId { list.append(.integer(11, developerId)) }
        if let creationDate { list.append(.date(12, creationDate)) }
        if let osVersion { list.append(.integer(13, osVersion)) }
        if let deviceModel { list.append(.integer(14, deviceModel)) }
        if let downloadId { list.append(.integer(15, downloadId)) }
        if let versionExternalIdentifier { list.append(.integer(16, versionExternalIdentifier)) }
        list += purchases.map { $0.attribute(order) }
        if let originalPurchaseDate { list.append(.date(18, originalPurchaseDate)) }
        if let originalApplicationVersion { list.append(.text(19, originalApplicationVersion)) }
        if hasAttribute20 { list.append(.text(20, "")) }
        if let expirationDate { list.append(.date(21, expirationDate)) }
        if let volumePurchaseDate { list.append(.date(22, volumePurchaseDate)) }
        if let volumePurchaseOrganization { list.append(.text(23, volumePurchaseOrganization)) }
        if let platform { list.append(.integer(25, platform)) }
        if let preorderDate { list.append(.date(32, preorderDate)) }
        return list + extra
    }

    var serviceBuildNumber: Int64? {
        serviceBuild.map { $0.utf8.reduce(0) { $0 << 8 | Int64($1) } }
    }

    /// The content of the signed message: SET OF attributes.
    public var content: [UInt8] { order.set(of: attributes) }

    /// The date that sandbox receipts give for the purchase of every app (Reference.md V3.2).
    static let sandboxOriginalPurchase = ForgedInstant(2013, 8, 1, 7)

    /// An iOS receipt for an app from the App Store.
    public static func production(bundleId: String, created: ForgedInstant) -> Self {
        common(bundleId: bundleId, created: created).with {
            $0.receiptType = "Production"
            $0.appItemId = 6_001_234_567
            $0.keptCreationDate = .seconds(created)
            $0.developerId = 512_345_678
            $0.downloadId = 503_412_345_678_901_234
            $0.versionExternalIdentifier = 852_345_678
            $0.originalPurchaseDate = .seconds(created.adding(months: -14))
            $0.originalApplicationVersion = "1.2"
        }
    }

    /// A receipt of the sandbox: TestFlight, App Review, sandbox accounts.
    public static func sandbox(bundleId: String, created: ForgedInstant) -> Self {
        common(bundleId: bundleId, created: created).with {
            $0.receiptType = "ProductionSandbox"
            $0.appItemId = 0
            $0.keptCreationDate = .empty
            $0.developerId = 0
            $0.downloadId = 0
            $0.versionExternalIdentifier = 0
            $0.originalPurchaseDate = .seconds(sandboxOriginalPurchase)
            $0.originalApplicationVersion = "1.0"
        }
    }

    /// A receipt of the Mac App Store: platform 2, no attribute 20, a MAC address of six bytes in the device hash.
    public static func mac(bundleId: String, created: ForgedInstant, guid: [UInt8]) -> Self {
        production(bundleId: bundleId, created: created).with {
            $0.platform = 2
            $0.hasAttribute20 = false
            $0.deviceModel = 1
            $0.osVersion = 20_100
            $0.deviceGuid = guid
        }
    }

    /// A receipt of Xcode's StoreKit testing: few attributes, by type, dates with an offset, no end in this millennium.
    public static func xcode(bundleId: String, created: ForgedInstant, offsetMinutes: Int64 = 60) -> Self {
        Self().with {
            $0.order = .byType
            $0.receiptType = "Xcode"
            $0.appItemId = 0
            $0.bundleId = bundleId
            $0.applicationVersion = "31"
            $0.opaqueValue = opaqueBytes("Xcode", count: 8)
            $0.opaqueValueVersion = 1
            $0.keptCreationDate = .empty
            $0.creationDate = .offset(created, minutes: offsetMinutes)
            $0.expirationDate = .offset(ForgedInstant(4001, 1, 1), minutes: 0)
        }
    }

    private static func common(bundleId: String, created: ForgedInstant) -> Self {
        let seed = "\(bundleId) \(created.milliseconds)"
        return Self().with {
            $0.bundleId = bundleId
            $0.applicationVersion = "3.4.1"
            $0.opaqueValue = opaqueBytes("4 \(seed)", count: 16)
            $0.deviceGuid = opaqueBytes("guid \(bundleId)", count: 16)
            $0.attribute6 = opaqueBytes("6 \(seed)", count: 64)
            $0.attribute7 = opaqueBytes("7 \(seed)", count: 57)
            $0.serviceBuild = "P256"
            $0.ageRating = "4+"
            $0.creationDate = .seconds(created)
            $0.osVersion = 150_101
            $0.deviceModel = 256
            $0.hasAttribute20 = true
            $0.platform = 3
        }
    }

    /// The message for this receipt in Apple's form, signed by the test authority's leaf of a generation.
    public func signedData(_ generation: TestCertificateAuthority.Generation) throws -> ForgedSignedData {
        let chain = try TestCertificateAuthority.shared().chain(generation)
        return ForgedSignedData(content: content, chain: chain, digest: generation.digest)
    }

    /// The message in Xcode's form: BER, one segment, one self-signed certificate, SHA-256.
    public func signedDataOfXcode() throws -> ForgedSignedData {
        let chain = [try TestCertificateAuthority.shared().xcode]
        return ForgedSignedData(content: content, chain: chain, digest: .sha256).with {
            $0.encoding = .ber(segmentLength: 1_000)
        }
    }

    /// The expected result of a decoder, with the names and JSON types of verifyReceipt's `receipt` (Reference.md
    /// V3.2): numbers for ids, strings for dates in milliseconds. `in_app` is in encoded order.
    public var facts: ForgedJSON {
        .object(present: [
            ("receipt_type", receiptType.map { .string($0) }),
            ("adam_id", appItemId.map { .integer($0) }),
            ("app_item_id", appItemId.map { .integer($0) }),
            ("bundle_id", bundleId.map { .string($0) }),
            ("application_version", applicationVersion.map { .string($0) }),
            ("download_id", downloadId.map { .integer($0) }),
            ("version_external_identifier", versionExternalIdentifier.map { .integer($0) }),
            ("receipt_creation_date_ms", Self.milliseconds(creationDate)),
            ("original_purchase_date_ms", Self.milliseconds(originalPurchaseDate)),
            ("original_application_version", originalApplicationVersion.map { .string($0) }),
            ("expiration_date_ms", Self.milliseconds(expirationDate)),
            ("preorder_date_ms", Self.milliseconds(preorderDate)),
            ("in_app", .array(purchasesAsEncoded.map(\.facts))),
        ])
    }

    /// The attributes that a verifyReceipt reply does not contain, by type: numbers, texts, dates in milliseconds as strings,
    /// plain bytes in hexadecimal.
    public var otherFacts: ForgedJSON {
        .object(present: [
            ("4", opaqueValue.map { .string(Printable.hex($0)) }),
            ("5", hasDeviceHash && bundleId != nil ? .string(Printable.hex(deviceHash)) : nil),
            ("6", attribute6.map { .string(Printable.hex($0)) }),
            ("7", attribute7.map { .string(Printable.hex($0)) }),
            ("8", Self.milliseconds(keptCreationDate)),
            ("9", serviceBuildNumber.map { .integer($0) }),
            ("10", ageRating.map { .string($0) }),
            ("11", developerId.map { .integer($0) }),
            ("13", osVersion.map { .integer($0) }),
            ("14", deviceModel.map { .integer($0) }),
            ("22", Self.milliseconds(volumePurchaseDate)),
            ("23", volumePurchaseOrganization.map { .string($0) }),
            ("25", platform.map { .integer($0) }),
        ])
    }

    private static func milliseconds(_ date: ForgedDate?) -> ForgedJSON? {
        date?.milliseconds.map { .string(String($0)) }
    }
}
