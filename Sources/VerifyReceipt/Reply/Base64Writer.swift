internal import AppStoreModels
internal import Encodings

extension JSONWriter {
    /// A string value: bytes in base64 with the standard alphabet and padding (RFC 4648, 4).
    mutating func base64(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let text = [UInt8](unsafeUninitializedCapacity: Base64.encodedCount(of: bytes.count) + 2) { output, count in
            let inner = UnsafeMutableBufferPointer(rebasing: output[1...])
            let length = bytes.withUnsafeBufferPointer { Base64.encode($0, into: inner) }
            output.initializeElement(at: 0, to: quote)
            output.initializeElement(at: length + 1, to: quote)
            count = length + 2
        }
        raw(text)
    }

    /// A string value that needs no escapes: base64 as it was submitted.
    mutating func plainText(_ text: ArraySlice<UInt8>) {
        text.withUnsafeBufferPointer { string(utf8: $0) }
    }
}
