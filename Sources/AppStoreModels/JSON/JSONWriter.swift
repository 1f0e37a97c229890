/// Writes compact JSON (RFC 8259) directly into a byte array.
///
/// This is the hot path of a migration, which writes several objects per receipt. It uses no intermediate values, no
/// dictionaries and no Foundation. The writer places commas, so a caller only writes keys and values:
///
///     var writer = JSONWriter()
///     writer.beginObject()
///     writer.member("transactionId", "1000000831360853")
///     writer.member("quantity", Int32(1))
///     writer.endObject()
///     writer.newline()
///
/// The output is always valid UTF-8. The caller is responsible for matching brackets and for a key before each value of
/// an object. The writer does not check this, because the calls are fixed at compile time.
package struct JSONWriter: Sendable {
    /// The output, followed by free space. A value is built in place.
    private var storage: [UInt8]

    /// The number of bytes written. Bytes after them in the storage are undefined.
    private var used = 0

    /// Whether the innermost array or object already has a value, so the next one needs a comma.
    private var needsComma = false

    /// An empty writer.
    /// - Parameter capacity: the number of bytes to allocate at once.
    package init(reservingCapacity capacity: Int = 0) {
        storage = [UInt8](repeating: 0, count: capacity)
    }

    /// A copy of the output so far. ``withBytes(_:)`` and ``finish()`` do not copy.
    package var bytes: [UInt8] { Array(storage[..<used]) }

    /// Calls `body` with the output so far.
    package func withBytes<Result, Failure: Error>(
        _ body: (ArraySlice<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage[..<used])
    }

    /// Returns the output. It is copied only if much free space remains, because the result would keep that space in
    /// memory.
    package consuming func finish() -> [UInt8] {
        guard storage.count - used <= used / 4 else { return bytes }
        storage.removeLast(storage.count - used)
        return storage
    }

    /// Clears the output but keeps the memory, to write one record after the other into the same buffer.
    package mutating func removeAll() {
        used = 0
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
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Ends one line of NDJSON: the next value starts a new top-level text.
    package mutating func newline() {
        append(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Values

    package mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { appendQuoted(validUTF8: $0) }
    }

    /// A string value from UTF-8 bytes that are not validated yet. Ill-formed sequences become U+FFFD, as in
    /// `String(decoding:as:)`, because JSON text must be valid UTF-8 (RFC 8259, section 8.1).
    package mutating func string(utf8: UnsafeBufferPointer<UInt8>) {
        if utf8.isASCII {
            appendQuoted(validUTF8: utf8)
        } else {
            string(String(decoding: utf8, as: UTF8.self))
        }
    }

    /// An exact integer, without conversion to a floating-point number.
    package mutating func integer(_ value: Int64) {
        separate()
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude)
    }

    /// An exact integer as a string.
    package mutating func decimalText(_ value: Int64) {
        separate()
        append(UInt8(ascii: "\""))
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude)
        append(UInt8(ascii: "\""))
    }

    package mutating func integer(_ value: Int) { integer(Int64(value)) }

    package mutating func boolean(_ value: Bool) {
        separate()
        append(value ? "true" : "false")
    }

    package mutating func null() {
        separate()
        append("null")
    }

    /// The shortest decimal that reads back as the same `Double`; `null` for infinities and NaN, which JSON cannot
    /// represent.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        var text = value.description
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// A whole value that is already valid JSON.
    package mutating func raw(_ json: [UInt8]) {
        separate()
        json.withUnsafeBytes { append($0) }
    }

    /// A whole value that is already valid JSON.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        let written: Void? = json.withContiguousStorageIfAvailable { append(UnsafeRawBufferPointer($0)) }
        if written == nil { Array(json).withUnsafeBytes { append($0) } }
    }

    /// Text that is not JSON. The caller is responsible for valid output.
    package mutating func verbatim(_ text: [UInt8]) { text.withUnsafeBytes { append($0) } }

    package mutating func verbatim(_ text: UnsafeBufferPointer<UInt8>) { append(UnsafeRawBufferPointer(text)) }

    package mutating func verbatim(_ text: StaticString) { append(text) }

    // MARK: Output

    private mutating func open(_ bracket: UInt8) {
        if needsComma { append(UInt8(ascii: ",")) }
        append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        if storage.count == used { grow(by: 1) }
        storage[used] = byte
        used &+= 1
    }

    private mutating func append(_ text: UnsafeRawBufferPointer) {
        withRoom(for: text.count) { room in
            room.copyMemory(from: text)
            return text.count
        }
    }

    /// Makes space for `count` bytes plus one word, and lets `body` write there. `body` returns the number of bytes
    /// that count.
    @inline(__always)
    private mutating func withRoom(for count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {
        if storage.count &- used < count &+ 8 { grow(by: count &+ 8) }
        let start = used
        let written = storage.withUnsafeMutableBytes {
            body(UnsafeMutableRawBufferPointer(rebasing: $0[start...]))
        }
        used = start &+ written
    }

    @inline(never)
    private mutating func grow(by count: Int) {
        let enough = max(64, used + count, storage.count * 2)
        storage.reserveCapacity(enough)
        // Block by block, because a program that is not optimized appends repeated elements one by one.
        while storage.count < enough { storage += Self.zeros.prefix(enough - storage.count) }
    }

    private static let zeros = [UInt8](repeating: 0, count: 4_096)

    private mutating func appendDigits(_ magnitude: UInt64) {
        // UInt64.max has 20 digits.
        withRoom(for: 20) { room in
            let count = Self.digitCount(magnitude)
            var (rest, index) = (magnitude, count)
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                index &-= 1
                room[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest != 0
            return count
        }
    }

    private static func digitCount(_ magnitude: UInt64) -> Int {
        var (count, bound) = (1, UInt64(10))
        while count < 20, magnitude >= bound {
            count &+= 1
            bound = bound &* 10
        }
        return count
    }

    /// A comma if needed, the quoted text, and one more byte if requested.
    @inline(__always)
    private mutating func appendQuoted(validUTF8 text: UnsafeBufferPointer<UInt8>, then last: UInt8? = nil) {
        var isPlain = true
        let comma = needsComma
        withRoom(for: text.count &+ 4) { room in
            var used = 0
            if comma {
                room[used] = UInt8(ascii: ",")
                used &+= 1
            }
            room[used] = UInt8(ascii: "\"")
            used &+= 1
            isPlain = text.copyUnlessEscaped(to: UnsafeMutableRawBufferPointer(rebasing: room[used...]))
            // These bytes do not count.
            guard isPlain else { return 0 }
            used &+= text.count
            room[used] = UInt8(ascii: "\"")
            used &+= 1
            if let last {
                room[used] = last
                used &+= 1
            }
            return used
        }
        guard isPlain else { return appendEscaped(text, then: last) }
        needsComma = true
    }

    @inline(never)
    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, then last: UInt8?) {
        separate()
        append(UInt8(ascii: "\""))
        var (start, unused) = (0, UInt64(0))
        while true {
            let special = JSONStringScan.firstSpecial(in: text, from: start, highBits: &unused)
            append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[start..<special]))
            guard special < text.count else { break }
            appendEscaped(text[special])
            start = special + 1
        }
        append(UInt8(ascii: "\""))
        if let last { append(last) }
    }

    /// Escapes the bytes that RFC 8259, section 7 requires to be escaped: quotation mark, backslash and U+0000…U+001F.
    private mutating func appendEscaped(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        default:
            append("u00")
            append(hexDigit(byte >> 4))
            append(hexDigit(byte & 0xF))
        }
    }

    private func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}

