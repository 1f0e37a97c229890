import AppStoreModels
import Encodings

/// An encoding around a stored document, other than plain base64. The content is read as a text of its own.
enum StoredEncoding {
    /// The content is a part of the text.
    case part(Range<Int>)
    /// The content is not in the text as it is.
    case decoded([UInt8])

    /// Nil if the text has none of the encodings. A receipt in base64 is only searched for characters that it cannot have.
    init?(_ text: Bytes) {
        if let body = Self.dataURLBody(text) {
            if let decoded = Self.percentDecoded(text[slice: body]) {
                self = .decoded(decoded)
            } else {
                self = .part(body)
            }
        } else if let body = Self.bytesLiteralBody(text) ?? Self.phpStringBody(text) ?? Self.listItemBody(text) {
            self = .part(body)
        } else if let decoded = Self.decodedHex(text) ?? Self.formObject(text) ?? Self.percentDecoded(text)
            ?? Self.innerBase64(text)
        {
            self = .decoded(decoded)
        } else {
            return nil
        }
    }

    /// Whether the content can only be a document, as far as its first bytes show.
    ///
    /// - Parameter text: the text that was given to the initializer.
    func beginsDocument(in text: Bytes) -> Bool {
        switch self {
        case .part(let range): Self.beginsDocument(text[slice: range])
        case .decoded(let bytes): bytes.withUnsafeBufferPointer { Self.beginsDocument($0) }
        }
    }

    private static func beginsDocument(_ content: Bytes) -> Bool {
        if StoredText.beginsSignedMessage(content) { return true }
        let text = content[slice: content.trimmed()]
        switch text.first {
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?: return true
        default:
            return StoredText.beginsPropertyList(text) || StoredText.beginsBase64Receipt(text) || StoredText.isJWS(text)
                || beginsBase64JSON(text)
        }
    }

    // MARK: URLs and forms

    /// The base64 of a `data:` URL (RFC 2397).
    private static func dataURLBody(_ text: Bytes) -> Range<Int>? {
        guard text.begins(with: "data:"), let comma = text.position(of: UInt8(ascii: ","), from: 5), comma >= 12,
            text.begins(with: ";base64", at: comma - 7)
        else { return nil }
        return (comma + 1)..<text.count
    }

