// Processes eight bytes at a time. No operation below carries from one byte into the next, so each byte's flag is
// exact.

private let everyByte: UInt64 = 0x0101_0101_0101_0101
private let everyHighBit: UInt64 = 0x8080_8080_8080_8080

/// The high bit of each byte that is a quotation mark, a backslash or a control character.
@inline(__always)
private func flagsToEscape(_ bytes: UInt64) -> UInt64 {
    let low = ~everyHighBit
    let quote = bytes ^ (0x22 &* everyByte)
    let backslash = bytes ^ (0x5C &* everyByte)
    // The high bit of each sum or operand is clear if the byte is below 0x20, or if the difference is zero.
    let notControl = ((bytes & low) &+ 0x60 &* everyByte) | bytes
    let notQuote = ((quote & low) &+ low) | quote
    let notBackslash = ((backslash & low) &+ low) | backslash
    return ~(notControl & notQuote & notBackslash) & everyHighBit
}

extension UnsafeBufferPointer<UInt8> {
    /// Eight bytes with the first in the lowest bits, on every processor.
    @inline(__always)
    private func word(at offset: Int, _ base: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Copies the bytes and returns true if no byte needs an escape. Otherwise the written bytes are undefined.
    ///
    /// The target must have space for one more word than the bytes.
    @inline(__always)
    func copyUnlessEscaped(to target: UnsafeMutableRawBufferPointer) -> Bool {
        guard let baseAddress else { return true }
        guard target.count >= count &+ 8, let target = target.baseAddress else { return false }
        let base = UnsafeRawPointer(baseAddress)
        var flags: UInt64 = 0
        guard count >= 8 else {
            if count >= 4 {
                let first = base.loadUnaligned(as: UInt32.self)
                let last = base.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
                target.storeBytes(of: first, as: UInt32.self)
                target.storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
                return flagsToEscape(UInt64(first) << 32 | UInt64(last)) == 0
            }
            for index in 0..<count {
                target.storeBytes(of: self[index], toByteOffset: index, as: UInt8.self)
                flags |= flagsToEscape(UInt64(self[index]) &* everyByte)
            }
            return flags == 0
        }
        var index = 0
        while index &+ 8 <= count {
            let word = base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            target.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
            flags |= flagsToEscape(word)
            index &+= 8
        }
        // The last word overlaps bytes that were already copied.
        let word = base.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        target.storeBytes(of: word, toByteOffset: count &- 8, as: UInt64.self)
        return flags | flagsToEscape(word) == 0
    }

    /// Whether every byte is below 0x80. Then the bytes are valid UTF-8 without further checks.
    var isASCII: Bool { endOfASCII(from: 0, to: count) == count }

    /// The index of the first byte from `start` on that is not below 0x80; `end` if there is none before it.
    func endOfASCII(from start: Int, to end: Int) -> Int {
        guard let baseAddress else { return end }
        let base = UnsafeRawPointer(baseAddress)
        var index = start
        while index &+ 8 <= end {
            let flags = word(at: index, base) & everyHighBit
            if flags != 0 { return index &+ flags.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        while index < end, self[index] < 0x80 { index &+= 1 }
        return index
    }
}

/// UTF-8 as RFC 3629 defines it: shortest form, no surrogates, at most U+10FFFF.
package enum UTF8Validation {
    /// The offset of the first byte of the first ill-formed sequence in `range`, or nil.
    package static func firstInvalid(in bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>) -> Int? {
        var index = range.lowerBound
        while true {
            index = bytes.endOfASCII(from: index, to: range.upperBound)
            guard index < range.upperBound else { return nil }
            let length = characterLength(in: bytes, at: index, end: range.upperBound)
            guard length > 0, index + length <= range.upperBound else { return index }
            index += length
        }
    }

    /// The length in bytes of the non-ASCII character at `index` (RFC 3629, section 4); 0 for an ill-formed sequence.
    /// If `end` cuts the sequence off, the length reaches past `end`.
    package static func characterLength(in bytes: UnsafeBufferPointer<UInt8>, at index: Int, end: Int) -> Int {
        let first = bytes[index]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: return 0
        }
        let known = min(index + length, end)
        guard index + 1 >= known || second ~= bytes[index + 1] else { return 0 }
        for position in (index + 2)..<max(index + 2, known) where bytes[position] & 0xC0 != 0x80 { return 0 }
        return length
    }
}
