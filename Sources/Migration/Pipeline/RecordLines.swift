import AppStoreModels
import Purchases

/// Writes what a record states as lines, for a migration without a store.
struct RecordLines: Sendable {
    let mapper: ReceiptMapper
    let acceptsRecorded: Bool

    /// Writes every purchase of a receipt, even if two have the same id. Takes the app transaction out of the content.
    func write(_ verified: inout VerifiedContent, of record: InputRecord, into output: inout BatchOutput) {
        let source = OutputSource(
            record: record, kind: verified.kind, sha256: verified.sha256, asOf: verified.mapped.asOf)
        for index in 0..<verified.mapped.transactions.count {
            source.write(&verified.mapped.transactions[index], into: &output)
        }
        writeRest(&verified.mapped, source, withApp: true, into: &output)
    }

    /// Writes what the documents of a record state, resolved together.
    func write(_ read: RecordDocuments, of record: InputRecord, into output: inout BatchOutput) {
        let records = read.verified.map(\.content.record)
        let signed = SignedTransactions(records, mapper)
        let parts = SignedParts(records)
        var confirmed: Set<PurchaseIdentity> = []
        var lines = TransactionLines()
        for recorded in read.recorded {
            confirmed.formUnion(
                write(recorded, confirmedBy: signed, beside: parts, of: record, &lines, into: &output))
        }
        // The purchases that only receipts state, the newest receipt first.
        for (receipt, countsAsApp) in zip(read.verified, SignedParts.countAsApp(records)) {
            write(
                receipt, of: record, amid: signed, leavingOut: confirmed, withApp: countsAsApp, &lines, into: &output)
        }
        // So far, each document has its own terms. The record is about one customer, so compute the terms of all
        // purchases together.
        if read.verified.count + read.recorded.count > 1 { lines.addTerms(mapper) }
        lines.write(into: &output)
    }

    /// Writes a recorded document. Returns the purchases that need no line from a receipt; a purchase that a row
    /// contradicts still needs one.
    private func write(
        _ recorded: RecordedDocument, confirmedBy signed: SignedTransactions, beside: SignedParts,
        of record: InputRecord, _ lines: inout TransactionLines, into output: inout BatchOutput
    ) -> Set<PurchaseIdentity> {
        let mapping = recorded.mapping
        output.counts.add(mapping.notes)
        guard acceptsRecorded else {
            output.counts.note("recordedRowsLeftOut", count: mapping.transactions.count + mapping.renewalInfos.count)
            return []
        }
        var confirmed: Set<PurchaseIdentity> = []
        func source(_ row: Int?, _ confirmation: SignedReference? = nil) -> OutputSource {
            OutputSource(
                record: record, kind: recorded.kind, sha256: nil, confirmedBy: confirmation,
                asOf: recorded.asOf(of: row), carried: recorded.carried(beside: row))
        }
        let plain = source(nil)
        for (index, row) in signed.resolve(mapping).enumerated() {
            switch row.confirmation {
            case .none: lines.add(row.transaction, recorded.rows.isEmpty ? plain : source(index))
            case .confirmed(let reference):
                lines.add(row.transaction, source(index, reference))
                if let identity = PurchaseIdentity(row.transaction.payload) { confirmed.insert(identity) }
            case .contradicted:
                var row = row.transaction
                row.notes.append(.contradictsSignedReceipt)
                lines.add(row, recorded.rows.isEmpty ? plain : source(index))
            }
        }
        for var info in mapping.renewalInfos where recorded.kind != .storeKit2JSON || !beside.state(info) {
            plain.write(&info, into: &output)
        }
        let addsApp = !beside.stateApp(ofStoreKit2: recorded.kind == .storeKit2JSON)
        if addsApp, var app = mapping.appTransaction { plain.write(&app, into: &output) }
        return confirmed
    }

    /// Writes the purchases whose state comes from this receipt, except those that a row already states.
    private func write(
        _ receipt: VerifiedDocument, of record: InputRecord, amid signed: SignedTransactions,
        leavingOut confirmed: Set<PurchaseIdentity>, withApp: Bool, _ lines: inout TransactionLines,
        into output: inout BatchOutput
    ) {
        let verified = receipt.content
        let source = OutputSource(
            record: record, kind: verified.kind, sha256: verified.sha256, asOf: verified.mapped.asOf,
            carried: receipt.carried)
        for transaction in verified.mapped.transactions {
            guard let identity = PurchaseIdentity(transaction.payload) else {
                lines.add(transaction, source)
                continue
            }
            guard !confirmed.contains(identity),
                let resolved = signed.transaction(identity, of: verified.reference)
            else { continue }
            lines.add(resolved, source)
        }
        var mapped = verified.mapped
        writeRest(&mapped, source, withApp: withApp, into: &output)
    }

    private func writeRest(
        _ receipt: inout MappedReceipt, _ source: OutputSource, withApp: Bool, into output: inout BatchOutput
    ) {
        for index in receipt.renewalInfos.indices { source.write(&receipt.renewalInfos[index], into: &output) }
        if withApp, var app = receipt.appTransaction.take() { source.write(&app, into: &output) }
        output.counts.add(receipt.notes)
    }
}

/// The transactions of a record with several documents, in the order of the output.
private struct TransactionLines {
    private(set) var transactions: [MappedTransaction] = []
    private(set) var sources: [OutputSource] = []

    mutating func add(_ transaction: MappedTransaction, _ source: OutputSource) {
        transactions.append(transaction)
        sources.append(source)
    }

    mutating func write(into output: inout BatchOutput) {
        for index in transactions.indices { sources[index].write(&transactions[index], into: &output) }
    }

    /// Computes the terms of non-renewing subscriptions over all documents of the record.
    mutating func addTerms(_ mapper: ReceiptMapper) {
        let sources = sources
        mapper.addTerms(&transactions) { sources[$0].isConfirmed }
    }
}
