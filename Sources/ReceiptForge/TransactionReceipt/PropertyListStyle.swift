import AppStoreModels

/// The styles of property lists in transaction receipts (Reference.md V6).
public enum PropertyListStyle: String, CaseIterable, Hashable, Sendable {
    /// Apple's style: one tab, everything quoted, one entry per line, no line break at the end.
    case apple
    /// The style of clients: four spaces, numbers and plain words unquoted, a line break at the end.
    case unquoted
    /// Apple's style with the keys in alphabetical order.
    case sorted
    /// One line, the style of an old client.
    case oneLine
    /// The XML property list of later systems.
    case xml

    /// Writes entries. Keys and values in receipts contain no quotes or backslashes; if they do, these are escaped.
    public func text(_ entries: [(key: String, value: String)]) -> String {
        switch self {
        case .apple: "{\n" + entries.map { "\t\(Self.quoted($0.key)) = \(Self.quoted($0.value));\n" }.joined() + "}"
        case .sorted: Self.apple.text(entries.sorted { $0.key < $1.key })
        case .unquoted:
            "{\n" + entries.map { "    \(Self.bare($0.key)) = \(Self.bare($0.value));\n" }.joined() + "}\n"
        case .oneLine: "{" + entries.map { "\(Self.quoted($0.key)) = \(Self.quoted($0.value));" }.joined() + "}"
        case .xml: Self.xmlText(entries)
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }

    /// Unquoted if an OpenStep property list allows it: letters, digits, `_`, `.`, `$`, `/` and `:`.
    private static func bare(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_.$".utf8.contains($0) }
        return plain && !text.isEmpty ? text : quoted(text)
    }

    private static func xmlText(_ entries: [(key: String, value: String)]) -> String {
        let members = entries.map { "\t<key>\(escaped($0.key))</key>\n\t<string>\(escaped($0.value))</string>\n" }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>

            """ + members.joined() + "</dict>\n</plist>\n"
    }

    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: String(character)
            }
        }.joined()
    }
}
