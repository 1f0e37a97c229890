import AppStoreModels
import Purchases

/// An unsigned document of a record, in modern terms. The unsigned StoreKit 2 transactions of a record are one.
struct RecordedDocument {
    private(set) var mapping: RecordedMapping
    let kind: RecordKind
    let document: InputDocument
    /// For StoreKit 2 transactions, the date and the document of each. Empty if all are from ``document``.
    var rows: [(asOf: AsOf?, document: InputDocument)] = []
    /// For StoreKit 2 transactions, the documents of all of them, including copies.
    var owned: [(payload: JWSTransactionDecodedPayload, document: InputDocument)] = []
    /// Whether it consists of the columns beside another document.
    var isRowBeside = false
    /// Whether its app or its environment is that of a verified document in the same record.
    private(set) var isCompletedBeside = false
    /// Whether its app or its environment is unknown, and other documents of the record decide whether a default counts for it.
    var isIncomplete = false
    /// The unverified receipts inside it.
    var unverified: [UnverifiedReceipt] = []

    /// The documents of the record.
    var documents: [InputDocument] { owned.isEmpty ? [document] : owned.map(\.document) }

    /// Whether it has no meaning without the other documents of its record.
    var needsItsRecord: Bool { isRowBeside || isCompletedBeside || isIncomplete }

    func asOf(of row: Int?) -> AsOf? {
        guard let row, !rows.isEmpty else { return mapping.asOf }
        return rows[row].asOf
    }

    /// The caller's own columns.
    func carried(beside row: Int?) -> [CarriedColumn] {
        guard let row, !rows.isEmpty else { return document.carried }
        return rows[row].document.carried
    }

    /// Whether the document states anything besides an embedded receipt, which may be damaged.
    var holdsAnything: Bool {
        !mapping.transactions.isEmpty || !mapping.renewalInfos.isEmpty || mapping.appTransaction != nil
    }

    /// Removes StoreKit 2 transactions.
    mutating func remove(rows places: Set<Int>) {
        guard !places.isEmpty else { return }
        mapping.remove(rows: places)
        rows = rows.indices.filter { !places.contains($0) }.map { rows[$0] }
    }

    /// Replaces the content by the same content with an app and an environment.
    /// `isCompletedBeside` states whether one of them is that of a verified document in the same record.
    mutating func complete(_ completed: RecordedMapping, isCompletedBeside: Bool) {
        let date = mapping.asOf?.date
        mapping = completed
        // A receipt inside the document can be newer than its rows.
        if let date { mapping.raise(notBefore: date) }
        self.isCompletedBeside = isCompletedBeside
    }

    func refused(_ reason: QuarantineReason) -> RefusedDocument {
        RefusedDocument(document: document, kind: kind, reason: reason)
    }

    /// The documents of all rows; the document, if it has no rows of its own.
    func allRefused(_ reason: QuarantineReason) -> [RefusedDocument] { refused(reason, rows: Set(rows.indices)) }

    /// The documents of some rows, with their copies.
    func refused(_ reason: QuarantineReason, rows places: Set<Int>) -> [RefusedDocument] {
        guard !rows.isEmpty else { return [refused(reason)] }
        // The same identity as in the merge. All transactions of Xcode have the id 0, so 0 identifies none.
        func identity(_ payload: JWSTransactionDecodedPayload) -> PurchaseIdentity? {
            payload.transactionId == "0" ? nil : PurchaseIdentity(payload)
        }
        let identities = places.sorted().map { identity(mapping.transactions[$0].payload) }
        let copied = Set(identities.compactMap(\.self))
        let documents =
            zip(places.sorted(), identities).filter { $0.1 == nil }.map { rows[$0.0].document }
            + owned.filter { identity($0.payload).map(copied.contains) ?? false }.map(\.document)
        return documents.map { RefusedDocument(document: $0, kind: kind, reason: reason) }
    }
}
