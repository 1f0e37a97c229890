import Foundation
import Testing

@Suite("Usage, help, version, completions", .timeLimit(.minutes(10)))
struct UsageTests {
    @Test(
        "The help of every command exits with 0, has examples, and fits into 80 columns",
        arguments: [
            [], ["inspect"], ["plan"], ["migrate"], ["serve"], ["compare"], ["notifications"],
            ["notifications", "backfill"], ["completions"],
            ["app-store"], ["app-store", "transaction"], ["app-store", "history"], ["app-store", "statuses"],
            ["app-store", "refunds"], ["app-store", "order"], ["app-store", "app-transaction"],
            ["app-store", "notification-history"], ["app-store", "test-notification"],
            ["app-store", "set-account-token"], ["app-store", "consumption"], ["app-store", "extend"],
            ["app-store", "consumption", "send"], ["app-store", "consumption", "pending"],
            ["app-store", "consumption", "answer"], ["app-store", "consumption", "dismiss"],
            ["app-store", "extend-all"], ["app-store", "extend-all-status"], ["app-store", "finish"],
            ["export"], ["report"], ["customer"], ["merge"], ["store"], ["store", "stats"], ["store", "check"],
            ["store", "backup"], ["store", "prune"], ["sandbox"], ["enrich"],
            ["offers"], ["ledger"], ["ledger", "read"],
            ["ledger", "acknowledge"], ["ledger", "follow"],
            ["ledger", "sweep"], ["ledger", "prune"], ["ledger", "consumers"], ["ledger", "forget"], ["sign"],
            ["sign", "promotional-offer"],
            ["sign", "promotional-offer-v1"],
            ["sign", "introductory-eligibility"], ["sign", "advanced-commerce"],
        ])
    func help(command: [String]) async throws {
        let outcome = try await Command.run(command + ["--help"])
        #expect(outcome.status == 0)
        #expect(outcome.error.isEmpty)
        #expect(outcome.output.contains("EXAMPLES:\n  legacy-receipts"))
        // What is indented is laid out by us and must not be folded; usage lines and the hint at subcommands are argument-parser's.
        let folded = outcome.output.split(separator: "\n").filter {
            $0.hasPrefix("  ") && !$0.hasPrefix("  See 'legacy-receipts help ") && $0.count > 80
        }
        #expect(folded.isEmpty)
        // argument-parser folds a longer line at the left edge. A command would then be two commands for a shell.
        for title in ["EXAMPLES:\n", "EXIT STATUS:\n"] where outcome.output.contains(title) {
            let section = try #require(outcome.output.components(separatedBy: title).last)
            let lines = section.components(separatedBy: "\n\n")[0].split(separator: "\n")
            #expect(lines.allSatisfy { $0.hasPrefix("  ") }, "\(lines)")
        }
        // A line break that a help text lost leaves the indentation of the next line within a command.
        let joined = outcome.output.split(separator: "\n").filter {
            $0.hasPrefix("  legacy-receipts ") && $0.dropFirst(2).contains("   ")
        }
        #expect(joined.isEmpty)
        let same = try await Command.run(["help"] + command)
        #expect(same.output == outcome.output)
    }

