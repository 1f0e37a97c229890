import ArgumentParser

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a completion script for a shell.",
        discussion: """
            EXAMPLES:
              legacy-receipts completions bash \\
                > ~/.local/share/bash-completion/completions/legacy-receipts
              legacy-receipts completions zsh > ~/.zsh/completions/_legacy-receipts
              legacy-receipts completions fish \\
                > ~/.config/fish/completions/legacy-receipts.fish
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @Argument(help: "The shell that the script is for.")
    var shell: Shell

    func run() throws {
        // ArgumentParser has the same names.
        guard let shell = CompletionShell(rawValue: self.shell.rawValue) else { return }
        try Terminal.output(LegacyReceiptsCommand.completionScript(for: shell))
    }
}
