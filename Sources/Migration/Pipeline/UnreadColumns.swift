import Purchases

/// The name in `notes` of the summary that counts the records or documents beside a column whose value has an unknown form.
/// - Parameter role: the role of the column; nil for the caller's id of the user.
private func unreadNote(_ role: DocumentColumns.Role?) -> String { "\(role?.rawValue ?? "user")NotRead" }

extension ColumnRoles {
    /// What the columns beside a document state about it. Counts columns that cannot be read.
    func surroundings(
        of document: InputDocument, in record: InputRecord, _ counts: inout BatchCounts
    ) -> RecordedSurroundings {
        let (stated, unread) = roles(of: record).documents.read(record.carried + document.carried)
        for role in unread { counts.note(unreadNote(role)) }
        return stated
    }

    /// Counts a record whose user would be missing in the store without a message.
    func countUnreadUser(of record: InputRecord, in counts: inout BatchCounts) {
        var beside = [record.carried]
        if case .several(let documents) = record.payload { beside = documents.map { record.carried + $0.carried } }
        guard beside.contains(where: { $0.contains(where: \.isContainer) }) else { return }
        let users = roles(of: record).users
        if beside.contains(where: { users.isUnread($0) }) { counts.note(unreadNote(nil)) }
    }
}

extension MigrationSummary {
    /// The columns of the caller's own with values of an unknown form, and how many records or documents they are beside. The
    /// role is nil for the caller's id of the user.
    public var unreadColumns: [(role: DocumentColumns.Role?, count: Int)] {
        let roles: [DocumentColumns.Role?] = [nil] + DocumentColumns.Role.allCases.map(Optional.some)
        return roles.compactMap { role in notes[unreadNote(role)].map { (role: role, count: $0) } }
    }
}
