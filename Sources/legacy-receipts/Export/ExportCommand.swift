import AppStoreModels
public import ArgumentParser
public import Migration
import TransactionStore

extension TableExport.Format: ExpressibleByArgument {}

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the purchases in a store as tables.",
        discussion: """
            Merges all documents about each customer and writes tables, as files into a folder, or into a SQLite or \
            PostgreSQL database: transactions, subscriptions, \
            entitlements, terms (of non-renewing subscriptions), renewal_infos, app_transactions, customers, \
            customer_identities, customer_users and conflicts (your user ids, of migrate --into), to_ask_apple (what the \
            App Store Server API could change), and quarantine (what migrate --into could not migrate). \
            Documentation/Export.md explains each column and has example queries.

            Statuses and entitlements are those at --at. Two exports of the same documents with the same --at and \
            --catalog are equal byte for byte. Unchanged files and rows are not written.

            --kind writes the import file of a vendor of subscription services instead: --kind revenuecat has a row for \
            each customer with an app receipt, --kind adapty one for each purchase, --kind qonversion and --kind apphud \
            one for each purchase of a customer with an app receipt. The user ids are those of migrate --into; customers \
            with no user id or several are left out and counted.

            EXIT STATUS:
              0  the tables are complete
              2  usage, input or output error; the tables of an earlier export are kept
              130, 143  interrupted by SIGINT (Ctrl-C) or SIGTERM; as above

            EXAMPLES:
              legacy-receipts export --store sqlite:purchases.sqlite --to tables
              legacy-receipts export --store postgres://db/receipts --to tables \\
                --format csv --catalog products.yaml --at 2026-01-01
              legacy-receipts export --store sqlite:purchases.sqlite \\
                --to sqlite:tables.sqlite
              legacy-receipts export --store postgres://db/receipts \\
                --to 'postgres://db/analytics?schema=purchases'
              legacy-receipts export --store sqlite:purchases.sqlite \\
                --kind revenuecat --to vendor
            """)

    @OptionGroup var store: StoreOption

    @Option(
        name: .customLong("to"),
        help: .value("place", "Where to write: a folder, sqlite:FILE, or postgres://… (?schema=NAME names a schema)."),
        completion: .directory)
    var place = "tables"

    @Option(help: "The form of the files in a folder: ndjson or csv (default: ndjson).")
    var format: TableExport.Format?

    @Option(
        help:
            "The vendor whose import file to write instead of the tables: revenuecat, adapty, qonversion or apphud.",
        completion: .list(VendorExport.Vendor.allCases.map(\.rawValue)), transform: VendorArguments.vendor)
    var kind: VendorExport.Vendor?

    @OptionGroup var view: ViewOptions

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        guard !place.isEmpty else { throw ValidationError("The path of the folder is empty.") }
        if let kind {
            guard format == nil, view.isDefault else {
                throw ValidationError(
                    "--format, --catalog and --at are for the tables, not for --kind \(kind.rawValue).")
            }
            guard try database == nil else { throw ValidationError("--kind writes into a folder.") }
        }
        guard let database = try database else { return }
        guard format == nil else { throw ValidationError("--format is for a folder; \(database) has tables.") }
        guard try database != StoreURL(store.url) else {
            throw ValidationError("--to is the store itself. Choose another file, or with ?schema=NAME another schema.")
        }
    }

    /// The database to write into; nil for a folder.
    private var database: StoreURL? {
        get throws { try StoreOpener.isDatabase(place) ? StoreURL(place) : nil }
    }

    func run() async throws {
        let export = TableExport(format: format ?? .ndjson, catalog: try view.products, date: view.date)
        let output: (json: [UInt8], text: String) = try await Interruption.running(
            ifEnded: "Interrupted. The tables of an earlier export are kept."
        ) { [store, place, kind, database = try database] in
            try await StoreOpener.withExisting(store.url) { store in
                if let kind {
                    let summary = try await VendorExport(kind).run(store, to: place)
                    return (summary.json, Self.text(summary, place))
                }
                if let database {
                    let summary = try await export.run(store, into: database)
                    return (summary.json, Self.text(summary, "\(database)"))
                }
                let summary = try await export.run(store, to: place)
                return (summary.json, Self.text(summary, place))
            }
        }
        if json { try Terminal.output(output.json) } else { try Terminal.output(output.text) }
    }

    private static func text(_ summary: ExportSummary, _ folder: String) -> String {
        let numbers = TextTable.numbers(summary.tables.map { [$0.name, String($0.rows)] })
        let lines = zip(numbers, summary.tables).map { $0 + ($1.isChanged ? "" : "  unchanged") }
        return (lines + end(folder, summary.date)).joined(separator: "\n")
    }

    private static func text(_ summary: DatabaseExportSummary, _ database: String) -> String {
        let header = ["table", "rows", "written", "changed", "removed"]
        let rows =
            [header]
            + summary.tables.map { [$0.name] + [$0.rows, $0.written, $0.changed, $0.removed].map(String.init) }
        return (TextTable.numbers(rows) + end(database, summary.date)).joined(separator: "\n")
    }

    private static func text(_ summary: VendorExportSummary, _ folder: String) -> String {
        let lines = TextTable.numbers(summary.counts.map { [$0.name, String($0.count)] })
        let file = Printable.text("\(folder)/\(summary.vendor.rawValue).csv")
        return (lines + ["", "Written to \(file)."]).joined(separator: "\n")
    }

    private static func end(_ place: String, _ date: Int64) -> [String] {
        ["", "Written to \(Printable.text(place)), as of \(DateText.iso(date))."]
    }
}

enum VendorArguments {
    /// - Throws: `ValidationError` for a vendor without a format for imports.
    static func vendor(_ text: String) throws -> VendorExport.Vendor {
        if let vendor = VendorExport.Vendor(rawValue: text) { return vendor }
        if text == "superwall" {
            throw ValidationError(
                """
                Superwall publishes no import file format: its SDK reads the purchases from the device. The tables \
                customer_users and customer_identities have the original transaction ids of each user.
                """)
        }
        let names = VendorExport.Vendor.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\(text)' is not a vendor with a known import file format. Choose one of: \(names).")
    }
}
