internal import AppStoreModels
internal import LegacyReceipts
public import Purchases

/// Builds a `Customer` from the rows of an engine. The order of the rows does not matter.
///
/// The rows are not trusted: no bytes of an engine can make this type trap.
public struct CustomerAssembler {
    /// The columns of a row that are not its key.
    package struct Row {
        package let kind: Int64
        package let source: Int64
        package let signedDate: Int64
        /// Nil too if the reader needs no hashes.
        private let document: Fingerprint?

        /// - Parameters:
        ///   - kind: `FactRow.kind`.
        ///   - source: `FactRow.source`.
        ///   - signedDate: `FactRow.signedDate`.
        ///   - document: `FactRow.document`; nil if the reader needs no hashes.
        package init(kind: Int64, source: Int64, signedDate: Int64, document: UnsafeBufferPointer<UInt8>? = nil) {
            self.kind = kind
            self.source = source
            self.signedDate = signedDate
            self.document = document.flatMap { Fingerprint(bytes: $0) }
        }

        fileprivate init(_ row: FactRow) {
            self = row.document.withUnsafeBufferPointer {
                Row(kind: row.kind, source: row.source, signedDate: row.signedDate, document: $0)
            }
        }

        /// - Throws: `corrupt` if the row is not of the kind of its source.
        fileprivate var origin: FactOrigin {
            get throws {
                let origin = try knownOrigin
                guard hasKind(origin.kind) else { throw StoredObject.corrupt("unknown source") }
                return origin
            }
        }

        /// - Throws: `corrupt` if the row is not of the kind of the fact. Before the first release, received cancellations of
        ///   notifications of version 1 were in the row of the kind `recorded`, and steps of an upgrade read such rows.
        fileprivate func check(_ fact: TransactionFact) throws {
            guard hasKind(fact.origin.kind) || hasKind(fact.origin.source.kind) else {
                throw StoredObject.corrupt("unknown source")
            }
        }

        private func hasKind(_ known: FactKind) -> Bool { known.rawValue == Int(exactly: kind) }

        /// The same for the row of an app transaction. Before the first release, stores had one kind of row for unsigned
        /// documents with and without legacy fields, so both kinds are accepted.
        fileprivate var originOfAppTransaction: FactOrigin {
            get throws {
                let origin = try knownOrigin
                let kinds = [true, false].map {
                    AppTransactionRowKind(origin.kind, statesLegacyFields: $0).rawValue
                }
                guard kinds.contains(kind) else { throw StoredObject.corrupt("unknown source") }
                return origin
            }
        }

        fileprivate var knownOrigin: FactOrigin {
            get throws {
                guard let source = FactSource(code: source) else { throw StoredObject.corrupt("unknown source") }
                return FactOrigin(source: source, signedDate: signedDate, document: document)
            }
        }
    }

    private var statements: CustomerStatements
    private var texts = CommonTexts()

    /// - Parameter scope: the app and the environment of the rows.
    public init(scope: StoreScope) { statements = CustomerStatements(scope: scope) }

    /// Whether the identity was added.
    public func hasIdentity(_ identity: CustomerIdentity) -> Bool { statements.identities.contains(identity) }

    /// Adds an identity of the customer. ``customer()`` returns nil if none was added.
    /// - Parameters:
    ///   - kind: the raw value of a `CustomerIdentity.Kind`.
    ///   - value: the value of the identity.
    /// - Throws: ``TransactionStoreError`` `corrupt` for an unknown kind.
    public mutating func addIdentity(kind: Int64, value: String) throws {
        statements.identities.insert(try CustomerIdentity(storedKind: kind, value))
    }

    /// Adds the row of a transaction.
    /// - Throws: ``TransactionStoreError`` `corrupt` for bytes that are not those of a `FactRow`.
    public mutating func addTransaction(_ row: FactRow) throws {
        try row.payload.withUnsafeBufferPointer { payload in
            try row.legacy.withUnsafeBufferPointer { try addTransaction(Row(row), payload: payload, legacy: $0) }
        }
    }

    /// Adds the row of a renewal info.
    /// - Throws: ``TransactionStoreError`` `corrupt` for bytes that are not those of a `FactRow`.
    public mutating func addRenewalInfo(_ row: FactRow) throws {
        try row.payload.withUnsafeBufferPointer { try addRenewalInfo(Row(row), payload: $0) }
    }

    /// Adds the row of an app transaction. Of several rows of one kind, `FactRow.replaces(_:)` decides which one
    /// counts.
    /// - Throws: ``TransactionStoreError`` `corrupt` for bytes that are not those of a `FactRow`.
    public mutating func addAppTransaction(_ row: FactRow) throws {
        try row.payload.withUnsafeBufferPointer { payload in
            try row.legacy.withUnsafeBufferPointer { try addAppTransaction(Row(row), payload: payload, legacy: $0) }
        }
    }

