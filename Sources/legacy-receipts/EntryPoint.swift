import ArgumentParser
import Foundation

@main
struct LegacyReceiptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "legacy-receipts",
        abstract: "Keeps purchases alive after Apple's verifyReceipt.",
        discussion: """
            Verifies legacy App Store receipts (PKCS#7 app receipts, iOS 6 transaction receipts) without network \
            access, migrates stored receipts to modern transactions, and answers verifyReceipt requests.

            EXAMPLES:
              legacy-receipts inspect receipt.b64
              legacy-receipts migrate receipts.ndjson --output migrated
              legacy-receipts serve --port 8080
            """,
        version: "0.1.0",
        subcommands: [
            InspectCommand.self, MigrateCommand.self, ServeCommand.self, NotificationsCommand.self, CompareCommand.self,
            OffersCommand.self, LedgerCommand.self, SignCommand.self, SandboxCommand.self, CompletionsCommand.self,
        ])

    /// Runs the command; usage errors exit with 2, as input and output errors do, so that 1 keeps its one meaning.
    static func main() async {
        // A reader that has gone and a file that may not grow are errors to report, not silent ends.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        do {
            var command = try await parse()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let code as ExitCode {
            Foundation.exit(code.rawValue)
        } catch {
            Foundation.exit(report(error).rawValue)
        }
    }

    private static func parse() async throws -> any ParsableCommand { try parseAsRoot() }

    /// Prints what ended the command: help and version are no errors.
    private static func report(_ error: any Error) -> ExitCode {
        if let failure = error as? CommandFailure {
            Terminal.error("Error: \(failure.description)")
            return ExitStatus.usageOrIO
        }
        guard exitCode(for: error).isSuccess else {
            Terminal.error(fullMessage(for: error))
            return ExitStatus.usageOrIO
        }
        do throws(CommandFailure) {
            try Terminal.output(fullMessage(for: error))
            return .success
        } catch {
            Terminal.error("Error: \(error.description)")
            return ExitStatus.usageOrIO
        }
    }
}
