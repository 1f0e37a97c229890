/// A string in the JSON text: the range of its content (without the quotes) and whether it has escapes.
package struct JSONStringToken: Sendable, Equatable {
    /// The bytes between the quotes, as offsets from the start of the text.
    package let content: Range<Int>
    /// Whether the content contains a backslash, so the string must be unescaped.
    package let hasEscapes: Bool

    package init(content: Range<Int>, hasEscapes: Bool) {
        self.content = content
        self.hasEscapes = hasEscapes
    }
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
