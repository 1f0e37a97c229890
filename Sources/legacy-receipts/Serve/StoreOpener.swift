import Foundation
import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TransactionStore

/// Opens the store behind an address.
enum StoreOpener {
    /// Whether an argument names a database, where paths of files and folders are possible too.
    static func isDatabase(_ argument: String) -> Bool {
        ["sqlite:", "postgres://", "postgresql://"].contains { argument.hasPrefix($0) }
    }

    /// - Parameters:
    ///   - text: the address of the store.
    ///   - deadline: after how long callers give a call up; nil if they wait.
    /// - Throws: `TransactionStoreError`.
    static func open(_ text: String, deadline: Duration? = nil) throws -> any CompleteTransactionStore {
        switch try StoreURL(text) {
        case .sqlite(let path): return try SQLiteTransactionStore.open(path: path)
        case .postgreSQL(let address):
            var options = PostgreSQLTransactionStore.Options()
            if let seconds = deadline.map({ $0 / .seconds(1) }) {
                // The server's own limit comes first: a statement that it cancels costs no connection.
                options.statementTimeout = seconds
                options.lockTimeout = seconds
                options.answerTimeout = seconds + min(seconds / 4, 1)
                // Its calls do not wait for as long as an upgrade takes.
                options.fillsInBackground = true
            }
            return try PostgreSQLTransactionStore(url: address, options: options)
        }
    }

    /// For commands that name a store and do not open it.
    /// - Throws: `CommandFailure` if the address is none.
    static func checkAddress(_ address: String) throws {
        _ = try CommandFailure.naming("The store cannot be used") { try StoreURL(address) }
    }

    /// Opens a store, which is made if it is missing, for a command that writes. Also returns its address.
    /// - Throws: `CommandFailure`.
    static func opened(_ address: String) throws -> (store: any CompleteTransactionStore, url: StoreURL) {
        try CommandFailure.naming("The store cannot be used") { (try open(address), try StoreURL(address)) }
    }

    /// For commands that need a store with content: opening a wrong path would make an empty one.
    /// - Throws: ``CommandFailure`` if the store is a file that is not there.
    static func requireExisting(_ address: String) throws {
        try CommandFailure.naming("The store cannot be used") { try checkFile(address) }
    }

    private static func checkFile(_ address: String) throws {
        if case .sqlite(let path) = try StoreURL(address), !FileManager.default.fileExists(atPath: path) {
            throw TransactionStoreError(.unavailable, "The file \(path) does not exist.")
        }
    }

    /// Runs `body` on a store that is there already, for commands that read: a wrong path would make an empty one.
    /// - Throws: ``CommandFailure``, and the errors of `body`.
    static func withExisting<Result>(
        _ text: String, _ body: (any CompleteTransactionStore) async throws -> Result
    ) async throws -> Result {
        do {
            try checkFile(text)
            return try await closing(try open(text), body)
        } catch let error as TransactionStoreError {
            throw CommandFailure("The store cannot be used: \(error)")
        }
    }

    /// Runs `body` and closes the store. An error of `body` comes before one of closing.
    /// - Parameters:
    ///   - store: the store to close.
    ///   - isOnlyRead: whether `body` only reads. Its result then counts, also if closing fails.
    ///   - body: the work with the store.
    static func closing<Result>(
        _ store: any CompleteTransactionStore, isOnlyRead: Bool = false,
        _ body: (any CompleteTransactionStore) async throws -> Result
    ) async throws -> Result {
        let result: Result
        do {
            result = try await body(store)
        } catch {
            try? await store.close()
            throw error
        }
        do {
            try await store.close()
        } catch {
            guard isOnlyRead else { throw error }
        }
        return result
    }
}
