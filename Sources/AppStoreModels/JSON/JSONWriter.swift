/// Writes compact JSON (RFC 8259) straight into a byte array.
///
/// This is the hot path of a migration, which writes several objects per receipt: there are no intermediate values, no
/// dictionaries, no Foundation. Commas are placed by the writer, so a caller writes only keys and values:
///
///     var writer = JSONWriter()
///     writer.beginObject()
///     writer.member("transactionId", "1000000831360853")
///     writer.member("quantity", Int32(1))
///     writer.endObject()
///     writer.newline()
///
/// The output is always valid UTF-8. The writer does not check that brackets match or that a key precedes each value of
/// an object; that is the duty of the caller, whose calls are fixed at compile time.
package struct JSONWriter: Sendable {
    /// What has been written so far. A caller may take it away and start over with ``removeAll()``.
    package var bytes: [UInt8]

    /// Whether a value was already written in the innermost array or object, so that the next one needs a comma.
    private var needsComma = false

    /// A writer with nothing in it.
    /// - Parameter capacity: how many bytes to make room for at once.
    package init(reservingCapacity capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Forgets everything written, keeps the memory: for writing one record after the other into the same buffer.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: Structure

    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// The name of the next member of an object.
    package mutating func key(_ name: StaticString) {
        name.withUTF8Buffer { appendQuoted(validUTF8: $0, then: UInt8(ascii: ":")) }
        needsComma = false
    }

    /// The name of the next member of an object, for names that are not known at compile time.
    package mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Ends one line of NDJSON: the next value starts a new top-level text.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Values

    package mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { appendQuoted(validUTF8: $0) }
    }

    /// A string value from UTF-8 bytes that nobody has checked: ill-formed sequences become U+FFFD, as in
    /// `String(decoding:as:)`, because JSON text must be valid UTF-8 (RFC 8259, section 8.1).
    package mutating func string(utf8: UnsafeBufferPointer<UInt8>) {
        if utf8.isASCII {
            appendQuoted(validUTF8: utf8)
        } else {
            string(String(decoding: utf8, as: UTF8.self))
        }
    }

    /// A string value from UTF-8 bytes that nobody has checked, from any sequence.
    package mutating func string(utf8: some Sequence<UInt8>) {
        let written: Void? = utf8.withContiguousStorageIfAvailable { string(utf8: $0) }
        if written == nil {
            Array(utf8).withUnsafeBufferPointer { string(utf8: $0) }
        }
    }

    /// An exact integer: no detour through a floating-point number.
    package mutating func integer(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude)
    }

    package mutating func integer(_ value: Int) { integer(Int64(value)) }

    package mutating func integer(_ value: UInt64) {
        separate()
        appendDigits(value)
    }

    package mutating func boolean(_ value: Bool) {
        separate()
        append(value ? "true" : "false")
    }

    package mutating func null() {
        separate()
        append("null")
    }

    /// The shortest decimal that reads back as the same `Double`; `null` for infinities and NaN, which JSON cannot say.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// A whole value that is already valid JSON.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    // MARK: Output

    private mutating func open(_ bracket: UInt8) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func appendDigits(_ magnitude: UInt64) {
        // 20 digits hold UInt64.max.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = magnitude
            var start = digits.count
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                start &-= 1
                digits.initializeElement(at: start, to: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit))
                rest = quotient
            } while rest != 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    /// A comma if one is due, the quoted text, and one more byte if wanted.
    private mutating func appendQuoted(validUTF8 text: UnsafeBufferPointer<UInt8>, then last: UInt8? = nil) {
        guard text.count <= Self.shortText, text.firstByteToEscape(from: 0) == nil else {
            return appendLongOrEscaped(text, then: last)
        }
        // Almost every text is short and plain. Put together on the stack and appended at once, it costs one check for
        // uniqueness and room instead of five.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.shortText + 4) { line in
            var used = 0
            if needsComma {
                line.initializeElement(at: used, to: UInt8(ascii: ","))
                used &+= 1
            }
            line.initializeElement(at: used, to: UInt8(ascii: "\""))
            used = line[(used &+ 1)...].initialize(fromContentsOf: text)
            line.initializeElement(at: used, to: UInt8(ascii: "\""))
            used &+= 1
            if let last {
                line.initializeElement(at: used, to: last)
                used &+= 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: line[..<used]))
        }
        needsComma = true
    }

    /// The longest text, in bytes, that is put together on the stack.
    private static var shortText: Int { 124 }

    private mutating func appendLongOrEscaped(_ text: UnsafeBufferPointer<UInt8>, then last: UInt8?) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        while let special = text.firstByteToEscape(from: start) {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<special]))
            appendEscaped(text[special])
            start = special + 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        bytes.append(UInt8(ascii: "\""))
        if let last { bytes.append(last) }
    }

    /// Escapes the bytes that RFC 8259, section 7 requires to be escaped: quotation mark, backslash and U+0000…U+001F.
    private mutating func appendEscaped(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            append("u00")
            bytes.append(hexDigit(byte >> 4))
            bytes.append(hexDigit(byte & 0xF))
        }
    }

    private func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
