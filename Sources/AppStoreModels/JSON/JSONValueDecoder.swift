extension JSONValue {
    /// Decodes a model from a JSON value.
    ///
    /// For payloads that are decoded by the thousand: it needs no second parse and no bridging. Numbers are exact. If a
    /// member occurs more than once, the last one counts (see ``JSONValue/hasUniqueNames``).
    /// - Throws: `DecodingError`, with the coding path from this value.
    package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try Value(from: JSONValueDecoder(value: self))
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

/// A decoder for one value. Coding paths are not stored; they are built while an error propagates.
///
/// A class, because `any Decoder` and `any SingleValueDecodingContainer` then hold a reference without boxing.
final class JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue

    init(value: JSONValue) {
        self.value = value
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw Self.mismatch([String: JSONValue].self, value) }
        return KeyedDecodingContainer(JSONKeyedContainer(object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let values) = value else { throw Self.mismatch([JSONValue].self, value) }
        return JSONUnkeyedContainer(values: values)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    static func mismatch(_ type: Any.Type, _ value: JSONValue) -> DecodingError {
        guard !value.isNull else {
            return .valueNotFound(type, .init(codingPath: [], debugDescription: "The value is null."))
        }
        return .typeMismatch(
            type, .init(codingPath: [], debugDescription: "The value has another type: \(value.kind)."))
    }

    func decodeNil() -> Bool { value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try value.boolean() }
    func decode(_ type: String.Type) throws -> String { try value.text() }
    func decode(_ type: Double.Type) throws -> Double { try value.double() }
    func decode(_ type: Float.Type) throws -> Float { Float(try value.double()) }
    func decode(_ type: Int.Type) throws -> Int { try value.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try value.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try value.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try value.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try value.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try value.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value.integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}

extension JSONValue {
    fileprivate var kind: String {
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
    fileprivate func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        let exact: Integer?
        switch self {
        case .integer(let value): exact = Integer(exactly: value)
        case .number(let text): exact = Integer(text) ?? Self.exactDouble(text).flatMap { Integer(exactly: $0) }
        default: throw JSONValueDecoder.mismatch(type, self)
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

    fileprivate func double() throws -> Double {
        switch self {
        case .integer(let value): return Double(value)
        case .number(let text):
            guard let number = Double(text), number.isFinite else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: "The number does not fit a Double."))
            }
            return number
        default: throw JSONValueDecoder.mismatch(Double.self, self)
        }
    }

    fileprivate func text() throws -> String {
        guard case .string(let text) = self else { throw JSONValueDecoder.mismatch(String.self, self) }
        return text
    }

    fileprivate func boolean() throws -> Bool {
        guard case .bool(let flag) = self else { throw JSONValueDecoder.mismatch(Bool.self, self) }
        return flag
    }
}

extension DecodingError {
    /// The error with a key before its coding path.
    fileprivate func inside(_ key: any CodingKey) -> DecodingError {
        func inside(_ context: Context) -> Context {
            Context(
                codingPath: [key] + context.codingPath, debugDescription: context.debugDescription,
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

// MARK: - Members

private struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    private func value(_ key: Key) throws -> JSONValue {
        guard let value = object[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "The member is missing."))
        }
        return value
    }

    /// Nil if the member is missing or null.
    private func present(_ key: Key) -> JSONValue? {
        guard let value = object[key.stringValue], !value.isNull else { return nil }
        return value
    }

    private func inside<Value>(_ key: Key, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DecodingError { throw error.inside(key) }
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let value = try value(key)
        return try inside(key) { try value.boolean() }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let value = try value(key)
        return try inside(key) { try value.text() }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let value = try value(key)
        return try inside(key) { try value.double() }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        let value = try value(key)
        return try inside(key) { try value.integer(type) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        let value = try value(key)
        return try inside(key) { try value.integer(type) }
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let value = try value(key)
        return try inside(key) { try Value(from: JSONValueDecoder(value: value)) }
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let value = present(key) else { return nil }
        // Most members are strings, which need no separate decoder.
        if Value.self == String.self, case .string(let text) = value { return text as? Value }
        return try inside(key) { try Value(from: JSONValueDecoder(value: value)) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        let value = try value(key)
        return try inside(key) { try JSONValueDecoder(value: value).container(keyedBy: type) }
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let value = try value(key)
        return try inside(key) { try JSONValueDecoder(value: value).unkeyedContainer() }
    }

    func superDecoder() throws -> any Decoder { JSONValueDecoder(value: .object(object)) }
    func superDecoder(forKey key: Key) throws -> any Decoder { JSONValueDecoder(value: try value(key)) }
}

// MARK: - Elements

private struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private struct Index: CodingKey {
        let intValue: Int?
        var stringValue: String { intValue.map(String.init) ?? "" }
        init(intValue: Int) { self.intValue = intValue }
        init?(stringValue: String) { nil }
    }

    let values: [JSONValue]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    init(values: [JSONValue]) {
        self.values = values
    }

    private mutating func next<Value>(_ body: (JSONValue) throws -> Value) throws -> Value {
        let index = Index(intValue: currentIndex)
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self, .init(codingPath: [index], debugDescription: "The array has no more elements."))
        }
        do {
            let value = try body(values[currentIndex])
            currentIndex += 1
            return value
        } catch let error as DecodingError {
            throw error.inside(index)
        }
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, values[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next { try Value(from: JSONValueDecoder(value: $0)) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next { try JSONValueDecoder(value: $0).container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try JSONValueDecoder(value: $0).unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { JSONValueDecoder(value: $0) } }
}
