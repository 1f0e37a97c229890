internal import AppStoreModels
internal import Foundation

/// Reads a flat JSON object that `FactEncoder` wrote, member by member.
///
/// `Decodable` would do the same; it needs many times as long, and a customer has hundreds of these. What `FactEncoder`
/// writes nearly always (no white space, known names, plain strings, integers, bools) is read by ``PlainMembers``; from
/// the first member on that is anything else, by the scanner for all of JSON.
struct StoredObject {
    private enum Value {
        /// Without its quotes.
        case string(Range<Int>, hasEscapes: Bool)
        case integer(Int64)
        case bool(Bool)
        /// A number that the short way did not take, an array, an object.
        case other(Range<Int>)
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let names: [StaticString]
    private var plain: PlainMembers
    /// How many members were read so far.
    private var count = 0
    private var scanner: JSONMemberScanner?
    private var value: Value?
    /// What has no name that this version knows: new of Apple's, or written by a newer version.
    private(set) var unknownMembers: [JSONObject.Member] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, names: [StaticString]) {
        self.bytes = bytes
        self.names = names
        plain = PlainMembers(bytes)
    }

    static func corrupt(_ detail: String) -> TransactionStoreError {
        TransactionStoreError(.corrupt, "A stored fact cannot be read: \(detail)")
    }

    /// Goes to the next member with a known name and returns the index of that; nil after the last.
    mutating func next() throws -> Int? {
        guard scanner == nil else { return try nextByScanner() }
        switch plain.next(names) {
        case .member(let index, let value):
            count += 1
            switch value {
            case .string(let content): self.value = .string(content, hasEscapes: false)
            case .integer(let integer): self.value = .integer(integer)
            case .bool(let bool): self.value = .bool(bool)
            }
            return index
        case .end: return nil
        case .somethingElse:
            try beginScanner()
            return try nextByScanner()
        }
    }

    /// Lets the scanner pass over what was read already.
    private mutating func beginScanner() throws {
        do {
            var scanner = try JSONMemberScanner(bytes)
            guard scanner.isObject else { throw Self.corrupt("it is not an object") }
            for _ in 0..<count { _ = try scanner.next() }
            self.scanner = scanner
        } catch let error as JSONReadingError {
            throw Self.corrupt("\(error)")
        }
    }

    private mutating func nextByScanner() throws -> Int? {
        do {
            while let member = try scanner?.next() {
                guard let key = member.key else { continue }
                let name = UnsafeBufferPointer(rebasing: bytes[key.content])
                guard let index = names.firstIndex(where: { Self.isEqual($0, name) }) else {
                    let value = try JSONValue.parse(UnsafeBufferPointer(rebasing: bytes[member.value]))
                    unknownMembers.append(
                        JSONObject.Member(key: JSONStringToken.text(key, in: bytes), value: value))
                    continue
                }
                switch member.kind {
                case .null: continue
                case .string: value = .string(member.content, hasEscapes: member.hasEscapes)
                case .bool: value = .bool(bytes[member.value.lowerBound] == UInt8(ascii: "t"))
                case .number, .array, .object: value = .other(member.value)
                }
                return index
            }
        } catch {
            throw Self.corrupt("\(error)")
        }
        return nil
    }

    private static func isEqual(_ expected: StaticString, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard expected.utf8CodeUnitCount == name.count, let base = name.baseAddress else { return false }
        return memcmp(expected.utf8Start, base, name.count) == 0
    }

    func string() throws -> String {
        guard case .string(let content, let hasEscapes) = value else { throw Self.corrupt("a member is not a string") }
        return JSONStringToken.text(JSONStringToken(content: content, hasEscapes: hasEscapes), in: bytes)
    }

    /// The string, which is `known` itself where it has the same octets; else it becomes `known`.
    func string(like known: inout String) throws -> String {
        // A string of up to 15 octets needs no memory of its own.
        guard case .string(let place, hasEscapes: false) = value, place.count > 15 else { return try string() }
        let content = UnsafeBufferPointer(rebasing: bytes[place])
        let isKnown = known.utf8.withContiguousStorageIfAvailable { known in
            guard known.count == content.count, let one = known.baseAddress, let other = content.baseAddress else {
                return false
            }
            return memcmp(one, other, content.count) == 0
        }
        if isKnown != true { known = try string() }
        return known
    }

    func bool() throws -> Bool {
        guard case .bool(let bool) = value else { throw Self.corrupt("a member is not a bool") }
        return bool
    }

    func int64() throws -> Int64 {
        switch value {
        case .integer(let integer): return integer
        case .other(let range):
            // No fractions and exponents, even where they add up to an integer: nothing here writes them.
            guard let integer = Int64(String(decoding: bytes[range], as: UTF8.self)) else {
                throw Self.corrupt("a member is not an integer of 64 bits")
            }
            return integer
        default: throw Self.corrupt("a member is not a number")
        }
    }

    func int32() throws -> Int32 {
        guard let small = Int32(exactly: try int64()) else { throw Self.corrupt("a number is too large") }
        return small
    }

    func text<Value: OpenEnum>() throws -> Value where Value.RawValue == String { Value(rawValue: try string()) }
    func number<Value: OpenEnum>() throws -> Value where Value.RawValue == Int32 { Value(rawValue: try int32()) }

    func strings() throws -> [String] { try decoded() }

    /// A nested value; only what is rare is nested.
    func decoded<Value: Decodable>() throws -> Value {
        guard case .other(let range) = value else { throw Self.corrupt("a member is neither an object nor an array") }
        do {
            return try JSONValue.parse(UnsafeBufferPointer(rebasing: bytes[range])).decode()
        } catch {
            throw Self.corrupt("a nested value is not what it should be")
        }
    }
}
