import AppStoreModels
import Purchases
import TransactionStore

/// Excludes documents of apps and environments that were not requested.
struct RecordFilter: Sendable {
    /// Nil for all.
    private let environments: Set<Environment>?
    /// Nil for all.
    private let bundleIds: Set<String>?

    init(_ options: MigrationOptions) {
        environments = options.environments
        bundleIds = options.bundleIds
    }

    /// Nil if documents of this environment and app are not excluded.
    private func exclusion(_ environment: Environment?, _ bundleId: String?) -> QuarantineReason? {
        if let environments {
            guard let environment, environments.contains(environment) else {
                return .otherEnvironment(environment?.rawValue)
            }
        }
        if let bundleIds, let bundleId, !bundleIds.contains(bundleId) {
            return .otherBundleId(bundleId)
        }
        return nil
    }

    /// Why a stored receipt is excluded; nil if it is not.
    func exclusion(of scope: StoreScope) -> QuarantineReason? { exclusion(scope.environment, scope.bundleId) }

    /// Why a verified document is excluded; nil if it is not.
    func exclusion(of content: VerifiedContent) -> QuarantineReason? {
        exclusion(content.environment, content.bundleId)
    }

    /// Refuses the recorded documents of excluded apps and environments. Verified documents were refused when they were
    /// read. Beside a verified document, only the rows of a recorded document decide, if it has any.
    func exclude(from read: inout RecordDocuments) {
        guard environments != nil || bundleIds != nil else { return }
        let signed = read.verified.first?.content
        let recorded = read.recorded
        read.recorded = []
        for document in recorded {
            if document.hasPurchaseWithoutApp { read.hasDocumentWithoutApp = true }
            if document.rows.isEmpty {
                sort(document, beside: signed, into: &read)
            } else {
                sortRows(of: document, beside: signed, into: &read)
            }
        }
        // A document without an app can be about a purchase in an excluded document, and has no meaning without it.
        if read.exclusion != nil, read.hasDocumentWithoutApp { read.clear() }
    }

    /// Excludes a document if one of its rows is of an excluded app or environment.
    private func sort(
        _ document: RecordedDocument, beside signed: VerifiedContent?, into read: inout RecordDocuments
    ) {
        guard let reason = exclusion(of: document, beside: signed) else { return read.recorded.append(document) }
        read.exclude(document, reason)
    }

    private func exclusion(of document: RecordedDocument, beside signed: VerifiedContent?) -> QuarantineReason? {
        let mapping = document.mapping
        if let row = excludedRows(of: mapping, beside: signed).first { return row.reason }
        guard document.holdsAnything, signed == nil || mapping.transactions.isEmpty else { return nil }
        let environment =
            mapping.environment ?? mapping.transactions.first?.payload.environment ?? signed?.environment
        return exclusion(environment, mapping.statedBundleId)
    }

    /// Excludes each StoreKit 2 transaction of an excluded app or environment alone.
    private func sortRows(
        of document: RecordedDocument, beside signed: VerifiedContent?, into read: inout RecordDocuments
    ) {
        var document = document
        let rows = excludedRows(of: document.mapping, beside: signed)
        let byReason = Dictionary(grouping: rows) { $0.reason.message }.sorted { $0.key < $1.key }
        for (_, rows) in byReason { read.exclude(document, rows[0].reason, rows: Set(rows.map(\.place))) }
        document.remove(rows: Set(rows.map(\.place)))
        if document.holdsAnything { read.recorded.append(document) }
    }

    private func excludedRows(
        of mapping: RecordedMapping, beside signed: VerifiedContent?
    ) -> [(place: Int, reason: QuarantineReason)] {
        mapping.transactions.indices.compactMap { place -> (place: Int, reason: QuarantineReason)? in
            let payload = mapping.transactions[place].payload
            let environment = payload.environment ?? signed?.environment ?? mapping.environment
            return exclusion(environment, payload.bundleId).map { (place, $0) }
        }
    }
}

extension RecordedDocument {
    /// Whether it contains a purchase, but not the app of the purchase.
    fileprivate var hasPurchaseWithoutApp: Bool {
        guard holdsAnything else { return false }
        return mapping.statedBundleId == nil
            || !rows.isEmpty && mapping.transactions.contains { $0.payload.bundleId == nil }
    }
}
