package import Purchases

extension SQLStore {
    /// Reads up to 1,000 ids with each statement. Ids that are not printable ASCII are left out, because none is
    /// stored.
    public func unknownTransactions(_ ids: [String], in scope: StoreScope) async throws -> [UnknownTransaction] {
        try await reading { session in
            try parts(of: ids).flatMap { part in
                try session.rows(
                    """
                    SELECT transaction_id, answered_at FROM unknown_transactions
                    WHERE environment = \(scope.environment.rawValue) AND bundle_id = \(scope.bundleId)
                        AND transaction_id \(oneOf: part)
                    """
                ) {
                    UnknownTransaction(scope: scope, transactionId: try $0.text(0), answeredDate: try $0.integer(1))
                }
            }
        }
    }

    /// Removes the answers in one database transaction. Ids without an answer are ignored.
    public func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) async throws {
        try await writing { session in
            for part in parts(of: ids) {
                try session.run(
                    """
                    DELETE FROM unknown_transactions
                    WHERE environment = \(scope.environment.rawValue) AND bundle_id = \(scope.bundleId)
                        AND transaction_id \(oneOf: part)
                    """)
            }
        }
    }

    /// Reads up to 1,000 identities with each statement. Identities that are not meaningful are left out, because no
    /// claim has one (``MigrationLimits/check(_:)``).
    public func users(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> [UserClaim] {
        let kinds = Dictionary(grouping: identities.filter(\.isMeaningful), by: \.kind.rawValue)
        return try await reading { session in
            let (join, scopeColumn) = (session.dialect.join, session.dialect.scope)
            return try kinds.sorted { $0.key < $1.key }.flatMap { kind, identities in
                try parts(of: identities.map(\.value)).flatMap { part in
                    try session.rows(
                        """
                        SELECT u.kind, u.value, u.user_id, u.carried
                        FROM scopes AS s \(sql: join) user_claims AS u ON u.\(sql: scopeColumn) = s.id
                        WHERE s.environment = \(scope.environment.rawValue) AND s.bundle_id = \(scope.bundleId)
                            AND u.kind = \(Int64(kind)) AND u.value \(oneOf: part)
                        ORDER BY u.value, u.key
                        """
                    ) {
                        try UserClaim(
                            scope: scope, kind: $0.integer(0), value: $0.text(1), userId: $0.text(2),
                            carried: $0.text(3))
                    }
                }
            }
        }
    }
}

/// The ids, each once and in order, in parts for one statement each. An id that is not printable ASCII identifies nothing.
func parts(of ids: [String]) -> [[String]] { inParts(Set(ids.filter(CustomerIdentity.isPlain))) }

/// The texts in order, in parts for one statement each.
func inParts(_ texts: some Sequence<String>) -> [[String]] {
    let texts = texts.sorted()
    return stride(from: 0, to: texts.count, by: 1_000).map { Array(texts[$0..<min($0 + 1_000, texts.count)]) }
}
