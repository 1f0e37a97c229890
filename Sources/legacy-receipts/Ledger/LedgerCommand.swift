import AppStoreModels
import ArgumentParser
import Foundation
import TransactionStore

struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Read what to deliver and what to revoke.",
        discussion: """
            The store keeps an ordered ledger of the events of each transaction: purchased (once per transaction id), \
            revoked, upgraded, reinstated. A consumer reads the entries after its position, processes them, and \
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

    func validate() throws {
        guard consumer == nil || after == nil else { throw ValidationError("Give --consumer or --after, not both.") }
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    }

    func run() async throws {
        try await StoreOpener.withExisting(store) { store in
            var position = after ?? 0
            if let consumer { position = try await store.acknowledgedPosition(of: consumer) }
            var left = limit ?? .max
            while left > 0 {
                let entries = try await store.changes(after: position, limit: isFiltered ? 1_000 : min(left, 1_000))
                guard let last = entries.last else { return }
                let wanted = entries.lazy.filter { isWanted($0.scope) }.prefix(left)
                var lines = JSONWriter(reservingCapacity: wanted.count * 1024)
                for entry in wanted { Self.write(entry, to: &lines) }
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

    private static func write(_ entry: LedgerEntry, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("position", entry.position)
        writer.member("event", entry.event.name)
        writer.member("bundleId", entry.scope.bundleId)
        writer.member("environment", entry.scope.environment.rawValue)
        writer.member("transactionId", entry.transactionId)
        writer.member("transaction", entry.transaction.payload)
        writer.endObject()
        writer.newline()
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
            try Terminal.output("\(consumer) is done with everything up to \(kept).")
        }
    }
}
