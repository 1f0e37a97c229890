import AppStoreModels
import ArgumentParser
import Foundation
import Migration
import TransactionStore
import VerifyReceiptServer

struct CustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customer",
        abstract: "Look a customer up by any id, show what the store has about them, or remove it.",
        discussion: """
            Finds the customers with an id, in all apps and environments of the store: a transaction id, an original \
            transaction id, a web order line item id, an app account token, an appTransactionId, the SHA-256 of a receipt \
            without purchases, or your own user id (of migrate --into).

            Prints entitlements, subscriptions with their periods, the terms of non-renewing subscriptions, transactions, the \
            app transaction, offers used and open, ids, your users and conflicts among them, what the App Store Server API \
            could change, and the documents behind all this. Statuses are those at --at. --json has all columns, and all other data \
            of the customer: the bytes of receipts, open consumption requests, entries of the ledger, notifications and \
            records in quarantine. Documentation/Customer.md explains them.

            If the id belongs to several customers, all are shown, each with the kinds of id that matched.

            --erase prints what it would remove for one customer, and with --yes removes it: statements, receipts, users, \
            entries of the ledger. Documents that arrive later are stored again, for example a receipt that the customer's \
            app sends. --leave-hashes prevents this: it leaves a keyed hash of each id of a purchase, of the app transaction \
            and of a receipt without purchases. --remove-hashes removes the hashes of one id. Before --erase, stop servers \
            that have a spool, and name their spools with --spool.

            EXIT STATUS:
              0  at least one customer
              1  no customer has the id; with --remove-hashes: the store has no hash of it
              2  usage, input or output error

            EXAMPLES:
              legacy-receipts customer 1000000831360853 --store sqlite:purchases.sqlite
              legacy-receipts customer user-4711 --store postgres://db/receipts \\
                --catalog products.yaml --at 2026-01-01 --json
              legacy-receipts customer user-4711 --store sqlite:purchases.sqlite \\
                --erase --yes --leave-hashes
            """)

    @Argument(help: .value("id", "Any id of the customer."))
    var id: String

    @OptionGroup var store: StoreOption

    @OptionGroup var view: ViewOptions

    @Flag(help: "Print everything as JSON.")
    var json = false

    @Flag(help: "Remove everything about the customer; without --yes, only print what it would remove.")
    var erase = false

    @Flag(help: "With --erase: really remove it.")
    var yes = false

    @Flag(help: "With --erase: leave hashes of the ids, so that old documents are not stored again.")
    var leaveHashes = false

    @Flag(help: "Remove the hashes that --leave-hashes left of the id, so that its documents are stored again.")
    var removeHashes = false

    @Option(file: "With --erase: the spool of a server that is stopped. Repeatable.")
    var spool: [String] = []

    @Option(
        help: .value(
            "name",
            "With --erase: the column or member with your user id in quarantined records (default: found by its name).")
    )
    var userColumn: String?

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("The id is empty.") }
        guard erase || (!yes && !leaveHashes && spool.isEmpty && userColumn == nil) else {
            throw ValidationError("--yes, --leave-hashes, --spool and --user-column need --erase.")
        }
        guard !erase || (!json && view.isDefault && !removeHashes) else {
            throw ValidationError(
                "--erase takes no --json, --catalog, --at and --remove-hashes: look the customer up first.")
        }
        guard !removeHashes || (!json && view.isDefault) else {
            throw ValidationError("--remove-hashes takes no --json, --catalog and --at.")
        }
    }

    func run() async throws {
        if erase { return try await eraseCustomer() }
        if removeHashes { return try await removeLeftHashes() }
        let (date, products) = (view.date, try view.products)
        let (search, data) = try await StoreOpener.withExisting(store.url) {
            [id, json, url = store.url] store -> (CustomerSearch, CustomerData?) in
            let search = try await CustomerSearch(for: id, in: store)
            guard json || search.matches.isEmpty else { return (search, nil) }
            // Also if no customer has the id: records of the user can be in quarantine.
            return (search, try await CustomerData(search, in: store, at: StoreURL(url)))
        }
        let reports = search.matches.map { CustomerReport($0, catalog: products, date: date) }
        if json {
            try Terminal.output(CustomerReport.json(search, reports, date: date, data: data))
        } else if !reports.isEmpty {
            try Terminal.output(CustomerText.text(search, reports, date: date))
        }
        guard reports.isEmpty else { return }
        Terminal.error(CustomerText.notFound(search, quarantined: data?.quarantinedCount ?? 0))
        throw ExitStatus.noCustomer
    }

    private func eraseCustomer() async throws {
        let text: String? = try await StoreOpener.withExisting(store.url) { store in
            let search = try await CustomerSearch(for: id, in: store)
            guard let erasure = try await CustomerErasure(search, userColumn: userColumn, spools: spool, store) else {
                Terminal.error(CustomerText.notFound(search))
                return nil
            }
            return try await erasure.run(store, spools: spool, leavingHashes: leaveHashes, isPlan: !yes)
        }
        if spool.isEmpty, let path = VerifyReceiptServerConfiguration.Spool(besideStore: store.url).path,
            FileManager.default.fileExists(atPath: path)
        {
            Terminal.error(
                """
                Warning: the spool \(Printable.text(path)) was not read, and may have documents of the customer. Stop its \
                server and add --spool \(Printable.text(path)).
                """)
        }
        guard let text else { throw ExitStatus.noCustomer }
        try Terminal.output(text)
    }

    private func removeLeftHashes() async throws {
        let count = try await StoreOpener.withExisting(store.url) { [id] in
            try await CustomerErasure.removeHashes(of: id, in: $0)
        }
        guard count > 0 else {
            Terminal.error("The store has no hash of the id \(Printable.text(id)).")
            throw ExitStatus.noCustomer
        }
        try Terminal.output("Hashes removed: \(count). Documents about the id are stored again.")
    }
}
