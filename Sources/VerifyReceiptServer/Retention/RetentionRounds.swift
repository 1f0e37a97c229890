import AppStoreModels
import Encodings
import Foundation
import Logging
import TransactionStore

/// Removes once a day what is older than the limits of the configuration, as `store prune` and `ledger prune` do.
///
/// A removal cannot be undone, and the server's clock may be ahead. So ages are measured at a day after the newest document in
/// the store, if the clock is later. The dates of documents come from the App Store's clock.
///
/// Several servers on one store need no lease: what one has removed, another does not find. A lease would be a consumer of the
/// ledger, and keep its entries.
struct RetentionRounds: Sendable {
    typealias Store = StoreRetention & DeliveryLedger

    let store: any Store
    let settings: VerifyReceiptServerConfiguration.Retention
    let state: ServerState

    /// Until cancellation. Waits first, because a server that starts has documents to take in.
    func run() async {
        guard settings.isOn else { return }
        var pause = settings.firstPause
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            await round()
            pause = settings.pause
        }
    }

    private func round() async {
        guard let date = await dateToCountFrom() else { return }
        func limit(_ days: Int) -> Int64 { date.subtractingSaturated(Int64(days) * .millisecondsPerDay) }
        if settings.notificationDays > 0 {
            await remove("notifications") {
                try await store.removeNotifications(signedBefore: limit(settings.notificationDays))
            }
        }
        if settings.receiptDays > 0 {
            await remove("receipts") { try await store.removeReceipts(signedBefore: limit(settings.receiptDays)) }
        }
        if settings.ledgerDays > 0 {
            await remove("ledger") {
                let removal = try await store.removeEntries(before: limit(settings.ledgerDays), evenUnread: false)
                if !removal.behind.isEmpty {
                    state.logger.warning(
                        "consumers keep old entries of the ledger that they have not acknowledged",
                        metadata: ["consumers": .array(removal.behind.map { "\($0.name)" })])
                }
                return nil
            }
        }
    }

    /// The time at which ages are measured; nil if the store cannot be read.
    private func dateToCountFrom() async -> Int64? {
        let now = state.clock()
        let newest: Int64?
        do {
            newest = try await store.newestSignedDate(orFrom: now.subtractingSaturated(.millisecondsPerDay))
        } catch {
            failed("newest document", error)
            return nil
        }
        let date = newest.map { min(now, $0.addingSaturated(.millisecondsPerDay)) }
        state.metrics.retentionDelay.record(now.subtractingSaturated(date ?? 0) / 1_000)
        if date != now {
            state.logger.warning(
                "old data is kept: no document in the store is as new as the clock of the server",
                metadata: ["newestDocument": .stringConvertible(newest ?? 0), "clock": .stringConvertible(now)])
        }
        return date
    }

    /// - Parameters:
    ///   - kind: the name of the rows, for the log and the metrics.
    ///   - body: returns the number of removed rows; nil if it is not known.
    private func remove(_ kind: String, _ body: () async throws -> Int64?) async {
        do {
            guard let count = try await body(), count > 0 else { return }
            state.metrics.retentionRemoved.add(kind, amount: Int(clamping: count))
            state.logger.notice(
                "old data is removed", metadata: ["kind": "\(kind)", "rows": .stringConvertible(count)])
        } catch {
            failed(kind, error)
        }
    }

    private func failed(_ kind: String, _ error: any Error) {
        guard !Task.isCancelled else { return }
        state.metrics.retentionRemoved.add("failed")
        state.logger.error(
            "old data is not removed; the next round tries again",
            metadata: ["kind": "\(kind)", "error": "\(error)"])
    }
}
