import AppStoreModels
import Encodings
import Purchases

/// Counts by key. Optimized for repeated keys: only a change of the key accesses the table.
struct Tally<Key: Hashable & Sendable>: Sendable {
    private var counts: [Key: Int] = [:]
    private var last: Key?
    private var run = 0

    @inline(__always)
    mutating func add(_ key: Key) {
        if last == key {
            run &+= 1
        } else {
            begin(key)
        }
    }

    @inline(never)
    private mutating func begin(_ key: Key) {
        if let last { counts[last, default: 0] += run }
        last = key
        run = 1
    }

    func total() -> [Key: Int] {
        guard let last else { return counts }
        return counts.merging([last: run], uniquingKeysWith: +)
    }
}

/// The counts of one batch, in forms that are cheap to update.
struct BatchCounts: Sendable {
    var recordsRead = 0
    private var summary = MigrationSummary()
    private var kinds = Tally<RecordKind>()
    private var environments = Tally<String>()
    private var standings = Tally<RecordStanding>()
    private var products = Tally<String>()
    private var types = Tally<String>()
    private var years = Tally<Int64>()
    /// Transactions by the fields that they have.
    private var transactionFields = Tally<UInt64>()
    private var appTransactionFields = Tally<UInt64>()
    /// Records by the handling of their columns, which is the same for most records of an input.
    private var members = Tally<[MemberPath]>()

    var migratedRecords: Int { summary.migrated }
    var transactions: Int { summary.transactions }
    var appTransactions: Int { summary.appTransactions }
    var renewalInfos: Int { summary.renewalInfos }

    mutating func migrated(_ kind: RecordKind, _ environment: Environment?) {
        summary.migrated += 1
        kinds.add(kind)
        environments.add(environment?.rawValue ?? "unknown")
    }

    mutating func read(_ record: borrowing InputRecord) {
        recordsRead += 1
        members.add(record.members)
    }

    /// Counts a document that was quarantined alone.
    mutating func quarantinedDocument(_ reason: QuarantineReason) {
        summary.documentsQuarantined += 1
        summary.documentsQuarantinedByReason[reason.code, default: 0] += 1
    }

    mutating func quarantined(_ kind: RecordKind, _ reason: QuarantineReason) {
        summary.quarantined += 1
        summary.quarantinedByKind[kind.rawValue, default: 0] += 1
        summary.quarantinedByReason[reason.code, default: 0] += 1
    }

    /// Counts a note about a record.
    mutating func note(_ name: String, count: Int = 1) {
        if count > 0 { summary.notes[name, default: 0] += count }
    }

    mutating func embedded(_ outcome: String) {
        summary.embeddedReceiptsByOutcome[outcome, default: 0] += 1
    }

    mutating func add(_ transaction: borrowing MappedTransaction, isConfirmed: Bool) {
        summary.transactions += 1
        standings.add(transaction.standing)
        if isConfirmed { summary.confirmedByEmbeddedReceipt += 1 }
        products.add(transaction.payload.productId ?? "unknown")
        types.add(transaction.payload.type?.rawValue ?? "unknown")
        if let date = transaction.payload.purchaseDate {
            years.add(CivilDay(milliseconds: date).year)
        } else {
            summary.transactionsByYear["unknown", default: 0] += 1
        }
        transactionFields.add(transaction.provenance.presentFields)
        add(transaction.notes)
    }

    mutating func add(_ appTransaction: borrowing MappedAppTransaction) {
        summary.appTransactions += 1
        appTransactionFields.add(appTransaction.provenance.presentFields)
        add(appTransaction.notes)
    }

    mutating func add(_ info: MappedRenewalInfo) {
        summary.renewalInfos += 1
        add(info.notes)
    }

    mutating func add(_ notes: [MappingNote]) {
        for note in notes { summary.notes[note.name, default: 0] += 1 }
    }

    /// The numbers by name.
    func total() -> MigrationSummary {
        var total = summary
        total.recordsRead = recordsRead
        for (kind, count) in kinds.total() { total.migratedByKind[kind.rawValue] = count }
        total.migratedByEnvironment = environments.total()
        for (paths, count) in members.total() {
            for path in paths { total.members[path.path, default: [:]][path.fate.rawValue, default: 0] += count }
            for wrapper in ClientWrapper.all(in: paths) { total.wrappers[wrapper.rawValue, default: 0] += count }
        }
        for (standing, count) in standings.total() { total.transactionsByStanding[standing.rawValue] = count }
        total.transactionsByProduct = products.total()
        total.transactionsByType = types.total()
        for (year, count) in years.total() { total.transactionsByYear[String(year), default: 0] += count }
        total.transactionFieldsNotCarried = Self.absent(TransactionField.self, transactionFields.total())
        total.appTransactionFieldsNotCarried = Self.absent(AppTransactionField.self, appTransactionFields.total())
        return total
    }

    /// How often each field was missing.
    private static func absent<Field: PayloadField>(_: Field.Type, _ counts: [UInt64: Int]) -> [String: Int] {
        var absent: [String: Int] = [:]
        for field in Field.allCases {
            var total = 0
            for (present, count) in counts where present & 1 << UInt64(field.rawValue) == 0 { total += count }
            // The name is made once, and not for each set of fields that lacks it.
            if total > 0 { absent["\(field.name)"] = total }
        }
        return absent
    }
}
