import Purchases

/// A column of the caller's own whose value has an unknown form. `notes` of the summary counts the records or documents
/// beside such a value.
public enum UnreadColumn: String, Sendable, CaseIterable {
    /// The caller's id of the user.
    case user = "userNotRead"
    /// The bundle id of the app.
    case bundleId = "bundleIdNotRead"
    /// Production or sandbox.
    case environment = "environmentNotRead"
    /// The `appAccountToken`, a UUID.
    case appAccountToken = "appAccountTokenNotRead"
    /// When the document was stored.
    case recordedAt = "recordedAtNotRead"

    init(_ role: DocumentColumns.Role) {
        self =
            switch role {
            case .bundleId: .bundleId
            case .environment: .environment
            case .appAccountToken: .appAccountToken
            case .recordedAt: .recordedAt
            }
    }
}

extension ColumnRoles {
    /// What the columns beside a document state about it. Counts columns that cannot be read.
    func surroundings(
        of document: InputDocument, in record: InputRecord, _ counts: inout BatchCounts
    ) -> RecordedSurroundings {
        let (stated, unread) = roles(of: record).documents.read(record.carried + document.carried)
        for role in unread { counts.note(UnreadColumn(role).rawValue) }
        return stated
    }

    /// Counts a record whose user would be missing in the store without a message.
    func countUnreadUser(of record: InputRecord, in counts: inout BatchCounts) {
        var beside = [record.carried]
        if case .several(let documents) = record.payload { beside = documents.map { record.carried + $0.carried } }
        guard beside.contains(where: { $0.contains(where: \.isContainer) }) else { return }
        let users = roles(of: record).users
        if beside.contains(where: { users.isUnread($0) }) { counts.note(UnreadColumn.user.rawValue) }
    }
}

extension MigrationSummary {
    /// The columns with values of an unknown form, and how many records or documents they are beside.
    public var unreadColumns: [(column: UnreadColumn, count: Int)] {
        UnreadColumn.allCases.compactMap { column in
            notes[column.rawValue].map { (column: column, count: $0) }
        }
    }
}
