/// One attribute of the signed content: SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }
/// (Reference.md V5.1).
public struct RawAttribute: Hashable, Sendable {
    /// The attribute type, for example 12 for the creation date.
    public let type: Int64
    /// The attribute version; 1 for nearly all attributes.
    public let version: Int64
    /// The bytes inside the OCTET STRING, including the tag and length of a wrapped value.
    public let value: ArraySlice<UInt8>

    /// An attribute with the given members. Nothing is checked.
    public init(type: Int64, version: Int64, value: ArraySlice<UInt8>) {
        self.type = type
        self.version = version
        self.value = value
    }
}
