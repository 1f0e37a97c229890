extension RawAttribute {
    /// The value interpreted by its own tag, for display.
    public enum Content: Hashable, Sendable {
        /// One INTEGER of at most 64 bits.
        case integer(Int64)
        /// One UTF8String or IA5String.
        case text(String)
        /// Everything else, and the opaque attributes 4 to 7, whose bytes may look like an element by chance.
        case bytes
    }

    /// The value in a readable form, for a report. Use the typed properties of ``AppReceipt`` and ``InAppPurchase`` in code.
    public var content: Content {
        guard !(4...7).contains(type) else { return .bytes }
        let bytes = Array(value)
        let span = bytes.span
        var reader = BERReader(0..<bytes.count, depth: 1)
        guard let header = try? reader.header(span), header.end == bytes.count else { return .bytes }
        switch header.tag {
        case Tag.integer: return signedInteger(span, header.range).map { .integer($0) } ?? .bytes
        case Tag.utf8String, Tag.ia5String:
            return String(validating: bytes[header.range], as: UTF8.self).map { .text($0) } ?? .bytes
        default: return .bytes
        }
    }

    /// The attributes inside an attribute 17 (a purchase), as far as they can be read; empty for other attributes.
    public func nestedAttributes() -> [RawAttribute] {
        guard type == 17 else { return [] }
        let bytes = Array(value)
        return AppReceiptDecoder.rawAttributes(
            SignedDataMessage.Bytes(storage: bytes, range: 0..<bytes.count), limits: .standard)
    }
}
