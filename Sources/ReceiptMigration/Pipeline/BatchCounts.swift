import AppStoreModels

/// The numbers of one batch, kept in forms that are cheap to count in.
struct BatchCounts: Sendable {
    var recordsRead = 0
    private var summary = MigrationSummary()
    private var absentTransactionFields = [Int](repeating: 0, count: 64)
    private var absentAppTransactionFields = [Int](repeating: 0, count: 64)
    private var years: [Int64: Int] = [:]

    mutating func migrated(_ kind: RecordKind, _ environment: Environment?) {
        summary.migrated += 1
        summary.migratedByKind[kind.rawValue, default: 0] += 1
        summary.migratedByEnvironment[environment?.rawValue ?? "unknown", default: 0] += 1
    }

    mutating func quarantined(_ kind: RecordKind, _ reason: QuarantineReason) {
        summary.quarantined += 1
        summary.quarantinedByKind[kind.rawValue, default: 0] += 1
        summary.quarantinedByReason[reason.code, default: 0] += 1
    }

    /// Counts something to know about a record that is no note of a mapping.
    mutating func note(_ name: String, count: Int = 1) {
        if count > 0 { summary.notes[name, default: 0] += count }
    }

    mutating func embedded(_ outcome: String) {
        summary.embeddedReceiptsByOutcome[outcome, default: 0] += 1
    }

    mutating func add(_ transaction: MappedTransaction, isConfirmed: Bool) {
        summary.transactions += 1
        summary.transactionsByStanding[transaction.standing.rawValue, default: 0] += 1
        if isConfirmed { summary.confirmedByEmbeddedReceipt += 1 }
        summary.transactionsByProduct[transaction.payload.productId ?? "unknown", default: 0] += 1
        summary.transactionsByType[transaction.payload.type?.rawValue ?? "unknown", default: 0] += 1
        if let date = transaction.payload.purchaseDate {
            let days = date.flooredQuotient(86_400_000)
            years[CivilDay(daysSince1970: days).year, default: 0] += 1
        } else {
            summary.transactionsByYear["unknown", default: 0] += 1
        }
        transaction.provenance.forEachAbsentField { absentTransactionFields[Int($0.rawValue)] += 1 }
        add(transaction.notes)
    }

    mutating func add(_ appTransaction: MappedAppTransaction) {
        summary.appTransactions += 1
        appTransaction.provenance.forEachAbsentField { absentAppTransactionFields[Int($0.rawValue)] += 1 }
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
        for (year, count) in years { total.transactionsByYear[String(year), default: 0] += count }
        for field in TransactionField.allCases where absentTransactionFields[Int(field.rawValue)] > 0 {
            total.transactionFieldsNotCarried["\(field.name)"] = absentTransactionFields[Int(field.rawValue)]
        }
        for field in AppTransactionField.allCases where absentAppTransactionFields[Int(field.rawValue)] > 0 {
            total.appTransactionFieldsNotCarried["\(field.name)"] = absentAppTransactionFields[Int(field.rawValue)]
        }
        return total
    }
}
