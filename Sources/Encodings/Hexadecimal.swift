extension UInt8 {
    /// The value of a hexadecimal digit in either case.
    @inlinable
    package var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}

extension [UInt8] {
    /// Reads hexadecimal digits, two for each byte. Separators are allowed anywhere. Nil for anything else.
    package init?(hex: String, separators: String) {
        self = []
        var high: UInt8?
        for byte in hex.utf8 where !separators.utf8.contains(byte) {
            guard let digit = byte.hexValue else { return nil }
            if let first = high {
                append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil else { return nil }
    }
}
