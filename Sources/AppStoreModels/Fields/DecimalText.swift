extension StringProtocol {
    /// Whether the text is one or more of the digits 0 to 9, like all identifiers of the App Store.
    package var isDecimal: Bool { !isEmpty && utf8.allSatisfy(\.isDigit) }
}

extension Int64 {
    /// A price in units of the currency, with two decimals or three: `9.99`. The number is in thousandths of the unit, as
    /// Apple states prices.
    package var priceText: String {
        let (units, rest) = magnitude.quotientAndRemainder(dividingBy: 1_000)
        var decimals = String(1_000 + rest).dropFirst()
        if decimals.last == "0" { decimals.removeLast() }
        return "\(self < 0 ? "-" : "")\(units).\(decimals)"
    }
}

extension UInt8 {
    /// Whether the byte is one of the digits 0 to 9 in ASCII.
    @inlinable @inline(__always)
    package var isDigit: Bool { self &- 0x30 < 10 }

    /// Whether the byte is a letter or a digit in ASCII.
    package var isASCIIAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
