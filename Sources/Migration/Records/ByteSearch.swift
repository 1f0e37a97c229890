import Foundation

typealias Bytes = UnsafeBufferPointer<UInt8>

extension UnsafeBufferPointer<UInt8> {
    /// The first occurrence of a byte from `start` on; `memchr` runs at memory speed.
    func position(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count, let base = baseAddress, let found = memchr(base + start, Int32(byte), count - start) else {
            return nil
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// Whether one of the occurrences of a byte is a wanted one.
    @inline(__always)
    func contains(_ byte: UInt8, where isWanted: (_ position: Int) -> Bool) -> Bool {
        var start = 0
        while let found = position(of: byte, from: start) {
            if isWanted(found) { return true }
            start = found + 1
        }
        return false
    }

    /// The first occurrence of either of two bytes from `start` on, eight bytes at a time.
    func position(ofEither first: UInt8, or second: UInt8, from start: Int) -> Int? {
        guard let base = baseAddress else { return nil }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let (firsts, seconds) = (ones &* UInt64(first), ones &* UInt64(second))
        let raw = UnsafeRawPointer(base)
        var index = start
        while index &+ 8 <= count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let (one, two) = (word ^ firsts, word ^ seconds)
            let marks = (((one &- ones) & ~one) | ((two &- ones) & ~two)) & (ones << 7)
            if marks != 0 { return index &+ marks.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < count {
            if base[index] == first || base[index] == second { return index }
            index &+= 1
        }
        return nil
    }

    /// The range of the bytes without the white space around them.
    func trimmed() -> Range<Int> {
        var (start, end) = (0, count)
        while start < end, self[start].isWhiteSpace { start += 1 }
        while end > start, self[end - 1].isWhiteSpace { end -= 1 }
        return start..<end
    }

    func firstNonWhiteSpace(from start: Int = 0) -> Int? {
        var index = start
        while index < count {
            if !self[index].isWhiteSpace { return index }
            index += 1
        }
        return nil
    }

    /// The first byte that is neither JSON white space nor a comma: the next element or member, or the end of its container.
    func firstNonSeparator(from start: Int = 0) -> Int? {
        var index = start
        while let next = firstNonWhiteSpace(from: index) {
            if self[next] != UInt8(ascii: ",") { return next }
            index = next + 1
        }
        return nil
    }

    func begins(with prefix: StaticString, at start: Int = 0) -> Bool {
        let length = prefix.utf8CodeUnitCount
        guard start <= count, length <= count - start else { return false }
        return (0..<length).allSatisfy { self[start + $0] == prefix.utf8Start[$0] }
    }

    subscript(slice range: Range<Int>) -> Bytes { Bytes(rebasing: self[range]) }
}

extension ArraySlice<UInt8> {
    /// A part, by positions from the start of the slice.
    subscript(slice range: Range<Int>) -> ArraySlice<UInt8> {
        self[(startIndex + range.lowerBound)..<(startIndex + range.upperBound)]
    }
}

extension UInt8 {
    /// White space of JSON, base64 and property lists: blank, tab, line feed, carriage return.
    var isWhiteSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
