/// The members of a JSON object that this package does not know: Apple adds members without notice.
///
/// They are preserved and written unchanged, so data passes through an old program intact. The order of members is not
/// preserved. This package's own reader preserves every digit of a number. With another `Decoder` or `Encoder`, a
/// number that is neither a 64-bit integer nor exact as a `Double` becomes the nearest `Double`.
public struct UnknownMembers: Hashable, Sendable {
    /// Sorted by name, each name once, so equal members are written as equal text.
    private var members: [JSONObject.Member]

    /// No members.
    public init() {
        members = []
    }

    /// If a name occurs more than once, the last member counts, as in ``JSONObject``.
    package init(_ members: [JSONObject.Member]) {
        guard members.count > 1 else {
            self.members = members
            return
        }
        var values: [String: JSONValue] = [:]
        for member in members { values[member.key] = member.value }
        self.members = values.map(JSONObject.Member.init(key:value:)).sorted { $0.key < $1.key }
    }

    /// The names of the members, sorted.
    public var names: [String] { members.map(\.key) }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// Removes a member and returns its value; nil if there is none.
    package mutating func remove(_ key: String) -> JSONValue? {
        guard let place = members.firstIndex(where: { $0.key == key }) else { return nil }
        return members.remove(at: place).value
    }

    /// Adds the members to the object that `encoder` is writing.
    func encode(to encoder: any Encoder) throws {
        guard !members.isEmpty else { return }
        var values = encoder.container(keyedBy: JSONKey.self)
        for member in members { try values.encode(member.value, forKey: JSONKey(stringValue: member.key)) }
    }

    /// Adds the members to the object that `writer` is writing.
    func write(to writer: inout JSONWriter) {
        for member in members {
            writer.key(member.key)
            writer.value(member.value)
        }
    }
}

/// For other decoders and encoders. They limit the nesting themselves: Foundation's decoder rejects more than 512
/// levels.
extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let integer = try? value.decode(UInt64.self) {
            self = .number(String(integer))
        } else if let number = try? value.decode(Double.self), number.isFinite {
            self = .number(number.description)
        } else if let array = try? value.decode([JSONValue].self) {
            self = .array(array)
        } else {
            let values = try decoder.container(keyedBy: JSONKey.self)
            let keys = values.allKeys.sorted { $0.stringValue < $1.stringValue }
            let members = try keys.map { key in
                JSONObject.Member(key: key.stringValue, value: try values.decode(JSONValue.self, forKey: key))
            }
            self = .object(JSONObject(members: members))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        if case .object(let object) = self {
            var values = encoder.container(keyedBy: JSONKey.self)
            for member in object.members { try values.encode(member.value, forKey: JSONKey(stringValue: member.key)) }
            return
        }
        var value = encoder.singleValueContainer()
        switch self {
        case .null, .object: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .integer(let integer): try value.encode(integer)
        case .number(let digits): try Self.encode(digits, to: &value)
        case .string(let string): try value.encode(string)
        case .array(let array): try value.encode(array)
        }
    }

    private static func encode(_ digits: String, to value: inout any SingleValueEncodingContainer) throws {
        if let integer = UInt64(digits) {
            try value.encode(integer)
        } else if let number = Double(digits), number.isFinite {
            try value.encode(number)
        } else {
            throw EncodingError.invalidValue(
                digits, .init(codingPath: value.codingPath, debugDescription: "The number does not fit a Double."))
        }
    }
}
