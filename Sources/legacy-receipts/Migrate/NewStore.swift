import Foundation
import PostgreSQLTransactionStore
import TransactionStore

/// A store that a migration creates. A run that stops before it stores a record, for example because of a wrong `--column` or
/// a signal, removes it again.
struct NewStore {
    /// The file that the migration creates; nil if the store is not a file or is already there.
    private let path: String?
    /// The folder that the migration also creates; nil if there is none.
    private let folder: String?

    /// Call it before the folder and the store are created.
    init(_ address: String, in folder: String?) {
        guard case .sqlite(let path)? = try? StoreURL(address), !Self.exists(path) else {
            self.path = nil
            self.folder = nil
            return
        }
        self.path = path
        self.folder = folder.flatMap { Self.exists($0) ? nil : $0 }
    }

    /// Closes the store. If it is empty and no other program has it open, removes the parts that the migration has created.
    func closeAndRemoveIfEmpty(_ store: any CompleteTransactionStore) async {
        if let database = store as? PostgreSQLTransactionStore {
            try? await database.closeAndRemoveIfEmpty()
        } else if let path {
            await closeAndRemoveIfEmpty(store, path)
        } else {
            try? await store.close()
        }
    }

    private func closeAndRemoveIfEmpty(_ store: any CompleteTransactionStore, _ path: String) async {
        let isEmpty = await Self.isEmpty(store)
        do { try await store.close() } catch { return }
        // The log still exists if another program has the store open.
        guard isEmpty, !Self.exists(path + "-wal") else { return }
        unlink(path)
        // A folder with other files stays.
        if let folder { rmdir(folder) }
    }

    private static func isEmpty(_ store: any CompleteTransactionStore) async -> Bool {
        // The counts come last: they read the whole store, and an interrupted command must end soon.
        guard let scopes = try? await store.scopes(), scopes.isEmpty,
            let quarantine = try? await store.quarantine(after: nil, limit: 1), quarantine.isEmpty,
            let counts = try? await store.counts()
        else { return false }
        return counts
            == StoreCounts(
                transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
    }

    /// Whether the path has a file, a folder or a symbolic link.
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
