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
