import ArgumentParser
import Foundation

@main
struct LegacyReceiptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "legacy-receipts",
        abstract: "Keeps purchases alive after Apple's verifyReceipt.",
        discussion: """
            Decodes and verifies legacy App Store receipts (PKCS#7 app receipts, iOS 6 transaction receipts) against \
            Apple's pinned roots, without network, and turns stored ones into modern transactions.

            EXAMPLES:
              legacy-receipts inspect receipt.b64
              legacy-receipts migrate receipts.ndjson --output migrated
            """,
        version: "0.1.0",
        subcommands: [InspectCommand.self, MigrateCommand.self, CompletionsCommand.self])

    /// Runs the command; usage errors exit with 2, as input and output errors do, so that 1 keeps its one meaning.
    static func main() async {
        // A pipe closed by its reader is an error to report, not a silent end.
        signal(SIGPIPE, SIG_IGN)
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
            if exitCode(for: error).isSuccess {
                print(fullMessage(for: error))
                Foundation.exit(0)
            }
            Terminal.error(fullMessage(for: error))
            Foundation.exit(ExitStatus.usageOrIO.rawValue)
        }
    }

    private static func parse() async throws -> any ParsableCommand { try parseAsRoot() }
}

/// The exit codes of every command.
enum ExitStatus {
    static let usageOrIO = ExitCode(2)
    /// `migrate`: some records were quarantined.
    static let someQuarantined = ExitCode(1)
    /// `inspect`: a receipt that is not genuine, or of another device.
    static let notGenuine = ExitCode(1)
    /// `inspect`: not a receipt, or one too damaged to be read.
    static let notAReceipt = ExitCode(3)
}

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a completion script for a shell.",
        discussion: """
            EXAMPLES:
              legacy-receipts completions bash > /etc/bash_completion.d/legacy-receipts
              legacy-receipts completions zsh > ~/.zsh/completions/_legacy-receipts
            """)

    @Argument(help: "bash, zsh or fish.")
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw ValidationError("There is no completion script for '\(shell)'; bash, zsh and fish have one.")
        }
        print(LegacyReceiptsCommand.completionScript(for: shell))
    }
}
