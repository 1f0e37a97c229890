import AppStoreModels
import Purchases

/// Quarantines records and documents that are not migrated, and counts them.
struct RecordQuarantine: Sendable {
    /// The roles that this run gives to columns.
    let roles: ColumnRoles
    /// Whether the quarantine is kept in a store, from which a retry reads it.
    let isForStore: Bool

    /// Quarantines a whole record.
    func add(_ record: InputRecord, _ reason: QuarantineReason, _ kind: RecordKind, into output: inout BatchOutput) {
        record.writeQuarantine(reason, kind: kind, roles: keptRoles(of: record), to: &output.quarantine)
        output.counts.quarantined(kind, reason)
    }

    /// Quarantines the documents of a migrated record that were not migrated.
    ///
    /// The line of each has the columns beside it. If all lines together would be much longer than the record, the whole record is
    /// quarantined once.
    func addRest(of record: InputRecord, _ read: RecordDocuments, into output: inout BatchOutput) {
        var waiting = read.waiting
        if Self.areLong(read.refused, of: record) {
            waiting = waiting ?? read.refused.first
        } else {
            for refused in read.refused {
                record.writeQuarantine(
                    refused.reason, kind: refused.kind, document: refused.document, roles: keptRoles(of: record),
                    to: &output.quarantine)
                output.counts.quarantinedDocument(refused.reason)
            }
        }
        if isForStore { add(read.unverified, of: record, into: &output) }
        guard let waiting else { return }
        record.writeQuarantine(
            waiting.reason, kind: waiting.kind, isMigrated: true, roles: keptRoles(of: record), to: &output.quarantine)
        output.counts.quarantinedDocument(waiting.reason)
    }

    /// Whether the lines, without their documents, have more than 256 KiB and four times the bytes of the record.
    private static func areLong(_ refused: [RefusedDocument], of record: InputRecord) -> Bool {
        // Without its columns, a line has about 512 bytes.
        let each = 512 + record.carried.size
        let total = refused.reduce(0) { $0 + each + $1.document.carried.size }
        return total > (256 << 10) + 4 * record.original.count
    }

    /// Quarantines the unverified receipts inside the documents of a migrated record. A later run can verify them.
    private func add(_ receipts: [UnverifiedReceipt], of record: InputRecord, into output: inout BatchOutput) {
        for receipt in receipts {
            let columns = record.carried + receipt.carried
            let users = self.roles.roles(of: record).users
            var own = [users.userId(columns) == nil ? nil : users.userColumn(columns)].compactMap(\.self)
            for column in users.kept(columns) where !own.contains(where: { $0.name == column.name }) {
                own.append(column)
            }
            let roles = ColumnRoles(users: users, documents: DocumentColumns(), receipts: [])
            receipt.record(own)
                .writeQuarantine(receipt.reason, kind: receipt.kind, roles: roles, to: &output.quarantine)
            output.counts.quarantinedDocument(receipt.reason)
        }
    }

    /// The roles that a quarantined record keeps. Lines of a stream are migrated again by the caller, who has the options.
    private func keptRoles(of record: InputRecord) -> ColumnRoles? { isForStore ? roles.roles(of: record) : nil }
}
