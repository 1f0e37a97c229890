import TransactionStore

/// What the server or libpq reported.
struct PostgreSQLFailure: Error {
    /// Five characters (PostgreSQL documentation, appendix A); nil where libpq itself failed.
    let sqlState: String?
    /// The primary message, without passwords. Details are left out: they quote values.
    let message: String
    /// Whether the connection is of no use any more.
    let isConnectionLost: Bool
    /// Whether the connection was lost between sending COMMIT and its answer, so that nobody knows what happened.
    var isCommitUnknown = false
    /// Whether the server gave no answer before our own deadline.
    var isTimedOut = false

    /// Whether the connection had ended before the call, so that the same call may succeed on a new one.
    var isStaleConnection: Bool { isConnectionLost && !isCommitUnknown && !isTimedOut }

    /// Two writers stood in each other's way: the same transaction succeeds when repeated.
    var isConflict: Bool {
        switch sqlState {
        case "40001", "40P01": true
        default: false
        }
    }

    /// Another writer inserted a key first.
    var isUniqueViolation: Bool { sqlState == "23505" }

    /// The error the callers of the store see.
    func storeError(_ server: String) -> TransactionStoreError {
        let state = sqlState.map { " (SQLSTATE \($0))" } ?? ""
        let unknown =
            isCommitUnknown
            ? "; whether the commit happened is not known, applying the same facts again is harmless" : ""
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
