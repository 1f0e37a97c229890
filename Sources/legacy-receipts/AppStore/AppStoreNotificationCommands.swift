import AppStoreModels
import AppStoreServer
import ArgumentParser
import Encodings

struct AppStoreNotificationHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification-history",
        abstract: "List the notifications that Apple sent, and whether they arrived.",
        discussion: AppStoreCommand.discussion(
            """
            Get Notification History, all pages, oldest first. Without --since: the last 24 hours; Apple keeps 180 days, in \
            the sandbox 30. With --json each notification is one line of JSON. To apply missed notifications to a store, use \
            notifications backfill.
            """,
            example: """
                notification-history --only-failures \\
                    --since 2026-01-31
                """))

    @Option(date: "From this date on: 2026-01-31, or 2026-01-31T12:00:00Z.")
    var since: Int64?

    @Option(date: "Until this date (default: now).")
    var until: Int64?

    @Flag(help: "Only notifications that no server received.")
    var onlyFailures = false

    @Option(help: .value("id", "Only those about this customer, by any transaction id."))
    var transactionId: String?

    @Option(help: .value("type", "Only this notification type, for example DID_RENEW."))
    var type: String?

    @Option(help: .value("subtype", "Only this subtype of the type."))
    var subtype: String?

    @OptionGroup var options: AppStoreActionOptions

    func validate() throws {
        guard subtype == nil || type != nil else { throw ValidationError("--subtype needs --type.") }
        guard transactionId == nil || type == nil else {
            throw ValidationError("Give --transaction-id or --type, not both: Apple accepts one of them.")
        }
    }

    private static let columns = [
        ["notification", "signedDate"], ["notification", "notificationType"], ["notification", "subtype"],
        ["transaction", "productId"], ["transaction", "transactionId"], ["lastSendAttemptResult"],
        ["notification", "notificationUUID"],
    ]

    func run() async throws {
        let session = try await options.session()
        let request = NotificationHistoryRequest(
            startDate: since ?? session.now - .millisecondsPerDay, endDate: until ?? session.now,
            notificationType: type.map(NotificationTypeV2.init(rawValue:)),
            notificationSubtype: subtype.map(Subtype.init(rawValue:)), transactionId: transactionId,
            onlyFailures: onlyFailures ? true : nil)
        var refused: [String] = []
        var count = 0
        try await options.explaining {
            for try await page in session.client.notificationHistory(request) {
                var rows: [JSONValue] = []
                for item in page.notificationHistory ?? [] {
                    count += 1
                    do {
                        rows.append(try await session.notification(item.signedPayload, item.sendAttempts))
                    } catch {
                        refused.append(try AppStoreSession.refusal(of: "Notification \(count)", error))
                    }
                }
                guard !rows.isEmpty else { continue }
                // Page by page: a history can have millions.
                let lines = options.json ? rows.map(AppStoreAnswer.line) : AppStoreText.table(rows, Self.columns)
                try Terminal.output(lines.joined(separator: "\n"))
            }
        }
        if count == 0, !options.json { try Terminal.output("The history has no such notifications.") }
        try options.finish(refused, true)
    }
}

struct AppStoreTestNotificationCommand: AppStoreAction {
    static let configuration = CommandConfiguration(
        commandName: "test-notification",
        abstract: "Let Apple send a test notification, and wait for the result.",
        discussion: AppStoreCommand.discussion(
            """
            Request a Test Notification, then Get Test Notification Status until Apple has tried to deliver it. If your \
            server did not receive it, the exit status is 1 and the result is explained.
            """, example: "test-notification --wait 120"))

    @Option(help: .value("seconds", "The longest time to wait for the result."))
    var wait = 60

    @OptionGroup var options: AppStoreActionOptions

    func validate() throws {
        guard (1...3_600).contains(wait) else { throw ValidationError("--wait takes a number from 1 to 3600.") }
    }

    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws {
        guard let token = try await session.client.requestTestNotification().testNotificationToken else {
            throw CommandFailure("The answer of the App Store has no testNotificationToken.")
        }
        answer.add("testNotificationToken", .string(token))
        guard let status = try await result(token, session.client) else {
            answer.say("Apple has no result after \(wait) s: check the URL in App Store Connect, or wait longer.")
            answer.hasSucceeded = false
            return
        }
        let attempts = status.sendAttempts ?? []
        answer.add("sendAttempts", rows: try attempts.map(AppStoreAnswer.json), columns: Self.columns)
        guard let result = attempts.last?.sendAttemptResult ?? status.firstSendAttemptResult else { return }
        answer.say(AppStoreText.explanation(result))
        answer.hasSucceeded = result == .success
        answer.add(
            "notification",
            try await session.notification(status.signedPayload, nil)["notification"] ?? .null)
    }

    private static let columns = [["attemptDate"], ["sendAttemptResult"]]

    /// The status once Apple has tried to deliver the notification; nil if it has not within `wait`.
    private func result(
        _ token: String, _ client: AppStoreServerAPIClient
    ) async throws -> CheckTestNotificationResponse? {
        let deadline = ContinuousClock.now + .seconds(wait)
        repeat {
            try await Task.sleep(for: .seconds(1))
            do {
                let status = try await client.getTestNotificationStatus(token)
                if !(status.sendAttempts ?? []).isEmpty || status.firstSendAttemptResult != nil { return status }
            } catch let error as AppStoreServerAPIError where error.code == .testNotificationNotFound {
                // There is no status before the first attempt (Reference.md S2.1).
            }
        } while ContinuousClock.now < deadline
        return nil
    }
}
