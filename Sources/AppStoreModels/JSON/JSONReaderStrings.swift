/// Byte searches in the content of JSON strings, eight bytes at a time.
package enum JSONStringScan {
    package static let highBitOfEachByte: UInt64 = 0x8080_8080_8080_8080
    private static let lowBitOfEachByte: UInt64 = 0x0101_0101_0101_0101

    /// The offset of the first quote, backslash or control character from `start` on, or else `bytes.count`.
    ///
    /// `highBits` collects every byte before it (and a few after), so the caller can check whether all are ASCII. The
    /// subtraction trick marks false positives only in bytes above a true one, so the lowest marked byte is exact.
    package static func firstSpecial(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, highBits: inout UInt64
    ) -> Int {
        guard let base = bytes.baseAddress else { return bytes.count }
        let raw = UnsafeRawPointer(base)
        var index = start
        // Names and ids end within a few words.
        let near = min(bytes.count, start &+ 32)
        if let found = firstSpecialInWords(raw, &index, until: near, &highBits) { return found }
        // Receipts are long strings without special characters, so they are checked 64 bytes at a time.
        while index &+ 64 <= bytes.count {
            var (marks, union) = (UInt64(0), UInt64(0))
            for offset in 0..<8 {
                let word = raw.loadUnaligned(fromByteOffset: index &+ offset &* 8, as: UInt64.self)
                union |= word
                marks |= specialMarks(word)
            }
            if marks & highBitOfEachByte != 0 { break }
            highBits |= union
            index &+= 64
        }
        if let found = firstSpecialInWords(raw, &index, until: bytes.count, &highBits) { return found }
        while index < bytes.count {
            let byte = base[index]
            highBits |= UInt64(byte)
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { return index }
            index &+= 1
        }
        return bytes.count
    }

    /// The same for whole words before `end`; nil if there is none, with `index` after the last word.
    @inline(__always)
    private static func firstSpecialInWords(
        _ raw: UnsafeRawPointer, _ index: inout Int, until end: Int, _ highBits: inout UInt64
    ) -> Int? {
        while index &+ 8 <= end {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            highBits |= word
            let marks = specialMarks(word) & highBitOfEachByte
            if marks != 0 { return index &+ marks.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        return nil
    }

    /// The high bit of each quote, backslash or control character, and of some bytes above one of these. The other
    /// bits are undefined.
    @inline(__always)
    private static func specialMarks(_ word: UInt64) -> UInt64 {
        let quote = word ^ (lowBitOfEachByte &* 0x22)
        let backslash = word ^ (lowBitOfEachByte &* 0x5C)
        return ((quote &- lowBitOfEachByte) & ~quote)
            | ((backslash &- lowBitOfEachByte) & ~backslash)
            | ((word &- (lowBitOfEachByte &* 0x20)) & ~word)
    }

    /// The UTF-16 code unit that four hexadecimal digits at `start` spell, or nil.
    static func codeUnit(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt16? {
        guard start + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for position in start..<(start + 4) {
            let digit: UInt8
            switch bytes[position] {
            case let byte where byte &- 0x30 < 10: digit = byte &- 0x30
            case let byte where (byte | 0x20) &- 0x61 < 6: digit = (byte | 0x20) &- 0x61 &+ 10
            default: return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// The bytes of a string whose content (without quotes) has escapes.
    ///
    /// The content must have passed the tokenizer. An escape that the tokenizer would reject is copied unchanged.
    package static func unescaped(_ content: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        // Every escape is at least as long as its UTF-8 form (6 bytes for at most 3, 12 for 4).
        [UInt8](unsafeUninitializedCapacity: content.count) { output, count in
            guard let source = content.baseAddress, let target = output.baseAddress else { return }
            var from = 0
            while from < content.count {
                var runEnd = from
                while runEnd < content.count, source[runEnd] != UInt8(ascii: "\\") { runEnd += 1 }
                (target + count).initialize(from: source + from, count: runEnd - from)
                count += runEnd - from
                guard runEnd < content.count else { return }
                from = runEnd + replaceEscape(in: content, at: runEnd, target: target, count: &count)
            }
        }
    }

    /// Writes the character of the escape at `start` and returns the length of the escape.
    private static func replaceEscape(
        in content: UnsafeBufferPointer<UInt8>, at start: Int, target: UnsafeMutablePointer<UInt8>, count: inout Int
    ) -> Int {
        func put(_ byte: UInt8) {
            (target + count).initialize(to: byte)
            count += 1
        }
        guard start + 1 < content.count else {
            put(content[start])
            return 1
        }
        switch content[start + 1] {
        case UInt8(ascii: "b"): put(0x08)
        case UInt8(ascii: "f"): put(0x0C)
        case UInt8(ascii: "n"): put(0x0A)
        case UInt8(ascii: "r"): put(0x0D)
        case UInt8(ascii: "t"): put(0x09)
        case UInt8(ascii: "u"):
            guard let (scalar, length) = escapedScalar(in: content, at: start) else {
                put(content[start])
                return 1
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { put(byte) }
            return length
        case let byte: put(byte)
        }
        return 2
    }

    private static func escapedScalar(
        in content: UnsafeBufferPointer<UInt8>, at start: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard let high = codeUnit(in: content, at: start + 2) else { return nil }
        if let scalar = Unicode.Scalar(high) { return (scalar, 6) }
        guard let low = codeUnit(in: content, at: start + 8), high < 0xDC00, 0xDC00...0xDFFF ~= low else { return nil }
        let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        return Unicode.Scalar(value).map { ($0, 12) }
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
