import ArgumentParser
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TransactionStore

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Count what is in a store, check it, or back it up while it is in use.",
        discussion: """
            EXAMPLES:
              legacy-receipts store stats --store postgres://db/receipts
              legacy-receipts store check --store postgres://db/receipts
              legacy-receipts store backup --store sqlite:purchases.sqlite \\
                --to purchases-2026-01-31.sqlite
            """,
        subcommands: [StoreStatsCommand.self, StoreCheckCommand.self, StoreBackupCommand.self, StorePruneCommand.self])
}

struct StoreBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a store into a file while it is in use.",
        discussion: """
            The copy contains everything that was committed before the command began. The command checks the copy before it \
            gives it its name. It never replaces an existing file.

            The copy of a SQLite store is itself a store. The copy of a PostgreSQL store is a dump of its schema by pg_dump, \
            in the custom format; pg_restore restores it. pg_dump and pg_restore must be in PATH, of the server's version or \
            newer.

            EXIT STATUS:
              0  the backup is written
              2  usage, input or output error

            EXAMPLES:
              legacy-receipts store backup --store sqlite:purchases.sqlite \\
                --to purchases-2026-01-31.sqlite
              legacy-receipts store backup --store postgres://db/receipts \\
                --to receipts-2026-01-31.dump
              pg_restore --no-owner --dbname postgres://db/new receipts-2026-01-31.dump
            """)

    @OptionGroup var store: StoreOption

    @Option(file: "The new file.")
    var to: String

    func run() async throws {
        do {
            switch try StoreURL(store.url) {
            case .sqlite(let path): try SQLiteTransactionStore.backUp(from: path, to: to)
            case .postgreSQL(let url): try await PostgreSQLTransactionStore.backUp(from: url, to: to)
            }
            try Terminal.output("Wrote and checked \(to).")
        } catch let error as TransactionStoreError {
            throw CommandFailure("The store cannot be backed up: \(error)")
        }
    }
}

struct StoreStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count what is in a store.",
        discussion: """
            Prints the apps with their environments, the number of customers, transactions, receipts, notifications, \
            open consumption requests and transactions that the App Store does not know, and the position of each consumer \
            of the ledger. A consumer with unread entries is behind, or no longer exists. The store may be in use; the \
            command writes nothing.

            EXIT STATUS:
              0  done
              2  usage, input or output error

            EXAMPLES:
              legacy-receipts store stats --store sqlite:purchases.sqlite
              legacy-receipts store stats --store postgres://db/receipts --json
            """)

    @OptionGroup var store: StoreOption

    @Flag(help: "One JSON object instead of text.")
    var json = false

    func run() async throws {
        let stats = try await StoreOpener.withExisting(store.url) { try await StoreStats(of: $0) }
        if json { try Terminal.output(stats.json) } else { try Terminal.output(stats.text) }
    }
}

struct StoreCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look for damage in a store, and count what it has.",
        discussion: """
            Decodes every purchase, every entry of the ledger and every open consumption request. The file of SQLite is \
            checked too. Receipts and notifications are counted, but not decoded. The store may be in use; the command \
            writes nothing.

            EXIT STATUS:
              0  no damage was found
              1  something is damaged; standard error states what
              2  usage, input or output error

            EXAMPLES:
              legacy-receipts store check --store sqlite:purchases.sqlite
            """)

    @OptionGroup var store: StoreOption

    func run() async throws {
        let (lines, problems) = try await StoreOpener.withExisting(store.url) {
            store -> ([(String, Int64)], [String]) in
            var problems: [String] = []
            if case .sqlite(let path) = try StoreURL(self.store.url) {
                problems = try SQLiteTransactionStore.integrityProblems(ofFileAt: path)
            }
            var lines: [(String, Int64)] = []
            func count(_ name: String, _ place: String, _ number: () async throws -> Int64) async throws {
                do {
                    lines.append((name, try await number()))
                } catch let error as TransactionStoreError where error.code == .corrupt {
                    problems.append("\(place): \(error)")
                }
            }
            for scope in try await store.scopes() {
                let name = "\(scope.bundleId) \(scope.environment.rawValue)"
                try await count("customers of \(name)", name) { try await customers(of: scope, in: store) }
            }
            try await count("ledger entries", "ledger") { try await ledgerEntries(in: store) }
            try await count("open consumption requests", "consumption requests") {
                Int64(try await store.allOpenConsumptionTasks().count)
            }
            lines += try await store.counts().numbers.map { ($0.label, $0.count) }
            return (lines, problems)
        }
        try Terminal.output(lines.map { "\($0.0): \($0.1)" }.joined(separator: "\n"))
        guard !problems.isEmpty else { return }
        for problem in problems { Terminal.error(problem) }
        throw ExitStatus.storeDamaged
    }

    private func customers(of scope: StoreScope, in store: any CompleteTransactionStore) async throws -> Int64 {
        var count: Int64 = 0
        try await store.forEachPage(in: scope) { count += Int64($0.count) }
        return count
    }

    private func ledgerEntries(in store: any CompleteTransactionStore) async throws -> Int64 {
        var count: Int64 = 0
        // Removes nothing: no entry is that old. Says where the ledger begins.
        var position = try await store.removeEntries(before: 0, evenUnread: false).position
        while true {
            let entries = try await store.changes(after: position, limit: 1_000)
            guard let last = entries.last else { return count }
            count += Int64(entries.count)
            position = last.position
        }
    }
}
