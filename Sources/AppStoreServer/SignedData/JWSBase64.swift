/// Strict base64 for JWS: accepts exactly one text for each sequence of bytes.
package enum JWSBase64 {
    /// Decodes the URL-safe alphabet without padding (RFC 7515, 2; RFC 4648, 5). Returns nil for anything else:
    /// padding, white space, a single remaining digit, unused bits that are not zero.
    static func decodeURL(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        decode(text, urlSafe)
    }

    /// The same for a string.
    package static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
        Array(text.utf8).withUnsafeBufferPointer { decodeURL($0) }
    }

    /// Decodes the standard alphabet with padding, as in `x5c` (RFC 7515, 4.1.6; RFC 4648, 4). Returns nil for anything
    /// else.
    static func decodeStandard(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var digits = text.count
        while digits > 0, text.count - digits < 2, text[digits - 1] == UInt8(ascii: "=") { digits -= 1 }
        return decode(UnsafeBufferPointer(rebasing: text[..<digits]), standard)
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>, _ values: [UInt32]) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        let groups = text.count / 4
        var wrong: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: groups * 3 + 2) { output, count in
            values.withUnsafeBufferPointer { values in
                // Each byte that is not a digit sets a high bit, so one check at the end is enough.
                for group in 0..<groups {
                    let at = group * 4
                    let bits =
                        values[Int(text[at])] << 18 | values[Int(text[at + 1])] << 12 | values[Int(text[at + 2])] << 6
                        | values[Int(text[at + 3])]
                    wrong |= values[Int(text[at])] | values[Int(text[at + 1])] | values[Int(text[at + 2])]
                    wrong |= values[Int(text[at + 3])]
                    output[group * 3] = UInt8(truncatingIfNeeded: bits >> 16)
                    output[group * 3 + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                    output[group * 3 + 2] = UInt8(truncatingIfNeeded: bits)
                }
                count = groups * 3
                guard rest >= 2 else { return }
                let at = groups * 4
                let (first, second) = (values[Int(text[at])], values[Int(text[at + 1])])
                let third = rest == 3 ? values[Int(text[at + 2])] : 0
                let bits = first << 18 | second << 12 | third << 6
                wrong |= first | second | third
                // Unused bits must be zero.
                if bits & (rest == 2 ? 0xFFFF : 0xFF) != 0 { wrong |= noDigit }
                output[count] = UInt8(truncatingIfNeeded: bits >> 16)
                count += 1
                guard rest == 3 else { return }
                output[count] = UInt8(truncatingIfNeeded: bits >> 8)
                count += 1
            }
        }
        return wrong & noDigit == 0 ? bytes : nil
    }

    private static let noDigit: UInt32 = 1 << 31
    private static let standard = values(UInt8(ascii: "+"), UInt8(ascii: "/"))
    private static let urlSafe = values(UInt8(ascii: "-"), UInt8(ascii: "_"))

    /// The digit value of each byte.
    private static func values(_ digit62: UInt8, _ digit63: UInt8) -> [UInt32] {
        var values = [UInt32](repeating: noDigit, count: 256)
        for offset in 0..<26 {
            values[Int(UInt8(ascii: "A")) + offset] = UInt32(offset)
            values[Int(UInt8(ascii: "a")) + offset] = UInt32(offset + 26)
        }
        for offset in 0..<10 { values[Int(UInt8(ascii: "0")) + offset] = UInt32(offset + 52) }
        values[Int(digit62)] = 62
        values[Int(digit63)] = 63
        return values
    }
}
