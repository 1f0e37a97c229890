/// The kinds of JSON value.
package enum JSONKind: Sendable, Equatable {
    case null, bool, number, string, array, object
}

/// One member of an object, or one element of an array, as ranges of the text.
package struct JSONMember: Sendable, Equatable {
    /// The member's name; nil for an element of an array.
    package let key: JSONStringToken?
    package let kind: JSONKind
    /// The whole value: for a string with its quotes, for an array or object with its brackets.
    package let value: Range<Int>
    /// For a string, whether its content has escapes.
    package let hasEscapes: Bool

    /// For a string: its content without the quotes.
    package var content: Range<Int> {
        kind == .string ? (value.lowerBound + 1)..<(value.upperBound - 1) : value
    }
}

/// Reads the members of one JSON object, or the elements of one JSON array, without creating values.
///
/// Everything is validated as strictly as in ``JSONValue/parse(_:)-(UnsafeBufferPointer<UInt8>)``, including nested
/// values. After `next()` has returned nil, the whole text is valid. Nothing is allocated. The buffer must outlive the
/// scanner.
package struct JSONMemberScanner {
    package let bytes: UnsafeBufferPointer<UInt8>
    /// Whether the text is an object (true) or an array.
    package let isObject: Bool
    private var tokenizer: JSONTokenizer
    private var isDone = false

    /// - Throws: ``JSONReadingError`` if the text does not begin with `{` or `[`.
    package init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONReadingError) {
        self.bytes = bytes
        tokenizer = JSONTokenizer(bytes)
        switch try tokenizer.next() {
        case .beginObject: isObject = true
        case .beginArray: isObject = false
        default: throw JSONReadingError(code: .notAContainer, offset: tokenizer.tokenStart)
        }
    }

    /// The next member; nil after the last one, if only white space follows the closing bracket.
    package mutating func next() throws(JSONReadingError) -> JSONMember? {
        guard !isDone, var token = try tokenizer.next() else { return nil }
        var key: JSONStringToken?
        if case .key(let name) = token {
            key = name
            guard let value = try tokenizer.next() else { return nil }
            token = value
        }
        let start = tokenizer.tokenStart
        var hasEscapes = false
        let kind: JSONKind
        switch token {
        case .beginObject:
            try skipContainer()
            kind = .object
        case .beginArray:
            try skipContainer()
            kind = .array
        case .string(let string):
            hasEscapes = string.hasEscapes
            kind = .string
        case .number: kind = .number
        case .bool: kind = .bool
        case .null: kind = .null
        case .endObject, .endArray, .key:
            isDone = true
            _ = try tokenizer.next()
            return nil
        }
        return JSONMember(key: key, kind: kind, value: start..<tokenizer.index, hasEscapes: hasEscapes)
    }

    /// The text of a name or string token.
    package func text(_ token: JSONStringToken) -> String {
        JSONStringToken.text(token, in: bytes)
    }

    private mutating func skipContainer() throws(JSONReadingError) {
        while tokenizer.depth > 1 {
            guard try tokenizer.next() != nil else { return }
        }
    }
}
