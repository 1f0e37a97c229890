/// Base64 and base64url (RFC 4648, 4 and 5). Each decoder accepts what its callers need; all of them share one loop.
package enum Base64 {
    /// Why a text is not base64.
    package struct Failure: Error {
        /// The offset of the first wrong byte, or the length of a text that ends too early.
        package let offset: Int
        /// The details, as a clause. It contains no part of the text except the wrong byte.
        package let detail: String

        fileprivate init(_ offset: Int, _ detail: String) {
            self.offset = offset
            self.detail = detail
        }

        fileprivate init(_ offset: Int, byte: UInt8) { self.init(offset, "0x\(String(byte, radix: 16))") }
    }

    // MARK: Decoding

    /// Decodes as Apple's endpoint does: standard alphabet, padding required, no white space. Only non-zero trailing
    /// bits of the last group are tolerated (Reference.md C3).
    package static func decodeStrictly(_ text: Span<UInt8>) throws(Failure) -> [UInt8] {
        guard text.count % 4 == 0 else { throw Failure(text.count, "the length is not a multiple of 4") }
        let digits = digitsBeforePadding(text)
        let decoded = decode(text, digits, standard)
        guard decoded.end == digits else { throw Failure(decoded.end, byte: text[decoded.end]) }
        return decoded.bytes
    }

    /// Decodes base64 with damage from storage and transport: white space and line breaks anywhere, the URL-safe
    /// alphabet, missing padding, `\/` as JSON writes a slash, a literal `\n` or `\r`.
    ///
    /// - Parameters:
    ///   - text: the text in ASCII.
    ///   - spacesAsPlus: reads a space as `+`, because form decoders turn `+` into a space; otherwise spaces are
    ///     skipped.
    package static func decodeLeniently(_ text: Span<UInt8>, spacesAsPlus: Bool = false) throws(Failure) -> [UInt8] {
        let digits = try [UInt8](unsafeUninitializedCapacity: text.count) { (buffer, count) throws(Failure) in
            count = try copyDigits(of: text, spacesAsPlus: spacesAsPlus, into: buffer)
        }
        guard digits.count % 4 != 1 else { throw Failure(text.count, "one digit is left over") }
        return decode(digits.span, digits.count, either).bytes
    }

    /// Decodes the URL-safe alphabet without padding, as JWS requires (RFC 7515, 2). Only one text is accepted for each
    /// sequence of bytes. Nil for padding, white space, a single remaining digit, unused bits that are not zero.
    package static func decodeURL(_ text: Span<UInt8>) -> [UInt8]? {
        text.count % 4 == 1 ? nil : decodeExactly(text, text.count, urlSafe)
    }

    /// The same for a string.
    package static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
        let bytes = Array(text.utf8)
        return decodeURL(bytes.span)
    }

    /// Decodes the standard alphabet with padding, as in `x5c` (RFC 7515, 4.1.6). Only one text is accepted for each
    /// sequence of bytes.
    package static func decodeStandard(_ text: Span<UInt8>) -> [UInt8]? {
        text.count % 4 == 0 ? decodeExactly(text, digitsBeforePadding(text), standard) : nil
    }

    /// Decodes up to the first byte that is not a digit of one of the alphabets, including a last group of two or three
    /// digits.
    package static func decodePrefix(_ text: Span<UInt8>) -> [UInt8] {
        decode(text, text.count, either).bytes
    }

    private static func decodeExactly(_ text: Span<UInt8>, _ count: Int, _ alphabet: Alphabet) -> [UInt8]? {
        let decoded = decode(text, count, alphabet)
        return decoded.end == count && decoded.unusedBits == 0 ? decoded.bytes : nil
    }

    /// The length of a text without one or two bytes of padding at its end.
    private static func digitsBeforePadding(_ text: Span<UInt8>) -> Int {
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        return count
    }

    private struct Decoded {
        var bytes: [UInt8] = []
        /// The offset of the first byte that is not a digit, or else the number of bytes that were to be decoded.
        var end = 0
        /// The bits of the last digit that are not part of a byte.
        var unusedBits: UInt32 = 0
    }

    /// Decodes the first `count` bytes of a text, up to the first one that is not a digit.
    private static func decode(_ text: Span<UInt8>, _ count: Int, _ alphabet: Alphabet) -> Decoded {
        var decoded = Decoded()
        // Four bytes are stored for each group of three, so the buffer is longer than the result.
        decoded.bytes = [UInt8](unsafeUninitializedCapacity: count / 4 * 3 + 4) { buffer, length in
            let groups = decodeGroups(text, count / 4, alphabet, into: buffer)
            length = groups * 3
            decoded.end = groups * 4
            // Less than a group is left, or a group with a byte that is not a digit.
            var bits: UInt32 = 0
            var digits: UInt32 = 0
            while decoded.end < count, digits < 4 {
                let value = alphabet[text[decoded.end]]
                guard value < 64 else { break }
                bits = bits << 6 | value
                digits += 1
                decoded.end += 1
            }
            guard digits == 2 || digits == 3 else { return }
            let unused = digits * 6 % 8
            decoded.unusedBits = bits & (1 << unused - 1)
            if digits == 3 {
                buffer.initializeElement(at: length, to: UInt8(truncatingIfNeeded: bits >> (unused + 8)))
                length += 1
            }
            buffer.initializeElement(at: length, to: UInt8(truncatingIfNeeded: bits >> unused))
            length += 1
        }
        return decoded
    }

    /// Decodes up to `count` groups of four digits. Returns the number of groups before the first one with a byte that
    /// is not a digit. The buffer must have room for three bytes per group and one more.
    private static func decodeGroups(
        _ text: Span<UInt8>, _ count: Int, _ alphabet: Alphabet, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        guard let output = UnsafeMutableRawPointer(buffer.baseAddress), buffer.count > count * 3,
            text.count >= count * 4
        else { return 0 }
        return text.withUnsafeBufferPointer { text in
            alphabet.groupValues.withUnsafeBufferPointer { values in
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

    /// Copies the digits and skips what ``decodeLeniently(_:spacesAsPlus:)`` tolerates. Returns the number of digits.
    private static func copyDigits(
        of text: Span<UInt8>, spacesAsPlus: Bool, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) throws(Failure) -> Int {
        let alphabet = either
        var count = 0
        var padded = false
        var index = 0
        while index < text.count {
            var byte = text[index]
            index += 1
            if alphabet[byte] >= 64 {
                switch byte {
                case UInt8(ascii: " ") where spacesAsPlus: byte = UInt8(ascii: "+")
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
                    throw Failure(index - 1, byte: byte)
                default: throw Failure(index - 1, byte: byte)
                }
            }
            guard !padded else { throw Failure(index - 1, "text after the padding") }
            buffer.initializeElement(at: count, to: byte)
            count += 1
        }
        return count
    }

    // MARK: Encoding

    /// Encodes with the standard alphabet and padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        text(of: bytes, isURL: false)
    }

    /// Encodes with the URL-safe alphabet and without padding.
    package static func encodeURL(_ bytes: some Collection<UInt8>) -> String {
        text(of: bytes, isURL: true)
    }

    private static func text(of bytes: some Collection<UInt8>, isURL: Bool) -> String {
        let bytes = Array(bytes)
        return String(unsafeUninitializedCapacity: encodedCount(of: bytes.count)) { output in
            bytes.withUnsafeBufferPointer { encode($0, into: output, isURL: isURL) }
        }
    }

    /// The length of the text of a number of bytes, with padding.
    package static func encodedCount(of bytes: Int) -> Int { (bytes + 2) / 3 * 4 }

    /// The same as ``encode(_:)``, into memory for at least ``encodedCount(of:)`` bytes. Returns the length of the text.
    package static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        encode(bytes, into: output, isURL: false)
    }

    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, isURL: Bool
    ) -> Int {
        let digits: StaticString =
            isURL
            ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
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
                if hasTwo { put(digits[group >> 6 & 63]) }
                if !isURL {
                    if !hasTwo { put(UInt8(ascii: "=")) }
                    put(UInt8(ascii: "="))
                }
            }
        }
        return count
    }

    // MARK: Alphabets

    /// The values of the digits. A byte that is not a digit has bit 30 set.
    private struct Alphabet: Sendable {
        /// The bits of a digit within its group of 24 bits, in a table of 256 entries for each of its four positions.
        let groupValues: [UInt32]

        init(without excluded: String) {
            groupValues = [18, 12, 6, 0].flatMap { (shift: UInt32) in
                (UInt8.min...UInt8.max).map { byte -> UInt32 in
                    guard let value = byte.base64Value, !excluded.utf8.contains(byte) else { return 1 << 30 }
                    return UInt32(value) << shift
                }
            }
        }

        /// The value of a digit, or 64 and more.
        @inline(__always)
        subscript(_ byte: UInt8) -> UInt32 { groupValues[768 + Int(byte)] }
    }

    private static let standard = Alphabet(without: "-_")
    private static let urlSafe = Alphabet(without: "+/")
    private static let either = Alphabet(without: "")
}

extension UInt8 {
    /// The value of a digit of base64 in one of the two alphabets, without the padding.
    @inlinable
    package var base64Value: UInt8? {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self &- UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): self &- UInt8(ascii: "a") &+ 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self &- UInt8(ascii: "0") &+ 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