// MARK: Whole objects and arrays

extension JSONWriter {
    /// The text of one object.
    /// - Parameters:
    ///   - capacity: the number of bytes to allocate at once.
    ///   - endsLine: whether a line feed follows.
    ///   - write: writes the members.
    package static func object(
        reservingCapacity capacity: Int = 0, endsLine: Bool = false, _ write: (inout JSONWriter) throws -> Void
    ) rethrows -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: capacity)
        try writer.object(write)
        if endsLine { writer.newline() }
        return writer.finish()
    }

    /// An object whose members the closure writes.
    package mutating func object(_ write: (inout JSONWriter) throws -> Void) rethrows {
        beginObject()
        try write(&self)
        endObject()
    }

    package mutating func object(_ name: StaticString, _ write: (inout JSONWriter) throws -> Void) rethrows {
        key(name)
        try object(write)
    }

    /// An array. The closure writes each element.
    package mutating func array<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) throws -> Void
    ) rethrows {
        key(name)
        beginArray()
        for element in elements { try write(&self, element) }
        endArray()
    }

    /// An array of objects. The closure writes the members of each.
    package mutating func objects<Elements: Sequence>(
        _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) throws -> Void
    ) rethrows {
        beginArray()
        for element in elements { try object { try write(&$0, element) } }
        endArray()
    }

    package mutating func objects<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) throws -> Void
    ) rethrows {
        key(name)
        try objects(elements, write)
    }

    /// A JSON string, for JSON that is laid out for people.
    package static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    // MARK: Members that are omitted if they have no value, because Apple's payloads have no `null`

    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    package mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    package mutating func member(_ name: StaticString, _ value: Int?) { member(name, value.map { Int64($0) }) }

    package mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        boolean(value)
    }

    package mutating func member<Value: OpenEnum>(_ name: StaticString, _ value: Value?)
    where Value.RawValue == String {
        member(name, value?.rawValue)
    }

    /// Any other value of a payload. The texts, numbers and Booleans above have methods of their own, which are faster.
    package mutating func member(_ name: StaticString, _ value: (some PayloadValue)?) {
        guard var value else { return }
        key(name)
        value.write(to: &self)
    }

    /// Writes a model. This copies the model; ``JSONModel/write(to:)`` of a variable does not.
    package mutating func model(_ value: some JSONModel) {
        var copy = value
        copy.write(to: &self)
    }

    /// A value that is already valid JSON; omitted if it has no bytes.
    package mutating func member(_ name: StaticString, json: [UInt8]) {
        guard !json.isEmpty else { return }
        key(name)
        raw(json)
    }

    /// Members with names that are not known at compile time, and numbers.
    package mutating func members(_ counts: [(name: String, count: Int)]) {
        for (name, count) in counts {
            key(name)
            integer(count)
        }
    }

    /// Writes a JSON value that was read, with members in their order and numbers digit by digit.
    ///
    /// The recursion is as deep as the value, which is at most ``JSONReadingLimits/maximumDepth`` for a parsed value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let bool): boolean(bool)
        case .integer(let integer): self.integer(integer)
        case .number(let digits): raw(digits.utf8)
        case .string(let text): string(text)
        case .array(let values):
            beginArray()
            for element in values { self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.members {
                key(member.key)
                self.value(member.value)
            }
            endObject()
        }
    }
}

