import AppStoreModels
import Purchases

/// The `source` and `record` members of a record's lines, encoded once and written with each line.
struct OutputSource {
    /// The JSON of the `source` member.
    let source: [UInt8]
    /// The JSON of the `record` member, the caller's own columns; empty if there are none.
    let record: [UInt8]
    let isConfirmed: Bool
    /// The date of the document.
    let asOf: AsOf?

    /// - Parameters:
    ///   - record: the record.
    ///   - kind: the kind of its document.
    ///   - sha256: SHA-256 of the receipt's bytes, base64 removed; nil for recorded documents.
    ///   - confirmedBy: SHA-256 of a verified receipt in the same document that has the same transaction.
    ///   - asOf: the date of the document.
    ///   - carried: the caller's own columns beside this document.
    init(
        record: InputRecord, kind: RecordKind, sha256: String?, confirmedBy: SignedReference? = nil, asOf: AsOf?,
        carried: [CarriedColumn] = []
    ) {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        record.place.writeMembers(to: &writer)
        writer.member("kind", kind.rawValue)
        writer.member("sha256", sha256)
        if let confirmedBy {
            writer.member("confirmedBy", confirmedBy.sha256)
            writer.member("confirmedAsOf", confirmedBy.asOf?.date)
        }
        writer.endObject()
        source = writer.finish()
        self.record = JSONWriter.carriedColumns(carried.isEmpty ? record.carried : record.carried + carried)
        isConfirmed = confirmedBy != nil
        self.asOf = asOf
    }

    /// Writes a line. It does not change the transaction: `inout` avoids a copy.
    func write(_ transaction: inout MappedTransaction, into output: inout BatchOutput) {
        output.transactions.beginObject()
        transaction.writeMembers(to: &output.transactions, &output.transactionProvenance)
        finishLine(&output.transactions, "transactions")
        output.counts.add(transaction, isConfirmed: isConfirmed)
    }

    func write(_ appTransaction: inout MappedAppTransaction, into output: inout BatchOutput) {
        output.appTransactions.beginObject()
        appTransaction.writeMembers(to: &output.appTransactions, &output.appTransactionProvenance)
        finishLine(&output.appTransactions, "app-transactions")
        output.counts.add(appTransaction)
    }

    func write(_ info: inout MappedRenewalInfo, into output: inout BatchOutput) {
        output.renewalInfos.beginObject()
        info.writeMembers(to: &output.renewalInfos)
        finishLine(&output.renewalInfos, "renewal-infos")
        output.counts.add(info)
    }

    private func finishLine(_ writer: inout JSONWriter, _ output: String) {
        if let asOf {
            writer.member("asOf", asOf.date)
            writer.member("asOfKind", asOf.kind.rawValue)
        }
        writer.member("source", json: source)
        writer.member("record", json: record)
        writer.member("output", output)
        writer.endObject()
        writer.newline()
    }
}
