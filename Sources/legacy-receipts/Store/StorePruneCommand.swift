import AppStoreServer
import ArgumentParser
import Encodings
import TransactionStore

struct StorePruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove old notifications and receipts.",
        discussion: """
            Removes the ids of notifications that the App Store signed before a date, and the receipts that were created \
            before a date. Their statements about purchases stay. 'ledger prune' removes entries of the ledger, and \
            'customer --erase' removes everything about a customer.

            A removed notification that arrives again adds its ledger entry a second time. So the date must be at least 180 \
            days ago: older notifications are no longer in the App Store's history. Without its \
            receipt, a customer has no latest_receipt in answers to signed transactions, and none in vendor exports.

            'serve' does the same every day with the settings retention.notifications-days, receipts-days and ledger-days.

            The store may be in use. An interruption keeps what was removed; run the command again.

            EXAMPLES:
              legacy-receipts store prune --store sqlite:purchases.sqlite \\
                --notifications-before 2026-01-01T00:00:00Z \\
                --receipts-before 2025-01-01T00:00:00Z
            """)

    @OptionGroup var store: StoreOption

    @Option(date: "Remove notifications that were signed before, such as 2026-01-01T00:00:00Z.")
    var notificationsBefore: Int64?

    @Option(date: "Remove receipts that were created before, such as 2026-01-01T00:00:00Z.")
    var receiptsBefore: Int64?

    func validate() throws {
        guard notificationsBefore != nil || receiptsBefore != nil else {
            throw ValidationError("Give --notifications-before, --receipts-before, or both.")
        }
        let newest = ServerClock.system.now() - Int64(RetentionLimits.notificationDays) * Int64.millisecondsPerDay
        guard notificationsBefore ?? 0 <= newest else {
            throw ValidationError(
                "--notifications-before is less than \(RetentionLimits.notificationDays) days ago; the App Store can still send those notifications."
            )
        }
    }

    func run() async throws {
        let lines = try await StoreOpener.withExisting(store.url) { store in
            var lines: [String] = []
            if let notificationsBefore {
                let count = try await store.removeNotifications(signedBefore: notificationsBefore)
                lines.append("notifications removed: \(count)")
            }
            if let receiptsBefore {
                lines.append("receipts removed: \(try await store.removeReceipts(signedBefore: receiptsBefore))")
            }
            return lines
        }
        try Terminal.output(lines.joined(separator: "\n"))
    }
}
