/// A field of one of Apple's payloads.
public protocol PayloadField: CaseIterable, Hashable, Sendable, RawRepresentable where RawValue == UInt8 {
    /// Apple's name of the field, which is its JSON key.
    var name: StaticString { get }
}

/// The model of one of Apple's JSON objects, with a table of its members, ``visit(_:)``.
///
/// The table is the only list of the members. Reading and writing JSON are visitors of the table. A new member needs its
/// declaration and one line in the table.
package protocol JSONModel: AppStoreModel, PayloadValue {
    /// The names of the members where there are many; nil where looking through the table is fast enough.
    static var keys: PayloadNames? { get }

    /// Calls the visitor with the JSON key and the value of each member, in the order in which they are written.
    mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure)

    /// Writes the members and values that `encode(to:)` writes, without going through `Encodable`.
    mutating func write(to writer: inout JSONWriter)
}

extension JSONModel {
    package static var keys: PayloadNames? { nil }
}

/// One of Apple's payloads. Its table numbers the members as fields, which have a source of their own.
///
/// A new member needs its declaration, its case of ``Field``, and one line in the table; all three are in the file of the
/// payload.
package protocol Payload<Field>: JSONModel {
    associatedtype Field: PayloadField

    /// The names of the members, built from the table.
    static var names: PayloadNames { get }

    // Each payload forwards this to `init(members:texts:)`. A call from another module then runs code that was compiled
    // for the payload. A generic default would be many times slower.

    /// Reads the output of `write(to:)`, and other JSON with the same members. Members with unknown names become
    /// ``unknownMembers``.
    /// - Parameters:
    ///   - bytes: the JSON.
    ///   - texts: strings of earlier payloads, to share them.
    init(written bytes: UnsafeBufferPointer<UInt8>, texts: inout CommonTexts) throws(PayloadReadingError)

    /// The fields that have a value: bit n is set for the field with raw value n. Each payload forwards this to
    /// ``PresentFields``.
    mutating func presentFields() -> UInt64
}

extension PayloadField {
    /// The bit of the field in a set of fields.
    @inlinable @inline(__always)
    package var bit: UInt64 { 1 << UInt64(rawValue & 63) }
}

/// The fields of a payload that have a value.
enum PresentFields {
    @inline(__always)
    static func bits(of payload: inout some Payload) -> UInt64 {
        var visitor = Visitor()
        payload.visit(&visitor)
        return visitor.bits
    }

    private struct Visitor: PayloadVisitor {
        var bits: UInt64 = 0

        @inline(__always)
        mutating func member<Value: PayloadValue>(
            _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
        ) { if value != nil { bits |= field.bit } }

        @inline(__always)
        mutating func member<Value: OpenEnum>(
            _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
        ) where Value.RawValue: PayloadValue { if value != nil { bits |= field.bit } }
    }
}

/// A visitor of every member of a model. It may read or replace the values.
///
/// A conforming structure is compiled once for each model, so a visit is as fast as hand-written code. Values are
/// passed `inout` and not by key path, because access by key path is slow.
package protocol PayloadVisitor {
    associatedtype Failure: Error

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws(Failure)

    /// A member with an open set of values. Its JSON is the raw value.
    mutating func member<Value: OpenEnum>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws(Failure) where Value.RawValue: PayloadValue

    /// A date in milliseconds since 1970-01-01T00:00:00Z.
    mutating func date(_ name: StaticString, _ field: some PayloadField, _ value: inout Int64?) throws(Failure)
}

extension PayloadVisitor {
    @inline(__always)
    package mutating func member<Value: OpenEnum>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws(Failure) where Value.RawValue: PayloadValue {
        var raw = value?.rawValue
        try member(name, field, &raw)
        value = raw.map { Value(rawValue: $0) }
    }

    @inline(__always)
    package mutating func date(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Int64?
    ) throws(Failure) {
        try member(name, field, &value)
    }
}

/// The members of a model that is not a ``Payload`` have no field.
private enum NoField: UInt8, PayloadField {
    case none

    var name: StaticString { "" }
}

extension PayloadVisitor {
    package mutating func member<Value: PayloadValue>(_ name: StaticString, _ value: inout Value?) throws(Failure) {
        try member(name, NoField.none, &value)
    }

