import AppStoreModels
import Migration
import TransactionStore

/// The summary for the terminal: a table that fits on a screen for any input. The summary as JSON has all numbers.
enum SummaryText {
    /// The maximum number of listed reasons.
    private static let maximumReasons = 5

    /// The summary of a stream, which has standard output for itself.
    static func streamed(_ summary: MigrationSummary) -> String {
        var lines = [
            "\(summary.recordsRead) records: \(summary.migrated) migrated, \(summary.quarantined) quarantined."
        ]
        if summary.documentsQuarantined > 0 { lines.append("\(summary.documentsQuarantined) documents quarantined.") }
        if summary.documentsNotRead > 0 { lines.append(notRead(summary)) }
        lines += leftOut(summary) + besideDocuments(summary)
        if summary.valuesNotUTF8 > 0 { lines.append(notUTF8(summary)) }
        lines += otherTables(summary)
        return lines.joined(separator: "\n")
    }

    /// The summary of a migration into a store.
    static func text(_ summary: StoreMigrationSummary, store: StoreURL) -> String {
        let records = summary.records
        var rows = Self.records(records)
        rows += [("facts new to the store", summary.applied.changed), ("facts it had", summary.applied.unchanged)]
        if summary.applied.erased > 0 { rows.append(("not stored, of erased customers", summary.applied.erased)) }
        var lines = TextTable.numbers(rows.map { [$0.label, String($0.count)] })
        lines.append("")
        if summary.recordsBefore > 0 {
            lines.append("\(summary.recordsBefore) of the records were migrated by an earlier run and not again.")
        }
        lines.append("Merged in \(Printable.text("\(store)")).")
        if records.documentsNotRead > 0 { lines.append(notRead(records)) }
        lines += leftOut(records) + besideDocuments(records)
        if records.valuesNotUTF8 > 0 { lines.append(notUTF8(records)) }
        lines += unread(records) + otherTables(records)
        if records.quarantined + records.documentsQuarantined > 0 {
            lines.append("The store has the quarantined records and the reasons; migrate --retry reads them again.")
        }
        if records.recordsRead == 0 { lines.append("There were no records to read.") }
        if let omission = store.omission { lines.append(omission) }
        let address = ShellWord.quoted(Printable.text("\(store)"))
        lines += [
            "Next:", "  legacy-receipts report --store \(address)",
            "  legacy-receipts enrich --store \(address) --bundle-id ID --dry-run",
            "  legacy-receipts export --store \(address)",
        ]
        return lines.joined(separator: "\n")
    }

    /// The rows that were left out, so that a table whose column for receipts has an unusual name is not lost without a message.
    static func otherTables(_ summary: MigrationSummary) -> [String] {
        guard summary.rowsOfOtherTables > 0 else { return [] }
        return [
            """
            \(summary.rowsOfOtherTables) rows of other tables in dumps and exports are not records: their tables have no \
            column for receipts and no known document (--column names a column).
            """
        ]
    }

    /// What is not read because another document of its record counts, so that no reply and no row is passed over without
    /// a message.
    static func besideDocuments(_ summary: MigrationSummary) -> [String] {
        var lines: [String] = []
        if summary.repliesNotRead > 0 {
            lines.append("\(summary.repliesNotRead) verifyReceipt replies granted nothing and are not read.")
        }
        if summary.rowsNotRead > 0 {
            lines.append(
                "\(summary.rowsNotRead) rows next to a document are not read: they have no date that can be read, or may be in the document."
            )
        }
        return lines
    }

    /// The caller's own columns with values that do not count, so that no user and no date is lost without a message.
    static func unread(_ summary: MigrationSummary) -> [String] {
        summary.unreadColumns.map { role, count in
            guard let role else {
                return
                    "The user column of \(count) records has an object or array without an id, which names no user (--user-column names another column)."
            }
            return
                "The column with the \(role.fact) of \(count) documents has a value of an unknown form, which does not count (\(role.option) names another column)."
        }
    }

    private static func notUTF8(_ summary: MigrationSummary) -> String {
        let columns = summary.columns(.carriedAsBase64).keys.sorted()
        let named = Printable.text(columns.prefix(10).joined(separator: ", "))
        return "\(summary.valuesNotUTF8) values are not UTF-8 and were written as base64: \(named)."
    }

    private static func records(_ summary: MigrationSummary) -> [(label: String, count: Int)] {
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
        return rows
    }

    /// The columns to check, so that no document is lost without a message.
    private static func notRead(_ summary: MigrationSummary) -> String {
        "\(summary.documentsNotRead) values look like documents and were not read: \(paths(summary, .looksLikeDocument))."
    }

    /// The documents that `--column` keeps out.
    private static func leftOut(_ summary: MigrationSummary) -> [String] {
        let count = summary.documentsLeftOut
        guard count > 0 else { return [] }
        return ["\(count) documents are not in the column of --column and were not read: \(paths(summary, .leftOut))."]
    }

    /// Where values with a fate are.
    private static func paths(_ summary: MigrationSummary, _ fate: MemberFate) -> String {
        let paths = summary.columns(fate).keys.sorted()
        let shown = paths.prefix(maximumReasons).map { Printable.text($0) }.joined(separator: ", ")
        return shown + (paths.count > maximumReasons ? ", …" : "")
    }

    private static func counts(_ counts: [String: Int]) -> [(label: String, count: Int)] {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var rows = sorted.prefix(maximumReasons).map { (label: "    \($0.key)", count: $0.value) }
        let rest = sorted.dropFirst(maximumReasons)
        if !rest.isEmpty { rows.append(("    \(rest.count) others", rest.reduce(0) { $0 + $1.value })) }
        return rows
    }
}
