import ArgumentParser

struct NotificationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications", abstract: "Work with App Store Server Notifications.",
        subcommands: [NotificationsBackfillCommand.self])
}
