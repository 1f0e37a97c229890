internal import AppStoreModels

extension JSONWriter {
    /// A string value: bytes in base64 with the standard alphabet and padding (RFC 4648, 4).
    mutating func base64(_ bytes: [UInt8]) {
        let digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        let text = [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 2) { output, count in
            digits.withUTF8Buffer { digits in
                func put(_ byte: UInt8) {
                    output.initializeElement(at: count, to: byte)
                    count &+= 1
                }
                put(UInt8(ascii: "\""))
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
                put(UInt8(ascii: "\""))
            }
        }
        raw(text)
    }

    /// A string value that needs no escapes: base64 as it was submitted.
    mutating func plainText(_ text: ArraySlice<UInt8>) {
        text.withUnsafeBufferPointer { string(utf8: $0) }
    }
}
