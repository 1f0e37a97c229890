internal import Encodings

/// Reads the flat property lists of transaction receipts (Reference.md V6): OpenStep text in any layout, its JSON
/// equivalent, and XML. Values are text and are not nested.
struct PropertyListReader {
    private let bytes: [UInt8]
    private let limits: DecodingLimits
    private var offset = 0

    private init(_ bytes: [UInt8], _ limits: DecodingLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// The entries in their order.
    ///
    /// - Throws: ``ReceiptError`` `malformedPropertyList` with the byte offset.
    static func entries(
        _ bytes: [UInt8], limits: DecodingLimits
    ) throws(ReceiptError) -> [TransactionReceipt.Entry] {
        var reader = PropertyListReader(bytes, limits)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.offset = 3 }
        reader.skipSpace()
        guard let first = reader.peek() else { throw reader.malformed("it is empty") }
        return first == UInt8(ascii: "<") ? try reader.xml() : try reader.openStep()
    }

    // MARK: Text

    private func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func starts(with text: StaticString) -> Bool {
        guard bytes.count - offset >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { buffer in
            for index in 0..<buffer.count where bytes[offset + index] != buffer[index] { return false }
            return true
        }
    }

    private mutating func accept(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        offset += text.utf8CodeUnitCount
        return true
    }

    /// Moves past the next occurrence of `text`.
    private mutating func skip(past text: StaticString, _ part: String) throws(ReceiptError) {
        let start = offset
        while offset < bytes.count {
            if accept(text) { return }
            offset += 1
        }
        offset = start
        throw malformed("\(part) does not end")
    }

    private mutating func skipSpace() {
        while let byte = peek(), byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0 { offset += 1 }
    }

    private func malformed(_ detail: String) -> ReceiptError {
        ReceiptError(.malformedPropertyList, at: .byte(offset), detail)
    }

    private func text(_ utf8: [UInt8]) throws(ReceiptError) -> String {
        guard let text = String(validating: utf8, as: UTF8.self) else { throw malformed("not UTF-8") }
        return text
    }

    private mutating func append(
        _ key: String, _ value: String, to entries: inout [TransactionReceipt.Entry]
    ) throws(ReceiptError) {
        guard entries.count < limits.maximumKeys else { throw malformed("more than \(limits.maximumKeys) keys") }
        entries.append(TransactionReceipt.Entry(key: key, value: value))
    }

    // MARK: OpenStep and JSON

    private mutating func skipSpaceAndComments() throws(ReceiptError) {
        while true {
            skipSpace()
            if accept("/*") {
                try skip(past: "*/", "a comment")
            } else if starts(with: "//") {
                while let byte = peek(), byte != 0x0A {
                    _ = byte
                    offset += 1
                }
            } else {
                return
            }
        }
    }

    private mutating func openStep() throws(ReceiptError) -> [TransactionReceipt.Entry] {
        try skipSpaceAndComments()
        guard accept("{") else { throw malformed("expected a brace") }
        var entries: [TransactionReceipt.Entry] = []
        while true {
            try skipSpaceAndComments()
            if accept("}") { break }
            let key = try string()
            try skipSpaceAndComments()
            guard accept("=") || accept(":") else { throw malformed("expected = after a key") }
            try skipSpaceAndComments()
            let value = try string()
            try append(key, value, to: &entries)
            try skipSpaceAndComments()
            // The last separator may be missing.
            if !accept(";"), !accept(","), peek() != UInt8(ascii: "}") {
                throw malformed("expected ; after a value")
            }
        }
        try skipSpaceAndComments()
        guard peek() == nil else { throw malformed("text after the list") }
        return entries
    }

    private mutating func string() throws(ReceiptError) -> String {
        if accept("\"") { return try quoted(until: UInt8(ascii: "\"")) }
        if accept("'") { return try quoted(until: UInt8(ascii: "'")) }
        // An unquoted value ends at the next separator, because some clients write dates unquoted and with spaces.
        let start = offset
        while let byte = peek(), !Self.endsUnquoted(byte) { offset += 1 }
        var end = offset
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        guard end > start else { throw malformed("expected a key or a value") }
        return try text(Array(bytes[start..<end]))
    }

