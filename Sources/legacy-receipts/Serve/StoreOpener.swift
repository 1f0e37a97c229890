import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TransactionStore

/// Opens the store behind an address.
enum StoreOpener {
    /// - Throws: `TransactionStoreError`.
    static func open(_ text: String) throws -> any TransactionStore {
        switch try StoreURL(text) {
        case .sqlite(let path): try SQLiteTransactionStore.open(path: path)
        case .postgreSQL(let address): try PostgreSQLTransactionStore(url: address)
        }
    }
}