    /// - Parameters:
    ///   - row: the other columns of the row.
    ///   - payload: the contents of `FactEncoder/payload`. They need not outlive the call.
    ///   - legacy: the contents of `FactEncoder/legacy`. They may be empty.
    package mutating func addTransaction(
        _ row: Row, payload: UnsafeBufferPointer<UInt8>, legacy: UnsafeBufferPointer<UInt8>
    ) throws {
        let fact = try TransactionFact(
            stored: payload, legacy: legacy, row.knownOrigin, in: statements.scope, texts: &texts)
        try row.check(fact)
        statements.transactions.append(fact)
    }

    /// Adds the transactions of another assembler.
    mutating func addTransactions(of other: CustomerAssembler) {
        statements.transactions += other.statements.transactions
    }

    /// Adds the renewal infos of another assembler, which are of other subscriptions.
    mutating func addRenewalInfos(of other: CustomerAssembler) {
        statements.renewalInfos.merge(other.statements.renewalInfos) { _, new in new }
    }

    package mutating func addRenewalInfo(_ row: Row, payload: UnsafeBufferPointer<UInt8>) throws {
        let fact = try RenewalInfoFact(stored: payload, row.origin)
        guard let id = fact.payload.originalTransactionId else { throw StoredObject.corrupt("renewal without an id") }
        statements.renewalInfos[id, default: ByKind()][fact.origin.kind] = fact
    }

    /// The parameters are those of `addTransaction`.
    package mutating func addAppTransaction(
        _ row: Row, payload: UnsafeBufferPointer<UInt8>, legacy: UnsafeBufferPointer<UInt8>
    ) throws {
        // Two rows of a kind occur only if the identities belong to several customers that no document joins.
        statements.add(try AppTransactionFact(stored: payload, legacy: legacy, row.originOfAppTransaction))
    }

    /// Adds a stored receipt. Of several receipts of one form, the newest counts.
    /// - Parameters:
    ///   - form: the raw value of a `KnownReceipt.Form`.
    ///   - signedDate: `KnownReceipt.signedDate`, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - bytes: `KnownReceipt.bytes`.
    /// - Throws: ``TransactionStoreError`` `corrupt` for an unknown form.
    public mutating func addReceipt(form: Int64, signedDate: Int64, bytes: [UInt8]) throws {
        guard let form = Int(exactly: form).flatMap(KnownReceipt.Form.init(rawValue:)) else {
            throw StoredObject.corrupt("unknown form of receipt")
        }
        statements.add(KnownReceipt(form: form, bytes: bytes, signedDate: signedDate))
    }

    /// What a row of a look-up is, whose rows are of several kinds. SQL contains the raw values.
    package enum Part: Int64 {
        case identity = 0
        case transaction = 1
        case renewalInfo = 2
        case appTransaction = 3
        case receipt = 4
    }

    /// Adds a row of a look-up.
    /// - Parameters:
    ///   - part: the raw value of a ``Part``.
    ///   - row: the kind of an identity and the form of a receipt are its kinds.
    ///   - payload: the value of an identity, and the bytes of a receipt, too.
    ///   - legacy: as in `addTransaction`.
    package mutating func add(
        _ part: Int64, _ row: Row, payload: UnsafeBufferPointer<UInt8>, legacy: UnsafeBufferPointer<UInt8>
    ) throws {
        switch Part(rawValue: part) {
        case .identity:
            guard let value = String(validating: payload, as: UTF8.self) else {
                throw TransactionStoreError(.corrupt, "The store has an identity that is not UTF-8.")
            }
            try addIdentity(kind: row.kind, value: value)
        case .transaction: try addTransaction(row, payload: payload, legacy: legacy)
        case .renewalInfo: try addRenewalInfo(row, payload: payload)
        case .appTransaction: try addAppTransaction(row, payload: payload, legacy: legacy)
        case .receipt: try addReceipt(form: row.kind, signedDate: row.signedDate, bytes: Array(payload))
        case nil: throw TransactionStoreError(.engine, "A look-up gave an unexpected row.")
        }
    }

    /// The customer; nil if no identity was added.
    public func customer() -> Customer? { statements.resolved() }

    /// The resolved transactions of the rows: one per transaction id, greatest id first.
    public func joinedTransactions() -> [StoredTransaction] { statements.resolvedTransactions() }
}

extension StoreScope {
    /// For purchases that are assembled without their customer. Ledger state does not depend on the customer.
    package static let placeholder = StoreScope(environment: .production, bundleId: "")
}
