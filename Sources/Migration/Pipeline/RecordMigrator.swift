import AppStoreModels
import AppStoreServer
import LegacyReceipts
import Purchases
import TransactionStore

/// Migrates records one by one: reads their documents, and files them in a store or writes lines. What is not migrated is
/// quarantined. Holds no state of its own, so that batches can be worked on in any order and give the same output.
struct RecordMigrator: Sendable {
    /// How the records are filed in a store; nil if their results are written as lines.
    let filing: Filing?
    private let reader: DocumentReader
    private let lines: RecordLines
    private let quarantine: RecordQuarantine

    /// How records are filed in a store.
    struct Filing: Sendable {
        let users: UserColumns
        let verified: VerifiedReceipts
        /// When the first run of the migration began, in milliseconds since 1970-01-01T00:00:00Z.
        let date: Int64

        init(_ options: StoreMigration.Options, date: Int64) {
            users = UserColumns(user: options.userColumn, carried: options.carriedColumns)
            verified = VerifiedReceipts(trust: options.migration.trust)
            self.date = date
        }
    }

    init(_ options: MigrationOptions, filing: Filing? = nil) throws(MigrationError) {
        let isForStore = filing != nil
        self.filing = filing
        let roles = ColumnRoles(
            users: filing?.users ?? UserColumns(user: nil, carried: []), documents: options.documentColumns,
            receipts: options.receiptColumns, defaults: options.documentDefaults)
        do {
            reader = try DocumentReader(options, roles: roles, isForStore: isForStore)
        } catch {
            let message = (error as? ReceiptError)?.message ?? (error as? SignedDataError)?.message ?? "\(error)"
            throw MigrationError(.trust, path: "", message)
        }
        lines = RecordLines(mapper: reader.mapper, acceptsRecorded: reader.acceptsRecorded)
        quarantine = RecordQuarantine(roles: roles, isForStore: isForStore)
    }

    /// - Parameters:
    ///   - record: the record.
    ///   - receipt: the receipt of the record from ``keyedReceipts(_:)``, if there is one.
    ///   - output: gets the results.
    func migrate(_ record: InputRecord, receipt: KeyedReceipt? = nil, into output: inout BatchOutput) {
        output.counts.read(record)
        if filing != nil { reader.roles.countUnreadUser(of: record, in: &output.counts) }
        switch record.payload {
        case .receipt(let stored) where filing != nil || RowBeside(record.carried) == nil:
            migrate(receipt: stored, keyed: receipt, of: record, into: &output)
        case .several(let documents): migrate(documents, of: record, into: &output)
        case .receipt, .reply, .transactions, .notification, .jws, .storeKit2:
            migrate(record.payload.documents, of: record, into: &output)
        case .transactionID: quarantine.add(record, .bareTransactionId, .transactionId, into: &output)
        case .unrecognized(let problem):
            quarantine.add(record, QuarantineReason(problem), .unrecognized, into: &output)
        }
    }

    // MARK: A record that is a receipt

    /// Migrates a record that is a receipt, as nearly all are.
    private func migrate(
        receipt stored: ArraySlice<UInt8>, keyed: KeyedReceipt?, of record: InputRecord, into output: inout BatchOutput
    ) {
        do throws(ReceiptReader.Refused) {
            if let filing {
                let receipt = if let keyed { keyed } else { try keyedReceipt(stored, filing) }
                return try file(receipt, of: record, filing, into: &output)
            }
            var verified = try reader.receiptReader.read(stored)
            if let reason = reader.filter.exclusion(of: verified) {
                return quarantine.add(record, reason, verified.kind, into: &output)
            }
            let count = verified.mapped.transactions.count
            guard count < 2 || count * record.carried.size <= Self.columnsInLines(of: record) else {
                return quarantine.add(record, QuarantineReason(.tooManyColumns), verified.kind, into: &output)
            }
            output.counts.migrated(verified.kind, verified.environment)
            lines.write(&verified, of: record, into: &output)
        } catch {
            quarantine.add(record, error.reason, error.kind, into: &output)
        }
    }

    /// The maximum bytes of the columns in all lines of a record. The length of the record is added for the columns of one line.
    private static func columnsInLines(of record: InputRecord) -> Int {
        InputLimits.columnsInLines + record.original.count
    }

    /// A receipt without its transport encoding, its SHA-256, and its key in ``VerifiedReceipts``. All are computed once,
    /// because they take most of the time of a receipt that is already known.
    struct KeyedReceipt {
        let container: ReceiptContainer
        let hash: Fingerprint
        let key: [UInt8]
    }

    private func keyedReceipt(
        _ stored: ArraySlice<UInt8>, _ filing: Filing
    ) throws(ReceiptReader.Refused) -> KeyedReceipt {
        let container = try reader.receiptReader.container(stored)
        let hash = Fingerprint(of: container.bytes)
        return KeyedReceipt(container: container, hash: hash, key: filing.verified.key(of: hash))
    }

    /// The receipts of the records that are receipts, to look them up in the store before they are migrated; nil for other
    /// records.
    func keyedReceipts(_ records: [InputRecord]) -> [KeyedReceipt?] {
        records.map { record in
            guard let filing, case .receipt(let stored) = record.payload else { return nil }
            return try? keyedReceipt(stored, filing)
        }
    }

    /// Stores a receipt, and the row beside it if the receipt does not state its purchase. A receipt that the store already
    /// has is not verified again.
    private func file(
        _ keyed: KeyedReceipt, of record: InputRecord, _ filing: Filing, into output: inout BatchOutput
    ) throws(ReceiptReader.Refused) {
        guard let known = output.additions[keyed.key] ?? filing.verified[keyed.key] else {
            return try file(unknown: keyed, of: record, filing, into: &output)
        }
        if let reason = reader.filter.exclusion(of: known.scope) {
            return quarantine.add(record, reason, known.kind, into: &output)
        }
        let row = reader.unstatedRow(of: record, in: &output.counts) { reader.receiptReader.decoded(keyed.container) }
        file(row, of: record, beside: known, filing, into: &output)
    }