    package mutating func member<Value: OpenEnum>(_ name: StaticString, _ value: inout Value?) throws(Failure)
    where Value.RawValue: PayloadValue {
        try member(name, NoField.none, &value)
    }

    package mutating func date(_ name: StaticString, _ value: inout Int64?) throws(Failure) {
        try date(name, NoField.none, &value)
    }
}

/// The type of a member of a model.
package protocol PayloadValue: Codable, Sendable {
    /// Writes the JSON. No implementation changes the value: `mutating` lets the caller pass it in place, without a
    /// copy.
    mutating func write(to writer: inout JSONWriter)

    /// The value at the current position of the reader.
    init(reading reader: inout PayloadReader) throws(PayloadReadingError)

    /// The value of JSON that was parsed.
    /// - Throws: `DecodingError`, with the coding path from this value.
    init(json value: JSONValue) throws
}

extension JSONModel {
    package init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = try reader.decoded() }
}

extension String: PayloadValue {
    package func write(to writer: inout JSONWriter) { writer.string(self) }
    package init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = try reader.commonString() }

    package init(json value: JSONValue) throws {
        guard case .string(let text) = value else { throw value.mismatch(String.self) }
        self = text
    }
}

extension Int64: PayloadValue {
    package func write(to writer: inout JSONWriter) { writer.integer(self) }
    package init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = try reader.int64() }
    package init(json value: JSONValue) throws { self = try value.integer(Int64.self) }
}

extension Int32: PayloadValue {
    package func write(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
    package init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = try reader.int32() }
    package init(json value: JSONValue) throws { self = try value.integer(Int32.self) }
}

extension Bool: PayloadValue {
    package func write(to writer: inout JSONWriter) { writer.boolean(self) }
    package init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = try reader.bool() }

    package init(json value: JSONValue) throws {
        guard case .bool(let flag) = value else { throw value.mismatch(Bool.self) }
        self = flag
    }
}

extension Array: PayloadValue where Element: PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for var element in self { element.write(to: &writer) }
        writer.endArray()
    }

    package init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = try reader.decoded() }

    package init(json value: JSONValue) throws {
        guard case .array(let values) = value else { throw value.mismatch([JSONValue].self) }
        self = []
        for (index, element) in values.enumerated() {
            do { append(try Element(json: element)) } catch let error as DecodingError {
                throw error.inside([JSONKey(intValue: index)])
            }
        }
    }
}

extension Dictionary: PayloadValue where Key == String, Value: PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, element) in sorted(by: { $0.key < $1.key }) {
            var element = element
            writer.key(name)
            element.write(to: &writer)
        }
        writer.endObject()
    }

    package init(reading reader: inout PayloadReader) throws(PayloadReadingError) { self = try reader.decoded() }

    package init(json value: JSONValue) throws {
        guard case .object(let object) = value else { throw value.mismatch([String: JSONValue].self) }
        self = [:]
        for member in object.members {
            do { self[member.key] = try Value(json: member.value) } catch let error as DecodingError {
                throw error.inside([JSONKey(stringValue: member.key)])
            }
        }
    }
}

// MARK: - Names

/// The JSON keys of a payload, indexed by the number of the field.
package struct PayloadNames: Sendable {
    /// Empty for a field that is missing in the table.
    private var texts: [StaticString]
    private var keys: [String]
    private var known: Set<String> = []

    package init<Model: Payload>(of _: Model.Type) {
        texts = Array(repeating: "", count: Model.Field.allCases.count)
        keys = Array(repeating: "", count: texts.count)
        var model = Model()
        var collector = Collector(names: self)
        model.visit(&collector)
        self = collector.names
    }

    package subscript(field: some PayloadField) -> StaticString { texts[Int(field.rawValue)] }

    func key(_ field: some PayloadField) -> String { keys[Int(field.rawValue)] }

    func contains(_ name: String) -> Bool { known.contains(name) }

    private struct Collector: PayloadVisitor {
        var names: PayloadNames

        mutating func member<Value: PayloadValue>(
            _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
        ) {
            names.texts[Int(field.rawValue)] = name
            names.keys[Int(field.rawValue)] = "\(name)"
            names.known.insert("\(name)")
        }
    }
}

extension Payload {
    package static var keys: PayloadNames? { names }
}
