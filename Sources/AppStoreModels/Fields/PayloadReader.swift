/// The reason why the output of ``Payload/write(to:)`` cannot be read. It was damaged, or other code wrote it.
package struct PayloadReadingError: Error, Sendable, Equatable {
    /// What is wrong.
    package let detail: String

    init(_ detail: String) {
        self.detail = detail
    }
}

/// Strings that the payloads of a customer share, indexed by the number of the field. Each string is created once
/// instead of once per payload.
package struct CommonTexts {
    fileprivate var texts: [String] = []

    package init() {}
}

extension Payload {
    init(members bytes: UnsafeBufferPointer<UInt8>, texts: inout CommonTexts) throws(PayloadReadingError) {
        self.init()
        var reader = PayloadReader(bytes)
        swap(&reader.texts, &texts)
        defer { swap(&reader.texts, &texts) }
        while try reader.beginPass() { try visit(&reader) }
        if !reader.unknownMembers.isEmpty { unknownMembers = UnknownMembers(reader.unknownMembers) }
    }
}

/// Reads the members of a JSON object in the order in which they are requested.
///
/// `Decodable` would do the same but takes many times as long, and a customer has hundreds of payloads. The caller
/// requests each name in the order of writing, so the reader finds each name at once:
///
///     while try reader.beginPass() {
///         if try reader.take("price") { price = try reader.int64() }
///         …
///     }
///
/// Members in another order need another pass. The usual form (no white space, names and ASCII strings without escapes,
/// integers, Booleans) is read in place. The first member in another form starts a scanner for all of JSON.
package struct PayloadReader {
    private enum Value {
        /// The content, without quotes.
        case string(Range<Int>, hasEscapes: Bool)
        case integer(Int64)
        case bool(Bool)
        /// A number that is not a plain integer, an array, or an object.
        case other(Range<Int>)
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    /// The start of the content of the next name; -1 if the next member is not in plain form.
    private var name = -1
    private var isAtEnd = false
    /// The number of members taken in plain form.
    private var count = 0
    /// Whether the current pass has taken a member.
    private var isProgressing = true
    /// Reads everything from the first member that is not in plain form.
    private var scanner: JSONMemberScanner?
    private var member: JSONMember?
    private var value = Value.bool(false)
    /// The number of the current field.
    private var field = 0
    fileprivate var texts = CommonTexts()
    /// Members whose names no pass requested: new members of Apple's, or written by a newer version.
    package private(set) var unknownMembers: [JSONObject.Member] = []

    package init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        guard byte(0) == UInt8(ascii: "{") else { return }
        if byte(1) == UInt8(ascii: "}") {
            isAtEnd = bytes.count == 2
        } else if byte(1) == UInt8(ascii: "\"") {
            name = 2
        }
    }

    /// Begins a pass over all names. Returns false after the last member. A member that a whole pass did not request
    /// becomes an unknown member.
    package mutating func beginPass() throws(PayloadReadingError) -> Bool {
        if isAtEnd { return false }
        if scanner == nil, name < 0 || !isProgressing {
            try beginScanner()
        } else if !isProgressing, let member {
            try keepUnknown(member)
        }
        isProgressing = false
        return !isAtEnd
    }

    /// Whether the next member has this name and a value other than `null`. If so, the reader is at the value.
    @inline(__always)
    package mutating func take(_ expected: StaticString) throws(PayloadReadingError) -> Bool {
        guard name >= 0 else { return member == nil ? false : try takeScanned(expected) }
        let end = name &+ expected.utf8CodeUnitCount
        guard end &+ 1 < bytes.count, let base = bytes.baseAddress, base[name] == expected.utf8Start[0],
            base[end] == UInt8(ascii: "\""), base[end &+ 1] == UInt8(ascii: ":"),
            Self.isEqual(base + name, expected)
        else { return false }
        return try takePlain(expected, at: end &+ 2)
    }

    @inline(__always)
    private static func isEqual(_ bytes: UnsafePointer<UInt8>, _ expected: StaticString) -> Bool {
        for index in 0..<expected.utf8CodeUnitCount where bytes[index] != expected.utf8Start[index] { return false }
        return true
    }

    // MARK: Plain members

    private mutating func takePlain(_ expected: StaticString, at start: Int) throws(PayloadReadingError) -> Bool {
        var end = start
        guard let value = plainValue(&end), endMember(at: end) else {
            try beginScanner()
            return try takeScanned(expected)
        }
        self.value = value
        count &+= 1
        isProgressing = true
        return true
    }

    /// Moves to the next member. Returns false unless the value is followed by a plain member or the end.
    private mutating func endMember(at end: Int) -> Bool {
        switch byte(end) {
        case UInt8(ascii: ","):
            name = byte(end &+ 1) == UInt8(ascii: "\"") ? end &+ 2 : -1
            return true
        case UInt8(ascii: "}") where end &+ 1 == bytes.count:
            name = -1
            isAtEnd = true
            return true
        default: return false
        }
    }

    /// The byte at an offset; 0 after the last byte, which does not occur in plain JSON.
    @inline(__always)
    private func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    /// The value at `place`, which moves past it; nil if it is not in plain form.
    @inline(__always)
    private func plainValue(_ place: inout Int) -> Value? {
        switch byte(place) {
        case UInt8(ascii: "\""):
            var highBits: UInt64 = 0
            let end = JSONStringScan.firstSpecial(in: bytes, from: place &+ 1, highBits: &highBits)
            guard byte(end) == UInt8(ascii: "\""), highBits & JSONStringScan.highBitOfEachByte == 0 else { return nil }
            defer { place = end &+ 1 }
            return .string((place &+ 1)..<end, hasEscapes: false)
        case UInt8(ascii: "t"): return isWord("true", &place) ? .bool(true) : nil
        case UInt8(ascii: "f"): return isWord("false", &place) ? .bool(false) : nil
        default: return plainInteger(&place).map { .integer($0) }
        }
    }

    private func isWord(_ word: StaticString, _ place: inout Int) -> Bool {
        let length = word.utf8CodeUnitCount
        guard let base = bytes.baseAddress, place &+ length <= bytes.count, Self.isEqual(base + place, word) else {
            return false
        }
        place &+= length
        return true
    }

    /// RFC 8259, section 6, without fraction and exponent.
    @inline(__always)
    private func plainInteger(_ place: inout Int) -> Int64? {
        var digits = place
        let isNegative = byte(digits) == UInt8(ascii: "-")
        if isNegative { digits &+= 1 }
        let start = digits
        var magnitude: UInt64 = 0
        while byte(digits) &- UInt8(ascii: "0") < 10 {
            magnitude = magnitude &* 10 &+ UInt64(byte(digits) &- UInt8(ascii: "0"))
            digits &+= 1
        }
        // 18 digits always fit. A zero stands alone and has no sign.
        let count = digits &- start
        guard count > 0, count < 19 else { return nil }
        if byte(start) == UInt8(ascii: "0"), count > 1 || isNegative { return nil }
        place = digits
        return isNegative ? -Int64(magnitude) : Int64(magnitude)
    }

    // MARK: Any JSON

    /// Moves the scanner past the members that were already taken.
    private mutating func beginScanner() throws(PayloadReadingError) {
        name = -1
        do {
            var scanner = try JSONMemberScanner(bytes)
            guard scanner.isObject else { throw PayloadReadingError("it is not an object") }
            for _ in 0..<count { _ = try scanner.next() }
            self.scanner = scanner
        } catch {
            throw Self.damaged(error)
        }
        try scanMember()
    }

    private mutating func scanMember() throws(PayloadReadingError) {
        do {
            member = try scanner?.next()
        } catch {
            throw Self.damaged(error)
        }
        if member == nil { isAtEnd = true }
        isProgressing = true
    }

    private static func damaged(_ error: any Error) -> PayloadReadingError {
        error as? PayloadReadingError ?? PayloadReadingError("\(error)")
    }

    private mutating func takeScanned(_ expected: StaticString) throws(PayloadReadingError) -> Bool {
        guard let member, let key = member.key, key.content.count == expected.utf8CodeUnitCount,
            let base = bytes.baseAddress, Self.isEqual(base + key.content.lowerBound, expected)
        else { return false }
        switch member.kind {
        case .null: break
        case .string: value = .string(member.content, hasEscapes: member.hasEscapes)
        case .bool: value = .bool(byte(member.value.lowerBound) == UInt8(ascii: "t"))
        case .number, .array, .object: value = .other(member.value)
        }
        try scanMember()
        return member.kind != .null
    }

    private mutating func keepUnknown(_ member: JSONMember) throws(PayloadReadingError) {
        if let key = member.key {
            do {
                let value = try JSONValue.parse(UnsafeBufferPointer(rebasing: bytes[member.value]))
                unknownMembers.append(JSONObject.Member(key: JSONStringToken.text(key, in: bytes), value: value))
            } catch {
                throw Self.damaged(error)
            }
        }
        try scanMember()
    }

    // MARK: Values

    package func string() throws(PayloadReadingError) -> String {
        guard case .string(let content, let hasEscapes) = value else {
            throw PayloadReadingError("a member is not a string")
        }
        return JSONStringToken.text(JSONStringToken(content: content, hasEscapes: hasEscapes), in: bytes)
    }

    /// The string. If the previous payload has the same string in the same field, that instance is returned.
    mutating func commonString() throws(PayloadReadingError) -> String {
        // A string of up to 15 bytes needs no separate memory.
        guard case .string(let place, hasEscapes: false) = value, place.count > 15 else { return try string() }
        if texts.texts.count <= field {
            texts.texts.append(contentsOf: repeatElement("", count: field &+ 1 &- texts.texts.count))
        }
        let content = UnsafeBufferPointer(rebasing: bytes[place])
        let isKnown = texts.texts[field].utf8.withContiguousStorageIfAvailable { Self.isEqual($0, content) }
        if isKnown != true { texts.texts[field] = try string() }
        return texts.texts[field]
    }

    /// Whether two texts are equal, eight bytes at a time. The second one is longer than that.
    private static func isEqual(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        let (one, other) = (UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(other))
        func areEqual(at offset: Int) -> Bool {
            one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        let last = other.count - 8
        return stride(from: 0, to: last, by: 8).allSatisfy(areEqual) && areEqual(at: last)
    }

    package func bool() throws(PayloadReadingError) -> Bool {
        guard case .bool(let bool) = value else { throw PayloadReadingError("a member is not a Boolean") }
        return bool
    }

    package func int64() throws(PayloadReadingError) -> Int64 {
        switch value {
        case .integer(let integer): return integer
        case .other(let range):
            // Fractions and exponents are rejected even if the value is an integer, because the writer never writes
            // them.
            guard let integer = Int64(String(decoding: bytes[range], as: UTF8.self)) else {
                throw PayloadReadingError("a member is not an integer of 64 bits")
            }
            return integer
        default: throw PayloadReadingError("a member is not a number")
        }
    }

    package func int32() throws(PayloadReadingError) -> Int32 {
        guard let small = Int32(exactly: try int64()) else { throw PayloadReadingError("a number is too large") }
        return small
    }

    /// A nested value. Only rare members are nested.
    func decoded<Value: PayloadValue>() throws(PayloadReadingError) -> Value {
        guard case .other(let range) = value else {
            throw PayloadReadingError("a member is neither an object nor an array")
        }
        do {
            return try JSONValue.parse(UnsafeBufferPointer(rebasing: bytes[range])).decode()
        } catch {
            throw PayloadReadingError("a nested value is not valid")
        }
    }
}

extension PayloadReader: PayloadVisitor {
    @inline(__always)
    package mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws(PayloadReadingError) {
        guard try take(name) else { return }
        self.field = Int(field.rawValue)
        value = try Value(reading: &self)
    }

    @inline(__always)
    package mutating func member<Value: OpenEnum>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws(PayloadReadingError) where Value.RawValue: PayloadValue {
        guard try take(name) else { return }
        self.field = Int(field.rawValue)
        value = Value(rawValue: try Value.RawValue(reading: &self))
    }
}
