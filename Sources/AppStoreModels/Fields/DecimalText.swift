extension StringProtocol {
    /// Whether the text is one or more of the digits 0 to 9, like all identifiers of the App Store.
    package var isDecimal: Bool { !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

extension UInt8 {
    /// Whether the byte is a letter or a digit in ASCII.
    package var isASCIIAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