extension JSONValue {
    /// The value as JSON for people: members in their order, each on a line, indented by two spaces per level.
    package var indented: String {
        var text = ""
        writeIndented(to: &text, lineBreak: "\n")
        return text
    }

    /// The recursion is as deep as the value, as in ``JSONWriter/value(_:)``.
    private func writeIndented(to text: inout String, lineBreak: String) {
        func list(_ brackets: (String, String), _ count: Int, _ element: (Int, inout String) -> Void) {
            text += brackets.0
            for index in 0..<count {
                text += (index == 0 ? "" : ",") + lineBreak + "  "
                element(index, &text)
            }
            text += (count == 0 ? "" : lineBreak) + brackets.1
        }
        switch self {
        case .array(let values):
            list(("[", "]"), values.count) { values[$0].writeIndented(to: &$1, lineBreak: lineBreak + "  ") }
        case .object(let object):
            list(("{", "}"), object.members.count) { index, text in
                text += JSONWriter.quoted(object.members[index].key) + ": "
                object.members[index].value.writeIndented(to: &text, lineBreak: lineBreak + "  ")
            }
        default: text += String(decoding: json, as: UTF8.self)
        }
    }

    /// The value as JSON, as ``JSONWriter/value(_:)`` writes it.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.finish()
    }
}
