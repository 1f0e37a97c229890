import ArgumentParser
import Foundation
import Migration
import TransactionStore

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a page with the numbers of a store.",
        discussion: """
            Writes one HTML file that needs nothing else: no network and no script. It has the totals; transactions by \
            type, product, year and environment; subscriptions by status and month; free trials, refunds and terms; what \
            each migration read and did not read; the quarantine by reason; conflicts; the fields that no document \
            states, and where to get them; what the App Store Server API has answered, and what is left to query; and the \
            next steps as commands. The numbers are those of the tables of export.

            Two reports of the same store with the same --at and --catalog are equal byte for byte.

            EXIT STATUS:
              0  the report is complete
              2  usage, input or output error; an earlier report is kept
              130, 143  interrupted by SIGINT (Ctrl-C) or SIGTERM; as above

            EXAMPLES:
              legacy-receipts report --store sqlite:purchases.sqlite
              legacy-receipts report --store postgres://db/receipts \\
                --html report.html --catalog products.yaml --at 2026-01-01
            """)

    @OptionGroup var store: StoreOption

    @Option(help: .value("file", "The file to write."), completion: .file(extensions: ["html"]))
    var html = "report.html"

    @OptionGroup var view: ViewOptions

    func validate() throws {
        guard !html.isEmpty else { throw ValidationError("The path of the file is empty.") }
    }

    func run() async throws {
        let (now, catalog, files) = (view.date, try view.products, view.catalog)
        let page = try await Interruption.running(ifEnded: "Interrupted. Nothing was written.") { [store] in
            try await StoreOpener.withExisting(store.url) {
                try await ReportPage(
                    of: $0, at: StoreURL(store.url), catalog: catalog, catalogFiles: files, date: now)
            }
        }
        try page.write(to: html)
        let report = page.report
        try Terminal.output(
            "\(report.customers) customers, \(report.transactions) transactions, \(report.subscriptions) subscriptions."
                + "\nWritten to \(html), as of \(DateText.iso(now)).")
    }
}
