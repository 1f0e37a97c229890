import ArgumentParser
import ProductCatalog
import TransactionStore

struct LedgerFollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print entries as NDJSON as they happen, or run a command per batch.",
        discussion: """
            Begins after the last entry that the consumer acknowledged and waits for new entries. Each entry is \
            delivered at least once, in the order of the positions. The lines are those of 'ledger read'.

            Without --acknowledge-on-exit-0, the lines go to standard output, and your program acknowledges with \
            'ledger acknowledge'. With it, COMMAND runs for each batch (/bin/sh -c) with the lines of the batch on \
            standard input. If COMMAND exits with 0, the batch is acknowledged. Otherwise the same batch is tried again \
            after 1, 2, 4, … at most 60 seconds. 'ledger acknowledge' skips a batch that never succeeds.

            Only one process at a time can follow as a consumer. It has a lease in the store and renews it. A second process \
            ends with an error that names the first. If a process was killed, the next one waits until the lease expires \
            (--lease-seconds). If a process cannot renew its lease, it ends COMMAND before the lease expires, acknowledges \
            nothing, and waits until it has the lease again.

            With --standby, the second process waits and takes over when the lease is free or has expired. Standard error \
            says when it stands by and when it takes over.

            SIGINT and SIGTERM end the process with 0. It waits 10 seconds for COMMAND, and then ends it. A batch that was \
            not acknowledged arrives again, so COMMAND must accept an entry twice: store the highest position.

            EXAMPLES:
              legacy-receipts ledger follow --store postgres://db/receipts \\
                --consumer shop --environment Production \\
                --acknowledge-on-exit-0 ./produce
              legacy-receipts ledger follow --store sqlite:purchases.sqlite \\
                --consumer nightly --environment Production --once --attempts 3 \\
                --acknowledge-on-exit-0 ./deliver

            EXIT STATUS:
              0  Ended by a signal, by a closed pipe, or with --once at the end.
              1  COMMAND failed --attempts times.
              2  A wrong option, another process, or a store that cannot be used.
            """)

    @OptionGroup var store: StoreOption

    @Option(help: .value("name", "The name of the consumer."))
    var consumer: String

    @Option(
        name: .customLong("acknowledge-on-exit-0"),
        help: .value("command", "Run this shell command per batch, and acknowledge when it exits with 0."))
    var command: String?

    @Option(help: .value("n", "The maximum number of entries per batch, 1 to 10000."))
    var batch = 100

    @Option(help: .value("n", "How often to run the command for a batch (default: forever)."))
    var attempts: Int?

    @Flag(help: "End when there are no more entries, instead of waiting for new ones.")
    var once = false

    @Option(help: .value("seconds", "The pause between two looks at the store, 0.05 to 3600."))
    var pollSeconds = 1.0

    @Flag(help: "Wait while another process follows as this consumer, and then take over.")
    var standby = false

    @Option(help: .value("seconds", "How long a lease that is not renewed lasts, 1 to 3600."))
    var leaseSeconds = 30

    @OptionGroup var selection: LedgerSelection

    func validate() throws {
        guard (1...10_000).contains(batch) else { throw ValidationError("--batch takes a number from 1 to 10000.") }
        guard (0.05...3600).contains(pollSeconds) else {
            throw ValidationError("--poll-seconds takes a number from 0.05 to 3600.")
        }
        guard (1...3600).contains(leaseSeconds) else {
            throw ValidationError("--lease-seconds takes a number from 1 to 3600.")
        }
        if let command, command.isEmpty { throw ValidationError("--acknowledge-on-exit-0 takes a command.") }
        if let attempts {
            guard attempts >= 1 else { throw ValidationError("--attempts takes a number from 1.") }
            guard command != nil else { throw ValidationError("--attempts needs --acknowledge-on-exit-0.") }
        }
    }

    func run() async throws {
        let catalog = try selection.terms.products
        let interruption = Interruption()
        do {
            try await interruption.run { [self] in
                try await StoreOpener.withExisting(store.url) { known in
                    // The lease has calls of its own, which fail early enough to be tried again before it ends.
                    let leases = try StoreOpener.open(
                        store.url, deadline: max(.seconds(1), .seconds(leaseSeconds) / 8))
                    try await StoreOpener.closing(leases) { try await follow(known, leases: $0, catalog) }
                }
            }
        } catch {
            // A service manager ended the program. The error is only the interrupted step.
            guard interruption.signal == nil else { return }
            throw error
        }
    }

    private func follow(
        _ store: any CompleteTransactionStore, leases: any CompleteTransactionStore, _ catalog: ProductCatalog?
    ) async throws {
        let keeper = LeaseKeeper(consumer: consumer, seconds: leaseSeconds, isStandby: standby, in: leases)
        let follower = LedgerFollower(options: self, store: store, keeper: keeper, catalog: catalog)
        // A position that cannot be read from is an error before the name is taken, which would keep entries for it.
        let position = try await store.acknowledgedPosition(of: consumer)
        _ = try await store.entries(after: position, limit: 1, for: consumer)
        // A task of its own: the lease is also renewed while an interrupted run waits for its command.
        let keeping = Task { await keeper.keep() }
        let result = await Result {
            // A standby takes the lease inside `run`, which waits while the store cannot be reached.
            if !standby { try await keeper.take() }
            try await follower.run()
        }
        keeping.cancel()
        await keeping.value
        await keeper.end()
        try result.get()
    }
}
