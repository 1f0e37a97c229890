internal import AppStoreModels
internal import Foundation

/// Reads a flat JSON object that ``FactEncoder`` wrote, member by member.
///
/// `Decodable` would do the same; it needs about twenty times as long, and a customer has hundreds of these. Names are
/// looked for from the one after the last on, so that in the order of writing each is found at once.
struct StoredObject {
    private var scanner: JSONMemberScanner
    private let names: [StaticString]
    private var position = 0
    private var member: JSONMember?
    /// What has no name that this version knows: new of Apple's, or written by a newer version.
    private(set) var unknownMembers: [JSONObject.Member] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, names: [StaticString]) throws {
        do {
            scanner = try JSONMemberScanner(bytes)
        } catch {
            throw Self.corrupt("\(error)")
        }
        guard scanner.isObject else { throw Self.corrupt("it is not an object") }
        self.names = names
    }

    static func corrupt(_ detail: String) -> TransactionStoreError {
        TransactionStoreError(.corrupt, "A stored fact cannot be read: \(detail)")
    }

    /// Goes to the next member with a known name and returns the index of that; nil after the last.
    mutating func next() throws -> Int? {
        do {
            while let member = try scanner.next() {
                guard let key = member.key else { continue }
                guard let index = index(of: key) else {
                    let value = try JSONValue.parse(UnsafeBufferPointer(rebasing: scanner.bytes[member.value]))
                    unknownMembers.append(JSONObject.Member(key: scanner.text(key), value: value))
                    continue
                }
                guard member.kind != .null else { continue }
                self.member = member
                return index
            }
        } catch {
            throw Self.corrupt("\(error)")
        }
        return nil
    }

    private mutating func index(of key: JSONStringToken) -> Int? {
        let name = UnsafeBufferPointer(rebasing: scanner.bytes[key.content])
        for step in 0..<names.count {
            let index = (position + step) % names.count
            if Self.isEqual(names[index], name) {
                position = index + 1
                return index
            }
        }
        return nil
    }

    private static func isEqual(_ expected: StaticString, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard expected.utf8CodeUnitCount == name.count, let base = name.baseAddress else { return false }
        return memcmp(expected.utf8Start, base, name.count) == 0
    }

    func string() throws -> String {
        guard let member, let text = scanner.string(member) else { throw Self.corrupt("a member is not a string") }
        return text
    }

    /// The string, which is `known` itself where it has the same octets; else it becomes `known`.
    func string(like known: inout String) throws -> String {
        // A string of up to 15 octets needs no memory of its own.
        guard let member, case .string = member.kind, !member.hasEscapes, member.content.count > 15 else {
            return try string()
        }
        let content = UnsafeBufferPointer(rebasing: scanner.bytes[member.content])
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
        guard let member, case .bool = member.kind else { throw Self.corrupt("a member is not a bool") }
        return scanner.bytes[member.value.lowerBound] == UInt8(ascii: "t")
    }

    func int64() throws -> Int64 {
        guard let member, case .number = member.kind else { throw Self.corrupt("a member is not a number") }
        let range = member.value
        var digits = range.lowerBound
        let isNegative = scanner.bytes[digits] == UInt8(ascii: "-")
        if isNegative { digits += 1 }
        // Counts downwards from zero, because the negative half of Int64 is the larger one.
        var negated: Int64 = 0
        for position in digits..<range.upperBound {
            let digit = scanner.bytes[position] &- UInt8(ascii: "0")
            let (tenfold, overflow) = negated.multipliedReportingOverflow(by: 10)
            let (sum, tooBig) = tenfold.subtractingReportingOverflow(Int64(digit))
            guard digit < 10, !overflow, !tooBig else { throw Self.corrupt("a number is not an integer of 64 bits") }
            negated = sum
        }
        if isNegative { return negated }
        guard negated != .min else { throw Self.corrupt("a number is not an integer of 64 bits") }
        return -negated
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
        guard let member else { throw Self.corrupt("a member is missing") }
        do {
            return try JSONValue.parse(UnsafeBufferPointer(rebasing: scanner.bytes[member.value])).decode()
        } catch {
            throw Self.corrupt("a nested value is not what it should be")
        }
    }
}
