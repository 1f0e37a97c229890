import AppStoreModels
import ArgumentParser
import Foundation
import ProductCatalog
import Purchases
import TransactionStore

struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Read what to deliver and what to revoke.",
        discussion: """
            The store keeps an ordered ledger of the events of each transaction: purchased (once per transaction id), \
            revoked, upgraded, reinstated, termMoved (of a non-renewing subscription), seatUnclaimed (of a subscription \
            with seats). A consumer reads the entries after its position, processes them, and \
            acknowledges them.

            EXAMPLES:
              legacy-receipts ledger read --store sqlite:purchases.sqlite \\
                --consumer shop --limit 100 --environment Production
              legacy-receipts ledger acknowledge --store sqlite:purchases.sqlite \\
                --consumer shop --position 4711
            """,
        subcommands: [LedgerReadCommand.self, LedgerAcknowledgeCommand.self])
}

struct LedgerReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print entries as NDJSON, the oldest first.",
        discussion: """
            Each line has position, event, bundleId, environment, transactionId and transaction. A store can contain \
            several apps, and sandbox purchases, which cost nothing. --bundle-id and --environment leave out the \
            others. The position of a consumer passes over entries that are left out, so use the same options each \
            time.

            With --catalog, the entry of a non-renewing subscription has termStart, and the end of the term as \
            expiresDate of the transaction. The term is the one at the time of reading. When a later document, such as a \
            refund, can have moved the term, the transaction gets an entry termMoved.

            An entry seatUnclaimed has seatClaimId: the App Store ended the claim of that seat.

            EXAMPLES:
              legacy-receipts ledger read --store postgres://db/receipts --after 0 \\
                --bundle-id com.example.app --environment Production
            """)

    @Option(help: ArgumentHelp("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var store: String

    @Option(help: ArgumentHelp("Begin after the last entry that this consumer acknowledged.", valueName: "name"))
    var consumer: String?

    @Option(help: ArgumentHelp("Begin after this position (default: 0).", valueName: "position"))
    var after: Int64?

    @Option(help: ArgumentHelp("The maximum number of entries (default: all).", valueName: "n"))
    var limit: Int?

    @Option(help: "Only entries of this app (default: of every app).")
    var bundleId: String?

    @Option(
        help: "Only entries of this environment: Production or Sandbox (default: both).",
        completion: .list(["Production", "Sandbox"]), transform: FormatArguments.environment)
    var environment: Environment?

    @Option(
        help: ArgumentHelp(
            "A product catalog, for the terms of non-renewing subscriptions. Repeatable.", valueName: "file"),
        completion: .file())
    var catalog: [String] = []

    func validate() throws {
        guard consumer == nil || after == nil else { throw ValidationError("Give --consumer or --after, not both.") }
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    }

    func run() async throws {
        let products = try CatalogArguments.catalog(catalog)
        try await StoreOpener.withExisting(store) { store in
            var position = after ?? 0
            if let consumer { position = try await store.acknowledgedPosition(of: consumer) }
            var left = limit ?? .max
            while left > 0 {
                let entries = try await store.changes(after: position, limit: isFiltered ? 1_000 : min(left, 1_000))
                guard let last = entries.last else { return }
                let wanted = entries.filter { isWanted($0.scope) }.prefix(left)
                var lines = JSONWriter(reservingCapacity: wanted.count * 1024)
                var terms = LedgerTerms(catalog: products)
                for entry in wanted {
                    let term = try await terms.term(of: entry, in: store)
                    Self.write(entry, term, to: &lines)
                }
                try Terminal.output(lines.bytes)
                position = last.position
                left -= wanted.count
            }
        }
    }

    private var isFiltered: Bool { bundleId != nil || environment != nil }

    private func isWanted(_ scope: StoreScope) -> Bool {
        (bundleId ?? scope.bundleId) == scope.bundleId && (environment ?? scope.environment) == scope.environment
    }

    private static func write(_ entry: LedgerEntry, _ term: NonRenewingTerm?, to writer: inout JSONWriter) {
        var transaction = entry.transaction.payload
        if let term { transaction.expiresDate = term.end }
        writer.beginObject()
        writer.member("position", entry.position)
        writer.member("event", entry.event.name)
        writer.member("bundleId", entry.scope.bundleId)
        writer.member("environment", entry.scope.environment.rawValue)
        writer.member("transactionId", entry.transactionId)
        writer.member("transaction", transaction)
        writer.member("termStart", term?.start)
        writer.member("seatClaimId", entry.seatClaimId)
        writer.endObject()
        writer.newline()
    }
}

/// The terms of the non-renewing subscriptions among some entries. A term depends on all purchases of the customer, so each
/// customer is looked up once.
private struct LedgerTerms {
    private struct Key: Hashable {
        let scope: StoreScope
        let transactionId: String
    }

    private let catalog: ProductCatalog?
    private var terms: [Key: NonRenewingTerm] = [:]
    private var lookedUp: Set<Key> = []

    init(catalog: ProductCatalog?) { self.catalog = catalog }

    /// - Throws: `TransactionStoreError`.
    mutating func term(of entry: LedgerEntry, in store: any TransactionStore) async throws -> NonRenewingTerm? {
        let payload = entry.transaction.payload
        guard let catalog, let product = payload.productId.flatMap({ catalog.product($0) }),
            payload.type ?? product.type == .nonRenewingSubscription
        else { return nil }
        let key = Key(scope: entry.scope, transactionId: entry.transactionId)
        if lookedUp.insert(key).inserted {
            let identity = CustomerIdentity(
                .originalTransactionId, payload.originalTransactionId ?? entry.transactionId)
            let customer = try await store.customer([identity], in: entry.scope)
            for (id, term) in customer?.nonRenewingTerms(catalog) ?? [:] {
                let key = Key(scope: entry.scope, transactionId: id)
                lookedUp.insert(key)
                terms[key] = term
            }
        }
        return terms[key]
    }
}

struct LedgerAcknowledgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Acknowledge all entries up to a position.",
        discussion: """
            EXAMPLES:
              legacy-receipts ledger acknowledge --store sqlite:purchases.sqlite \\
                --consumer shop --position 4711
            """)

    @Option(help: ArgumentHelp("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var store: String

    @Option(help: ArgumentHelp("The name of the consumer.", valueName: "name"))
    var consumer: String

    @Option(help: ArgumentHelp("The position of the last processed entry.", valueName: "position"))
    var position: Int64

    func run() async throws {
        try await StoreOpener.withExisting(store) { store in
            try await store.acknowledge(position, by: consumer)
            let kept = try await store.acknowledgedPosition(of: consumer)
            try Terminal.output("\(consumer) has acknowledged all entries up to \(kept).")
        }
    }
}
