import ArgumentParser

struct NotificationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications",
        abstract: "Work with App Store Server Notifications.",
        discussion: """
            EXAMPLES:
              legacy-receipts notifications backfill \\
                --store sqlite:purchases.sqlite --bundle-id com.example.app \\
                --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
                --key-id 2X9R4HXF34 --private-key SubscriptionKey_2X9R4HXF34.p8
            """,
        subcommands: [NotificationsBackfillCommand.self])
}
