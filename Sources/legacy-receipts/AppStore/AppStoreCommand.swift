import ArgumentParser

struct AppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Look a customer up in the App Store, and act on the customer's purchases.",
        discussion: """
            Each subcommand is one action of the App Store Server API. It prints the answer as text, or with --json as JSON. \
            It verifies every JWS in an answer before it shows the content. A message explains each error from Apple, and \
            what to do.

            \(exitStatus)

            EXAMPLES:
              legacy-receipts app-store transaction 1000000831360853 \\
            \(keyArguments)
              legacy-receipts app-store test-notification --environment sandbox \\
            \(keyArguments)
            """,
        subcommands: [
            AppStoreTransactionCommand.self, AppStoreHistoryCommand.self, AppStoreStatusesCommand.self,
            AppStoreRefundsCommand.self, AppStoreOrderCommand.self, AppStoreAppTransactionCommand.self,
            AppStoreNotificationHistoryCommand.self, AppStoreTestNotificationCommand.self,
            AppStoreSetAccountTokenCommand.self, AppStoreConsumptionCommands.self, AppStoreExtendCommand.self,
            AppStoreExtendAllCommand.self, AppStoreExtendAllStatusCommand.self, AppStoreFinishCommand.self,
        ])

    /// The exit codes of every subcommand.
    static let exitStatus = """
        EXIT STATUS:
          0  the App Store answered, and everything signed in the answer is genuine
          1  the App Store refused; standard error states why and what to do
          2  usage, key, network or output error
          3  signed data in the answer is not genuine; it is not shown
        """

    /// The end of every example.
    static let keyArguments = """
            --bundle-id com.example.app --key-id 2X9R4HXF34 \\
            --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
            --private-key SubscriptionKey_2X9R4HXF34.p8
        """

    /// The help of a subcommand: what it does, its exit codes and an example.
    static func discussion(_ text: String, example: String) -> String {
        """
        \(text)

        \(exitStatus)

        EXAMPLES:
          legacy-receipts app-store \(example) \\
        \(keyArguments)
        """
    }
}
