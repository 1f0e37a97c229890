import AppStoreServer
import AppStoreSync
import ArgumentParser
import ProductCatalog
import TransactionStore

/// The requests for consumption information, one by one or those that a store keeps.
struct AppStoreConsumptionCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumption",
        abstract: "Answer CONSUMPTION_REQUEST: state how a purchase was used.",
        discussion: """
            When a customer asks Apple for a refund, Apple sends your server a notification CONSUMPTION_REQUEST and expects \
            the answer within 12 hours. The store keeps each request as an open task.

            With an id, the command sends the answer about this transaction. The subcommands list the open requests of a \
            store, answer them by your rules, and dismiss those that you do not answer. --pending is the same as pending, \
            and --answer the same as answer.

            \(AppStoreCommand.exitStatus)

            EXAMPLES:
              legacy-receipts app-store consumption --pending \\
                --store sqlite:purchases.sqlite
              legacy-receipts app-store consumption 1000000831360853 \\
                --customer-consented --delivery-status DELIVERED \\
                --no-sample-content-provided --refund-preference DECLINE \\
            \(AppStoreCommand.keyArguments)
            """,
        subcommands: [
            AppStoreConsumptionCommand.self, ConsumptionPendingCommand.self, ConsumptionAnswerCommand.self,
            ConsumptionDismissCommand.self,
        ],
        defaultSubcommand: AppStoreConsumptionCommand.self)

    /// The arguments with the name of the subcommand where its option stands: `consumption --pending`.
    static func withSubcommand(_ arguments: [String]) -> [String] {
        guard arguments.count > 2, arguments.starts(with: ["app-store", "consumption"]), arguments[2].hasPrefix("--")
        else { return arguments }
        let name = String(arguments[2].dropFirst(2))
        guard configuration.subcommands.contains(where: { $0.configuration.commandName == name }) else {
            return arguments
        }
        return Array(arguments.prefix(2)) + [name] + arguments.dropFirst(3)
    }
}

/// `--catalog` of the commands about the requests of a store.
struct ConsumptionCatalogOption: ParsableArguments {
    @Option(file: "A product catalog: types that documents do not state. Repeatable.")
    var catalog: [String] = []

    /// The catalog; nil without files.
    /// - Throws: `CommandFailure` with the file and the line of the mistake.
    var products: ProductCatalog? { get throws { try CatalogArguments.catalog(catalog) } }
}

struct ConsumptionPendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "List the open consumption requests of a store.",
        discussion: """
            Prints the requests that were not answered or dismissed, of all apps and environments, the soonest deadline \
            first. A request whose 12 hours have passed is shown as missed, until you dismiss it.

            For each request: the transaction, Apple's reason, whether a consumer of the ledger has acknowledged the purchase \
            (--consumer), the elapsed part of the period at the time of the request, and what the customer's purchases in \
            the app cost and how much of it was refunded, as far as the documents in the store state prices; with --rules also \
            the refund preference of your rules. --json has more.

            EXIT STATUS:
              0  the list was printed
              2  usage, input or output error

            EXAMPLES:
              legacy-receipts app-store consumption pending \\
                --store sqlite:purchases.sqlite --consumer shop
            """)

    @OptionGroup var store: StoreOption

    @Option(help: .value("name", "The consumer of the ledger that delivers purchases: shows what it has."))
    var consumer: String?

    @Option(file: "Your rules (JSON): shows the answer that they give.")
    var rules: String?

    @OptionGroup var catalog: ConsumptionCatalogOption

    @Option(date: "The point in time that decides what is missed, for example 2024-03-15T10:20:30Z (default: now).")
    var at: Int64?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let date = at ?? ServerClock.system.now()
        let rules = try self.rules.map { try ConsumptionRules(file: $0, consumer: consumer) }
        let products = try catalog.products
        let cases = try await StoreOpener.withExisting(store.url) { [consumer] in
            try await ConsumptionCase.all(in: $0, consumer: consumer, catalog: { _ in products })
        }
        guard json else { return try Terminal.output(ConsumptionCaseText.text(cases, rules, at: date)) }
        try Terminal.output(
            InspectionJSON.object { writer in
                writer.objects("tasks", cases) { ConsumptionCaseText.write($1, rules, at: date, to: &$0) }
            })
    }
}

struct ConsumptionDismissCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Remove consumption requests from the list without an answer.",
        discussion: """
            For requests that you do not answer, for example because the customer did not consent, and for missed ones. \
            The store keeps that they were dismissed. Nothing is sent to Apple. --missed-before dismisses all requests \
            whose deadline passed before a date, for example those that a backfill found.

            EXIT STATUS:
              0  every request was open and is dismissed
              1  some are unknown, answered or dismissed already
              2  usage, input or output error

            EXAMPLES:
              legacy-receipts app-store consumption dismiss \\
                002e14d5-51f5-4503-b5a8-c3a1af68eb20 \\
                --store sqlite:purchases.sqlite
              legacy-receipts app-store consumption dismiss \\
                --missed-before 2026-01-01 --store sqlite:purchases.sqlite
            """)

    @Argument(help: .value("uuid", "The UUIDs of the notifications, as pending shows them."))
    var uuids: [String] = []

    @Option(date: "Dismiss all requests whose deadline passed before this date.")
    var missedBefore: Int64?

    @OptionGroup var store: StoreOption

    func validate() throws {
        guard uuids.isEmpty != (missedBefore == nil) else {
            throw ValidationError("Give the UUIDs of requests, or --missed-before.")
        }
        guard let missedBefore else { return }
        guard missedBefore <= ServerClock.system.now() else {
            throw ValidationError("--missed-before takes a date in the past.")
        }
    }

    func run() async throws {
        if let missedBefore { return try await dismiss(missedBefore: missedBefore) }
        let uuids = Set(uuids.map { $0.lowercased() }).sorted()
        let dismissed = try await StoreOpener.withExisting(store.url) {
            try await $0.closeConsumptionTasks(uuids, as: .dismissed)
        }
        try Terminal.output("Dismissed: \(dismissed); not open: \(uuids.count - dismissed)")
        guard dismissed == uuids.count else { throw ExitStatus.notOpen }
    }

    private func dismiss(missedBefore date: Int64) async throws {
        let dismissed = try await StoreOpener.withExisting(store.url) { store in
            var dismissed = 0
            var last: ConsumptionTask?
            while true {
                // The soonest deadlines come first.
                let page = try await store.openConsumptionTasks(after: last, limit: 1_000)
                let missed = page.filter { $0.deadline < date }
                guard !missed.isEmpty else { return dismissed }
                dismissed += try await store.closeConsumptionTasks(missed.map(\.notificationUUID), as: .dismissed)
                last = page.last
            }
        }
        try Terminal.output("Dismissed: \(dismissed)")
    }
}
