package import AppStoreModels

// The app and the environment of unsigned documents. Of each, the first of these counts:
//
// | stated by | condition |
// |---|---|
// | the document itself | |
// | the columns beside it | |
// | a signed document of the record that states one of its purchases | the newest of several |
// | the signed documents of the record | all are of one app and environment, and the unsigned document states no other app |
// | the caller's defaults | no document of the record states another value |
//
// An id of a purchase can state the sandbox. Then no other value of the record counts for the environment.

/// The app and the environment that one part of a record states, with the names of their columns in provenances.
package struct RecordScope: Sendable, Equatable {
    package var bundleId: RecordedSurroundings.Column<String>?
    package var environment: RecordedSurroundings.Column<Environment>?

    package init() {}

    /// - Parameters:
    ///   - bundleId: the app; nil if it is unknown.
    ///   - environment: the environment; nil if it is unknown.
    ///   - name: the place of the document in the record.
    package init(bundleId: String?, environment: Environment?, name: String) {
        self.bundleId = bundleId.map { RecordedSurroundings.Column($0, name) }
        self.environment = environment.map { RecordedSurroundings.Column($0, name) }
    }

    /// The caller's defaults without those that the record contradicts: nothing says which of two values the other documents have.
    /// - Parameters:
    ///   - bundleIds: the apps that documents of the record state.
    ///   - environments: the environments that they state.
    package func uncontradicted(by bundleIds: Set<String>, _ environments: Set<Environment>) -> RecordScope {
        var scope = self
        if let stated = bundleId?.value, !bundleIds.subtracting([stated]).isEmpty { scope.bundleId = nil }
        if let stated = environment?.value, !environments.subtracting([stated]).isEmpty { scope.environment = nil }
        return scope
    }
}

extension RecordedSurroundings {
    /// Adds an app and an environment where none is known.
    package mutating func complete(from scope: RecordScope) {
        bundleId = bundleId ?? scope.bundleId
        environment = environment ?? scope.environment
    }

    /// What counts for an unsigned document.
    /// - Parameters:
    ///   - mapping: the document, mapped with its columns.
    ///   - signed: of the signed document that it belongs to; nil if there is none.
    ///   - defaults: those that the record does not contradict.
    package func completed(
        for mapping: RecordedMapping, beside signed: RecordScope?, defaults: RecordScope
    ) -> RecordedSurroundings {
        var stated = self
        if let signed { stated.complete(from: signed) }
        stated.complete(from: defaults)
        if !mapping.lacksEnvironment { stated.environment = environment }
        return stated
    }
}

/// The apps and the environments that the signed documents of a record state.
package struct SignedScopes: Sendable {
    /// The signed document that an unsigned one belongs to.
    package struct Choice: Sendable, Equatable {
        /// Nil if there is none.
        package let scope: RecordScope?
        /// Whether it states a purchase of the unsigned document. Otherwise a receipt that was not verified may state one.
        package let sharesPurchase: Bool
    }

    /// The newest first.
    private let scopes: [RecordScope]
    /// The newest one, if all are of one app and environment. Otherwise nothing says of which a document without a common purchase is.
    private let common: RecordScope?
    /// By transaction id and original transaction id, the index of the newest document with it.
    private var indices: [String: Int] = [:]

    /// - Parameter documents: what the documents that state an app state, the newest first (``SignedRecord/isNewer(than:)``).
    package init(_ documents: [(scope: RecordScope, receipt: MappedReceipt)]) {
        let documents = documents.filter { $0.scope.bundleId != nil }
        let scopes = documents.map(\.scope)
        let newest = scopes.first
        let areOne = scopes.allSatisfy {
            $0.bundleId?.value == newest?.bundleId?.value && $0.environment?.value == newest?.environment?.value
        }
        common = areOne ? newest : nil
        self.scopes = scopes
        for (index, document) in documents.enumerated() {
            for id in Self.ids(document.receipt.transactions, document.receipt.renewalInfos) where indices[id] == nil {
                indices[id] = index
            }
        }
    }

    /// The signed document that an unsigned one belongs to.
    package func choice(for mapping: RecordedMapping) -> Choice {
        if let shared = sharing(mapping.transactions, mapping.renewalInfos) {
            return Choice(scope: shared, sharesPurchase: true)
        }
        return Choice(scope: only(of: mapping), sharesPurchase: false)
    }

    /// The document that states the app of signed renewal info, which states none itself: it states a purchase of the
    /// subscription. Nil if there is none. An id of another environment is of another purchase.
    package func scope(ofRenewalInfo signed: MappedReceipt, in environment: Environment?) -> RecordScope? {
        guard let shared = sharing(signed.transactions, signed.renewalInfos),
            shared.environment?.value == environment
        else { return nil }
        return shared
    }

    private func sharing(_ transactions: [MappedTransaction], _ renewals: [MappedRenewalInfo]) -> RecordScope? {
        Self.ids(transactions, renewals).compactMap { indices[$0] }.min().map { scopes[$0] }
    }

    /// What all documents state. Nil if the unsigned document states another app.
    private func only(of mapping: RecordedMapping) -> RecordScope? {
        guard let common else { return nil }
        if let bundleId = mapping.statedBundleId, bundleId != common.bundleId?.value { return nil }
        return common
    }

    private static func ids(_ transactions: [MappedTransaction], _ renewals: [MappedRenewalInfo]) -> [String] {
        transactions.flatMap { [$0.payload.transactionId, $0.payload.originalTransactionId].compactMap(\.self) }
            + renewals.compactMap(\.payload.originalTransactionId)
    }
}

extension RecordedMapping {
    /// The app of the document.
    package var statedBundleId: String? {
        bundleId ?? appTransaction?.payload.bundleId ?? transactions.lazy.compactMap(\.payload.bundleId).first
    }

    /// The environments of the document and of its purchases.
    package var statedEnvironments: [Environment] {
        [environment].compactMap(\.self) + transactions.compactMap(\.payload.environment)
            + renewalInfos.compactMap(\.payload.environment)
    }

    /// Whether the app of a purchase is missing, or that of a document without purchases.
    package var lacksBundleId: Bool {
        transactions.isEmpty ? statedBundleId == nil : transactions.contains { $0.payload.bundleId == nil }
    }

    /// The same for the environment.
    package var lacksEnvironment: Bool {
        transactions.isEmpty ? environment == nil : transactions.contains { $0.payload.environment == nil }
    }

    /// Whether the app or the environment of the document or of one of its purchases is unknown.
    package var lacksScope: Bool { lacksBundleId || lacksEnvironment }
}
