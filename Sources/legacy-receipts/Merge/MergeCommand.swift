import ArgumentParser
import Foundation
import Migration
import TransactionStore

struct MergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge stores into one, such as those of shards that were migrated on several machines.",
        discussion: """
            Merges the customers, your user ids with their carried columns, the quarantine, the receipts that are known to be \
            genuine, the ids of processed notifications, the transactions that the App Store did not know, and the hashes of \
            erased customers (customer --leave-hashes). Data about an erased customer is removed from the store of --into. \
            The rules are those of migrate --into: each transaction once, the newest document of each kind. So any order \
            and grouping of merges gives the same exports, and a merge that runs again changes nothing. But if a store has \
            hashes, name all stores in one command: hashes that come later do not separate customers again whom an erased \
            purchase has joined.

            The source stores are only read. The store of --into is created if it is missing. Its ledger gets entries for \
            the changes, as for any later document. The ledgers of the sources, their consumers, and the positions of \
            migrations are not merged.

            After an interruption, run the same command again: it reads the stores from the beginning, and merged data \
            changes nothing. Progress goes to standard error. If something wrote to a store during the merge, merge it again.

            EXIT STATUS:
              0  everything is merged
              2  usage, input or output error; merged data is kept
              130, 143  interrupted by SIGINT (Ctrl-C) or SIGTERM; as above

            EXAMPLES:
              legacy-receipts merge shard-*.sqlite --into sqlite:purchases.sqlite
              legacy-receipts merge sqlite:shard.sqlite \\
                'postgres://db/receipts?schema=shard' --into postgres://db/receipts
            """)

    @Argument(help: .value("store", "The stores: sqlite:PATH, a path, or postgres://…"))
    var stores: [String]

    @Option(name: .customLong("into"), help: .value("url", "The store to merge into: sqlite:PATH or postgres://…"))
    var destination: String

    @Flag(help: "Print the summary as JSON.")
    var json = false

    @Flag(help: "No progress on standard error.")
    var quiet = false

    func validate() throws {
        let destination = try Self.place(self.destination)
        for store in stores {
            guard try Self.place(store) != destination else {
                throw ValidationError("The store of --into is also among the stores to merge.")
            }
        }
    }

    /// The address, with links in the path of a file resolved.
    private static func place(_ text: String) throws -> StoreURL {
        do {
            guard case .sqlite(let path) = try StoreURL(text) else { return try StoreURL(text) }
            return .sqlite(path: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        } catch let error as TransactionStoreError {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        let reporter = ProgressReporter(isQuiet: quiet)
        let summary: StoreMergeSummary
        do {
            summary = try await Interruption.running(
                ifEnded:
                    "Interrupted after \(reporter.done) customers. What was merged stays. Run the same command again to merge the rest."
            ) { [stores, destination] in
                defer { reporter.finish() }
                // Before the destination is made.
                let merge = try StoreMerge(of: stores.map { try StoreURL($0) })
                return try await StoreOpener.closing(StoreOpener.opened(destination).store) { store in
                    try await merge.run(into: store) { reporter.report($0) }
                }
            }
        } catch let error as TransactionStoreError {
            throw CommandFailure("The merge stopped: \(error)")
        }
        if json {
            try Terminal.output(summary.json)
        } else {
            try Terminal.output(Self.text(summary, into: destination))
        }
    }

    private static func text(_ summary: StoreMergeSummary, into destination: String) throws -> String {
        let labels = [
            "customers": "customers in them", "userClaims": "users at purchases",
            "verifiedReceipts": "verified receipts", "unknownTransactions": "unknown to the App Store",
            "leftHashes": "hashes of erased customers", "factsChanged": "facts new or newer",
            "factsUnchanged": "facts there before", "erased": "not stored, of erased customers",
        ]
        let lines = TextTable.numbers(summary.counts.map { [labels[$0.name] ?? $0.name, String($0.count)] })
        return (lines + ["", "Merged into \(try StoreURL(destination))."]).joined(separator: "\n")
    }
}
