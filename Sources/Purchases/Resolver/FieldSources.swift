internal import AppStoreModels

/// The source of a field's value in a resolved transaction.
public enum FieldSource: Hashable, Sendable {
    /// A document states it.
    case stated(FactOrigin)
    /// The product catalog; the text names the entry, for example its file and line.
    case catalog(String)
    /// A rule concluded it from what documents state.
    case inferred(InferenceRule)
}

/// Which kind of document states each field of a joined transaction, and which fields were concluded.
///
/// Most transactions come from one kind of document, so that kind is stored once and the exceptions as sets of fields.
struct FieldSources: Sendable {
    /// The kind of document that states all other fields.
    let base: FactKind
    private var receipt = FieldMask()
    private var recorded = FieldMask()
    private var notified = FieldMask()
    private var concluded: [(field: TransactionField, provenance: Provenance)] = []
    private var concludedFields = FieldMask()

    init(base: FactKind) { self.base = base }

    /// Takes a value from a document of another kind. A nil value changes nothing.
    @inline(__always)
    mutating func take<Value>(
        _ target: inout Value?, from value: Value?, _ field: TransactionField, _ kind: FactKind
    ) {
        guard let value else { return }
        target = value
        state(field, by: kind)
    }

    /// Takes a value from a document of another kind if there is none.
    @inline(__always)
    mutating func fill<Value>(
        _ target: inout Value?, from value: @autoclosure () -> Value?, _ field: TransactionField, _ kind: FactKind
    ) {
        if target == nil { take(&target, from: value(), field, kind) }
    }

    /// Records which kind of document states a field.
    mutating func state(_ field: TransactionField, by kind: FactKind) {
        receipt.remove(field)
        recorded.remove(field)
        notified.remove(field)
        guard kind != base else { return }
        switch kind {
        case .receipt: receipt.insert(field)
        case .recorded: recorded.insert(field)
        case .notified: notified.insert(field)
        // If there is a signed transaction, it is the base.
        case .signedTransaction: break
        }
    }

    /// Gives a field a value that no document states. A nil value changes nothing.
    @inline(__always)
    mutating func conclude<Value>(
        _ target: inout Value?, _ value: Value?, _ field: TransactionField, _ provenance: @autoclosure () -> Provenance
    ) {
        guard let value else { return }
        target = value
        if concludedFields.contains(field) { concluded.removeAll { $0.field == field } }
        concludedFields.insert(field)
        concluded.append((field, provenance()))
    }

    /// The rule or catalog entry that gave a field its value; nil if a document states it.
    func conclusion(about field: TransactionField) -> Provenance? {
        guard concludedFields.contains(field) else { return nil }
        return concluded.first { $0.field == field }?.provenance
    }

    /// The fields whose values are not from a document of the kind ``base``, in ascending order.
    var exceptions: FieldMask { receipt.union(recorded).union(notified).union(concludedFields) }

    /// The kind of document that states a field, unless it was concluded.
    func kind(of field: TransactionField) -> FactKind {
        if receipt.contains(field) { return .receipt }
        if notified.contains(field) { return .notified }
        return recorded.contains(field) ? .recorded : base
    }
}

/// A set of fields of a transaction; iterates in ascending order of the raw values.
struct FieldMask: Sequence, IteratorProtocol, Sendable {
    /// Bit n is set for the field with raw value n.
    private(set) var bits: UInt64 = 0

    init() {}

    private init(bits: UInt64) { self.bits = bits }

    func union(_ other: FieldMask) -> FieldMask { FieldMask(bits: bits | other.bits) }
    func contains(_ field: TransactionField) -> Bool { bits & field.bit != 0 }
    mutating func insert(_ field: TransactionField) { bits |= field.bit }
    mutating func remove(_ field: TransactionField) { bits &= ~field.bit }

    /// Removes and returns the first field.
    @inline(__always)
    mutating func next() -> TransactionField? {
        guard bits != 0 else { return nil }
        let number = UInt8(bits.trailingZeroBitCount)
        bits &= bits - 1
        return TransactionField(rawValue: number)
    }

    /// The fields of a payload that have a value.
    init(presentIn payload: inout JWSTransactionDecodedPayload) { bits = payload.presentFields() }
}
