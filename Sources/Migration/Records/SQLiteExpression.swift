internal import Encodings

/// The form in which `.dump` of SQLite writes a text with line ends: `replace(replace('…','\r',char(13)),'\n',char(10))`, and since
/// version 3.50 `unistr('…\u000a…')`.
enum SQLiteExpression {
    private static let quote = UInt8(ascii: "'")

    /// The text. Nil for any other expression.
    static func text(_ literal: Bytes) -> [UInt8]? {
        if literal.begins(with: "unistr("), literal.last == UInt8(ascii: ")") {
            return content(literal[slice: 7..<(literal.count - 1)]).flatMap(withoutEscapes)
        }
        var text = literal
        // The marks stand for the line ends; the text does not contain them.
        var marks: [(mark: [UInt8], byte: UInt8)] = []
        while marks.count < 2, text.begins(with: "replace(") {
            let end = text.count - 10
            guard end > 8, text[end - 1] == quote else { return nil }
            let isLineFeed = text.begins(with: ",char(10))", at: end)
            guard isLineFeed || text.begins(with: ",char(13))", at: end) else { return nil }
            let arguments = text[slice: 8..<(end - 1)]
            guard let open = arguments.lastIndex(of: quote), open > 0, open + 1 < arguments.count,
                arguments[open - 1] == UInt8(ascii: ",")
            else { return nil }
            marks.append((Array(arguments[slice: (open + 1)..<arguments.count]), isLineFeed ? 0x0A : 0x0D))
            text = arguments[slice: 0..<(open - 1)]
        }
        guard !marks.isEmpty, var value = content(text) else { return nil }
        for (mark, byte) in marks.reversed() { value = value.replacing(mark, with: [byte]) }
        return value
    }

    /// The content between the quotes of one text. Nil if it is not one.
    private static func content(_ text: Bytes) -> [UInt8]? {
        let end = text.count - 1
        guard end > 0, text[0] == quote, text[end] == quote else { return nil }
        var value: [UInt8] = []
        value.reserveCapacity(end)
        var index = 1
        while index < end {
            if text[index] == quote {
                index += 1
                guard index < end, text[index] == quote else { return nil }
            }
            value.append(text[index])
            index += 1
        }
        return value
    }

    private static func withoutEscapes(_ text: [UInt8]) -> [UInt8]? {
        let backslash = UInt8(ascii: "\\")
        var value: [UInt8] = []
        value.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == backslash else {
                value.append(text[index])
                index += 1
                continue
            }
            if index + 1 < text.count, text[index + 1] == backslash {
                value.append(backslash)
                index += 2
                continue
            }
            guard index + 5 < text.count, text[index + 1] == UInt8(ascii: "u") else { return nil }
            var code: UInt32 = 0
            for byte in text[(index + 2)..<(index + 6)] {
                guard let digit = byte.hexValue else { return nil }
                code = code << 4 | UInt32(digit)
            }
            guard let scalar = Unicode.Scalar(code) else { return nil }
            value += Array(String(Character(scalar)).utf8)
            index += 6
        }
        return value
    }
}