    @Test("The help names every exit code")
    func exitCodes() async throws {
        let inspect = try await Command.run("inspect", "--help").output
        for code in 0...3 { #expect(inspect.contains("\n  \(code)  ")) }
        let migrate = try await Command.run("migrate", "--help").output
        for code in 0...2 { #expect(migrate.contains("\n  \(code)  ")) }
    }

    @Test("--version prints a version and nothing else")
    func version() async throws {
        let outcome = try await Command.run("--version")
        #expect(outcome.status == 0)
        #expect(outcome.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    }

    @Test(
        "A usage error exits with 2, says what is wrong and how to get help, and prints nothing on standard output",
        arguments: [
            (["bogus"], "Unexpected argument 'bogus'"),
            (["inspect"], "Missing expected argument '<file>'"),
            (["inspect", "a", "b"], "Unexpected argument 'b'"),
            (["inspect", "--bogus", "a"], "Unknown option '--bogus'"),
            (["inspect", "--device", "12:34", "a"], "--device takes a UUID"),
            (["inspect", "--device", "68753A44-4D6F-1226-9C60-0050E4C0006G", "a"], "--device takes a UUID"),
            (["migrate"], "Name the inputs to read, or - for standard input."),
            (["migrate", "a", "--into", "sqlite:b", "--output", "c"], "Give one of --output, --into and --stream."),
            (["migrate", "a", "--input-format", "xml"], "one of the following:"),
            (["migrate", "a", "--environment", "Moon"], "Production, Sandbox or Xcode, not 'Moon'"),
            (["migrate", "a", "--jobs", "0"], "--jobs takes a number from 1 to 1024"),
            (["migrate", "a", "--jobs", "many"], "'many' is invalid for '--jobs <n>'"),
            (["migrate", "a", "--max-size", "0"], "--max-size takes a number of bytes"),
            (["migrate", "a", "--max-size", "9223372036854775807"], "--max-size takes a number of bytes"),
            (["migrate", "-", "-"], "Standard input (-) can be read only once"),
            (["migrate", ""], "A path is empty"),
            (["migrate", "sqlite:app.db"], "A database needs --query"),
            (["migrate", "a", "postgres://h/d"], "A database needs --query"),
            (["migrate", "a", "--query", "SELECT 1"], "--query needs one input, a database"),
            (["migrate", "sqlite:a", "b", "--query", "SELECT 1"], "--query needs one input, a database"),
            (["migrate", "a", "--key", "id"], "--key needs --query"),
            (["migrate", "sqlite:a", "--query", "SELECT 1", "--no-header"], "The rows of --query have columns"),
            (["plan"], "Name the inputs to read, or - for standard input."),
            (["plan", "a", "--sample", "0"], "--sample takes a number from 1 to 1000000."),
            (["completions"], "Missing expected argument '<shell>'"),
            (["completions", "tcsh"], "'bash', 'zsh' or 'fish'"),
        ])
    func usageErrors(arguments: [String], message: String) async throws {
        let outcome = try await Command.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.hasPrefix("Error: "))
        #expect(outcome.error.contains(message), "\(outcome.error)")
        let command = ["inspect", "plan", "migrate", "completions"].contains(arguments[0]) ? " \(arguments[0])" : ""
        #expect(outcome.error.contains("See 'legacy-receipts\(command) --help' for more information"))
    }

    @Test(
        "Every command that takes one of the App Store's environments accepts its name in any case, and no other",
        arguments: [
            ["app-store", "test-notification"], ["notifications", "backfill", "--store", "sqlite:none"],
            ["enrich", "--store", "sqlite:none"], ["offers", "--store", "sqlite:none", "--kind", "introductory"],
            ["ledger", "read", "--store", "sqlite:none"], ["sandbox", "--products", "none.storekit"],
        ])
    func environments(command: [String]) async throws {
        var arguments = command + ["--bundle-id", "com.example.app"]
        if ["app-store", "notifications"].contains(command[0]) {
            arguments += ["--issuer-id", "i", "--key-id", "k", "--private-key", "none.p8"]
        }
        let folder = try Folder()
        for name in ["Sandbox", "sandbox", "Production", "production"] {
            let outcome = try await Command.run(arguments + ["--environment", name], in: folder)
            #expect(outcome.status == 2)
            #expect(!outcome.error.contains("--environment takes"), "\(name): \(outcome.error)")
        }
        let outcome = try await Command.run(arguments + ["--environment", "Xcode"], in: folder)
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("--environment takes Production or Sandbox, not 'Xcode'"), "\(outcome.error)")
    }

    @Test("An error about a value of serve names the option that gave it")
    func serveOptions() async throws {
        let outcome = try await Command.run("serve", "--check", "--port", "99999", "--set", "admin.port=99999")
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("--port: listen.port: must be"), "\(outcome.error)")
        #expect(outcome.error.contains("--set: admin.port: must be"), "\(outcome.error)")
    }

    @Test(
        "There is a completion script for each shell that names the commands and their options",
        arguments: [
            "bash", "zsh", "fish",
        ])
    func completions(shell: String) async throws {
        let folder = try Folder()
        let outcome = try await Command.run("completions", shell)
        #expect(outcome.status == 0)
        for word in ["inspect", "migrate", "completions", "trust-root", "start-over"] {
            #expect(outcome.output.contains(word))
        }
        try folder.write("script", outcome.output.utf8)
        guard Command.hasProgram(shell) else { return }
        let check = try await Command.shell("\(shell) -n script", in: folder)
        #expect(check.status == 0, "\(check.error)")
    }

    @Test("An argument with control characters cannot draw on the terminal by way of an error message")
    func hostileArguments() async throws {
        for arguments in [["--\u{1B}[31m"], ["inspect", "a\u{1B}[31m\u{9B}31m\u{202E}b"], ["migrate", "\u{1B}c"]] {
            let outcome = try await Command.run(arguments)
            #expect(outcome.status == 2)
            #expect(!outcome.error.isEmpty)
            let hostile = outcome.error.unicodeScalars.filter {
                $0 != "\n" && [.control, .format].contains($0.properties.generalCategory)
            }
            #expect(hostile.isEmpty)
        }
    }

    @Test("Standard output that cannot be written is an error; a reader that has gone is none")
    func brokenOutput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("receipt", Forged.named("production-sha256").bytes)
        let inspect = "\"$COMMAND\" inspect --trust-root root.der receipt"
        if FileManager.default.fileExists(atPath: "/dev/full") {
            for command in [inspect, "\"$COMMAND\" --help", "\"$COMMAND\" completions bash"] {
                let full = try await Command.shell("\(command) >/dev/full", in: folder)
                #expect(full.status == 2)
                #expect(full.error == "Error: Standard output cannot be written: No space left on device.\n")
            }
            // Nor does standard error that cannot be written end the process by a trap.
            let silent = try await Command.shell("\"$COMMAND\" inspect nothing 2>/dev/full", in: folder)
            #expect(silent.status == 2)
        }
        let closed = try await Command.shell("{ \(inspect); echo \"$?\" >status; } | true", in: folder)
        #expect(closed.error.isEmpty)
        #expect(try folder.text("status") == "0\n")
    }
}
