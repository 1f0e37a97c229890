extension StringProtocol {
    /// Whether the text is one or more of the digits 0 to 9, like all identifiers of the App Store.
    package var isDecimal: Bool { !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
