import AppStoreModels
import AppStoreServer
import AppStoreSync
import ArgumentParser
import LegacyReceipts
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

struct NotificationsBackfillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backfill",
        abstract: "Fetch notifications that did not arrive.",
        discussion: """
            Reads the Notification History of the App Store, verifies each notification and applies it to the store. \
            Notifications that the store already has change nothing. After an interruption, run the command again. The \
            history covers 180 days, in the sandbox 30.

            EXIT STATUS:
              0  every notification of the history is in the store
              1  some notifications were not stored; standard error says why
              2  the arguments, the App Store Server API or the store

            EXAMPLES:
              legacy-receipts notifications backfill \\
                --store sqlite:purchases.sqlite --bundle-id com.example.app \\
                --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
                --key-id 2X9R4HXF34 --private-key SubscriptionKey_2X9R4HXF34.p8
            """)

    @OptionGroup var store: StoreOption

    @OptionGroup(title: "App Store Server API")
    var server: AppStoreServerOptions

    @Option(help: "The Apple id of the app, which production notifications must contain.")
    var appleId: Int64?

    @Option(
        help: ArgumentHelp(
            "Only notifications from this date on: 2026-01-31, or 2026-01-31T12:00:00Z (default: all).",
            valueName: "date"), transform: DateArguments.milliseconds)
    var since: Int64?

    @Flag(help: "Only notifications that no server received.")
    var onlyFailures = false

    @OptionGroup(title: "Trust")
    var trust: SignedDataTrustOptions

    func run() async throws {
        let now = await server.now()
        let environment = server.appStoreEnvironment ?? .production
        // An hour less than the reach, because the clocks may differ.
        let earliest = now - NotificationBackfill.reach(environment) * 86_400_000 + 3_600_000
        let start = since ?? earliest
        guard start < now else { throw ValidationError("--since takes a date in the past.") }
        let receiver = NotificationReceiver(
            verifier: try trust.verifier(),
            apps: NotificationApps([.init(bundleId: server.bundleId, appleId: appleId)]))
        let counts: NotificationBackfill.Counts = try await StoreOpener.closing(
            StoreOpener.opened(store.url).store
        ) { store in
            let backfill = NotificationBackfill(
                client: try server.client(sharedThrough: store), receiver: receiver, store: store, clock: { now })
            let history = NotificationHistoryRequest(
                startDate: max(start, earliest), endDate: now, onlyFailures: onlyFailures ? true : nil)
            do {
                return try await backfill.run(history, onRefusal: { Self.tell($0) })
            } catch {
                throw CommandFailure("The backfill stopped, run it again to resume: \(error)")
            }
        }
        try Terminal.output(Self.summary(counts))
        if counts.refusedInAll > 0 { throw ExitStatus.someRefused }
    }

    private static func tell(_ report: NotificationReport) {
        let name = report.notificationUUID.map { "Notification \($0)" } ?? "A notification"
        Terminal.error("\(name) was not stored (\(report.outcome.rawValue)): \(report.reason ?? "no reason")")
    }

    private static func summary(_ counts: NotificationBackfill.Counts) -> String {
        let refused = counts.refused.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { ", \($0.key.rawValue): \($0.value)" }.joined()
        let erased = counts.erased > 0 ? ", of erased customers: \(counts.erased)" : ""
        return """
            Notifications in the history: \(counts.notifications); new: \(counts.accepted) (\(counts.changedFacts) facts), \
            known: \(counts.repeated)\(erased), not taken in: \(counts.refusedInAll)\(refused)
            """
    }
}
