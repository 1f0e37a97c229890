internal import LegacyReceipts
public import Purchases
public import TransactionStore

/// Finds the quarantined records of a customer.
public enum CustomerQuarantine {
    /// The keys of the records of these users: the user column names one of them, the text names one of the identities,
    /// or a receipt in the record states one of them. A row that does not fit its table has no columns, so only its
    /// text counts.
    ///
    /// - Parameters:
    ///   - identities: those of the customer.
    ///   - users: the caller's ids of the user, exactly as in the records.
    ///   - userColumn: the column or member with the user's id; nil to find it by its name, as a migration does.
    ///   - store: all of its quarantine is read.
    /// - Throws: `TransactionStoreError` or `CancellationError`.
    public static func keys(
        of identities: [CustomerIdentity], users: Set<String>, userColumn: String?, in store: any MigrationStore
    ) async throws -> [[UInt8]] {
        try await records(of: identities, users: users, userColumn: userColumn, in: store).map(\.key)
    }

    /// The records whose keys ``keys(of:users:userColumn:in:)`` returns.
    static func records(
        of identities: [CustomerIdentity], users: Set<String>, userColumn: String?, in store: any MigrationStore
    ) async throws -> [QuarantinedRecord] {
        let mentioned = MentionedIdentities(identities)
        let ids = Set(identities.map(\.value))
        let columns = UserColumns(user: userColumn, carried: [])
        var records: [QuarantinedRecord] = []
        try await store.forEachQuarantinePage { page in
            for record in page {
                let line = QuarantineLine(record.line[...])
                let user = line.flatMap { line in
                    (columns.user == nil ? line.roles?.users ?? columns : columns).userId(line.columns)
                }
                if user.map(users.contains) == true || mentioned.areNamed(in: record.line)
                    || line.map({ states(ids, $0) }) == true
                {
                    records.append(record)
                }
            }
        }
        return records
    }

    /// Whether a receipt in the record states one of the ids. The signature is not checked.
    private static func states(_ ids: Set<String>, _ line: QuarantineLine) -> Bool {
        line.record(RecordReader()).payload.documents.contains { document in
            guard case .receipt(let stored) = document.payload,
                let container = try? ReceiptContainer(stored: stored, limits: .standard)
            else { return false }
            if ids.contains(Fingerprint(of: container.bytes).description) { return true }
            switch (try? ReceiptDecoder().decode(container))?.payload {
            case .app(let receipt)?:
                return receipt.inAppPurchases.contains { purchase in
                    ids.contains(purchase.originalTransactionId ?? purchase.transactionId)
                }
            case .transaction(let receipt)?:
                return ids.contains(receipt.originalTransactionId ?? receipt.transactionId)
            case nil: return false
            }
        }
    }
}
