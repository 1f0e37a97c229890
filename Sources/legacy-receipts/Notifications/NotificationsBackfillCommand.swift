import AppStoreModels
import AppStoreServer
import AppStoreSync
import ArgumentParser
import Encodings

struct NotificationsBackfillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backfill",
        abstract: "Fetch notifications that did not arrive.",
        discussion: """
            Reads the Notification History of the App Store, verifies each notification and applies it to the store. \
            Notifications that the store already has change nothing. The history covers 180 days, in the sandbox 30. It is \
            read day by day in UTC, the oldest day first. If the command stops, it prints the command that continues with \
            the first day that is not complete. If a day has notifications that were not stored, it prints the command that \
            reads them again.

            It waits while the App Store accepts no requests, and stops after 30 waits of a minute in which the App Store \
            cannot be reached. It stops at once if the App Store refuses the key.

            EXIT STATUS:
              0  every notification of the history is in the store
              1  some notifications were not stored; standard error states why
              2  usage, App Store Server API or store error
              130, 143  interrupted by SIGINT (Ctrl-C) or SIGTERM

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

    @Option(date: "Only notifications from this date on: 2026-01-31, or 2026-01-31T12:00:00Z (default: all).")
    var since: Int64?

    @Flag(help: "Only notifications that no server received.")
    var onlyFailures = false

    @OptionGroup(title: "Trust")
    var trust: SignedDataTrustOptions

    func run() async throws {
        let now = await server.now()
        let environment = server.environment
        // An hour less than the reach, because the clocks may differ.
        let earliest = now - NotificationBackfill.reach(environment) * Int64.millisecondsPerDay + 3_600_000
        guard since ?? earliest < now else { throw ValidationError("--since takes a date in the past.") }
        let history = NotificationHistoryRequest(
            startDate: max(since ?? earliest, earliest), endDate: now, onlyFailures: onlyFailures ? true : nil)
        let receiver = NotificationReceiver(
            verifier: try trust.verifier(),
            apps: NotificationApps([.init(bundleId: server.bundleId, appleId: appleId)]))
        let interruption = Interruption()
        let outcome: NotificationBackfill.Outcome
        do {
            outcome = try await interruption.run { [store, server] in
                try await StoreOpener.closing(StoreOpener.opened(store.url).store) { store in
                    let backfill = NotificationBackfill(
                        client: try server.client(sharedThrough: store), receiver: receiver, store: store,
                        clock: { now })
                    return await backfill.run(
                        history, onRefusal: { Self.reportRefusal($0) }, onHold: { Self.reportPause(until: $0) })
                }
            }
        } catch {
            try interruption.endIfInterrupted("Interrupted. Run the same command again.")
            throw error
        }
        try Terminal.output(Self.summary(outcome.counts))
        if let date = outcome.refusedFrom {
            let again = command(from: date)
            let problem = (["Some notifications were not stored."] + again.omissions).joined(separator: " ")
            Terminal.error("\(problem) Fix the cause, and read them again with:\n  \(again.line)")
        }
        if let stop = outcome.stop {
            let next = self.command(from: stop.startDate)
            let command = (next.omissions + ["Continue with:"]).joined(separator: " ") + "\n  \(next.line)"
            try interruption.endIfInterrupted("Interrupted. \(command)")
            throw CommandFailure("\(Self.reason(stop.error))\n\(command)")
        }
        if outcome.counts.refusedInAll > 0 { throw ExitStatus.someRefused }
    }

    /// The command that reads from a date on, with the other options as they were given.
    /// - Parameter date: in milliseconds. `--since` takes whole seconds.
    private func command(from date: Int64) -> ShownCommand {
        let kept = ShellWord.arguments(CommandLine.arguments.dropFirst(), withoutOptions: ["--since"])
        let since = DateText.iso(date / 1_000 * 1_000)
        return ShownCommand(["legacy-receipts"] + kept + ["--since", since])
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let refused as AppStoreRefusal: refused.advice
        case let unreachable as AppStoreUnreachable: "\(unreachable)"
        default: "The backfill stopped: \(error)"
        }
    }

    private static func reportPause(until date: Int64?) {
        guard let date else { return }
        Terminal.error("The App Store accepts no requests; waiting until \(DateText.iso(date / 1_000 * 1_000))")
    }

    private static func reportRefusal(_ report: NotificationReport) {
        let name = report.notificationUUID.map { "Notification \($0)" } ?? "A notification"
        Terminal.error("\(name) was not stored (\(report.outcome.rawValue)): \(report.reason ?? "no reason")")
    }

    private static func summary(_ counts: NotificationBackfill.Counts) -> String {
        let refused = counts.refused.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { ", \($0.key.rawValue): \($0.value)" }.joined()
        let erased = counts.erased > 0 ? ", of erased customers: \(counts.erased)" : ""
        return """
            Notifications in the history: \(counts.notifications); new: \(counts.accepted) (\(counts.changedFacts) facts), \
            known: \(counts.repeated)\(erased), not stored: \(counts.refusedInAll)\(refused)
            """
    }
}