    /// Stores a receipt that the store does not have.
    private func file(
        unknown keyed: KeyedReceipt, of record: InputRecord, _ filing: Filing, into output: inout BatchOutput
    ) throws(ReceiptReader.Refused) {
        let receipt = try reader.receiptReader.verify(keyed.container)
        let kind = keyed.container.kind
        // A store keeps what the receipt states, and concludes the rest when it is read.
        guard let set = FactSet(receipt, bytes: keyed.container.bytes, hash: keyed.hash), let kept = set.receipt else {
            // The row may be stored without it.
            if RowBeside(record.carried) != nil { return migrate(record.payload.documents, of: record, into: &output) }
            let reason = reader.filter.exclusion(of: reader.receiptReader.map(receipt, in: keyed.container))
            return quarantine.add(record, reason ?? .notFiled, kind, into: &output)
        }
        if let reason = reader.filter.exclusion(of: set.scope) {
            return quarantine.add(record, reason, kind, into: &output)
        }
        let known = VerifiedReceipt(
            key: keyed.key, scope: set.scope, form: kept.form, identities: UserColumns.purchases(set.identities))
        output.additions.add(known, set)
        let row = reader.unstatedRow(of: record, in: &output.counts) { receipt.payload }
        file(row, of: record, beside: known, filing, into: &output)
    }

    /// Stores what stands beside a receipt that the store has: the user, and the row.
    private func file(
        _ row: RowBeside?, of record: InputRecord, beside receipt: VerifiedReceipt, _ filing: Filing,
        into output: inout BatchOutput
    ) {
        fileUser(of: record, with: receipt, filing, into: &output)
        output.counts.migrated(receipt.kind, receipt.scope.environment)
        guard let row else { return }
        var read = RecordDocuments()
        let beside = PlaceOfRow(
            carried: [], bundleId: receipt.scope.bundleId, environment: receipt.scope.environment, path: "")
        // The receipt states both.
        reader.read(row, beside, defaults: DocumentDefaults(), of: record, into: &read, &output.counts)
        reader.filter.exclude(from: &read)
        file(&read, of: record, filing, into: &output)
        quarantine.addRest(of: record, read, into: &output)
    }

    /// Stores the user that the columns beside a receipt name, unless another record has named the same beside it.
    private func fileUser(
        of record: InputRecord, with receipt: VerifiedReceipt, _ filing: Filing, into output: inout BatchOutput
    ) {
        guard let user = reader.roles.roles(of: record).users.named(record.carried),
            filing.verified.isNew(user, of: receipt.key)
        else { return }
        output.additions.users += user.claims(on: receipt.identities, in: receipt.scope)
    }

    // MARK: A record with other documents

    /// Migrates every document of a record. Receipts confirm recorded documents, wherever they are in the record.
    ///
    /// If no document can be migrated, the record is quarantined as a whole. Otherwise each document that cannot be
    /// migrated, or that belongs to an excluded app or environment, is quarantined separately. If one is excluded and
    /// another states no app, the whole record is.
    private func migrate(_ documents: [InputDocument], of record: InputRecord, into output: inout BatchOutput) {
        var read = reader.read(documents, of: record, &output.counts)
        guard !read.verified.isEmpty || read.recorded.contains(where: \.holdsAnything) else {
            guard let rejection = read.rejection else { return }
            return quarantine.add(record, rejection.reason, rejection.kind, into: &output)
        }
        output.counts.note("replyNotRead", count: read.silent.count)
        guard columnBytes(beside: read, of: record) <= Self.columnsInLines(of: record) else {
            return quarantine.add(record, QuarantineReason(.tooManyColumns), read.kind, into: &output)
        }
        if let filing {
            file(&read, of: record, filing, into: &output)
            guard !read.verified.isEmpty || !read.recorded.isEmpty else {
                let rejection = read.filingRejection
                return quarantine.add(record, rejection.reason, rejection.kind, into: &output)
            }
        } else {
            lines.write(read, of: record, into: &output)
        }
        output.counts.migrated(read.kind, read.environment)
        quarantine.addRest(of: record, read, into: &output)
    }

    /// The bytes of the columns that are repeated beside the purchases of a record: all of them in lines, and those with a role
    /// in a store.
    private func columnBytes(beside read: RecordDocuments, of record: InputRecord) -> Int {
        let size = record.carried.size
        let all = read.columnBytes { size + $0.size }
        // Most records are short, and need no search for the columns with a role.
        guard filing != nil, all > Self.columnsInLines(of: record) else { return all }
        let users = reader.roles.roles(of: record).users
        return read.columnBytes { own in
            let columns = record.carried + own
            return users.kept(columns).size + [users.userColumn(columns)].compactMap(\.self).size
        }
    }

    private func file(
        _ read: inout RecordDocuments, of record: InputRecord, _ filing: Filing, into output: inout BatchOutput
    ) {
        let signed = SignedTransactions(read.verified.map(\.content.record), reader.mapper)
        var documents = DocumentFiling(
            record: record, roles: reader.roles.roles(of: record, beside: read), date: filing.date,
            acceptsRecorded: reader.acceptsRecorded, signed: signed)
        documents.file(&read, into: &output)
    }
}

extension VerifiedReceipt {
    fileprivate var kind: RecordKind { form == .app ? .appReceipt : .transactionReceipt }
}
