/// A string in the JSON text: the range of its content (without the quotes) and whether it has escapes.
package struct JSONStringToken: Sendable, Equatable {
    /// The bytes between the quotes, as offsets from the start of the text.
    package let content: Range<Int>
    /// Whether the content contains a backslash, so the string must be unescaped.
    package let hasEscapes: Bool
}

enum JSONToken {
    case beginObject
    case endObject
    case beginArray
    case endArray
    case key(JSONStringToken)
    case string(JSONStringToken)
    /// `isInteger`: neither fraction nor exponent.
    case number(Range<Int>, isInteger: Bool)
    case bool(Bool)
    case null
}

/// The only implementation of the grammar of RFC 8259: a strict pull tokenizer over borrowed bytes.
///
/// Each open array or object is one bit in a word, so nesting needs no stack and no allocation. The buffer must outlive
/// the tokenizer, and `count` guards every access.
struct JSONTokenizer {
    private enum Expectation {
        case document
        case value
        case valueOrEndOfArray
        case key
        case keyOrEndOfObject
        case commaOrEnd
        case endOfDocument
    }

    let bytes: UnsafeBufferPointer<UInt8>
    /// Offset of the next byte to read.
    private(set) var index = 0
    /// Open arrays and objects.
    private(set) var depth = 0
    /// Offset of the first byte of the token that `next` returned last.
    private(set) var tokenStart = 0
    /// Bit 0 is the innermost container; 1 is an object.
    private var containers: UInt64 = 0
    private var expectation = Expectation.document

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The next token, or nil once the value is complete and only white space follows.
    mutating func next() throws(JSONReadingError) -> JSONToken? {
        while true {
            skipWhiteSpace()
            tokenStart = index
            let byte = peek()
            switch expectation {
            case .endOfDocument:
                guard index == bytes.count else { throw error(.trailingBytes) }
                return nil
            case .document, .value:
                return try value(byte)
            case .valueOrEndOfArray:
                return byte == UInt8(ascii: "]") ? close(.endArray) : try value(byte)
            case .keyOrEndOfObject:
                return byte == UInt8(ascii: "}") ? close(.endObject) : try key(byte)
            case .key:
                return try key(byte)
            case .commaOrEnd:
                let inObject = containers & 1 == 1
                if byte == UInt8(ascii: ",") {
                    index += 1
                    expectation = inObject ? .key : .value
                    continue
                }
                if byte == UInt8(ascii: "}"), inObject { return close(.endObject) }
                if byte == UInt8(ascii: "]"), !inObject { return close(.endArray) }
                throw unexpected()
            }
        }
    }

    private mutating func value(_ byte: UInt8) throws(JSONReadingError) -> JSONToken {
        switch byte {
        case UInt8(ascii: "\""):
            let token = try string()
            finishValue()
            return .string(token)
        case UInt8(ascii: "{"):
            try open(object: true)
            return .beginObject
        case UInt8(ascii: "["):
            try open(object: false)
            return .beginArray
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let isInteger = try number()
            finishValue()
            return .number(tokenStart..<index, isInteger: isInteger)
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            throw unexpected()
        }
    }

    private mutating func key(_ byte: UInt8) throws(JSONReadingError) -> JSONToken {
        guard byte == UInt8(ascii: "\"") else { throw unexpected() }
        let token = try string()
        skipWhiteSpace()
        guard peek() == UInt8(ascii: ":") else { throw unexpected() }
        index += 1
        expectation = .value
        return .key(token)
    }

    private mutating func open(object: Bool) throws(JSONReadingError) {
        guard depth < JSONReadingLimits.maximumDepth else { throw error(.tooDeep) }
        depth += 1
        containers = containers << 1 | (object ? 1 : 0)
        expectation = object ? .keyOrEndOfObject : .valueOrEndOfArray
        index += 1
    }

    private mutating func close(_ token: JSONToken) -> JSONToken {
        depth -= 1
        containers >>= 1
        index += 1
        finishValue()
        return token
    }

    private mutating func finishValue() {
        expectation = depth == 0 ? .endOfDocument : .commaOrEnd
    }
}

// MARK: - Lexical elements

extension JSONTokenizer {
    /// The byte at `index`; at the end 0, which no rule of the grammar accepts.
    @inline(__always)
    private func peek() -> UInt8 {
        index < bytes.count ? bytes[index] : 0
    }

    private func error(_ code: JSONReadingError.Code) -> JSONReadingError {
        JSONReadingError(code: code, offset: index)
    }

