import AppStoreModels
import Purchases

/// The output of a batch of records: bytes for each output file, and its part of the summary.
struct BatchOutput: Sendable {
    var transactions = JSONWriter()
    var appTransactions = JSONWriter()
    var renewalInfos = JSONWriter()
    var quarantine = JSONWriter()
    var transactionProvenance = ProvenanceText<TransactionField>()
    var appTransactionProvenance = ProvenanceText<AppTransactionField>()
    var counts = BatchCounts()
    /// The documents that were accepted, if they are collected.
    var documents: [MigratedDocument] = []
    /// The additions of the records to a store, for a migration into one.
    var additions = StoreAdditions()

    mutating func add(_ document: MigratedDocument?) {
        if let document { documents.append(document) }
    }

    /// Clears the output for the next batch and keeps the memory.
    mutating func removeAll() {
        transactions.removeAll()
        appTransactions.removeAll()
        renewalInfos.removeAll()
        quarantine.removeAll()
        counts = BatchCounts()
        documents.removeAll()
        additions.removeAll()
    }
}
