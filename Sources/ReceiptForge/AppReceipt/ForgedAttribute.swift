internal import AppStoreModels
internal import Encodings

/// One attribute of a receipt: SEQUENCE { INTEGER type, INTEGER version, OCTET STRING value }
/// (Reference.md V5.1).
public struct ForgedAttribute: Hashable, Sendable {
    /// The attribute type, for example 2 for the bundle id (Reference.md V5.2) or 1702 for a product id (V5.3).
    public var type: Int64
    /// The attribute version: 1, except 2 for attribute 4 of Apple's receipts.
    public var version: Int64
    /// The contents of the OCTET STRING: for most types the encoding of one value, for 4 to 7 plain bytes.
    public var value: [UInt8]

    /// An attribute with these bytes as its value, as they are: they are neither encoded nor checked.
    public init(_ type: Int64, version: Int64 = 1, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }

    static func text(_ type: Int64, _ text: String) -> Self { Self(type, value: DERWriter.utf8String(text)) }
    static func integer(_ type: Int64, _ number: Int64) -> Self { Self(type, value: DERWriter.integer(number)) }
    static func date(_ type: Int64, _ date: ForgedDate) -> Self { Self(type, value: DERWriter.ia5String(date.text)) }

    /// The SEQUENCE in DER.
    public var encoded: [UInt8] {
        DERWriter.sequence(DERWriter.integer(type), DERWriter.integer(version), DERWriter.octetString(value))
    }

    var facts: ForgedJSON {
        .object([
            ("type", .integer(type)), ("version", .integer(version)), ("value_hex", .string(Printable.hex(value))),
        ])
    }
}

/// A date of a receipt, and the way it is written.
public enum ForgedDate: Hashable, Sendable {
    /// `2020-07-22T17:39:08Z`, whole seconds.
    case seconds(ForgedInstant)
    /// `2020-10-08T11:17:49.131Z`, found in attributes 8 and 18 of some Mac receipts.
    case milliseconds(ForgedInstant)
    /// `2020-07-22T18:33:15+0100`, found in Xcode's receipts.
    case offset(ForgedInstant, minutes: Int64)
    /// The empty string, for a missing date.
    case empty

    /// The text of the IA5String; `""` for ``empty``.
    public var text: String {
        switch self {
        case .seconds(let instant): instant.receiptText
        case .milliseconds(let instant): instant.receiptTextWithMilliseconds
        case .offset(let instant, let minutes): instant.receiptText(offsetMinutes: minutes)
        case .empty: ""
        }
    }

    /// The date of the text, in milliseconds since 1970; nil for the empty text.
    public var milliseconds: Int64? {
        switch self {
        case .seconds(let instant), .offset(let instant, _):
            instant.milliseconds - instant.milliseconds.flooredRemainder(1_000)
        case .milliseconds(let instant): instant.milliseconds
        case .empty: nil
        }
    }
}

/// Bytes that look random and are always the same, for the opaque attributes.
func opaqueBytes(_ seed: String, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = Array(seed.utf8)
    while bytes.count < count {
        block = ForgedDigest.sha256(block)
        bytes += block
    }
    return Array(bytes.prefix(count))
}
