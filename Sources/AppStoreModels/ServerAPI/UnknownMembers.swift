/// The members of a JSON object that this package does not know: Apple adds members without notice.
///
/// They are kept as they came and written again, so that data passes through an old program unharmed. The order of
/// members is not kept. A number that is neither an integer of 64 bits nor exact as a `Double` is kept as the nearest
/// `Double`.
public struct UnknownMembers: Hashable, Sendable {
    private var members: [String: UnknownValue]

    /// No members.
    public init() {
        members = [:]
    }

    /// The names of the members, sorted.
    public var names: [String] { members.keys.sorted() }

    /// Whether there are none.
    public var isEmpty: Bool { members.isEmpty }

    /// The members of the object that `decoder` stands at, but for those that `Keys` names.
    init<Keys: CodingKey>(from decoder: any Decoder, besides _: Keys.Type) throws {
        let values = try decoder.container(keyedBy: AnyKey.self)
        members = [:]
        for key in values.allKeys where Keys(stringValue: key.stringValue) == nil {
            members[key.stringValue] = try values.decode(UnknownValue.self, forKey: key)
        }
    }

    /// Adds the members to the object that `encoder` is writing.
    func encode(to encoder: any Encoder) throws {
        guard !members.isEmpty else { return }
        var values = encoder.container(keyedBy: AnyKey.self)
        for (name, value) in members { try values.encode(value, forKey: AnyKey(stringValue: name)) }
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}

/// Any JSON value. Its nesting is bounded by whoever reads the text: the API client refuses more than 64 levels before it
/// decodes, Foundation's decoder more than 512.
private indirect enum UnknownValue: Hashable, Sendable, Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([UnknownValue])
    case object([String: UnknownValue])

    init(from decoder: any Decoder) throws {
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
            self = .unsigned(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let array = try? value.decode([UnknownValue].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: UnknownValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .integer(let integer): try value.encode(integer)
        case .unsigned(let integer): try value.encode(integer)
        case .number(let number): try value.encode(number)
        case .string(let string): try value.encode(string)
        case .array(let array): try value.encode(array)
        case .object(let object): try value.encode(object)
        }
    }
}
