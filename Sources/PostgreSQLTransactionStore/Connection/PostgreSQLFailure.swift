import TransactionStore

/// An error that the server or libpq reported.
struct PostgreSQLFailure: Error {
    /// Five characters (PostgreSQL documentation, appendix A); nil if libpq itself failed.
    let sqlState: String?
    /// The primary message, without passwords. Details are left out because they quote values.
    let message: String
    /// Whether the connection can no longer be used.
    let isConnectionLost: Bool
    /// Whether the connection was lost after COMMIT was sent and before its answer, so the outcome is unknown.
    var isCommitUnknown = false
    /// Whether the server did not answer before our own deadline.
    var isTimedOut = false

    /// Whether the connection had ended before the call, so the same call may succeed on a new connection.
    var isStaleConnection: Bool { isConnectionLost && !isCommitUnknown && !isTimedOut }

    /// Whether two writers conflicted. The same transaction succeeds when it is repeated.
    var isConflict: Bool {
        switch sqlState {
        case "40001", "40P01": true
        default: false
        }
    }

    /// Another writer inserted a key first.
    var isUniqueViolation: Bool { sqlState == "23505" }

    /// The error for the callers of the store.
    func storeError(_ server: String) -> TransactionStoreError {
        let state = sqlState.map { " (SQLSTATE \($0))" } ?? ""
        let unknown =
            isCommitUnknown
            ? "; the outcome of the commit is unknown; applying the same facts again is safe" : ""
        return TransactionStoreError(code, "\(server): \(message)\(state)\(unknown)")
    }

    private var code: TransactionStoreError.Code {
        guard let sqlState else { return .unavailable }
        switch sqlState {
        case "57P01", "57P02", "57P03", "57P05", "25P03", "53300": return .unavailable
        case "25006", "53100", "42501": return .notWritable
        case "55P03", "57014", "40001", "40P01", "53200": return .busy
        default: break
        }
        switch sqlState.prefix(2) {
        case "08", "58": return .unavailable
        case "XX": return sqlState == "XX000" ? .engine : .corrupt
        default: return isConnectionLost ? .unavailable : .engine
        }
    }
}
