import AppStoreModels
public import ArgumentParser
import Foundation
public import Migration
import TransactionStore

extension TableExport.Format: ExpressibleByArgument {}

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the purchases in a store as tables.",
        discussion: """
            Merges all documents about each customer and writes one file per table: transactions, subscriptions, \
            entitlements, terms (of non-renewing subscriptions), renewal_infos, app_transactions, customers, \
            customer_identities, customer_users and conflicts (your user ids, of migrate --into), to_ask_apple (what the \
            App Store Server API could change), and quarantine (what migrate --into could not migrate). \
            Documentation/Export.md explains each column and has example queries.

            Statuses and entitlements are those at --at. Two exports of the same documents with the same --at and \
            --catalog are equal byte for byte. A file that does not change is left alone.

            EXIT STATUS:
              0  the tables are complete
              2  usage, input or output error; the files of an earlier export are kept
              130, 143  interrupted by SIGINT (Ctrl-C) or SIGTERM; as above

            EXAMPLES:
              legacy-receipts export --store sqlite:purchases.sqlite --to tables
              legacy-receipts export --store postgres://db/receipts --to tables \\
                --format csv --catalog products.yaml --at 2026-01-01
            """)

    @Option(help: ArgumentHelp("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var store: String

    @Option(
        name: .customLong("to"), help: ArgumentHelp("The folder to write into.", valueName: "dir"),
        completion: .directory)
    var folder = "tables"

    @Option(help: "The form of the tables: ndjson or csv.")
    var format: TableExport.Format = .ndjson

    @Option(
        help: ArgumentHelp(
            "A product catalog: types, groups, levels and durations. Repeatable.", valueName: "file"),
        completion: .file())
    var catalog: [String] = []

    @Option(
        help: ArgumentHelp("The point in time, for example 2024-03-15T10:20:30Z (default: now).", valueName: "date"),
        transform: DateArguments.milliseconds)
    var at: Int64?

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        guard !folder.isEmpty else { throw ValidationError("The path of the folder is empty.") }
    }

    func run() async throws {
        let now = at ?? Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
        let export = TableExport(format: format, catalog: try CatalogArguments.catalog(catalog), date: now)
        let interruption = Interruption()
        let summary: ExportSummary
        do {
            summary = try await interruption.run { [store, folder] in
                try await StoreOpener.withExisting(store) { try await export.run($0, to: folder) }
            }
        } catch {
            if let signal = interruption.signal {
                Terminal.error("Interrupted. The files of an earlier export are kept in \(folder).")
                throw ExitCode(128 + signal)
            }
            guard let error = error as? ExportError else { throw error }
            throw CommandFailure(error.message)
        }
        if json { try Terminal.output(summary.json) } else { try Terminal.output(Self.text(summary, folder)) }
    }

    private static func text(_ summary: ExportSummary, _ folder: String) -> String {
        let width = summary.tables.reduce(0) { max($0, $1.name.count) }
        let digits = summary.tables.reduce(0) { max($0, String($1.rows).count) }
        var lines = summary.tables.map { table in
            let number = String(table.rows)
            let count = String(repeating: " ", count: digits - number.count) + number
            return table.name.padded(to: width + 2) + count + (table.isChanged ? "" : "  unchanged")
        }
        lines += ["", "Written to \(Printable.text(folder)), as of \(DateText.iso(summary.date))."]
        return lines.joined(separator: "\n")
    }
}
