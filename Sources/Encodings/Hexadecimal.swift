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
    @inlinable
    package init?(hex digits: some Collection<UInt8>, isSeparator: (UInt8) -> Bool) {
        self = []
        reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexValue else {
                guard isSeparator(digit) else { return nil }
                continue
            }
            if let first = high {
                append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        guard high == nil else { return nil }
    }
}
