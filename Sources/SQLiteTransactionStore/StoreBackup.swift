import Foundation
import GRDB
import TransactionStore

/// Backs up and checks the file of a store.
extension SQLiteTransactionStore {
    /// Writes a copy of a store into a new file, while programs use the store. The copy contains everything that was
    /// committed before the call. It is checked first and gets its name last, so an interrupted call leaves no file of
    /// that name.
    ///
    /// - Parameters:
    ///   - path: the store; its file must exist.
    ///   - copy: the new file, which must not exist. Its folder needs room for the whole store.
    /// - Throws: `TransactionStoreError`: `invalidArgument` if the new file exists, `corrupt` if the store is damaged,
    ///   `unavailable` if there is no store at the path, and the error of SQLite or of the disk.
    public static func backUp(from path: String, to copy: String) throws {
        guard FileIdentity(path) != nil else {
            throw TransactionStoreError(.unavailable, "The file \(path) does not exist.")
        }
        let file = try NewFile(copy)
        let unfinished = file.unfinished
        defer { unlink(unfinished) }
        PrivateFile.make(unfinished)
        do {
            let source = try DatabaseQueue(path: path, configuration: reading())
            try source.inDatabase { try checkSchema($0) }
            // SQLite reads all pages in one snapshot ("VACUUM with an INTO clause").
            try source.inDatabase { try $0.execute(sql: "VACUUM INTO ?", arguments: [unfinished]) }
            try source.close()
        } catch {
            throw TransactionStoreError(error)
        }
        if let problem = try integrityProblems(ofFileAt: unfinished).first {
            throw TransactionStoreError(.corrupt, "The copy is damaged, and probably the store too: \(problem)")
        }
        guard PrivateFile.synchronize(unfinished) else {
            throw TransactionStoreError(.notWritable, "The copy cannot be flushed to the disk: \(copy)")
        }
        try file.finish()
    }

    /// The problems that SQLite finds in the file of a store (PRAGMA integrity_check), at most 100; empty if there are
    /// none.
    /// - Throws: `TransactionStoreError`.
    public static func integrityProblems(ofFileAt path: String) throws -> [String] {
        do {
            let queue = try DatabaseQueue(path: path, configuration: reading())
            let found = try queue.inDatabase { try String.fetchAll($0, sql: "PRAGMA integrity_check(100)") }
            try queue.close()
            return found == ["ok"] ? [] : found
        } catch {
            throw TransactionStoreError(error)
        }
    }

    private static func reading() -> Configuration {
        var configuration = Configuration()
        configuration.label = "StoreBackup"
        configuration.busyMode = .timeout(30)
        configuration.foreignKeysEnabled = false
        return configuration
    }

    private static func checkSchema(_ db: Database) throws {
        guard try db.tableExists("transactions"), try db.tableExists("identities") else {
            throw TransactionStoreError(.corrupt, "The file is not a store.")
        }
    }
}
