package import AppStoreModels

/// A JSON value whose members keep their order, so that the output is always the same.
public indirect enum ForgedJSON: Sendable {
    /// An object: names and values in the order of the output.
    case object([(String, ForgedJSON)])
    /// An array.
    case array([ForgedJSON])
    /// A string, without escapes.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// `true` or `false`.
    case boolean(Bool)
    /// `null`.
    case null

    /// An object of the members that have a value.
    static func object(present members: [(String, ForgedJSON?)]) -> ForgedJSON {
        .object(members.compactMap { name, value in value.map { (name, $0) } })
    }

    /// Indented by two spaces per level, with a line break at the end (RFC 8259).
    public var text: String { value.indented + "\n" }

    /// A member of an object, by name.
    public subscript(name: String) -> ForgedJSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    // Only the forge creates these values, and none is deeper than a receipt's three levels.
    package var value: JSONValue {
        switch self {
        case .object(let members):
            .object(JSONObject(members: members.map { JSONObject.Member(key: $0.0, value: $0.1.value) }))
        case .array(let values): .array(values.map(\.value))
        case .string(let string): .string(string)
        case .integer(let number): .integer(number)
        case .boolean(let flag): .bool(flag)
        case .null: .null
        }
    }
}
