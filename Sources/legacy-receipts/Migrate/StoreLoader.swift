import Foundation
import LegacyReceipts
import Migration
import Purchases
import TransactionStore

/// Stores the facts of accepted documents.
actor StoreLoader {
    let store: any CompleteTransactionStore
    private let name: String
    private var applied = AppliedFacts()
    private var documents = 0
    private var leftOut = 0

    /// - Throws: `CommandFailure` for an invalid address, or a store that cannot be opened.
    init(address: String) throws {
        (store, name) = try StoreOpener.opened(address)
    }

    /// - Throws: `TransactionStoreError`. Earlier batches stay in the store; loading them again changes nothing.
    func load(_ batch: [MigratedDocument]) async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        var sets: [FactSet] = []
        for document in batch {
            let count = sets.count
            switch document {
            case .appReceipt(let receipt, let bytes):
                if let set = FactSet(receipt, bytes: bytes) { sets.append(set) }
            case .transactionReceipt(let receipt, let bytes):
                if let set = FactSet(receipt, bytes: bytes) { sets.append(set) }
            case .signedData(let facts): sets += facts
            case .recorded(let mapping): sets += [FactSet](recorded: mapping, importedAt: now)
            }
            documents += 1
            if sets.count == count { leftOut += 1 }
        }
        let result = try await store.apply(sets)
        applied.changed += result.changed
        applied.unchanged += result.unchanged
    }

    /// Closes the store and returns a text about the load.
    @discardableResult
    func close() async -> String {
        do {
            try await store.close()
        } catch {
            Terminal.error("The store could not be closed: \(error)")
        }
        let rest = leftOut > 0 ? "; documents without facts to store: \(leftOut)" : ""
        return """
            Store \(name): \(applied.changed) facts of \(documents - leftOut) documents are new, \
            \(applied.unchanged) were known\(rest).
            """
    }
}
