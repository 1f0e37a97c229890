public import AppStoreModels
internal import Purchases

/// The caller's data for documents without an app or an environment, such as bare rows. It counts only where neither a
/// document, nor the columns beside it, nor a receipt of its record states it.
public struct DocumentDefaults: Sendable, Hashable {
    /// The bundle id of their app; nil if it is unknown.
    public var bundleId: String?
    /// Their environment; nil if it is unknown.
    public var environment: Environment?

    /// Creates defaults without checking them: see ``isBundleId(_:)``. Without arguments, documents get neither an app
    /// nor an environment.
    public init(bundleId: String? = nil, environment: Environment? = nil) {
        self.bundleId = bundleId
        self.environment = environment
    }

    var isEmpty: Bool { bundleId == nil && environment == nil }

    /// Whether a text has the form of a bundle id, with a full stop and a letter, and without the id of a team.
    public static func isBundleId(_ text: String) -> Bool { DocumentColumns.bundleId(text) == text }
}

extension ColumnRoles {
    /// The roles for a record, with the defaults that its documents do not contradict.
    func roles(of record: InputRecord, beside read: RecordDocuments) -> ColumnRoles {
        var counting = roles(of: record)
        counting.defaults = read.uncontradicted(counting.defaults)
        return counting
    }

    /// The defaults for a document.
    /// - Parameter columns: the columns beside the document. One whose value cannot be read states something else than the default.
    func defaults(beside columns: [CarriedColumn]) -> RecordScope {
        guard !defaults.isEmpty else { return RecordScope() }
        let unread = documents.read(columns).unread
        var scope = defaults.scope
        if unread.contains(.bundleId) { scope.bundleId = nil }
        if unread.contains(.environment) { scope.environment = nil }
        return scope
    }
}

extension DocumentDefaults {
    /// With the options that state them.
    var scope: RecordScope {
        var scope = RecordScope()
        scope.bundleId = bundleId.map { RecordedSurroundings.Column($0, "--default-bundle-id") }
        scope.environment = environment.map { RecordedSurroundings.Column($0, "--default-environment") }
        return scope
    }
}
