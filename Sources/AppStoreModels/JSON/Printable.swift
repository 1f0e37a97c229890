/// Makes input text safe for terminals, logs and messages.
package enum Printable {
    /// The text with visible escapes (`\u{202e}`) for nonprinting characters: control and format characters, line and
    /// paragraph separators, surrogates, private and unassigned characters. Their Unicode categories are Cc, Cf, Zl,
    /// Zp, Cs, Co and Cn. Client input must not control a terminal or look like another line.
    package static func text(_ text: String) -> String {
        replaceUnprintable(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// One line of JSON text, with JSON escapes for the same characters. Outside of strings JSON has none of them.
    package static func json(_ json: String) -> String {
        replaceUnprintable(json) { scalar in
            scalar.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    /// Whether the bytes are printable ASCII, which needs no escapes. Nearly every line of a log is.
    package static func isPlain(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer(isPlain) }

    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    private static func replaceUnprintable(_ text: String, _ escaped: (Unicode.Scalar) -> String) -> String {
        var text = text
        if text.withUTF8(isPlain) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result.append(contentsOf: escaped(scalar).unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Two lowercase digits for each byte.
    package static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
