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

    func write(_ transaction: borrowing MappedTransaction, into output: inout BatchOutput) {
        output.transactions.beginObject()
        transaction.writeMembers(to: &output.transactions, &output.transactionProvenance)
        finishLine(&output.transactions)
    }

    func write(_ appTransaction: MappedAppTransaction, into output: inout BatchOutput) {
        output.appTransactions.beginObject()
        appTransaction.writeMembers(to: &output.appTransactions, &output.appTransactionProvenance)
        finishLine(&output.appTransactions)
        output.counts.add(appTransaction)
    }

    func write(_ info: MappedRenewalInfo, into output: inout BatchOutput) {
        output.renewalInfos.beginObject()
        info.writeMembers(to: &output.renewalInfos)
        finishLine(&output.renewalInfos)
        output.counts.add(info)
    }

    private func finishLine(_ writer: inout JSONWriter) {
        if let asOf {
            writer.member("asOf", asOf.date)
            writer.member("asOfKind", asOf.kind.rawValue)
        }
        writer.key("source")
        writer.raw(source)
        if !record.isEmpty {
            writer.key("record")
            writer.raw(record)
        }
        writer.endObject()
        writer.newline()
    }
}

/// `transactions.csv` (RFC 4180): a column for each modern field that legacy records can contain, then our own columns.
enum TransactionTable {
    private static let columns: [TransactionField] = [
        .transactionId, .originalTransactionId, .webOrderLineItemId, .bundleId, .productId,
        .subscriptionGroupIdentifier,
        .purchaseDate, .originalPurchaseDate, .expiresDate, .quantity, .type, .appAccountToken, .inAppOwnershipType,
        .revocationReason, .revocationDate, .isUpgraded, .offerType, .offerIdentifier, .offerDiscountType, .offerPeriod,
        .environment, .transactionReason,
    ]

    /// The header row.
    static var header: [UInt8] {
        let ours = ["termStart", "standing", "asOf", "asOfKind", "notes", "provenance", "source", "record"]
        let names = columns.map { "\($0.name)" } + ours
        return Array((names.joined(separator: ",") + "\r\n").utf8)
    }

    static func write(_ transaction: MappedTransaction, _ source: OutputSource, to writer: inout JSONWriter) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2048)
        let texts = transaction.payload.texts()
        for column in columns { CSVField.append(texts[Int(column.rawValue)] ?? "", to: &bytes) }
        CSVField.append(transaction.termStart.map { String($0) } ?? "", to: &bytes)
        CSVField.append(transaction.standing.rawValue, to: &bytes)
        CSVField.append(source.asOf.map { String($0.date) } ?? "", to: &bytes)
        CSVField.append(source.asOf?.kind.rawValue ?? "", to: &bytes)
        CSVField.append(transaction.notes.map(\.name).joined(separator: " "), to: &bytes)
        CSVField.append(json { transaction.provenance.write(to: &$0) }, to: &bytes)
        CSVField.append(String(decoding: source.source, as: UTF8.self), to: &bytes)
        CSVField.append(String(decoding: source.record, as: UTF8.self), to: &bytes)
        bytes[bytes.count - 1] = 0x0D
        bytes.append(0x0A)
        writer.verbatim(bytes)
    }

    private static func json(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
