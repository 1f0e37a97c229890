/// Base64 (RFC 4648, 4 and 5), with strict decoding like Apple's endpoint and lenient decoding for migrations.
public enum Base64: Sendable {
    /// Decodes as Apple's endpoint does: standard alphabet, padding required, no white space. Only non-zero trailing
    /// bits of the last group are tolerated (Reference.md C3).
    ///
    /// - Throws: ``ReceiptError`` `invalidBase64` with the offset of the first wrong byte.
    public static func decodeStrictly(_ text: Span<UInt8>) throws(ReceiptError) -> [UInt8] {
        guard !text.isEmpty else { throw ReceiptError(.empty) }
        guard text.count % 4 == 0 else {
            throw ReceiptError(.invalidBase64, at: .byte(text.count), "the length is not a multiple of 4")
        }
        var padding = 0
        while padding < 2, text[text.count - 1 - padding] == UInt8(ascii: "=") { padding += 1 }
        let digits = text.count - padding
        let wholeGroups = padding == 0 ? text.count / 4 : text.count / 4 - 1
        var decodedGroups = 0
        // Four bytes are stored for each group of three, so the buffer is one byte longer than the result.
        var output = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 1) { buffer, count in
            decodedGroups = decodeGroups(text, wholeGroups, into: buffer)
            count = decodedGroups * 3
        }
        let failure = tail(text, from: decodedGroups * 4, to: digits, appendingTo: &output)
        guard failure < 0 else {
            throw ReceiptError(.invalidBase64, at: .byte(failure), "0x\(String(text[failure], radix: 16))")
        }
        return output
    }

    /// Decodes up to `count` groups of four digits. Returns the number of groups before the first one with a byte that
    /// is not a digit. The buffer must hold three bytes per group and one more.
    private static func decodeGroups(
        _ text: Span<UInt8>, _ count: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        guard let output = UnsafeMutableRawPointer(buffer.baseAddress), buffer.count > count * 3,
            text.count >= count * 4
        else { return 0 }
        return text.withUnsafeBufferPointer { text in
            groupValues.withUnsafeBufferPointer { values in
                for group in 0..<count {
                    // Each byte indexes its own table of 256 entries. There are four tables.
                    let value =
                        values[Int(text[group * 4])] | values[256 + Int(text[group * 4 + 1])]
                        | values[512 + Int(text[group * 4 + 2])] | values[768 + Int(text[group * 4 + 3])]
                    guard value < 1 << 24 else { return group }
                    output.storeBytes(of: (value << 8).bigEndian, toByteOffset: group * 3, as: UInt32.self)
                }
                return count
            }
        }
    }

    /// The bits of a digit within its group of 24 bits, for each of its four positions. Bit 30 is set for bytes that
    /// are not digits.
    private static let groupValues: [UInt32] = [18, 12, 6, 0].flatMap { shift in
        (0..<256).map { byte in
            let value = standard[UInt8(byte)]
            return value < 64 ? value << UInt32(shift) : 1 << 30
        }
    }

    /// Decodes the rest after the complete groups: fewer than four digits, or a group with a byte that is not a digit.
    /// Returns the offset of that byte, or -1.
    private static func tail(
        _ text: Span<UInt8>, from start: Int, to end: Int, appendingTo output: inout [UInt8]
    ) -> Int {
        var bits: UInt32 = 0
        var digits = 0
        for index in start..<end {
            let value = standard[text[index]]
            guard value < 64, digits < 4 else { return index }
            bits = bits << 6 | value
            digits += 1
        }
        if digits >= 2 { output.append(UInt8(truncatingIfNeeded: bits >> (UInt32(digits) * 6 - 8))) }
        if digits == 3 { output.append(UInt8(truncatingIfNeeded: bits >> 2)) }
        return -1
    }

    /// Decodes base64 with damage from storage and transport: white space and line breaks anywhere, the URL-safe
    /// alphabet, missing padding, `\/` as JSON writes a slash, a literal `\n` or `\r`.
    ///
    /// - Parameters:
    ///   - text: the text in ASCII.
    ///   - spacesAsPlus: reads a space as `+`, because form decoders turn `+` into a space; otherwise spaces are
    ///     skipped.
    /// - Throws: ``ReceiptError`` `invalidBase64` with the offset of the first wrong byte.
    public static func decodeLeniently(_ text: Span<UInt8>, spacesAsPlus: Bool = false) throws(ReceiptError) -> [UInt8]
    {
        var output: [UInt8] = []
        output.reserveCapacity(text.count / 4 * 3 + 3)
        var bits: UInt32 = 0
        var digits = 0
        var padded = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            var value = lenient[byte]
            if value >= 64 {
                switch byte {
                case UInt8(ascii: " ") where spacesAsPlus: value = 62
                case 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20: continue
                case UInt8(ascii: "="):
                    padded = true
                    continue
                case UInt8(ascii: "\\") where index < text.count:
                    if text[index] == UInt8(ascii: "/") { continue }
                    if text[index] == UInt8(ascii: "n") || text[index] == UInt8(ascii: "r") {
                        index += 1
                        continue
                    }
                    throw invalid(byte, index - 1)
                default: throw invalid(byte, index - 1)
                }
            }
            guard !padded else { throw ReceiptError(.invalidBase64, at: .byte(index - 1), "text after the padding") }
            bits = bits << 6 | value
            digits += 1
            if digits == 4 {
                output.append(UInt8(truncatingIfNeeded: bits >> 16))
                output.append(UInt8(truncatingIfNeeded: bits >> 8))
                output.append(UInt8(truncatingIfNeeded: bits))
                bits = 0
                digits = 0
            }
        }
        guard digits != 1 else { throw ReceiptError(.invalidBase64, at: .byte(text.count), "one digit is left over") }
        if digits >= 2 { output.append(UInt8(truncatingIfNeeded: bits >> (UInt32(digits) * 6 - 8))) }
        if digits == 3 { output.append(UInt8(truncatingIfNeeded: bits >> 2)) }
        return output
    }

    /// Encodes with the standard alphabet and padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        return String(unsafeUninitializedCapacity: encodedCount(of: bytes.count)) { output in
            bytes.withUnsafeBufferPointer { encode($0, into: output) }
        }
    }

    /// The length of the text of a number of bytes.
    package static func encodedCount(of bytes: Int) -> Int { (bytes + 2) / 3 * 4 }

    /// The same as ``encode(_:)``, into memory for at least ``encodedCount(of:)`` bytes. Returns the length of the text.
    package static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        var count = 0
        digits.withUTF8Buffer { digits in
            func put(_ byte: UInt8) {
                output.initializeElement(at: count, to: byte)
                count &+= 1
            }
            var index = 0
            while index + 3 <= bytes.count {
                let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
                put(digits[group >> 18])
                put(digits[group >> 12 & 63])
                put(digits[group >> 6 & 63])
                put(digits[group & 63])
                index += 3
            }
            if index < bytes.count {
                let hasTwo = index + 1 < bytes.count
                let group = Int(bytes[index]) << 16 | (hasTwo ? Int(bytes[index + 1]) << 8 : 0)
                put(digits[group >> 18])
                put(digits[group >> 12 & 63])
                put(hasTwo ? digits[group >> 6 & 63] : UInt8(ascii: "="))
                put(UInt8(ascii: "="))
            }
        }
        return count
    }

    private static func invalid(_ byte: UInt8, _ offset: Int) -> ReceiptError {
        ReceiptError(.invalidBase64, at: .byte(offset), "0x\(String(byte, radix: 16))")
    }

    /// Digit values by ASCII code. Bytes that are not digits have a value with a high bit.
    private struct Alphabet: Sendable {
        private let values: [UInt32]

        init(_ digit62: [UInt8], _ digit63: [UInt8]) {
            var values = [UInt32](repeating: 1 << 30, count: 256)
            for offset in 0..<26 {
                values[Int(UInt8(ascii: "A")) + offset] = UInt32(offset)
                values[Int(UInt8(ascii: "a")) + offset] = UInt32(offset + 26)
            }
            for offset in 0..<10 { values[Int(UInt8(ascii: "0")) + offset] = UInt32(offset + 52) }
            for byte in digit62 { values[Int(byte)] = 62 }
            for byte in digit63 { values[Int(byte)] = 63 }
            self.values = values
        }

        @inline(__always)
        subscript(_ byte: UInt8) -> UInt32 { values[Int(byte)] }
    }

    private static let standard = Alphabet([UInt8(ascii: "+")], [UInt8(ascii: "/")])
    private static let lenient = Alphabet(
        [UInt8(ascii: "+"), UInt8(ascii: "-")], [UInt8(ascii: "/"), UInt8(ascii: "_")])
}