    private static func endsUnquoted(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "}"),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\""), UInt8(ascii: "<"), 0x0A, 0x0D:
            true
        default: false
        }
    }

    private mutating func quoted(until quote: UInt8) throws(ReceiptError) -> String {
        var utf8: [UInt8] = []
        while let byte = peek() {
            offset += 1
            if byte == quote { return try text(utf8) }
            if byte == UInt8(ascii: "\\") {
                try escape(into: &utf8)
            } else {
                utf8.append(byte)
            }
        }
        throw ReceiptError(.malformedPropertyList, at: .byte(bytes.count), "a quoted string does not end")
    }

    private mutating func escape(into utf8: inout [UInt8]) throws(ReceiptError) {
        guard let byte = peek() else { throw malformed("an escape does not end") }
        offset += 1
        switch byte {
        case UInt8(ascii: "n"): utf8.append(0x0A)
        case UInt8(ascii: "r"): utf8.append(0x0D)
        case UInt8(ascii: "t"): utf8.append(0x09)
        case UInt8(ascii: "b"): utf8.append(0x08)
        case UInt8(ascii: "f"): utf8.append(0x0C)
        case UInt8(ascii: "U"), UInt8(ascii: "u"):
            guard offset + 4 <= bytes.count, let first = hexadecimal(offset..<offset + 4) else {
                throw malformed("a \\U escape needs four hexadecimal digits")
            }
            offset += 4
            utf8.append(contentsOf: String(try scalar(first)).utf8)
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            var value = UInt32(byte - 0x30)
            for _ in 0..<2 {
                guard let digit = peek(), (0x30...0x37).contains(digit) else { break }
                value = value << 3 | UInt32(digit - 0x30)
                offset += 1
            }
            guard value < 0x80, let scalar = Unicode.Scalar(value) else {
                throw malformed("an octal escape beyond ASCII")
            }
            utf8.append(contentsOf: String(scalar).utf8)
        default: utf8.append(byte)
        }
    }

    /// A scalar from UTF-16 code units. A high surrogate needs a low surrogate from the next escape.
    private mutating func scalar(_ first: UInt32) throws(ReceiptError) -> Unicode.Scalar {
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, accept("\\U") || accept("\\u"), offset + 4 <= bytes.count,
            let second = hexadecimal(offset..<offset + 4), (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw malformed("half of a surrogate pair") }
        offset += 4
        return scalar
    }

    private func hexadecimal(_ range: Range<Int>) -> UInt32? {
        var value: UInt32 = 0
        for index in range {
            guard let digit = bytes[index].hexValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    // MARK: XML

    private mutating func skipMisc() throws(ReceiptError) {
        while true {
            skipSpace()
            if accept("<!--") {
                try skip(past: "-->", "a comment")
            } else if accept("<?") {
                try skip(past: "?>", "a processing instruction")
            } else if accept("<!DOCTYPE") {
                try skipDocumentType()
            } else {
                return
            }
        }
    }

    /// A document type with an internal subset could declare entities, so it is rejected.
    private mutating func skipDocumentType() throws(ReceiptError) {
        while let byte = peek(), byte != UInt8(ascii: ">") {
            guard byte != UInt8(ascii: "[") else { throw malformed("the document type declares entities") }
            offset += 1
        }
        guard accept(">") else { throw malformed("the document type does not end") }
    }

    private mutating func xml() throws(ReceiptError) -> [TransactionReceipt.Entry] {
        try skipMisc()
        if accept("<plist") { try skip(past: ">", "the plist tag") }
        try skipMisc()
        guard accept("<dict>") else { throw malformed("expected a dictionary") }
        var entries: [TransactionReceipt.Entry] = []
        while true {
            try skipMisc()
            if accept("</dict>") { break }
            guard accept("<key>") else { throw malformed("expected a key") }
            let key = try xmlText("</key>")
            try skipMisc()
            try append(key, try xmlValue(), to: &entries)
        }
        try skipMisc()
        _ = accept("</plist>")
        try skipMisc()
        guard peek() == nil else { throw malformed("text after the list") }
        return entries
    }

    private mutating func xmlValue() throws(ReceiptError) -> String {
        if accept("<string>") { return try xmlText("</string>") }
        if accept("<string/>") { return "" }
        if accept("<integer>") { return try xmlText("</integer>") }
        if accept("<data>") { return try xmlText("</data>") }
        if accept("<date>") { return try xmlText("</date>") }
        if accept("<real>") { return try xmlText("</real>") }
        if accept("<true/>") { return "true" }
        if accept("<false/>") { return "false" }
        throw malformed("a value is an array, a dictionary or of an unknown type")
    }

    private mutating func xmlText(_ end: StaticString) throws(ReceiptError) -> String {
        var utf8: [UInt8] = []
        while let byte = peek() {
            if byte == UInt8(ascii: "<") {
                guard accept(end) else { throw malformed("markup inside a value") }
                return try text(utf8)
            }
            offset += 1
            if byte == UInt8(ascii: "&") {
                utf8.append(contentsOf: String(try entity()).utf8)
            } else {
                utf8.append(byte)
            }
        }
        throw malformed("a value does not end")
    }

    /// The five predefined entities and character references (XML 1.0, 4.1 and 4.6). Other entities cannot occur.
    private mutating func entity() throws(ReceiptError) -> Unicode.Scalar {
        let name = bytes[offset...].prefix(12).prefix { $0 != UInt8(ascii: ";") }
        let start = offset
        offset += name.count
        guard accept(";") else {
            offset = start
            throw malformed("an entity does not end")
        }
        let reference = String(decoding: name, as: UTF8.self)
        switch reference {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let digits = reference.hasPrefix("#x") ? UInt32(reference.dropFirst(2), radix: 16) : nil
            let number = reference.hasPrefix("#") ? digits ?? UInt32(reference.dropFirst()) : nil
            guard let number, let scalar = Unicode.Scalar(number) else { throw malformed("an unknown entity") }
            return scalar
        }
    }
}