    private func unexpected() -> JSONReadingError {
        error(index < bytes.count ? .unexpectedByte : .unexpectedEnd)
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private mutating func literal(_ word: StaticString) throws(JSONReadingError) {
        let length = word.utf8CodeUnitCount
        for position in 0..<length {
            guard index + position < bytes.count else {
                throw JSONReadingError(code: .unexpectedEnd, offset: bytes.count)
            }
            guard bytes[index + position] == word.utf8Start[position] else { throw error(.invalidLiteral) }
        }
        index += length
        finishValue()
    }

    /// RFC 8259, section 6. Returns whether there is neither fraction nor exponent.
    private mutating func number() throws(JSONReadingError) -> Bool {
        if peek() == UInt8(ascii: "-") { index += 1 }
        if peek() == UInt8(ascii: "0") {
            index += 1
            // Rejects "01" here, to give a better reason than "unexpected byte".
            if peek().isDigit { throw error(.invalidNumber) }
        } else {
            try digits()
        }
        var isInteger = true
        if peek() == UInt8(ascii: ".") {
            isInteger = false
            index += 1
            try digits()
        }
        if peek() | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        return isInteger
    }

    private mutating func digits() throws(JSONReadingError) {
        guard peek().isDigit else {
            throw error(index < bytes.count ? .invalidNumber : .unexpectedEnd)
        }
        while peek().isDigit { index += 1 }
    }

    /// Reads a string from its opening quote to its closing one, validating escapes and UTF-8.
    private mutating func string() throws(JSONReadingError) -> JSONStringToken {
        index += 1
        let start = index
        var hasEscapes = false
        var highBits: UInt64 = 0
        while true {
            index = JSONStringScan.firstSpecial(in: bytes, from: index, highBits: &highBits)
            guard index < bytes.count else { throw error(.unexpectedEnd) }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                if highBits & JSONStringScan.highBitOfEachByte != 0,
                    let bad = UTF8Validation.firstInvalid(in: bytes, range: start..<index)
                {
                    throw JSONReadingError(code: .invalidUTF8, offset: bad)
                }
                index += 1
                return JSONStringToken(content: start..<(index - 1), hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape()
            default:
                throw error(.controlCharacter)
            }
        }
    }

    /// RFC 8259, section 7, from the backslash on.
    private mutating func escape() throws(JSONReadingError) {
        guard index + 1 < bytes.count else {
            throw JSONReadingError(code: .unexpectedEnd, offset: bytes.count)
        }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: index)
            switch unit {
            case 0xD800...0xDBFF:
                let low = index + 6
                guard low + 1 < bytes.count, bytes[low] == UInt8(ascii: "\\"), bytes[low + 1] == UInt8(ascii: "u"),
                    case 0xDC00...0xDFFF = try codeUnit(at: low)
                else { throw error(.loneSurrogate) }
                index += 12
            case 0xDC00...0xDFFF:
                throw error(.loneSurrogate)
            default:
                index += 6
            }
        default:
            throw error(.invalidEscape)
        }
    }

    /// The four hexadecimal digits of the `\u` escape whose backslash is at `start`.
    private func codeUnit(at start: Int) throws(JSONReadingError) -> UInt16 {
        guard let unit = JSONStringScan.codeUnit(in: bytes, at: start + 2) else {
            throw JSONReadingError(
                code: start + 6 <= bytes.count ? .invalidEscape : .unexpectedEnd,
                offset: start + 6 <= bytes.count ? start : bytes.count)
        }
        return unit
    }
}

