import GRDB
import TransactionStore

extension TransactionStoreError {
    /// Translates an error of the engine. SQLite's own messages contain names of tables and files, but no values.
    init(_ error: any Error) {
        switch error {
        case let error as TransactionStoreError: self = error
        case let error as DatabaseError: self.init(Self.code(error.resultCode), Self.message(error))
        case is CancellationError: self.init(.unavailable, "The call was cancelled.")
        default: self.init(.engine, "The store reports: \(type(of: error))")
        }
    }

    private static func message(_ error: DatabaseError) -> String {
        "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "no message")"
    }

    /// SQLite, "Result and Error Codes".
    private static func code(_ code: ResultCode) -> Code {
        switch code {
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_READONLY, .SQLITE_FULL, .SQLITE_PERM: .notWritable
        case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_INTERRUPT, .SQLITE_ABORT: .unavailable
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        default: .engine
        }
    }
}
