internal import Encodings

/// The bytes of a receipt without transport encoding, and their form.
public struct ReceiptContainer: Sendable {
    /// The form of the bytes. It does not prove that they are a receipt.
    public enum Form: String, Sendable {
        /// An ASN.1 SEQUENCE that begins with an object identifier: PKCS#7.
        case pkcs7 = "PKCS#7"
        /// A property list: OpenStep, XML, or its JSON equivalent.
        case propertyList = "property list"
    }

    /// The form that the first bytes show. Malformed content is found only when the receipt is decoded.
    public let form: Form
    /// The receipt without base64: DER or BER for ``Form/pkcs7``, text for ``Form/propertyList``.
    public let bytes: [UInt8]

    /// Reads a receipt from a verifyReceipt request: strict base64 (RFC 4648, 4).
    ///
    /// It decodes as Apple's endpoint does: standard alphabet, padding required, no white space. Only non-zero trailing
    /// bits of the last group are tolerated (Reference.md C3).
    ///
    /// - Throws: ``ReceiptError`` `empty`, `tooLarge`, `invalidBase64` or `unrecognizedInput`.
    public init(requestText text: [UInt8], limits: DecodingLimits = .standard) throws(ReceiptError) {
        try self.init(requestText: text[...], limits: limits)
    }

    /// Reads a receipt from a verifyReceipt request in a larger buffer. Offsets in errors count from the start of
    /// `text`.
    ///
    /// - Throws: ``ReceiptError`` `empty`, `tooLarge`, `invalidBase64` or `unrecognizedInput`.
    package init(requestText text: ArraySlice<UInt8>, limits: DecodingLimits = .standard) throws(ReceiptError) {
        guard text.count / 4 * 3 <= limits.maximumSize + 2 else { throw Self.tooLarge(text.count / 4 * 3, limits) }
        guard !text.isEmpty else { throw ReceiptError(.empty) }
        let decoded: [UInt8]
        do throws(Base64.Failure) {
            decoded = try Base64.decodeStrictly(text.span)
        } catch {
            throw ReceiptError(error)
        }
        try self.init(decoded: decoded, limits: limits)
    }

    /// Reads a stored receipt: raw bytes or base64. The form is detected automatically. Base64 may
    /// have white space, line breaks and the URL-safe alphabet, and lack its padding.
    ///
    /// - Throws: ``ReceiptError`` `empty`, `tooLarge`, `invalidBase64` or `unrecognizedInput`.
    public init(stored input: [UInt8], limits: DecodingLimits = .standard) throws(ReceiptError) {
        try self.init(stored: input[...], limits: limits)
    }

    /// Reads a stored receipt in a larger buffer.
    ///
    /// - Throws: ``ReceiptError`` `empty`, `tooLarge`, `invalidBase64` or `unrecognizedInput`.
    public init(stored input: ArraySlice<UInt8>, limits: DecodingLimits = .standard) throws(ReceiptError) {
        // Base64 with line breaks is less than twice as long as the bytes.
        guard input.count / 2 <= limits.maximumSize else { throw Self.tooLarge(input.count / 4 * 3, limits) }
        let text = Self.trimmed(input)
        guard !text.isEmpty else { throw ReceiptError(.empty) }
        if let form = Self.form(of: input) {
            try self.init(decoded: Array(input), form: form, limits: limits)
            return
        }
        if text.count < input.count, let form = Self.form(of: text) {
            try self.init(decoded: Array(text), form: form, limits: limits)
            return
        }
        // Nearly every stored receipt is undamaged, and strict decoding is many times faster.
        let span = text.span
        if let clean = try? Base64.decodeStrictly(span), let form = Self.form(of: clean[...]) {
            try self.init(decoded: clean, form: form, limits: limits)
        } else {
            try self.init(decoded: try Self.decoded(damagedText: text), limits: limits)
        }
    }

