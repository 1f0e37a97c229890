internal import AppStoreModels
internal import Foundation

/// Reads the members of a JSON object that are written in the plainest way: no white space, a name out of a list, and an
/// ASCII string without escapes, an integer of 64 bits or a bool.
///
/// It takes nothing that is not JSON, but not all that is: whatever else stands there, invalid JSON included, is told as
/// ``Step/somethingElse`` and is for a reader of all of JSON to judge.
struct PlainMembers {
    enum Value {
        /// The octets between the quotes.
        case string(Range<Int>)
        case integer(Int64)
        case bool(Bool)
    }

    enum Step {
        /// A member, by the index of its name.
        case member(Int, Value)
        /// The object has ended, and the text with it.
        case end
        case somethingElse
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    /// Where the next member begins, or the end: at `{` or `,` or `}`.
    private var place = 0
    /// The index of the name after the last one: in the order of writing each name is found at once.
    private var expected = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// - Parameter names: the same at each call.
    mutating func next(_ names: [StaticString]) -> Step {
        switch byte(place) {
        case UInt8(ascii: "{") where place == 0: if byte(1) == UInt8(ascii: "}") { place = 1 }
        case UInt8(ascii: ",") where place > 0: break
        case UInt8(ascii: "}") where place > 0: break
        default: return .somethingElse
        }
        if byte(place) == UInt8(ascii: "}") { return place &+ 1 == bytes.count ? .end : .somethingElse }
        guard byte(place &+ 1) == UInt8(ascii: "\""), let index = name(names, at: place &+ 2) else {
            return .somethingElse
        }
        var end = place &+ 4 &+ names[index].utf8CodeUnitCount
        guard let value = value(&end) else { return .somethingElse }
        guard byte(end) == UInt8(ascii: ",") || byte(end) == UInt8(ascii: "}") else { return .somethingElse }
        place = end
        expected = index &+ 1
        return .member(index, value)
    }

    /// The octet at an offset; 0, which is nowhere in plain JSON, after the last.
    @inline(__always)
    private func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    /// The index of the name that begins at `start` and is followed by a quote and a colon.
    private func name(_ names: [StaticString], at start: Int) -> Int? {
        guard let base = bytes.baseAddress, start < bytes.count else { return nil }
        for step in 0..<names.count {
            var index = expected &+ step
            if index >= names.count { index &-= names.count }
            let name = names[index]
            let length = name.utf8CodeUnitCount
            guard start &+ length &+ 1 < bytes.count, name.utf8Start[0] == base[start],
                base[start &+ length] == UInt8(ascii: "\""), base[start &+ length &+ 1] == UInt8(ascii: ":"),
                memcmp(name.utf8Start, base + start, length) == 0
            else { continue }
            return index
        }
        return nil
    }

    /// The value at `place`, which moves to the octet after it; nil if it is not a plain one.
    @inline(__always)
    private func value(_ place: inout Int) -> Value? {
        switch byte(place) {
        case UInt8(ascii: "\""):
            var highBits: UInt64 = 0
            let end = JSONStringScan.firstSpecial(in: bytes, from: place &+ 1, highBits: &highBits)
            guard byte(end) == UInt8(ascii: "\""), highBits & JSONStringScan.highBitOfEachByte == 0 else { return nil }
            defer { place = end &+ 1 }
            return .string((place &+ 1)..<end)
        case UInt8(ascii: "t"): return word("true", &place) ? .bool(true) : nil
        case UInt8(ascii: "f"): return word("false", &place) ? .bool(false) : nil
        default: return integer(&place).map { .integer($0) }
        }
    }

    private func word(_ word: StaticString, _ place: inout Int) -> Bool {
        let length = word.utf8CodeUnitCount
        guard let base = bytes.baseAddress, place &+ length <= bytes.count,
            memcmp(word.utf8Start, base + place, length) == 0
        else { return false }
        place &+= length
        return true
    }

    /// RFC 8259, section 6, without fraction and exponent.
    @inline(__always)
    private func integer(_ place: inout Int) -> Int64? {
        var digits = place
        let isNegative = byte(digits) == UInt8(ascii: "-")
        if isNegative { digits &+= 1 }
        let start = digits
        var magnitude: UInt64 = 0
        while byte(digits) &- UInt8(ascii: "0") < 10 {
            magnitude = magnitude &* 10 &+ UInt64(byte(digits) &- UInt8(ascii: "0"))
            digits &+= 1
        }
        // 18 digits always fit. A zero stands alone, and has no sign.
        let count = digits &- start
        guard count > 0, count < 19 else { return nil }
        if byte(start) == UInt8(ascii: "0"), count > 1 || isNegative { return nil }
        place = digits
        return isNegative ? -Int64(magnitude) : Int64(magnitude)
    }
}
