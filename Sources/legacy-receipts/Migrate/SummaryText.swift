import AppStoreModels
import Migration

/// The summary for the terminal: a table that fits on a screen for any input. `summary.json` has all numbers.
enum SummaryText {
    /// The maximum number of listed reasons.
    private static let maximumReasons = 5

    static func text(_ summary: MigrationSummary, output: String) -> String {
        var rows: [(label: String, count: Int)] = [
            ("records read", summary.recordsRead), ("  migrated", summary.migrated),
        ]
        rows += counts(summary.migratedByKind)
        rows.append(("  quarantined", summary.quarantined))
        rows += counts(summary.quarantinedByReason)
        if summary.documentsQuarantined > 0 {
            rows.append(("  documents quarantined", summary.documentsQuarantined))
            rows += counts(summary.documentsQuarantinedByReason)
        }
        rows.append(("transactions", summary.transactions))
        rows += counts(summary.transactionsByStanding)
        if summary.confirmedByEmbeddedReceipt > 0 {
            rows.append(("      confirmed by a verified receipt", summary.confirmedByEmbeddedReceipt))
        }
        rows += [("app transactions", summary.appTransactions), ("renewal infos", summary.renewalInfos)]
        let width = rows.reduce(0) { max($0, $1.label.count) }
        let digits = rows.reduce(0) { max($0, String($1.count).count) }
        var lines = rows.map { row in
            let number = String(row.count)
            return row.label.padded(to: width + 2) + String(repeating: " ", count: digits - number.count) + number
        }
        lines += ["", "Written to \(Printable.text(output)); all numbers are in summary.json."]
        if summary.documentsNotRead > 0 { lines.append(notRead(summary)) }
        if summary.quarantined + summary.documentsQuarantined > 0 {
            lines.append("quarantine.ndjson contains the quarantined records and the reasons.")
        }
        if summary.recordsRead == 0 { lines.append("The input contains no records.") }
        return lines.joined(separator: "\n")
    }

    /// The columns to check, so that no document is lost without a message.
    private static func notRead(_ summary: MigrationSummary) -> String {
        let paths = summary.members.filter { $0.value[MemberFate.looksLikeDocument.rawValue] != nil }.keys.sorted()
        let shown = paths.prefix(maximumReasons).map { Printable.text($0) }.joined(separator: ", ")
        let rest = paths.count > maximumReasons ? ", …" : ""
        return "\(summary.documentsNotRead) values look like documents and were not read: \(shown)\(rest)."
    }

    private static func counts(_ counts: [String: Int]) -> [(label: String, count: Int)] {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var rows = sorted.prefix(maximumReasons).map { (label: "    \($0.key)", count: $0.value) }
        let rest = sorted.dropFirst(maximumReasons)
        if !rest.isEmpty { rows.append(("    \(rest.count) others", rest.reduce(0) { $0 + $1.value })) }
        return rows
    }
}
