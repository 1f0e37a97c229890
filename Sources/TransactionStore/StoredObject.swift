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

    /// Goes to the next member with a known name and returns the index of that; nil after the last. Members that this
    /// version does not know were written by a newer one, which is no reason to refuse the rest.
    mutating func next() throws -> Int? {
        do {
            while let member = try scanner.next() {
                guard let key = member.key, member.kind != .null, let index = index(of: key) else { continue }
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

    private func current(_ kind: JSONKind) throws -> JSONMember {
        guard let member, member.kind == kind else { throw Self.corrupt("a member is not a \(kind)") }
        return member
    }

    func string() throws -> String {
        guard let text = scanner.string(try current(.string)) else { throw Self.corrupt("a member is not a string") }
        return text
    }

    func bool() throws -> Bool {
        scanner.bytes[try current(.bool).value.lowerBound] == UInt8(ascii: "t")
    }

    func int64() throws -> Int64 {
        let range = try current(.number).value
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
            return try JSONDecoder().decode(Value.self, from: Data(scanner.bytes[member.value]))
        } catch {
            throw Self.corrupt("a nested value is not what it should be")
        }
    }
}
