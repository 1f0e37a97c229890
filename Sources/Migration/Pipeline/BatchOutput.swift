import AppStoreModels
import Purchases

/// The output of a batch of records: the lines of each output, or what they add to a store, and their part of the summary.
struct BatchOutput: Sendable {
    var transactions = JSONWriter()
    var appTransactions = JSONWriter()
    var renewalInfos = JSONWriter()
    var quarantine = JSONWriter()
    var transactionProvenance = ProvenanceText<TransactionField>()
    var appTransactionProvenance = ProvenanceText<AppTransactionField>()
    var counts = BatchCounts()
    /// The data that the records add to a store, for a migration into one.
    var additions = StoreAdditions()
    /// The digests of the records, for the position after them.
    var digests: [UInt8] = []

    /// Makes ready for the next batch and keeps the memory.
    mutating func removeAll() {
        transactions.removeAll()
        appTransactions.removeAll()
        renewalInfos.removeAll()
        quarantine.removeAll()
        counts = BatchCounts()
        additions.removeAll()
        digests = []
    }
}
