import AppStoreModels
import Migration

/// A plan for people.
struct PlanText {
    let plan: MigrationPlan
    /// Whether the records would be merged in a store.
    let isStore: Bool
    let command: ShownCommand

    /// The maximum number of listed columns of a source, and of reasons.
    private static let maximumLines = 40

    var text: String {
        var lines: [String] = []
        for source in plan.sources { lines += self.source(source) + [""] }
        let summary = plan.summary
        var rows = [
            ("records in the sample", "\(summary.recordsRead)"), ("  would be migrated", "\(summary.migrated)"),
        ]
        rows += sorted(summary.migratedByKind)
        rows.append(("  would be quarantined", "\(summary.quarantined)"))
        rows += sorted(summary.quarantinedByKind)
        if summary.documentsQuarantined > 0 {
            rows.append(("  documents of other records", "\(summary.documentsQuarantined)"))
        }
        lines += table(rows)
        if summary.recordsRead == 0 { lines.append("The sources contain no records.") }
        if !plan.quarantine.isEmpty {
            lines += ["", "Quarantine, with one example each:"]
            for reason in plan.quarantine.prefix(Self.maximumLines) {
                lines.append(
                    "  \(reason.records + reason.documents) × \(reason.reason): \(Printable.text(reason.message))")
                lines.append("    \(Printable.text(reason.place)), SHA-256 \(reason.sha256.prefix(12))…")
            }
        }
        if summary.documentsNotRead > 0 {
            lines += ["", "\(summary.documentsNotRead) values look like documents and would not be read."]
        }
        let unread =
            SummaryText.besideDocuments(summary) + SummaryText.unread(summary) + SummaryText.otherTables(summary)
        if !unread.isEmpty { lines += [""] + unread }
        lines += [""] + table(expectations)
        lines += [""] + command.omissions + ["Next:", "  " + Printable.text(command.line)]
        return lines.joined(separator: "\n")
    }

    // MARK: Columns

    private func source(_ source: MigrationPlan.Source) -> [String] {
        let part = source.isWhole ? "all of it" : "the first records"
        var lines = ["\(Printable.text(source.name)): \(source.sampledRecords) records read, \(part)"]
        let rows = source.columns.map { ("  " + Printable.text($0.path), description($0)) }
        lines += table(Array(rows.prefix(Self.maximumLines)))
        if rows.count > Self.maximumLines {
            lines.append("  \(rows.count - Self.maximumLines) more columns; --json has all.")
        }
        if isStore, source.sampledRecords > 0, !source.columns.contains(where: \.isUser) {
            lines.append("  No column names your users. If one does, name it with --user-column.")
            if let keys = source.possibleUserKeys {
                let object = keys == "*" ? "record" : "object \(Printable.text(String(keys.dropLast(2))))"
                lines.append(
                    "  If the keys of the \(object) are their ids, name them with --user-column '\(Printable.text(keys))'."
                )
            }
        }
        return lines
    }

    private func description(_ column: MigrationPlan.Column) -> String {
        let fates = column.fates.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { name, count in
            guard let fate = MemberFate(rawValue: name) else { return "\(name): \(count)" }
            return "\(words(fate, column)): \(count)"
        }
        let cause =
            switch column.cause {
            case .option: " (named by an option)"
            case .name: " (by its name)"
            case .content: " (by its content)"
            case nil: ""
            }
        return fates.joined(separator: ", ") + cause
    }

    private func words(_ fate: MemberFate, _ column: MigrationPlan.Column) -> String {
        switch fate {
        case .readAsReceipt: "receipt"
        case .readAsReply: "verifyReceipt reply"
        case .readAsRows: "rows of a reply"
        case .readAsNotification: "version 1 notification"
        case .readAsJWS: "JWS of the App Store"
        case .readAsStoreKit2JSON: "StoreKit 2 JSON"
        case .readAsTransactionId: "transaction id"
        case .otherStore: "purchase from another store"
        case .carriedAlong: carried(column)
        case .carriedAsBase64: "\(carried(column)), in base64 because it is not UTF-8"
        case .leftOut: "a document that --column leaves out"
        case .ignored: "ignored"
        case .empty: "empty"
        case .notRecognized: "not recognized"
        case .looksLikeDocument: "looks like a document, not read"
        }
    }

    private func carried(_ column: MigrationPlan.Column) -> String {
        if let role = column.role { return "the \(role.fact) of documents that state none" }
        if !isStore { return "copied to the output" }
        if column.isUser { return "user id" }
        return column.isKept ? "kept with the user (--carry)" : "not kept (keep it with --carry)"
    }

    // MARK: Numbers

    private var expectations: [(String, String)] {
        // A query is the only source.
        let isQuery = plan.sources.contains(where: \.isQuery)
        let records = plan.records.map { records in
            if plan.isWhole { return "\(records)" }
            return isQuery ? "\(records), counted by the database" : "about \(records), by the sizes of the files"
        }
        let unknown =
            isQuery
            ? "unknown: the database did not count the rows of the query, or not in time"
            : "unknown: a pipe or a compressed file does not state its size"
        let rate = plan.recordsPerSecond.map {
            "reading and verifying \(Self.rounded($0)) records/s and core, \(plan.jobs) at once"
        }
        let time = plan.expectedSeconds.map { "at least \(Self.duration($0)), and the time of writing" }
        let space = plan.expectedBytes.map { bytes in
            guard let engine = plan.engine else { return "about \(Self.size(bytes))" }
            return "about \(Self.size(bytes)) in \(engine.rawValue), with indexes"
                + (plan.isWhole ? "" : "; less if later records repeat purchases")
        }
        var rows = [("expected records", records ?? unknown)]
        if let rate { rows.append(("measured rate", rate)) }
        rows.append(("expected time", time ?? "unknown"))
        rows.append(("expected disk space", space ?? "unknown"))
        return rows
    }

    private static func rounded(_ number: Double) -> String { Int(exactly: number.rounded()).map(String.init) ?? "?" }

    private static func duration(_ seconds: Double) -> String {
        if seconds < 90 { return "\(rounded(max(1, seconds.rounded(.up)))) s" }
        return seconds < 5_400 ? "\(rounded(seconds / 60)) min" : "\(rounded(seconds / 3_600)) h"
    }

    private static func size(_ bytes: Double) -> String {
        if bytes < 1e6 { return "\(rounded((bytes / 1e3).rounded(.up))) KB" }
        return bytes < 1e10 ? "\(rounded(bytes / 1e6)) MB" : "\(rounded(bytes / 1e9)) GB"
    }

    private func sorted(_ counts: [String: Int]) -> [(String, String)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ("    \($0.key)", "\($0.value)") }
    }

    private func table(_ rows: [(String, String)]) -> [String] { TextTable.lines(rows.map { [$0.0, $0.1] }) }
}
