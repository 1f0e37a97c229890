/// A column of the caller's own whose value has an unknown form. `notes` of the summary counts the records or documents
/// beside such a value.
public enum UnreadColumn: String, Sendable, CaseIterable {
    case user = "userNotRead"
    case bundleId = "bundleIdNotRead"
    case environment = "environmentNotRead"
    case appAccountToken = "appAccountTokenNotRead"
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

extension MigrationSummary {
    /// The columns with values of an unknown form, and how many records or documents they are beside.
    public var unreadColumns: [(column: UnreadColumn, count: Int)] {
        UnreadColumn.allCases.compactMap { column in
            notes[column.rawValue].map { (column: column, count: $0) }
        }
    }
}