    /// Decodes base64 that is damaged or is not a receipt.
    private static func decoded(damagedText text: ArraySlice<UInt8>) throws(ReceiptError) -> [UInt8] {
        let span = text.span
        let decoded = try lenientlyDecoded(text)
        if text.contains(UInt8(ascii: " ")), isIncomplete(decoded),
            let repaired = try? Base64.decodeLeniently(span, spacesAsPlus: true), !isIncomplete(repaired)
        {
            return repaired
        }
        return decodedAgain(decoded) ?? decoded
    }

    /// Decodes base64 within base64, which occurs if a client encoded text that the system had already encoded.
    private static func decodedAgain(_ decoded: [UInt8]) -> [UInt8]? {
        guard form(of: decoded[...]) == nil else { return nil }
        let span = decoded.span
        guard let inner = try? Base64.decodeLeniently(span), form(of: inner[...]) != nil else { return nil }
        return inner
    }

    /// If skipping spaces leaves a number of digits that base64 cannot have, the spaces are read as `+`.
    private static func lenientlyDecoded(_ text: ArraySlice<UInt8>) throws(ReceiptError) -> [UInt8] {
        do throws(Base64.Failure) {
            return try Base64.decodeLeniently(text.span)
        } catch {
            guard let repaired = try? Base64.decodeLeniently(text.span, spacesAsPlus: true) else {
                throw ReceiptError(error)
            }
            return repaired
        }
    }

    private init(decoded: [UInt8], limits: DecodingLimits) throws(ReceiptError) {
        guard !decoded.isEmpty else { throw ReceiptError(.empty) }
        guard let form = Self.form(of: decoded[...]) else { throw ReceiptError(.unrecognizedInput) }
        try self.init(decoded: decoded, form: form, limits: limits)
    }

    private init(decoded: [UInt8], form: Form, limits: DecodingLimits) throws(ReceiptError) {
        guard decoded.count <= limits.maximumSize else { throw Self.tooLarge(decoded.count, limits) }
        self.form = form
        bytes = decoded
    }

    private static func tooLarge(_ count: Int, _ limits: DecodingLimits) -> ReceiptError {
        ReceiptError(.tooLarge, detail(count, limits))
    }

    private static func detail(_ count: Int, _ limits: DecodingLimits) -> String {
        "about \(count) bytes, the limit is \(limits.maximumSize)"
    }

    /// The input without white space, a byte order mark and the quotation marks of a JSON string.
    private static func trimmed(_ input: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = input
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = trimmedOfSpace(text)
        if text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") {
            text = trimmedOfSpace(text.dropFirst().dropLast())
        }
        return text
    }

    private static func trimmedOfSpace(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let first = text.first, isSpace(first) { text = text.dropFirst() }
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return text
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0 }

    /// The form that the first bytes indicate. Base64 text never matches: neither 0x06, the identifier of an object
    /// identifier, nor a brace is a base64 digit.
    private static func form(of bytes: ArraySlice<UInt8>) -> Form? {
        let start = bytes.startIndex
        if bytes.count >= 4, bytes[start] == Tag.sequence {
            let first = bytes[start + 1]
            let identifier = first <= 0x80 ? 2 : 2 + Int(first & 0x7F)
            return identifier < min(bytes.count, 11) && bytes[start + identifier] == Tag.objectIdentifier ? .pkcs7 : nil
        }
        let text = bytes.prefix(64).drop { isSpace($0) || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
        return text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "<") ? .propertyList : nil
    }

    /// Whether the outermost element is longer than the input.
    private static func isIncomplete(_ decoded: [UInt8]) -> Bool {
        guard form(of: decoded[...]) == .pkcs7 else { return form(of: decoded[...]) == nil }
        var reader = BERReader(0..<decoded.count, depth: DecodingLimits.defaultMaximumDepth)
        return (try? reader.skip(decoded.span)) == nil
    }
}

extension ReceiptError {
    fileprivate init(_ failure: Base64.Failure) {
        self.init(.invalidBase64, at: .byte(failure.offset), failure.detail)
    }
}
