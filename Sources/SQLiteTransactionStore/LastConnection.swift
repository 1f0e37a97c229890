import GRDBSQLite

/// A connection that closes after all others of the program, so that SQLite removes the log and its index.
///
/// SQLite removes both when the last connection to a file closes, but only if that connection may write (SQLite,
/// "Write-Ahead Logging"). GRDB closes its writer before its readers.
struct LastConnection {
    private let connection: OpaquePointer

    /// Nil if the file cannot be opened or is not in place. The log then stays, which loses nothing.
    init?(_ path: String, isInPlace: () -> Bool) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened else { return nil }
        // Another file may have taken its place. Nothing was read from it yet. Only a connection that has read has the
        // log open.
        guard code == SQLITE_OK, isInPlace(),
            sqlite3_exec(opened, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK
        else {
            sqlite3_close_v2(opened)
            return nil
        }
        connection = opened
    }

    func close() { sqlite3_close_v2(connection) }
}
