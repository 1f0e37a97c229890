import ReceiptMigration

/// The summary as a person reads it.
enum SummaryText {
    static func text(_ summary: MigrationSummary, output: String) -> String {
        var lines = ["\(summary.recordsRead) records read from \(summary.inputs) inputs"]
        lines.append("  \(summary.migrated) migrated")
        lines += counts(summary.migratedByKind)
        lines.append("  \(summary.quarantined) quarantined")
        lines += counts(summary.quarantinedByReason)
        lines.append(
            "\(summary.transactions) transactions, \(summary.appTransactions) app transactions, "
                + "\(summary.renewalInfos) renewal infos")
        lines += counts(summary.transactionsByType)
        lines.append("  resting on")
        lines += counts(summary.transactionsByStanding)
        if summary.confirmedByEmbeddedReceipt > 0 {
            lines.append(
                "      (\(summary.confirmedByEmbeddedReceipt) of the recorded confirmed by a verified receipt)")
        }
        lines.append("written to \(output)")
        return lines.joined(separator: "\n")
    }

    private static func counts(_ counts: [String: Int]) -> [String] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "    \($0.value)  \($0.key)" }
    }
}
