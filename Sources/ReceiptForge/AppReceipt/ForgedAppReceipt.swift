/// What an app receipt says (Reference.md V5.2), before it is encoded and signed.
///
/// A property that is nothing leaves its attribute out.
public struct ForgedAppReceipt: Hashable, Sendable {
    /// The order of the attributes in their SET.
    public enum Order: Hashable, Sendable {
        /// By encoding, as DER asks and Apple does.
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

    public var order: Order = .der
    public var receiptType: String?
    public var appItemId: Int64?
    public var bundleId: String?
    public var applicationVersion: String?
    /// Attribute 4, with its version (2 in Apple's receipts, 1 in Xcode's).
    public var opaqueValue: [UInt8]?
    public var opaqueValueVersion: Int64 = 2
    /// The device's identifier, from which attribute 5 is computed: 16 bytes of identifierForVendor, or a Mac's MAC
    /// address of 6. Nothing: attribute 5 is of an unknown device.
    public var deviceGuid: [UInt8]?
    public var hasDeviceHash = true
    public var attribute6: [UInt8]?
    public var attribute7: [UInt8]?
    /// Attribute 8: the creation date that is kept when Apple re-mints a receipt; `""` in sandbox.
    public var keptCreationDate: ForgedDate?
    /// Attribute 9: four ASCII characters in an INTEGER.
    public var serviceBuild: String?
    public var ageRating: String?
    public var developerId: Int64?
    /// Attribute 12, `receipt_creation_date`.
    public var creationDate: ForgedDate?
    public var osVersion: Int64?
    public var deviceModel: Int64?
    public var downloadId: Int64?
    public var versionExternalIdentifier: Int64?
    public var purchases: [ForgedPurchase] = []
    public var originalPurchaseDate: ForgedDate?
    public var originalApplicationVersion: String?
    /// Attribute 20, an empty string, on iOS only.
    public var hasAttribute20 = false
    /// Attribute 21: the end of a volume purchase.
    public var expirationDate: ForgedDate?
    public var volumePurchaseDate: ForgedDate?
    public var volumePurchaseOrganization: String?
    /// Attribute 25: 3 iOS, 2 macOS.
    public var platform: Int64?
    public var preorderDate: ForgedDate?
    /// Attributes of types that nobody knows.
    public var extra: [ForgedAttribute] = []

    /// A receipt without any attribute.
    public init() {}

    /// This receipt with some things changed.
    public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    /// Attribute 5: SHA-1 over device identifier, attribute 4 and the bundle id with its tag and length
    /// (Reference.md V7.4).
    public var deviceHash: [UInt8] {
        let guid = deviceGuid ?? opaqueBytes("unknown device of \(bundleId ?? "")", count: 16)
        return ForgedDigest.sha1(guid + (opaqueValue ?? []) + DERWriter.utf8String(bundleId ?? ""))
    }

    /// The purchases in the order in which they stand in the encoded SET.
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
        return list + laterAttributes
    }

    private var laterAttributes: [ForgedAttribute] {
        var list: [ForgedAttribute] = []
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
}
