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
              legacy-receipts plan receipts.ndjson
              legacy-receipts migrate receipts.ndjson --output migrated
              legacy-receipts serve --port 8080
            """,
        version: "0.1.0",
        subcommands: [
            InspectCommand.self, PlanCommand.self, MigrateCommand.self, ServeCommand.self, NotificationsCommand.self,
            CompareCommand.self, ExportCommand.self, ReportCommand.self, CustomerCommand.self, MergeCommand.self,
            EnrichCommand.self, AppStoreCommand.self, OffersCommand.self, LedgerCommand.self, StoreCommand.self,
            SignCommand.self, SandboxCommand.self, CompletionsCommand.self,
        ])

    /// Runs the command. Usage errors exit with 2, like input and output errors, so that 1 has only one meaning.
    static func main() async {
        // A closed pipe and a file size limit are reported as errors instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        do {
            var command = try parseAsRoot(
                AppStoreConsumptionCommands.withSubcommand(Array(CommandLine.arguments.dropFirst())))
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

    /// Prints the error that ended the command. Help and version are not errors.
    private static func report(_ error: any Error) -> ExitCode {
        guard exitCode(for: error).isSuccess else {
            Terminal.error(fullMessage(for: error))
            return ExitStatus.usageOrIO
        }
        do throws(CommandFailure) {
            try Terminal.output(fullMessage(for: error))
            return .success
        } catch {
            return report(error)
        }
    }
}
