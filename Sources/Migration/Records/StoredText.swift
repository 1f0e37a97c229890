import AppStoreModels
import Encodings

/// Classifies stored text by its first bytes.
enum StoredText {
    /// DER or BER bytes of a ContentInfo: a SEQUENCE with a long or indefinite length, then (as far as it can be seen)
    /// the object identifier of SignedData, 1.2.840.113549.1.7.2 (Reference.md V5.1). A shorter prefix
    /// is not enough: Apple's certificates contain other SEQUENCEs that begin with an identifier below 1.2.840.
    static func beginsSignedMessage(_ bytes: Bytes) -> Bool {
        guard let header = sequenceHeader(bytes) else { return false }
        return zip(bytes.dropFirst(header.length), signedMessageIdentifier).allSatisfy { $0 == $1 }
    }

    /// The object identifier of SignedData with its tag and length.
    static let signedMessageIdentifier: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02,
    ]

    /// The header of a DER SEQUENCE; `content` is nil for the indefinite length.
    private static func sequenceHeader(_ bytes: Bytes) -> (length: Int, content: Int?)? {
        guard bytes.count >= 2, bytes[0] == 0x30, 0x80...0x84 ~= bytes[1] else { return nil }
        let lengthBytes = Int(bytes[1] & 0x7F)
        if lengthBytes == 0 { return (2, nil) }
        guard bytes.count >= 2 + lengthBytes else { return nil }
        return (2 + lengthBytes, bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) })
    }

    /// Property list text: XML, or OpenStep `{ key = …`.
    static func beginsPropertyList(_ bytes: Bytes) -> Bool {
        guard let start = bytes.firstNonWhiteSpace() else { return false }
        switch bytes[start] {
        case UInt8(ascii: "<"):
            return bytes.begins(with: "<?xml", at: start) || bytes.begins(with: "<plist", at: start)
                || bytes.begins(with: "<!DOCTYPE plist", at: start)
        case UInt8(ascii: "b"):
            return bytes.begins(with: "bplist0", at: start)
        case UInt8(ascii: "{"):
            return beginsOpenStepDictionary(bytes, at: start + 1)
        default:
            return false
        }
    }

    /// A key is quoted or a bare word, and an equals sign follows where JSON has a colon.
    private static func beginsOpenStepDictionary(_ bytes: Bytes, at start: Int) -> Bool {
        guard var index = bytes.firstNonWhiteSpace(from: start) else { return false }
        if bytes[index] == UInt8(ascii: "\"") {
            guard let quote = bytes.position(of: UInt8(ascii: "\""), from: index + 1) else { return false }
            index = quote + 1
        } else {
            let keyStart = index
            while index < bytes.count, bytes[index].base64Value != nil || bytes[index] == UInt8(ascii: ".") {
                index += 1
            }
            if index == keyStart { return false }
        }
        guard let equals = bytes.firstNonWhiteSpace(from: index) else { return false }
        return bytes[equals] == UInt8(ascii: "=")
    }

    /// Base64 whose first bytes are those of a receipt: a signed message or a property list.
    static func beginsBase64Receipt(_ text: Bytes) -> Bool {
        let head = decodedHead(text)
        guard head.count >= 3 else { return false }
        return head.withUnsafeBufferPointer { bytes in
            switch bytes[0] {
            case 0x30: return beginsSignedMessage(bytes)
            case UInt8(ascii: "<"): return beginsPropertyList(bytes)
            // Two bytes alone also occur inside wrapped receipts. `{"` may begin JSON too, which its decoder detects.
            case UInt8(ascii: "{"):
                return (bytes[1].isWhiteSpace || bytes[1] == UInt8(ascii: "\""))
                    && bytes.allSatisfy { 0x20..<0x7F ~= $0 || $0.isWhiteSpace }
            default: return false
            }
        }
    }

    /// Whether the text begins as an app receipt in base64 and has the length of one, as the first bytes of the receipt state it.
    /// So it is not a list, and it has no escapes: both would make it longer. The last byte is checked too, because a comma after a
    /// receipt without padding gives the same length.
    static func isBase64OfOneReceipt(_ text: Bytes) -> Bool {
        guard text.begins(with: "MI"), let last = text.last, last.base64Value != nil || last == UInt8(ascii: "=") else {
            return false
        }
        return decodedHead(text).withUnsafeBufferPointer { head in
            guard beginsSignedMessage(head), let count = expectedBytes(head) else { return false }
            return text.count == (count + 2) / 3 * 4
        }
    }

    /// Compact JWS (RFC 7515, 3.1): three base64url parts; the first one begins with `{"` in base64.
    static func isJWS(_ text: Bytes) -> Bool {
        guard text.begins(with: "eyJ"), let first = text.position(of: UInt8(ascii: ".")),
            let second = text.position(of: UInt8(ascii: "."), from: first + 1)
        else { return false }
        func isPart(_ range: Range<Int>) -> Bool {
            !range.isEmpty && range.allSatisfy { text[$0].base64Value != nil && text[$0] != 0x2B && text[$0] != 0x2F }
        }
        return isPart(0..<first) && isPart((first + 1)..<second) && isPart((second + 1)..<text.count)
    }

    /// Words that programs write in place of a value that is missing.
    static let nullWords: Set<String> = [
        "null", "NULL", "\\N", "nil", "None", "undefined", "(null)", "<null>", "NaN", "nan",
    ]

    /// Whether the text is one of ``nullWords``.
    static func isNullWord(_ text: Bytes) -> Bool {
        text.count <= 9 && String(validating: text, as: UTF8.self).map { nullWords.contains($0) } == true
    }

    /// Whether the text begins as `serialize` of PHP writes an array, an object or a text: `a:2:{`, `O:8:"`, `s:4:"`.
    static func beginsSerializedPHP(_ text: Bytes) -> Bool {
        guard text.begins(with: "a:") || text.begins(with: "O:") || text.begins(with: "s:"),
            let end = text.prefix(12).dropFirst(2).firstIndex(where: { !$0.isDigit }), end > 2
        else { return false }
        return text.begins(with: text[0] == UInt8(ascii: "a") ? ":{" : ":\"", at: end)
    }

    static func isTransactionID(_ text: Bytes) -> Bool {
        1...InputLimits.transactionIDDigits ~= text.count && text.allSatisfy(\.isDigit)
    }

    /// Base64 in either alphabet with padding and white space, too long to be a word.
    static func isBase64(_ text: Bytes) -> Bool {
        text.count >= 16
            && text.allSatisfy { $0.base64Value != nil || $0 == UInt8(ascii: "=") || $0.isWhiteSpace }
    }

    /// The ranges of the JSON objects in a text, found only by their brackets. Includes quoted texts that seem to
    /// contain an escaped object, such as `msg="{\"status\":0}"` in logfmt.
    static func jsonValues(in text: Bytes) -> [Range<Int>] {
        var values: [Range<Int>] = []
        var (start, end, withoutEnd) = (0, 0, 0)
        // The quotes without a backslash before and after the last escaped object.
        var quotes = (before: -1, after: -1)
        // An object without an end is searched up to the end of the text.
        while withoutEnd < InputLimits.openObjectsInText, let found = text.position(of: UInt8(ascii: "{"), from: start)
        {
            start = found + 1
            guard let next = text.firstNonWhiteSpace(from: start) else { break }
            var value: Range<Int>?
            switch text[next] {
            case UInt8(ascii: "\""):
                var object = JSONValueEnd(first: text[found])
                value = object.scan(text, from: found).map { found..<$0 }
            case UInt8(ascii: "\\"):
                while quotes.after < found {
                    quotes = (quotes.after, quote(in: text, from: max(quotes.after + 1, end)) ?? text.count)
                }
                // A quote that ends another value begins none.
                guard quotes.before >= end else { continue }
                if quotes.after < text.count { value = quotes.before..<(quotes.after + 1) }
            default: continue
            }
            if let value {
                values.append(value)
                (start, end) = (value.upperBound, value.upperBound)
            } else {
                withoutEnd += 1
            }
        }
        return values
    }

    /// The next quote without a backslash.
    private static func quote(in text: Bytes, from start: Int) -> Int? {
        var index = start
        while let found = text.position(ofEither: UInt8(ascii: "\""), or: UInt8(ascii: "\\"), from: index) {
            if text[found] == UInt8(ascii: "\"") { return found }
            index = found + 2
        }
        return nil
    }

    /// A text in quotes as a JSON string; nil if it is none. Go escapes more characters than JSON does.
    static func jsonString(ofQuoted text: Bytes) -> [UInt8]? {
        var string: [UInt8] = []
        var index = 0
        while let found = text.position(of: UInt8(ascii: "\\"), from: index), found + 1 < text.count {
            string += text[index..<found]
            index = found + 2
            switch text[found + 1] {
            case UInt8(ascii: "a"): string += "\\u0007".utf8
            case UInt8(ascii: "v"): string += "\\u000b".utf8
            case UInt8(ascii: "'"): string.append(UInt8(ascii: "'"))
            // Others are bytes that are not UTF-8.
            case UInt8(ascii: "x") where index < text.count && text[index] <= UInt8(ascii: "7"): string += "\\u00".utf8
            case let escape: string += [UInt8(ascii: "\\"), escape]
            }
        }
        string += text[index..<text.count]
        return (try? JSONValue.parse(string))?.string == nil ? nil : string
    }

    /// Whether a text, in which quotes and white space may be escaped, seems to contain the beginning of a JSON object.
    static func mayContainObject(_ text: Bytes) -> Bool {
        text.contains(UInt8(ascii: "{")) { found in
            guard let next = text.firstNonWhiteSpace(from: found + 1) else { return false }
            return text[next] == UInt8(ascii: "\"") || text[next] == UInt8(ascii: "\\")
        }
    }

    /// The base64 between the lines of a PEM block (RFC 7468), if there is exactly one block.
    static func pemBody(_ text: Bytes) -> Range<Int>? {
        guard text.begins(with: "-----BEGIN "), let start = text.position(of: 0x0A),
            let end = text.position(of: UInt8(ascii: "-"), from: start), text.begins(with: "-----END ", at: end)
        else { return nil }
        let lastLine = text[slice: end..<text.count]
        return lastLine.position(of: 0x0A) == nil ? (start + 1)..<end : nil
    }

    /// Whether the text can only be a receipt, or an encoding of one or of JSON.
    static func isUnmistakable(_ text: Bytes) -> Bool {
        if beginsBase64Receipt(text) || isJWS(text) { return true }
        if let encoding = StoredEncoding(text) { return encoding.beginsDocument(in: text) }
        return StoredEncoding.beginsBase64JSON(text)
    }

    private static func decodedHead(_ text: Bytes) -> [UInt8] {
        decode(text.prefix(24))
    }

    /// Decodes base64 up to the first character that is not in the alphabet, including a last group of two or three
    /// characters.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8] {
        if let bytes = text.withContiguousStorageIfAvailable({ Base64.decodePrefix($0.span) }) { return bytes }
        let copy = Array(text)
        return Base64.decodePrefix(copy.span)
    }

    /// The number of bytes of the receipt that begins with `bytes`, by its length field; nil if its form has none.
    static func expectedBytes(_ bytes: Bytes) -> Int? {
        sequenceHeader(bytes).flatMap { header in header.content.map { header.length + $0 } }
    }

    /// The number of base64 characters (without padding) of the receipt that begins with `text`, by its length field;
    /// nil if its form has none.
    static func expectedCharacters(_ text: Bytes) -> Int? {
        decodedHead(text).withUnsafeBufferPointer(expectedBytes).map { ($0 * 8 + 5) / 6 }
    }

    /// Whether the base64 text ends like a complete receipt of a form without a length field. Such forms are an
    /// indefinite-length message with end-of-contents bytes, and a property list with its closing bracket.
    static func endsReceipt(_ text: Bytes) -> Bool {
        var end = text.count
        while end > 0, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        let tail = decode(text[max(0, (end & ~3) - 12)..<end])
        if decodedHead(text).first == 0x30 { return tail.suffix(4).elementsEqual([0, 0, 0, 0]) }
        guard let last = tail.last(where: { !$0.isWhiteSpace }) else { return false }
        return last == UInt8(ascii: "}") || last == UInt8(ascii: ">")
    }
}