/// Byte searches in the content of JSON strings, eight bytes at a time.
package enum JSONStringScan {
    package static let highBitOfEachByte: UInt64 = 0x8080_8080_8080_8080
    private static let lowBitOfEachByte: UInt64 = 0x0101_0101_0101_0101

    /// The offset of the first quote, backslash or control character from `start` on, or else `bytes.count`.
    ///
    /// `highBits` collects every byte before it (and a few after), so the caller can check whether all are ASCII. The
    /// subtraction trick marks false positives only in bytes above a true one, so the lowest marked byte is exact.
    package static func firstSpecial(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, highBits: inout UInt64
    ) -> Int {
        guard let base = bytes.baseAddress else { return bytes.count }
        let raw = UnsafeRawPointer(base)
        var index = start
        // Names and ids end within a few words.
        let near = min(bytes.count, start &+ 32)
        if let found = firstSpecialInWords(raw, &index, until: near, &highBits) { return found }
        // Receipts are long strings without special characters, so they are checked 64 bytes at a time.
        while index &+ 64 <= bytes.count {
            var (marks, union) = (UInt64(0), UInt64(0))
            for offset in 0..<8 {
                let word = raw.loadUnaligned(fromByteOffset: index &+ offset &* 8, as: UInt64.self)
                union |= word
                marks |= specialMarks(word)
            }
            if marks & highBitOfEachByte != 0 { break }
            highBits |= union
            index &+= 64
        }
        if let found = firstSpecialInWords(raw, &index, until: bytes.count, &highBits) { return found }
        while index < bytes.count {
            let byte = base[index]
            highBits |= UInt64(byte)
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { return index }
            index &+= 1
        }
        return bytes.count
    }

    /// The same for whole words before `end`; nil if there is none, with `index` after the last word.
    @inline(__always)
    private static func firstSpecialInWords(
        _ raw: UnsafeRawPointer, _ index: inout Int, until end: Int, _ highBits: inout UInt64
    ) -> Int? {
        while index &+ 8 <= end {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            highBits |= word
            let marks = specialMarks(word) & highBitOfEachByte
            if marks != 0 { return index &+ marks.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        return nil
    }

    /// The high bit of each quote, backslash or control character, and of some bytes above one of these. The other
    /// bits are undefined.
    @inline(__always)
    private static func specialMarks(_ word: UInt64) -> UInt64 {
        let quote = word ^ (lowBitOfEachByte &* 0x22)
        let backslash = word ^ (lowBitOfEachByte &* 0x5C)
        return ((quote &- lowBitOfEachByte) & ~quote)
            | ((backslash &- lowBitOfEachByte) & ~backslash)
            | ((word &- (lowBitOfEachByte &* 0x20)) & ~word)
    }

    /// The UTF-16 code unit that four hexadecimal digits at `start` spell, or nil.
    static func codeUnit(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt16? {
        guard start + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for position in start..<(start + 4) {
            let digit: UInt8
            switch bytes[position] {
            case let byte where byte &- 0x30 < 10: digit = byte &- 0x30
            case let byte where (byte | 0x20) &- 0x61 < 6: digit = (byte | 0x20) &- 0x61 &+ 10
            default: return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// The bytes of a string whose content (without quotes) has escapes.
    ///
    /// The content must have passed the tokenizer. An escape that the tokenizer would reject is copied unchanged.
    package static func unescaped(_ content: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        // Every escape is at least as long as its UTF-8 form (6 bytes for at most 3, 12 for 4).
        [UInt8](unsafeUninitializedCapacity: content.count) { output, count in
            guard let source = content.baseAddress, let target = output.baseAddress else { return }
            var from = 0
            while from < content.count {
                var runEnd = from
                while runEnd < content.count, source[runEnd] != UInt8(ascii: "\\") { runEnd += 1 }
                (target + count).initialize(from: source + from, count: runEnd - from)
                count += runEnd - from
                guard runEnd < content.count else { return }
                from = runEnd + replaceEscape(in: content, at: runEnd, target: target, count: &count)
            }
        }
    }

    /// Writes the character of the escape at `start` and returns the length of the escape.
    private static func replaceEscape(
        in content: UnsafeBufferPointer<UInt8>, at start: Int, target: UnsafeMutablePointer<UInt8>, count: inout Int
    ) -> Int {
        func put(_ byte: UInt8) {
            (target + count).initialize(to: byte)
            count += 1
        }
        guard start + 1 < content.count else {
            put(content[start])
            return 1
        }
        switch content[start + 1] {
        case UInt8(ascii: "b"): put(0x08)
        case UInt8(ascii: "f"): put(0x0C)
        case UInt8(ascii: "n"): put(0x0A)
        case UInt8(ascii: "r"): put(0x0D)
        case UInt8(ascii: "t"): put(0x09)
        case UInt8(ascii: "u"):
            guard let (scalar, length) = escapedScalar(in: content, at: start) else {
                put(content[start])
                return 1
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { put(byte) }
            return length
        case let byte: put(byte)
        }
        return 2
    }

    private static func escapedScalar(
        in content: UnsafeBufferPointer<UInt8>, at start: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard let high = codeUnit(in: content, at: start + 2) else { return nil }
        if let scalar = Unicode.Scalar(high) { return (scalar, 6) }
        guard let low = codeUnit(in: content, at: start + 8), high < 0xDC00, 0xDC00...0xDFFF ~= low else { return nil }
        let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        return Unicode.Scalar(value).map { ($0, 12) }
    }
}

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
