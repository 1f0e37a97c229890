internal import AppStoreModels

/// A JSON value whose members keep their order, so that the output is always the same.
public indirect enum ForgedJSON: Sendable {
    case object([(String, ForgedJSON)])
    case array([ForgedJSON])
    case string(String)
    case integer(Int64)
    case boolean(Bool)
    case null

    /// An object of the members that have a value.
    static func object(present members: [(String, ForgedJSON?)]) -> ForgedJSON {
        .object(members.compactMap { name, value in value.map { (name, $0) } })
    }

    /// Indented by two spaces per level, with a line break at the end (RFC 8259).
    public var text: String {
        var text = ""
        write(to: &text, indent: "")
        text.append("\n")
        return text
    }

    /// A member of an object, by name.
    public subscript(name: String) -> ForgedJSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    // Only the forge creates these values, and none is deeper than a receipt's three levels.
    private func write(to text: inout String, indent: String) {
        switch self {
        case .object(let members):
            Self.write(to: &text, indent: indent, "{", "}", members) { member, inner, text in
                text.append("\(JSONWriter.quoted(member.0)): ")
                member.1.write(to: &text, indent: inner)
            }
        case .array(let values):
            Self.write(to: &text, indent: indent, "[", "]", values) { value, inner, text in
                value.write(to: &text, indent: inner)
            }
        case .string(let string): text.append(JSONWriter.quoted(string))
        case .integer(let number): text.append(String(number))
        case .boolean(let flag): text.append(flag ? "true" : "false")
        case .null: text.append("null")
        }
    }

    private static func write<Element>(
        to text: inout String, indent: String, _ open: Character, _ close: Character, _ elements: [Element],
        element: (Element, String, inout String) -> Void
    ) {
        text.append(open)
        let inner = indent + "  "
        for (index, value) in elements.enumerated() {
            text.append(index == 0 ? "\n" : ",\n")
            text.append(inner)
            element(value, inner, &text)
        }
        if !elements.isEmpty { text.append("\n" + indent) }
        text.append(close)
    }
}
