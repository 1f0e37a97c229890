public import AppStoreModels

/// The provenance of every field of one mapped value.
///
/// Only the fields that are present are stored; a field that is not stored is ``Provenance/absent``.
public struct FieldProvenance<Field: PayloadField>: Sendable {
    /// A field that is present and where it comes from.
    public struct Entry: Hashable, Sendable {
        /// A field that has a value.
        public let field: Field
        /// Never ``Provenance/absent``.
        public let provenance: Provenance
    }

    /// An entry without reference counting, because a migration creates and moves several million of them. Attributes
    /// and rules are stored as numbers; everything else is an index into `others`.
    private struct Code: Sendable, Equatable {
        enum Kind: UInt8 { case attribute, rule, other }

        let field: Field
        let kind: Kind
        let value: UInt16

        @inline(__always)
        static func == (left: Self, right: Self) -> Bool {
            left.field.rawValue == right.field.rawValue && left.kind.rawValue == right.kind.rawValue
                && left.value == right.value
        }
    }

    private var codes: [Code] = []
    private var others: [Provenance] = []
    /// Bit n is set if the field with raw value n is present.
    private var present: UInt64 = 0

    package init(reservingCapacity capacity: Int = 0) {
        codes.reserveCapacity(capacity)
    }

    /// The fields that are present, in the order in which they were found.
    public var entries: [Entry] { codes.map { Entry(field: $0.field, provenance: provenance($0)) } }

    /// Where a field comes from; ``Provenance/absent`` if it has no value.
    public subscript(field: Field) -> Provenance {
        guard isPresent(field), let code = codes.first(where: { $0.field == field }) else { return .absent }
        return provenance(code)
    }

    private func provenance(_ code: Code) -> Provenance {
        switch code.kind {
        case .attribute: .signedAttribute(Int(code.value))
        case .rule: InferenceRule(rawValue: UInt8(truncatingIfNeeded: code.value)).map(Provenance.inferred) ?? .absent
        case .other: others[Int(code.value)]
        }
    }

    private mutating func code(_ field: Field, _ provenance: Provenance) -> Code {
        switch provenance {
        case .signedAttribute(let number):
            if let value = UInt16(exactly: number) { return Code(field: field, kind: .attribute, value: value) }
        case .inferred(let rule): return Code(field: field, kind: .rule, value: UInt16(rule.rawValue))
        default: break
        }
        // The index fits: there are at most 64 fields, and a field is seldom stated twice.
        others.append(provenance)
        return Code(field: field, kind: .other, value: UInt16(truncatingIfNeeded: others.count - 1))
    }

    /// Whether the field has a value.
    public func isPresent(_ field: Field) -> Bool { present & field.bit != 0 }

    /// The fields of the modern model that have no value.
    ///
    /// Some of them do not apply, for example the expiry date of a consumable.
    public var absentFields: [Field] { Field.allCases.filter { !isPresent($0) } }

    /// The fields that are present: bit n for the field with raw value n.
    package var presentFields: UInt64 { present }

    /// Gives a field its value and provenance, unless there is no value.
    @inline(__always)
    mutating func set<Value>(
        _ target: inout Value?, to value: Value?, _ field: Field, _ provenance: @autoclosure () -> Provenance
    ) {
        guard let value else { return }
        target = value
        record(field, provenance())
    }

    /// Removes the value of a field.
    package mutating func clear<Value>(_ target: inout Value?, _ field: Field) {
        target = nil
        guard isPresent(field) else { return }
        present &= ~field.bit
        codes.removeAll { $0.field == field }
    }

    /// Records the provenance of a field whose value is already set.
    package mutating func record(_ field: Field, _ provenance: Provenance) {
        append(code(field, provenance))
    }

    /// The same for an attribute of an app receipt. Nearly all fields of a migration have one, and this needs no
    /// ``Provenance``, which is large.
    mutating func record(_ field: Field, attribute number: Int) {
        guard let value = UInt16(exactly: number) else { return record(field, .signedAttribute(number)) }
        append(Code(field: field, kind: .attribute, value: value))
    }

    private mutating func append(_ code: Code) {
        if isPresent(code.field) { codes.removeAll { $0.field == code.field } }
        present |= code.field.bit
        codes.append(code)
    }

    /// Writes `{"transactionId":"attribute 1703",…}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for code in codes {
            writer.key(code.field.name)
            writer.string(provenance(code).text)
        }
        writer.endObject()
    }

    /// Gives every field that is present in the payload the same provenance.
    init(_ provenance: Provenance, ofFieldsIn payload: inout some Payload<Field>) {
        self.init(reservingCapacity: 24)
        let bits = payload.presentFields()
        for field in Field.allCases where bits & field.bit != 0 { record(field, provenance) }
    }

    /// Whether other records are likely to have the same provenance: it contains nothing that is specific to one
    /// record.
    var isRepeatable: Bool { others.isEmpty }

    /// Whether both produce the same bytes. Can be false for provenances that do.
    func isWrittenAs(_ other: Self) -> Bool {
        present == other.present && isRepeatable && other.isRepeatable && codes == other.codes
    }
}

extension FieldProvenance: Equatable {
    /// Equal if every field comes from the same place; the order does not matter.
    public static func == (left: Self, right: Self) -> Bool {
        left.present == right.present && Set(left.entries) == Set(right.entries)
    }
}
