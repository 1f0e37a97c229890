import ArgumentParser
import TransactionStore

struct LedgerPruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove old entries that every consumer has acknowledged.",
        discussion: """
            Removes the entries that were recorded before a date. Entries that a consumer has not acknowledged stay, \
            and the output names the consumer. With --force they are removed too, and the consumer gets an error at its \
            next read. 'ledger forget' removes a consumer that no longer exists.

            Purchases are not removed. The ledger keeps the last state of each transaction, so no purchase is reported \
            twice. A new consumer must start from the current state of the purchases, which 'export' writes, and acknowledge \
            the position that 'ledger prune' prints.

            EXAMPLES:
              legacy-receipts ledger prune --store sqlite:purchases.sqlite \\
                --before 2026-01-01T00:00:00Z
            """)

    @OptionGroup var store: StoreOption

    @Option(
        help: .value("date", "Remove entries that were recorded before, such as 2026-01-01T00:00:00Z."),
        transform: DateArguments.milliseconds)
    var before: Int64

    @Flag(help: "Also remove entries that a consumer has not acknowledged.")
    var force = false

    func run() async throws {
        try await StoreOpener.withExisting(store.url) { store in
            let removal = try await store.removeEntries(before: before, evenUnread: force)
            var lines = ["All entries up to position \(removal.position) are removed."]
            if removal.position == 0 { lines = ["No entries are removed."] }
            for consumer in removal.behind {
                let misses = consumer.position < removal.position
                lines.append(
                    "The consumer \(consumer.name) has acknowledged \(consumer.position): "
                        + (misses ? "it misses the removed entries after it." : "the entries after it are kept."))
            }
            try Terminal.output(lines.joined(separator: "\n"))
        }
    }
}

struct LedgerConsumersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumers",
        abstract: "List the consumers and their positions.",
        discussion: """
            One line per consumer: the acknowledged position, the name, and the process that follows as this consumer.

            EXAMPLES:
              legacy-receipts ledger consumers --store sqlite:purchases.sqlite
            """)

    @OptionGroup var store: StoreOption

    func run() async throws {
        try await StoreOpener.withExisting(store.url) { store in
            for consumer in try await store.consumers() {
                let holder = consumer.holder.map { "  in use by \($0)" } ?? ""
                try Terminal.output("\(consumer.position)  \(consumer.name)\(holder)")
            }
        }
    }
}

struct LedgerForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove a consumer and its position.",
        discussion: """
            For a consumer that no longer exists. 'ledger prune' then no longer keeps entries for it. If a consumer with \
            this name reads again, it begins at 0.

            EXAMPLES:
              legacy-receipts ledger forget --store sqlite:purchases.sqlite --consumer shop
            """)

    @OptionGroup var store: StoreOption

    @Option(help: .value("name", "The name of the consumer."))
    var consumer: String

    func run() async throws {
        try await StoreOpener.withExisting(store.url) { store in
            guard try await store.removeConsumer(consumer) else {
                throw CommandFailure("The consumer \(consumer) does not exist. List them with 'ledger consumers'.")
            }
            try Terminal.output("The consumer \(consumer) is removed.")
        }
    }
}
