import AppStoreServer
import ArgumentParser
import Purchases
import TransactionStore

struct LedgerSweepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Add the entries of subscriptions that ended without a document.",
        discussion: """
            'serve' does this automatically. Without a server, run it as often as you need these entries, for example every \
            minute. Any number of programs may do it at once: each end has one entry. Purchases that ended before \
            the first run on a store have none.

            Terms of non-renewing subscriptions end only with --catalog, which states their length.

            EXAMPLES:
              legacy-receipts ledger sweep --store sqlite:purchases.sqlite
            """)

    @OptionGroup var store: StoreOption

    @Option(help: .value("seconds", "How long to wait for documents after an end, 0 to 86400."))
    var delaySeconds = 300

    @OptionGroup var terms: TermCatalogOption

    func validate() throws {
        guard (0...86_400).contains(delaySeconds) else {
            throw ValidationError("--delay-seconds takes a number from 0 to 86400.")
        }
    }

    func run() async throws {
        let catalogs = TermCatalogs(other: try terms.products)
        let date = ServerClock.system.now() - Int64(delaySeconds) * 1_000
        try await StoreOpener.withExisting(store.url) { store in
            let found = try await store.recordAllEndings(by: date, catalogs: catalogs)
            if found.unreadable > 0 {
                Terminal.error("Warning: \(found.unreadable) purchases cannot be read. They are tried again in a day.")
            }
            try Terminal.output("Purchases that were due: \(found.purchases). Entries added: \(found.entries).")
        }
    }
}
