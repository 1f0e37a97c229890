import Foundation
import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TransactionStore

/// Opens the store behind an address.
enum StoreOpener {
    /// - Throws: `TransactionStoreError`.
    static func open(_ text: String) throws -> any CompleteTransactionStore {
        switch try StoreURL(text) {
        case .sqlite(let path): try SQLiteTransactionStore.open(path: path)
        case .postgreSQL(let address): try PostgreSQLTransactionStore(url: address)
        }
    }

    /// Runs `body` on a store that is there already, for commands that read: a wrong path would make an empty one.
    /// - Throws: ``CommandFailure``, and what else `body` throws.
    static func withExisting<Result>(
        _ text: String, _ body: (any CompleteTransactionStore) async throws -> Result
    ) async throws -> Result {
        do {
            if case .sqlite(let path) = try StoreURL(text), !FileManager.default.fileExists(atPath: path) {
                throw TransactionStoreError(.unavailable, "There is no file \(path).")
            }
            let store = try open(text)
            do {
                let result = try await body(store)
                try await store.close()
                return result
            } catch {
                try? await store.close()
                throw error
            }
        } catch let error as TransactionStoreError {
            throw CommandFailure("The store cannot be used: \(error)")
        }
    }
}
