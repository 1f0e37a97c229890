import ArgumentParser
import TransactionStore

struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Read what to deliver and what to revoke.",
        discussion: """
            The store keeps an ordered ledger of the events of each transaction: started or renewed (once per transaction \
            id), refunded, revoked (Family Sharing or an assignment ended), upgraded, reinstated, termMoved (of a \
            non-renewing subscription), seatUnclaimed (of a subscription with seats). Notifications, renewal information \
            and time ('ledger sweep') add gracePeriodEntered, billingFailed, gracePeriodExpired, billingRecovered, \
            expired, priceIncreasePending, priceIncreaseAccepted, consumptionRequested. A consumer reads the entries \
            after its position, processes them, and acknowledges them.

            EXAMPLES:
              legacy-receipts ledger read --store sqlite:purchases.sqlite \\
                --consumer shop --limit 100 --environment Production
              legacy-receipts ledger acknowledge --store sqlite:purchases.sqlite \\
                --consumer shop 4711
              legacy-receipts ledger follow --store sqlite:purchases.sqlite \\
                --consumer shop --environment Production \\
                --acknowledge-on-exit-0 ./deliver
            """,
        subcommands: [
            LedgerReadCommand.self, LedgerFollowCommand.self, LedgerAcknowledgeCommand.self, LedgerSweepCommand.self,
            LedgerPruneCommand.self, LedgerConsumersCommand.self, LedgerForgetCommand.self,
        ])
}

struct LedgerReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print entries as NDJSON, the oldest first.",
        discussion: """
            Each line has position, event, before and after (the state of the purchase: active, inGracePeriod, \
            inBillingRetry, expired, refunded, revoked or upgraded), recordedDate, bundleId, environment, transactionId \
            and transaction. A store can contain several apps. It can also contain sandbox purchases, which cost nothing. \
            --bundle-id and --environment select entries. The position of a consumer also moves past the entries that they \
            exclude, so use the same options each time.

            With --catalog, the entry of a non-renewing subscription has its term at the time of reading: the start as \
            termStart, the end as expiresDate of the transaction. If a later document, such as a refund, may have moved the \
            term, the ledger adds an entry termMoved. This entry also has the former term, as termStartBefore and \
            expiresDateBefore.

            An entry seatUnclaimed has seatClaimId: the App Store ended the claim of that seat.

            EXAMPLES:
              legacy-receipts ledger read --store postgres://db/receipts --after 0 \\
                --bundle-id com.example.app --environment Production
            """)

    @OptionGroup var store: StoreOption

    @Option(help: .value("name", "Begin after the last entry that this consumer acknowledged."))
    var consumer: String?

    @Option(help: .value("position", "Begin after this position (default: 0)."))
    var after: Int64?

    @Option(help: .value("n", "The maximum number of entries (default: all)."))
    var limit: Int?

    @OptionGroup var selection: LedgerSelection

    func validate() throws {
        guard consumer == nil || after == nil else { throw ValidationError("Give --consumer or --after, not both.") }
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    }

    func run() async throws {
        let products = try selection.terms.products
        try await StoreOpener.withExisting(store.url) { store in
            var position = after ?? 0
            if let consumer { position = try await store.acknowledgedPosition(of: consumer) }
            var left = limit ?? .max
            while left > 0 {
                let entries = try await store.entries(
                    after: position, limit: selection.isFiltered ? 1_000 : min(left, 1_000), for: consumer)
                guard let last = entries.last else { return }
                let wanted = entries.filter { selection.includes($0.scope) }.prefix(left)
                try Terminal.output(try await LedgerLines.bytes(of: wanted, products, in: store))
                position = last.position
                left -= wanted.count
            }
        }
    }
}

struct LedgerAcknowledgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Acknowledge all entries up to a position.",
        discussion: """
            EXAMPLES:
              legacy-receipts ledger acknowledge --store sqlite:purchases.sqlite \\
                --consumer shop 4711
            """)

    @OptionGroup var store: StoreOption

    @Option(help: .value("name", "The name of the consumer."))
    var consumer: String

    @Argument(help: .value("position", "The position of the last processed entry."))
    var position: Int64?

    @Option(name: .customLong("position"), help: .value("position", "The same, as an option."))
    var positionOption: Int64?

    func validate() throws {
        guard (position == nil) != (positionOption == nil) else { throw ValidationError("Name one position.") }
    }

    func run() async throws {
        guard let position = position ?? positionOption else { throw ValidationError("Name one position.") }
        try await StoreOpener.withExisting(store.url) { store in
            try await store.acknowledge(position, by: consumer)
            let kept = try await store.acknowledgedPosition(of: consumer)
            try Terminal.output("\(consumer) has acknowledged all entries up to \(kept).")
        }
    }
}