    /// The base64 or JWS in `b'MII…'`, as Python prints bytes.
    private static func bytesLiteralBody(_ text: Bytes) -> Range<Int>? {
        guard text.count > 3, text[0] == UInt8(ascii: "b"), let quote = text.last, text[1] == quote,
            quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"")
        else { return nil }
        let range = 2..<(text.count - 1)
        let body = text[slice: range]
        return StoredText.beginsBase64Receipt(body) || StoredText.isJWS(body) ? range : nil
    }

    /// The text in `s:4:"MII…";`, as PHP's `serialize` writes a string. The number counts bytes.
    private static func phpStringBody(_ text: Bytes) -> Range<Int>? {
        guard text.begins(with: "s:"), text.begins(with: "\";", at: max(0, text.count - 2)),
            let colon = text.position(of: UInt8(ascii: ":"), from: 2), text.begins(with: ":\"", at: colon),
            let count = Int(String(decoding: text[2..<min(colon, 12)], as: UTF8.self)),
            count >= 0, colon + 2 + count == text.count - 2
        else { return nil }
        return (colon + 2)..<(text.count - 2)
    }

    /// Base64 in which some characters are percent-encoded (RFC 3986, 2.1).
    private static func percentDecoded(_ text: Bytes) -> [UInt8]? {
        guard text.count >= 16, text.position(of: UInt8(ascii: "%")) != nil,
            text.allSatisfy({
                $0.base64Value != nil || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "=") || $0.isWhiteSpace
            })
        else { return nil }
        let decoded = [UInt8](percentEncoded: text, plusIsBlank: false)
        return decoded.withUnsafeBufferPointer(StoredText.isBase64) ? decoded : nil
    }

    private static let formMembers = 32
    private static let formNameBytes = 64

    /// A form body (`application/x-www-form-urlencoded`) with the receipt of a verifyReceipt request, as the JSON object with
    /// the same members. It is then read as any request body: the password is dropped.
    private static func formObject(_ text: Bytes) -> [UInt8]? {
        guard endOfFormName(text, from: 0) != nil else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        var (start, count, hasReceipt) = (0, 0, false)
        while start < text.count {
            guard count < formMembers, let equals = endOfFormName(text, from: start) else { return nil }
            let end = text.position(of: UInt8(ascii: "&"), from: equals) ?? text.count
            let name = String(
                decoding: [UInt8](percentEncoded: text[slice: start..<equals], plusIsBlank: true), as: UTF8.self)
            let isReceipt = name == "receipt-data"
            hasReceipt = hasReceipt || isReceipt
            writer.key(name)
            // Clients forget to encode the plus signs of base64, and base64 has no spaces.
            let value = [UInt8](percentEncoded: text[slice: (equals + 1)..<end], plusIsBlank: !isReceipt)
            writer.string(String(decoding: value, as: UTF8.self))
            count += 1
            start = end + 1
        }
        guard hasReceipt else { return nil }
        writer.endObject()
        return writer.finish()
    }

    private static func endOfFormName(_ text: Bytes, from start: Int) -> Int? {
        guard let equals = text.position(of: UInt8(ascii: "="), from: start), 1...formNameBytes ~= equals - start,
            text[start..<equals].allSatisfy(isOfFormName)
        else { return nil }
        return equals
    }

    private static func isOfFormName(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: "/") && (byte.base64Value != nil || ".%[]*~".utf8.contains(byte))
    }

    // MARK: Arrays of PostgreSQL

    /// The elements of an array as PostgreSQL writes it, `{MII…,"\\x3082…",NULL}`, as a JSON array of texts. Nil for anything
    /// else, also for JSON, property lists and arrays of arrays.
    static func postgreSQLArray(_ text: Bytes) -> [UInt8]? {
        guard text.last == UInt8(ascii: "}"), beginsPostgreSQLArray(text) else { return nil }
        let end = text.count - 1
        var writer = JSONWriter()
        writer.beginArray()
        var index = 1
        while index < end {
            if text[index] == UInt8(ascii: "\"") {
                var element: [UInt8] = []
                index += 1
                while index < end, text[index] != UInt8(ascii: "\"") {
                    if text[index] == UInt8(ascii: "\\") { index += 1 }
                    element.append(text[index])
                    index += 1
                }
                guard index < end else { return nil }
                index += 1
                writer.string(String(decoding: element, as: UTF8.self))
            } else {
                let start = index
                while index < end, isOfPlainElement(text[index]) { index += 1 }
                guard index > start else { return nil }
                let element = String(decoding: text[start..<index], as: UTF8.self)
                if element == "NULL" { writer.null() } else { writer.string(element) }
            }
            if index == end {
                writer.endArray()
                return writer.finish()
            }
            guard text[index] == UInt8(ascii: ",") else { return nil }
            index += 1
        }
        return nil
    }

    /// Spares almost all JSON objects: the first quoted text in them is a name, and a colon follows.
    private static func beginsPostgreSQLArray(_ text: Bytes) -> Bool {
        guard text.count > 2, text[0] == UInt8(ascii: "{") else { return false }
        guard text[1] == UInt8(ascii: "\"") else { return isOfPlainElement(text[1]) }
        guard let quote = text.position(of: UInt8(ascii: "\""), from: 2), quote + 1 < text.count else { return false }
        return text[quote - 1] == UInt8(ascii: "\\") || text[quote + 1] == UInt8(ascii: ",")
            || text[quote + 1] == UInt8(ascii: "}")
    }

    /// PostgreSQL puts all other texts in quotes, except for some that no document contains.
    private static func isOfPlainElement(_ byte: UInt8) -> Bool {
        byte.base64Value != nil || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ".")
    }

    // MARK: Joined documents

    private static let separators = Array(",; \t\r\n".utf8)
    /// The number of base64 digits that show the first bytes of a signed message without doubt.
    private static let joinedDigits = 20

    /// The receipts in base64 and the JWS that a text joins with commas, semicolons or white space, as a JSON array of texts. Nil
    /// for any other text, also for one receipt in several lines.
    static func joinedDocuments(_ text: Bytes) -> [UInt8]? {
        // Nearly all receipts and JWS are alone. The beginning is decoded only if another document seems to follow.
        guard mayBeginJoined(text, at: 0),
            separators.contains(where: { separator in text.contains(separator) { beginsJoined(text, at: $0 + 1) } }),
            beginsJoined(text, at: 0)
        else { return nil }
        var writer = JSONWriter()
        writer.beginArray()
        var start = 0
        for index in 0...text.count where isEndOfJoined(text, at: index) {
            let part = text[slice: start..<index]
            let content = part[slice: part.trimmed()]
            if !content.isEmpty { writer.string(String(decoding: content, as: UTF8.self)) }
            start = index + 1
        }
        writer.endArray()
        return writer.finish()
    }

    /// White space ends a document only if another one follows: it also divides the lines of one.
    private static func isEndOfJoined(_ text: Bytes, at index: Int) -> Bool {
        guard index < text.count else { return true }
        switch text[index] {
        case UInt8(ascii: ","), UInt8(ascii: ";"): return true
        case let byte: return byte.isWhiteSpace && beginsJoined(text, at: index + 1)
        }
    }

    /// Whether a receipt in base64 or a JWS begins here. JSON in base64 does not count, because any line of it can look like a
    /// beginning.
    private static func beginsJoined(_ text: Bytes, at start: Int) -> Bool {
        guard mayBeginJoined(text, at: start) else { return false }
        let rest = text[slice: start..<text.count]
        if rest.begins(with: "eyJ"), let end = rest.firstIndex(where: { $0.base64Value == nil }),
            rest[end] == UInt8(ascii: ".")
        {
            return true
        }
        guard rest.count >= joinedDigits else { return false }
        return StoredText.decode(rest.prefix(48)).withUnsafeBufferPointer {
            // The other tags of XML can begin a line inside a property list.
            StoredText.beginsSignedMessage($0) || $0.begins(with: "<?xml")
                || ($0.first == UInt8(ascii: "{") && StoredText.beginsPropertyList($0))
        }
    }

    private static func mayBeginJoined(_ text: Bytes, at start: Int) -> Bool {
        guard start < text.count else { return false }
        switch text[start] {
        // The first digits of base64 for a signed message, for XML, and for other property lists.
        case UInt8(ascii: "M"), UInt8(ascii: "P"), UInt8(ascii: "e"): return true
        default: return false
        }
    }

    /// The base64 or JWS before a comma or semicolon at the end, as it is copied from a list or a SQL dump.
    static func listItemBody(_ text: Bytes) -> Range<Int>? {
        guard let last = text.last, last == UInt8(ascii: ",") || last == UInt8(ascii: ";") else { return nil }
        let range = text[slice: 0..<(text.count - 1)].trimmed()
        let body = text[slice: range]
        let isDocument = StoredText.isJWS(body) || (StoredText.beginsBase64Receipt(body) && StoredText.isBase64(body))
        return isDocument ? range : nil
    }

    // MARK: Hexadecimal

    private static let hexBytes = 16

    /// The bytes that `\x3082…` (PostgreSQL), `0x3082…` or `X'3082…'` (MySQL) spell, or plain hexadecimal that begins as a
    /// signed message does, also in angle brackets (the description of an NSData). White space and colons between the digits
    /// are skipped. Nil for anything else.
    static func decodedHex(_ text: Bytes) -> [UInt8]? {
        var digits = text
        var isStated = true
        if text.begins(with: "\\x") || text.begins(with: "0x") || text.begins(with: "0X") {
            digits = text[slice: 2..<text.count]
        } else if text.begins(with: "X'") || text.begins(with: "x'"), text.last == UInt8(ascii: "'"), text.count > 2 {
            digits = text[slice: 2..<(text.count - 1)]
        } else {
            isStated = false
            let isDescription = text.first == UInt8(ascii: "<") && text.last == UInt8(ascii: ">")
            if isDescription, text.count > 2 { digits = text[slice: 1..<(text.count - 1)] }
            guard digits.begins(with: "30") else { return nil }
        }
        guard digits.count >= hexBytes * 2, let decoded = bytes(ofHex: digits), decoded.count >= hexBytes else {
            return nil
        }
        return isStated || decoded.withUnsafeBufferPointer(StoredText.beginsSignedMessage) ? decoded : nil
    }

    /// The bytes of digits, with white space and colons between them or without; nil for anything else.
    static func bytes(ofHex digits: Bytes) -> [UInt8]? {
        [UInt8](hex: digits, isSeparator: { $0.isWhiteSpace || $0 == UInt8(ascii: ":") })
    }

    // MARK: HTML

    private static let entityBytes = 10

    /// The text without the entities of HTML, if all quotes in it are entities: `{&quot;receipt-data&quot;:&quot;MII…&quot;}`. Nil for
    /// any other text, also for JSON and property lists: without a quote, JSON has no ampersand.
    static func htmlDecoded(_ text: Bytes) -> [UInt8]? {
        switch text.first {
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?, UInt8(ascii: "&")?: break
        default: return nil
        }
        guard text.position(of: UInt8(ascii: "\"")) == nil, text.position(of: UInt8(ascii: "&")) != nil,
            !StoredText.beginsPropertyList(text)
        else { return nil }
        var decoded: [UInt8] = []
        var (start, hasEntity) = (0, false)
        while let found = text.position(of: UInt8(ascii: "&"), from: start) {
            decoded += text[start..<found]
            if let (character, end) = entity(text, at: found) {
                decoded += String(character).utf8
                (start, hasEntity) = (end, true)
            } else {
                decoded.append(UInt8(ascii: "&"))
                start = found + 1
            }
        }
        decoded += text[start..<text.count]
        return hasEntity ? decoded : nil
    }

    /// The character of an entity as programs escape HTML, and the end of the entity; nil for any other.
    private static func entity(_ text: Bytes, at start: Int) -> (character: Unicode.Scalar, end: Int)? {
        let beginning = text[start..<min(start + entityBytes, text.count)]
        guard let end = beginning.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = String(decoding: text[(start + 1)..<end], as: UTF8.self)
        let character: Unicode.Scalar?
        switch name {
        case "quot": character = "\""
        case "amp": character = "&"
        case "lt": character = "<"
        case "gt": character = ">"
        case "apos": character = "'"
        case _ where name.hasPrefix("#x") || name.hasPrefix("#X"):
            character = UInt32(name.dropFirst(2), radix: 16).flatMap { Unicode.Scalar($0) }
        case _ where name.hasPrefix("#"): character = UInt32(name.dropFirst()).flatMap { Unicode.Scalar($0) }
        default: character = nil
        }
        guard let character else { return nil }
        return (character, end + 1)
    }

    // MARK: Bytes as numbers

    /// The bytes in `{"type":"Buffer","data":[48,130,…]}`, which is how Node.js writes a buffer as JSON. The order of the members does
    /// not matter. Nil for anything else.
    static func buffer(_ text: Bytes) -> [UInt8]? {
        for (beginning, ending) in bufferForms {
            guard let start = end(of: beginning, in: text, from: 0) else { continue }
            guard let (bytes, next) = numbers(text, from: start), let last = end(of: ending, in: text, from: next),
                text.firstNonWhiteSpace(from: last) == nil
            else { return nil }
            return bytes
        }
        return nil
    }

    /// The text before and after the numbers of a buffer.
    private static let bufferForms: [(beginning: [StaticString], ending: [StaticString])] = [
        (["{", "\"type\"", ":", "\"Buffer\"", ",", "\"data\"", ":", "["], ["}"]),
        (["{", "\"data\"", ":", "["], [",", "\"type\"", ":", "\"Buffer\"", "}"]),
    ]

    /// The end of parts that follow each other from `start` on, with white space before them or without; nil if they do not.
    private static func end(of parts: [StaticString], in text: Bytes, from start: Int) -> Int? {
        var index = start
        for part in parts {
            guard let begin = text.firstNonWhiteSpace(from: index), text.begins(with: part, at: begin) else {
                return nil
            }
            index = begin + part.utf8CodeUnitCount
        }
        return index
    }

    /// The bytes that numbers with commas between them state, and the end of the bracket after them; nil for anything else.
    private static func numbers(_ text: Bytes, from begin: Int) -> (bytes: [UInt8], end: Int)? {
        var index = begin
        var bytes: [UInt8] = []
        while let start = text.firstNonWhiteSpace(from: index) {
            var (number, end) = (0, start)
            while end < text.count, text[end].isDigit, end - start < 3 {
                number = number * 10 + Int(text[end] - UInt8(ascii: "0"))
                end += 1
            }
            guard end > start, let byte = UInt8(exactly: number), let next = text.firstNonWhiteSpace(from: end) else {
                return nil
            }
            bytes.append(byte)
            index = next + 1
            if text[next] == UInt8(ascii: ",") { continue }
            guard text[next] == UInt8(ascii: "]") else { return nil }
            return (bytes, index)
        }
        return nil
    }

    // MARK: Base64 around something else than a receipt

    /// The base64 of a receipt, or of JSON, that was encoded again.
    private static func innerBase64(_ text: Bytes) -> [UInt8]? {
        switch text.first {
        // The first digits of base64 for `M`, `P`, `e` and `W`, with which receipts and JSON in base64 begin.
        case UInt8(ascii: "T")?, UInt8(ascii: "U")?, UInt8(ascii: "Z")?, UInt8(ascii: "V")?: break
        default: return nil
        }
        let beginsDocument = StoredText.decode(text.prefix(48)).withUnsafeBufferPointer { inner in
            StoredText.beginsBase64Receipt(inner) || beginsBase64JSON(inner)
        }
        guard beginsDocument, StoredText.isBase64(text) else { return nil }
        return base64Decoded(text)
    }

    /// Whether the text may be base64 of a JSON object or array.
    static func beginsBase64JSON(_ text: Bytes) -> Bool {
        guard text.first == UInt8(ascii: "e") || text.first == UInt8(ascii: "W") else { return false }
        let head = StoredText.decode(text.prefix(24))
        guard head.first == UInt8(ascii: "{") || head.first == UInt8(ascii: "[") else { return false }
        switch head.dropFirst().first(where: { !$0.isWhiteSpace }) {
        case UInt8(ascii: "\"")?, UInt8(ascii: "{")?, UInt8(ascii: "[")?:
            return head.allSatisfy { $0 >= 0x20 || $0.isWhiteSpace }
        default: return false
        }
    }

    /// The JSON object or array whose base64 the text is; nil for a property list, also in its JSON form.
    static func base64JSON(_ text: Bytes) -> [UInt8]? {
        guard beginsBase64JSON(text), StoredText.isBase64(text),
            // Spares most receipts of iOS 6 from being decoded here.
            !StoredText.decode(text.prefix(512)).withUnsafeBufferPointer(StoredText.beginsPropertyList),
            let decoded = base64Decoded(text),
            let names = decoded.withUnsafeBufferPointer({ JSONMemberScanner.names(in: $0) }),
            !names.contains("purchase-info"), !names.contains("signature")
        else { return nil }
        return decoded
    }

    private static func base64Decoded(_ text: Bytes) -> [UInt8]? {
        let copy = Array(text)
        let span = copy.span
        return try? Base64.decodeLeniently(span)
    }
}
