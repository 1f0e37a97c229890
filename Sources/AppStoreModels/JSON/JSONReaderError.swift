/// The reason why bytes are not valid JSON text (RFC 8259), and the place.
package struct JSONReadingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason, for a program to branch on.
    package enum Code: String, Sendable, Equatable, CaseIterable {
        /// The bytes stop inside a value, or there is no value at all.
        case unexpectedEnd
        /// A byte that the grammar does not allow at this place.
        case unexpectedByte
        /// A word that begins like `true`, `false` or `null` but is a different word.
        case invalidLiteral
        /// A number outside the grammar of RFC 8259, section 6 (leading zero, missing digits, lone sign).
        case invalidNumber
        /// An escape that RFC 8259, section 7 does not allow.
        case invalidEscape
        /// A `\u` escape of one half of a surrogate pair.
        case loneSurrogate
        /// A byte below 0x20 inside a string; RFC 8259, section 7 requires an escape.
        case controlCharacter
        /// A byte sequence that is not UTF-8 (RFC 3629).
        case invalidUTF8
        /// More nested arrays and objects than the limit.
        case tooDeep
        /// Something other than white space after the value.
        case trailingBytes
        /// An object or array was requested, but the value is of another kind.
        case notAContainer
    }

    package let code: Code
    /// The number of bytes from the start of the text to the invalid byte.
    package let offset: Int

    package init(code: Code, offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// One sentence for people, with the place.
    package var message: String {
        "\(reason) at byte \(offset)."
    }

    package var description: String { message }

    private var reason: String {
        switch code {
        case .unexpectedEnd: "The JSON text ends too early"
        case .unexpectedByte: "The JSON text has an unexpected character"
        case .invalidLiteral: "The JSON text has a literal that is not true, false or null"
        case .invalidNumber: "The JSON text has a malformed number"
        case .invalidEscape: "The JSON text has an invalid escape"
        case .loneSurrogate: "The JSON text escapes one half of a surrogate pair without the other"
        case .controlCharacter: "The JSON text has an unescaped control character in a string"
        case .invalidUTF8: "The JSON text is not valid UTF-8"
        case .tooDeep: "The JSON text nests deeper than \(JSONReadingLimits.maximumDepth) levels"
        case .trailingBytes: "The JSON text continues after its value"
        case .notAContainer: "The JSON text is neither an object nor an array"
        }
    }
}

/// The limits of the JSON reader.
package enum JSONReadingLimits {
    /// The maximum number of open arrays and objects. The tokenizer keeps one bit per level in a 64-bit word.
    package static let maximumDepth = 64
}
