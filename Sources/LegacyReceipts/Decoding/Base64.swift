/// Base64 (RFC 4648, 4 and 5), as strict as Apple's endpoint or as lenient as migrations need.
public enum Base64: Sendable {
    /// Decodes as Apple's endpoint does: the standard alphabet, padding required, no white space; only non-zero trailing
    /// bits of the last group are tolerated (clients reference, "How Apple's endpoint treats a body").
    ///
    /// - Throws: ``ReceiptError`` `invalidBase64` with the offset of the first byte that is wrong.
    public static func decodeStrictly(_ text: Span<UInt8>) throws(ReceiptError) -> [UInt8] {
        guard !text.isEmpty else { throw ReceiptError(.empty) }
        guard text.count % 4 == 0 else {
            throw ReceiptError(.invalidBase64, at: .byte(text.count), "the length is not a multiple of 4")
        }
        var padding = 0
        while padding < 2, text[text.count - 1 - padding] == UInt8(ascii: "=") { padding += 1 }
        let digits = text.count - padding
        var failure = -1
        let output = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { buffer, count in
            count = 0
            var index = 0
            while index + 4 <= digits {
                let first = standard[text[index]]
                let second = standard[text[index + 1]]
                let third = standard[text[index + 2]]
                let fourth = standard[text[index + 3]]
                // Judged before shifting: the mark of a byte that is no digit would be shifted out of the word.
                guard first | second | third | fourth < 64 else { break }
                let group = first << 18 | second << 12 | third << 6 | fourth
                buffer[count] = UInt8(truncatingIfNeeded: group >> 16)
                buffer[count + 1] = UInt8(truncatingIfNeeded: group >> 8)
                buffer[count + 2] = UInt8(truncatingIfNeeded: group)
                count += 3
                index += 4
            }
            failure = tail(text, from: index, to: digits, into: buffer, &count)
        }
        guard failure < 0 else {
            throw ReceiptError(.invalidBase64, at: .byte(failure), "0x\(String(text[failure], radix: 16))")
        }
        return output
    }

    /// Decodes what is left after whole groups: fewer than four digits, or a group with a byte that is no digit.
    private static func tail(
        _ text: Span<UInt8>, from start: Int, to end: Int, into buffer: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) -> Int {
        var bits: UInt32 = 0
        var digits = 0
        for index in start..<end {
            let value = standard[text[index]]
            guard value < 64, digits < 4 else { return index }
            bits = bits << 6 | value
            digits += 1
        }
        if digits >= 2 {
            buffer[count] = UInt8(truncatingIfNeeded: bits >> (UInt32(digits) * 6 - 8))
            count += 1
        }
        if digits == 3 {
            buffer[count] = UInt8(truncatingIfNeeded: bits >> 2)
            count += 1
        }
        return -1
    }

    /// Decodes what storage and transport have done to base64: white space and line breaks anywhere, the URL-safe
    /// alphabet, padding missing, `\/` as JSON writes a slash, a literal `\n` or `\r`.
    ///
    /// - Parameter spacesAsPlus: reads a blank as the `+` that a form decoder made it from, instead of skipping it.
    /// - Throws: ``ReceiptError`` `invalidBase64` with the offset of the first byte that is wrong.
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
    public static func encode(_ octets: some Collection<UInt8>) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((octets.count + 2) / 3 * 4)
        var iterator = octets.makeIterator()
        while let first = iterator.next() {
            let second = iterator.next()
            let third = iterator.next()
            let group = Int(first) << 16 | Int(second ?? 0) << 8 | Int(third ?? 0)
            text.append(digits[group >> 18])
            text.append(digits[group >> 12 & 63])
            text.append(second == nil ? UInt8(ascii: "=") : digits[group >> 6 & 63])
            text.append(third == nil ? UInt8(ascii: "=") : digits[group & 63])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func invalid(_ byte: UInt8, _ offset: Int) -> ReceiptError {
        ReceiptError(.invalidBase64, at: .byte(offset), "0x\(String(byte, radix: 16))")
    }

    /// Digit values by ASCII code; a number with a high bit for bytes that are no digits.
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
