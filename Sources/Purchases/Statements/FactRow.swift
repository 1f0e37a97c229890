/// A fact as an engine stores it: bytes, and the columns that decide which of two facts is kept.
///
/// An engine keeps one row per key:
///
/// - a transaction: its scope, `TransactionFact.storedOriginalTransactionId`, its transaction id and the kind of the
///   row
/// - a renewal info: its scope, its original transaction id and the kind
/// - an app transaction: its customer and the kind
///
/// Of two rows with the same key, ``replaces(_:)`` decides which one is kept. `CustomerAssembler` reads the rows.
public struct FactRow: Hashable, Sendable {
    /// The raw value of a `FactKind`. An app transaction has one more kind, 4, for unsigned documents with legacy fields,
    /// and none of the kind `notified`.
    public let kind: Int64
    /// The number of a `FactSource`.
    public let source: Int64
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let signedDate: Int64
    /// JSON. An engine does not change it and does not need to read it.
    public let payload: [UInt8]
    /// The values without a field in the modern model: JSON, or empty. Renewal infos have none.
    public let legacy: [UInt8]
    /// Whether the fact states a cancellation: a `revocationDate`, or the `cancellationDate` of a legacy document.
    public let revokes: Bool
    /// The SHA-256 of the document that states the fact, 32 bytes; empty if it is not known.
    public let document: [UInt8]

    /// A row as it was stored.
    public init(
        kind: Int64, source: Int64, signedDate: Int64, payload: [UInt8], legacy: [UInt8], revokes: Bool,
        document: [UInt8]
    ) {
        self.kind = kind
        self.source = source
        self.signedDate = signedDate
        self.payload = payload
        self.legacy = legacy
        self.revokes = revokes
        self.document = document
    }

    /// The row of a transaction.
    public init(_ fact: TransactionFact) {
        var encoder = FactEncoder()
        encoder.encode(fact)
        self.init(fact.origin, encoder, legacy: encoder.legacy.bytes, revokes: fact.revokes)
    }

    /// The row of a renewal info.
    public init(_ fact: RenewalInfoFact) {
        var encoder = FactEncoder()
        encoder.encode(fact)
        self.init(fact.origin, encoder)
    }

    /// The row of an app transaction.
    public init(_ fact: AppTransactionFact) {
        var encoder = FactEncoder()
        encoder.encode(fact)
        self.init(fact.origin, encoder, kind: fact.rowKind.rawValue, legacy: encoder.legacy.bytes)
    }

    private init(
        _ origin: FactOrigin, _ encoder: FactEncoder, kind: Int64? = nil, legacy: [UInt8] = [], revokes: Bool = false
    ) {
        self.init(
            kind: kind ?? Int64(origin.kind.rawValue), source: origin.source.code, signedDate: origin.signedDate,
            payload: encoder.payload.bytes, legacy: legacy, revokes: revokes, document: origin.documentBytes)
    }

    /// The values that decide which of two rows with the same key is kept, in this order. The first one that differs
    /// decides, and the greater value is kept; bytes are compared as unsigned numbers. The order of the documents therefore does not
    /// matter. An engine that compares rows in SQL builds the comparison from this list.
    public enum Criterion: CaseIterable, Sendable {
        /// The newer document is kept.
        case signedDate
        /// Of two documents of the same date, the one with a cancellation is kept. Only rows of transactions state one.
        case revokes
        /// The bytes of ``FactRow/payload``.
        case payload
        /// The bytes of ``FactRow/legacy``. Renewal infos have none.
        case legacy
        /// The number of the source.
        case source
        /// Here two documents state the same. The one with the greater hash is named, and a hash is greater than none.
        case document
    }

    /// Whether this row replaces another row with the same key. ``Criterion`` states the order. A row never replaces itself.
    public func replaces(_ other: FactRow) -> Bool {
        for criterion in Criterion.allCases {
            switch criterion {
            case .signedDate: if signedDate != other.signedDate { return signedDate > other.signedDate }
            case .revokes: if revokes != other.revokes { return revokes }
            case .payload: if payload != other.payload { return other.payload.lexicographicallyPrecedes(payload) }
            case .legacy: if legacy != other.legacy { return other.legacy.lexicographicallyPrecedes(legacy) }
            case .source: if source != other.source { return source > other.source }
            case .document:
                if document != other.document { return other.document.lexicographicallyPrecedes(document) }
            }
        }
        return false
    }
}
