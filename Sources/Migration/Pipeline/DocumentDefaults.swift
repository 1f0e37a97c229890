public import AppStoreModels
internal import Purchases

/// The caller's data for documents without an app or an environment, such as bare rows. It counts only where neither a
/// document, nor the columns beside it, nor a receipt of its record states it.
public struct DocumentDefaults: Sendable, Hashable {
    /// The bundle id of their app; nil if it is unknown.
    public var bundleId: String?
    /// Their environment; nil if it is unknown.
    public var environment: Environment?

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

    /// Adds the defaults to what is known about a document from beside it.
    /// - Parameter columns: the columns beside the document. One whose value cannot be read states something else than the default.
    func addDefaults(to stated: inout RecordedSurroundings, beside columns: [CarriedColumn]) {
        guard !defaults.isEmpty else { return }
        let unread = documents.read(columns).unread
        if stated.bundleId == nil, !unread.contains(.bundleId), let bundleId = defaults.bundleId {
            stated.bundleId = .init(bundleId, "--default-bundle-id")
        }
        if stated.environment == nil, !unread.contains(.environment), let environment = defaults.environment {
            stated.environment = .init(environment, "--default-environment")
        }
    }
}
