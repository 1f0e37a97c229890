/// A JSON value read strictly by RFC 8259, with every number exact.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits in 64 bits, except `-0`.
    case integer(Int64)
    /// Any other number, as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    package var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let array) = self { array } else { nil }
    }

    package var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// A whole number, or a string of its digits.
    package var wholeNumber: Int64? { integer ?? string.flatMap { Int64($0) } }

    package var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The member of an object; nil for other kinds.
    package subscript(key: String) -> JSONValue? { object?[key] }
}

/// The members of a JSON object in the order of the text. If a name occurs more than once, the last member counts, as
/// in Apple's endpoint (Reference.md C3).
package struct JSONObject: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        package let key: String
        package let value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Every member, including duplicates.
    package let members: [Member]
    /// Only for objects that are large enough to make a linear search slow.
    private let index: [String: Int]?
    private static let indexedFrom = 24

    package init(members: [Member]) {
        self.members = members
        if members.count >= Self.indexedFrom {
            var index = [String: Int](minimumCapacity: members.count)
            for (position, member) in members.enumerated() { index[member.key] = position }
            self.index = index
        } else {
            index = nil
        }
    }

    package subscript(key: String) -> JSONValue? {
        if let index { return index[key].map { members[$0].value } }
        // Compares lengths first, because they nearly always differ.
        let length = key.utf8.count
        for position in members.indices.reversed()
        where members[position].key.utf8.count == length && members[position].key == key {
            return members[position].value
        }
        return nil
    }

    /// Whether no two members of this object have the same name.
    package var hasUniqueNames: Bool {
        if let index { return index.count == members.count }
        for position in members.indices {
            let key = members[position].key
            let length = key.utf8.count
            for earlier in 0..<position
            where members[earlier].key.utf8.count == length && members[earlier].key == key {
                return false
            }
        }
        return true
    }

    /// The object without the members with these names.
    package func removing(_ names: Set<String>) -> JSONObject {
        JSONObject(members: members.filter { !names.contains($0.key) })
    }

    /// The object with each member of this name changed.
    package func changing(_ name: String, _ change: (JSONValue) -> JSONValue) -> JSONObject {
        JSONObject(members: members.map { $0.key == name ? Member(key: name, value: change($0.value)) : $0 })
    }

    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members == right.members
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(members) }
}

// MARK: - Reading

extension JSONValue {
    /// Reads one JSON text: a value that only white space may surround.
    ///
    /// The time is linear in the number of bytes. ``JSONReadingLimits/maximumDepth`` limits the nesting, and open
    /// containers are in an array instead of on the call stack.
    package static func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONReadingError) -> JSONValue {
        var tokenizer = JSONTokenizer(bytes)
        var builder = JSONValueBuilder(bytes: bytes)
        while let token = try tokenizer.next() { builder.add(token) }
        guard let value = builder.result else { throw JSONReadingError(code: .unexpectedEnd, offset: bytes.count) }
        return value
    }

    /// Reads one JSON text; offsets in errors count from the first byte of the slice.
    package static func parse(_ bytes: ArraySlice<UInt8>) throws(JSONReadingError) -> JSONValue {
        let outcome = bytes.withUnsafeBufferPointer { buffer -> Result<JSONValue, JSONReadingError> in
            do throws(JSONReadingError) { return .success(try parse(buffer)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Reads one JSON text.
    package static func parse(_ bytes: [UInt8]) throws(JSONReadingError) -> JSONValue {
        try parse(bytes[...])
    }
}

/// Builds values from tokens. The tokenizer has already checked the nesting.
private struct JSONValueBuilder {
    private enum Container {
        case object([JSONObject.Member], key: String)
        case array([JSONValue])
    }

    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var result: JSONValue?
    private var open: [Container] = []

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func add(_ token: JSONToken) {
        switch token {
        case .beginObject: open.append(.object([], key: ""))
        case .beginArray: open.append(.array([]))
        case .endObject, .endArray: close()
        case .key(let key): name(JSONStringToken.text(key, in: bytes))
        case .string(let string): put(.string(JSONStringToken.text(string, in: bytes)))
        case .number(let range, let isInteger): put(number(range, isInteger: isInteger))
        case .bool(let bool): put(.bool(bool))
        case .null: put(.null)
        }
    }

    private mutating func close() {
        switch open.popLast() {
        case .object(let members, _): put(.object(JSONObject(members: members)))
        case .array(let values): put(.array(values))
        case nil: break
        }
    }

    private mutating func name(_ key: String) {
        guard case .object(let members, _) = open.popLast() else { return }
        open.append(.object(members, key: key))
    }

    /// Moves the innermost container out while changing it, so its array is never copied.
    private mutating func put(_ value: JSONValue) {
        switch open.popLast() {
        case nil:
            result = value
        case .object(var members, let key):
            members.append(JSONObject.Member(key: key, value: value))
            open.append(.object(members, key: ""))
        case .array(var values):
            values.append(value)
            open.append(.array(values))
        }
    }

    private func number(_ range: Range<Int>, isInteger: Bool) -> JSONValue {
        if isInteger, let value = exactInteger(range) { return .integer(value) }
        return .number(String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self))
    }

    /// Counts down from zero, because the negative half of Int64 is larger.
    private func exactInteger(_ range: Range<Int>) -> Int64? {
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        var negated: Int64 = 0
        for position in (range.lowerBound + (isNegative ? 1 : 0))..<range.upperBound {
            let (tenfold, tooBig) = negated.multipliedReportingOverflow(by: 10)
            let (sum, tooBigWithDigit) = tenfold.subtractingReportingOverflow(Int64(bytes[position] & 0x0F))
            if tooBig || tooBigWithDigit { return nil }
            negated = sum
        }
        if isNegative { return negated == 0 ? nil : negated }
        return negated == .min ? nil : -negated
    }
}

extension JSONStringToken {
    /// The string itself. The tokenizer has validated its UTF-8 and its escapes.
    package static func text(_ token: JSONStringToken, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let content = UnsafeBufferPointer(rebasing: bytes[token.content])
        if token.hasEscapes { return String(decoding: JSONStringScan.unescaped(content), as: UTF8.self) }
        return String(decoding: content, as: UTF8.self)
    }
}
