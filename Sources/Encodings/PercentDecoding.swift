extension [UInt8] {
    /// The bytes of percent-encoded text (URL Living Standard, percent-decode). A percent sign without two hexadecimal digits
    /// stays.
    /// - Parameter plusIsBlank: whether a plus sign is a space, as in a form.
    @inlinable
    package init(percentEncoded text: some Collection<UInt8>, plusIsBlank: Bool) {
        self = []
        reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first?.hexValue, let low = rest.dropFirst().first?.hexValue {
                append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
    }
}
