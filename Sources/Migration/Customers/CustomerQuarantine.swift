public import Purchases
public import TransactionStore

/// Finds the quarantined records of a customer.
public enum CustomerQuarantine {
    /// The keys of the records that name one of the users in their user column, or whose text names one of the identities. A row
    /// that does not fit its table has no columns, so only its text counts.
    ///
    /// - Parameters:
    ///   - identities: those of the customer.
    ///   - users: the caller's ids of the user, exactly as in the records.
    ///   - userColumn: the column or member with the user's id; nil to find it by its name, as a migration does.
    ///   - store: all of its quarantine is read.
    /// - Throws: `TransactionStoreError`.
    public static func keys(
        of identities: [CustomerIdentity], users: Set<String>, userColumn: String?, in store: any MigrationStore
    ) async throws -> [[UInt8]] {
        let mentioned = MentionedIdentities(identities)
        let columns = UserColumns(user: userColumn, carried: [])
        var keys: [[UInt8]] = []
        var last: [UInt8]?
        while true {
            let page = try await store.quarantine(after: last, limit: 200)
            guard let end = page.last else { return keys }
            last = end.key
            for record in page {
                let user = QuarantineLine(record.line[...]).flatMap { columns.userId($0.columns) }
                if user.map(users.contains) == true || mentioned.areNamed(in: record.line) { keys.append(record.key) }
            }
        }
    }
}
