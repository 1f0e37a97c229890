import ArgumentParser
import ProductCatalog
import TransactionStore

/// Delivers the entries of a ledger to a consumer, from its acknowledged position on: to standard output, or to a command.
struct LedgerFollower {
    let options: LedgerFollowCommand
    let store: any CompleteTransactionStore
    let keeper: LeaseKeeper
    let catalog: ProductCatalog?

    private static let longestPause = 60

    /// nil prints the entries and acknowledges nothing.
    private var command: BatchCommand? { options.command.map(BatchCommand.init) }
    private var consumer: String { options.consumer }
    private var attempts: Int { options.attempts ?? .max }

    /// - Throws: ``CommandFailure``, `ExitCode`, `TransactionStoreError`, `CancellationError`.
    func run() async throws {
        var position: Int64 = 0
        var tried = (batch: Int64(-1), runs: 0)
        while true {
            try Task.checkCancellation()
            let before = position
            let entries = try await retrying {
                // A reader that has gone ends a standby too.
                try await keeper.take { if command == nil, Terminal.isOutputClosed { throw ExitCode.success } }
                // While this process was without the lease, another one may have gone on.
                let start = max(before, try await store.acknowledgedPosition(of: consumer))
                return try await store.entries(after: start, limit: options.batch, for: consumer)
            }
            guard let last = entries.last else {
                if options.once { return }
                // Otherwise a reader that has gone is noticed only with the next entry.
                if command == nil, Terminal.isOutputClosed { return }
                try await Task.sleep(for: .seconds(options.pollSeconds))
                continue
            }
            let wanted = entries.filter { options.selection.includes($0.scope) }
            if let command {
                if !wanted.isEmpty, try await !deliver(wanted, upTo: last.position, to: command, &tried) { continue }
                try await acknowledge(last.position)
                position = last.position
            } else {
                position = try await output(wanted, after: before, upTo: last.position)
            }
        }
    }

    /// Prints entries while the lease lasts.
    /// - Returns: the position after which to continue.
    private func output(_ entries: [LedgerEntry], after position: Int64, upTo last: Int64) async throws -> Int64 {
        var position = position
        let newline = UInt8(ascii: "\n")
        let bytes = try await lines(entries)
        for (entry, line) in zip(entries, bytes.split(separator: newline)) {
            // A slow reader is waited for where the lease can be renewed and a signal ends the run.
            while !Terminal.isOutputReady { try await Task.sleep(for: .milliseconds(20)) }
            try Task.checkCancellation()
            await Task.yield()
            guard keeper.hasLease else {
                Terminal.error("\(leaseEnded) Nothing is printed until this process has the lease again.")
                return position
            }
            // One by one, because a reader can block them for long.
            try Terminal.output(Array(line) + [newline])
            position = entry.position
        }
        return last
    }

    private var leaseEnded: String { "The lease of the consumer \(consumer) could not be renewed in time." }

    private func lines(_ entries: [LedgerEntry]) async throws -> [UInt8] {
        try await retrying { try await LedgerLines.bytes(of: entries, catalog, in: store) }
    }

    /// Runs the command until it exits with 0, or until the entries are acknowledged by another process.
    /// - Parameters:
    ///   - entries: the batch.
    ///   - last: the position to acknowledge.
    ///   - command: the command to run.
    ///   - tried: how often the command ran for the batch that begins with an entry, also before the lease ended.
    /// - Returns: false if the lease ended before.
    private func deliver(
        _ entries: [LedgerEntry], upTo last: Int64, to command: BatchCommand, _ tried: inout (batch: Int64, runs: Int)
    ) async throws -> Bool {
        let bytes = try await lines(entries)
        let name = "the entries \(entries.first?.position ?? last) to \(entries.last?.position ?? last)"
        let first = entries.first?.position ?? last
        if tried.batch != first { tried = (first, 0) }
        var seconds = 1
        while keeper.hasLease {
            let result = try await command.run(bytes, grace: .seconds(10), killDelay: keeper.killDelay) { [keeper] in
                keeper.deadline
            }
            tried.runs += 1
            guard let status = result else {
                Terminal.error("\(leaseEnded) The command was ended for \(name), which are not acknowledged.")
                guard tried.runs < attempts else { throw ExitStatus.commandFailed }
                return false
            }
            if status == 0 { return true }
            try Task.checkCancellation()
            let report = "The command ended with \(status) for \(name), attempt \(tried.runs)."
            guard tried.runs < attempts else {
                Terminal.error("\(report) They are not acknowledged.")
                throw ExitStatus.commandFailed
            }
            Terminal.error("\(report) The next attempt is in \(seconds) s.")
            try await Task.sleep(for: .seconds(seconds))
            if try await retrying({ try await store.acknowledgedPosition(of: consumer) }) >= last { return true }
            seconds = min(seconds * 2, Self.longestPause)
        }
        return false
    }

    /// Acknowledges what was delivered, also when the task is cancelled.
    private func acknowledge(_ position: Int64) async throws {
        try await retrying {
            try await Task { try await store.acknowledge(position, by: consumer) }.value
        }
    }

    /// Waits for a store that cannot be reached for a while. A run that ends by itself reports the error instead.
    private func retrying<Result>(_ body: () async throws -> Result) async throws -> Result {
        var seconds = 1
        while true {
            do {
                return try await body()
            } catch let error as TransactionStoreError where error.isTransient && !options.once {
                try Task.checkCancellation()
                Terminal.error("The store cannot be used: \(error) The next attempt is in \(seconds) s.")
                try await Task.sleep(for: .seconds(seconds))
                seconds = min(seconds * 2, Self.longestPause)
            }
        }
    }
}
