extension JSONValue {
    /// Decodes a model from a JSON value.
    ///
    /// For payloads that are decoded by the thousand: it needs no second parse and no bridging. Numbers are exact. If a
    /// member occurs more than once, the last one counts (see ``JSONValue/hasUniqueNames``).
    /// - Throws: `DecodingError`, with the coding path from this value.
    package func decode<Value: PayloadValue>(_ type: Value.Type = Value.self) throws -> Value {
        try Value(json: self)
    }

    /// Whether no object in this value has two members with the same name.
    package var hasUniqueNames: Bool {
        switch self {
        // The reader limits the nesting (JSONReadingLimits).
        case .object(let object): object.hasUniqueNames && object.members.allSatisfy { $0.value.hasUniqueNames }
        case .array(let values): values.allSatisfy { $0.hasUniqueNames }
        default: true
        }
    }
}

// Coding paths are not stored; they are built while an error propagates.

extension JSONValue {
    /// The error for a value that is not of the type.
    func mismatch(_ type: Any.Type) -> DecodingError {
        guard !isNull else {
            return .valueNotFound(type, .init(codingPath: [], debugDescription: "The value is null."))
        }
        return .typeMismatch(type, .init(codingPath: [], debugDescription: "The value has another type: \(kind)."))
    }

    private var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// An integer that fits in the type. `1.0` and `1e3` are integers too, as for Foundation's decoder.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        let exact: Integer?
        switch self {
        case .integer(let value): exact = Integer(exactly: value)
        case .number(let text): exact = Integer(text) ?? Self.exactDouble(text).flatMap { Integer(exactly: $0) }
        default: throw mismatch(type)
        }
        guard let exact else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "The number is not an integer that fits \(type)."))
        }
        return exact
    }

    /// Nil from 2^53 on, where a `Double` may be a different number.
    private static func exactDouble(_ text: String) -> Double? {
        Double(text).flatMap { $0.magnitude < 9_007_199_254_740_992 ? $0 : nil }
    }

    private func double() throws -> Double {
        switch self {
        case .integer(let value): return Double(value)
        case .number(let text):
            guard let number = Double(text), number.isFinite else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: "The number does not fit a Double."))
            }
            return number
        default: throw mismatch(Double.self)
        }
    }

    /// A date in milliseconds since 1970.
    ///
    /// Apple's servers send integers, but Xcode sends fractions such as 1697680122257.447. Fractions are truncated
    /// toward zero, as in Apple's own libraries.
    func milliseconds() throws -> Int64 {
        // The integer is tried first, because a Double cannot represent every Int64.
        if let exact = try? integer(Int64.self) { return exact }
        let number = try double()
        // The bounds of Int64 are exact as Double, and NaN fails the comparison too. The conversion truncates toward
        // zero. (`rounded` would need libm, which a program without Foundation does not link.)
        guard number >= -0x1p63, number < 0x1p63 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "The date does not fit into 64-bit milliseconds."))
        }
        return Int64(number)
    }
}

extension DecodingError {
    /// The error with these keys before its coding path.
    func inside(_ path: [any CodingKey]) -> DecodingError {
        func inside(_ context: Context) -> Context {
            Context(
                codingPath: path + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, inside(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, inside(context))
        case .keyNotFound(let missing, let context): return .keyNotFound(missing, inside(context))
        case .dataCorrupted(let context): return .dataCorrupted(inside(context))
        @unknown default: return self
        }
    }
}

/// The name of a member, or the place of an element.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
