import AppStoreModels
import AppStoreServer
import ArgumentParser
import TransactionStore

struct AppStoreSetAccountTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-account-token",
        abstract: "Set the appAccountToken of one purchase, or of all in a CSV file.",
        discussion: """
            Set App Account Token: later transactions of the purchase contain the token. The id is an original transaction id. \
            Apple accepts no tokens for purchases from Family Sharing or an organization.

            --csv reads a file with the header originalTransactionId,appAccountToken. The whole file is checked before the \
            first call. Each answer is appended to FILE.production.done or FILE.sandbox.done. After an interruption, run the \
            same command again: it continues with the other rows. To send a refused row again, remove its line from that file. \
            If Apple does not accept the app or the key, the run stops at the first answer, and the rows stay open.

            The calls stay within Apple's rate limits. With --store, all commands on the store share these limits.

            EXIT STATUS:
              0  every token is set
              1  the App Store refused some; standard error and the .done file state why
              2  usage, app, key, network, input or output error; run it again to continue

            EXAMPLES:
              legacy-receipts app-store set-account-token 1000000831360853 \\
                68753a44-4d6f-1226-9c60-0050e4c00067 \\
            \(AppStoreCommand.keyArguments)
              legacy-receipts app-store set-account-token --csv tokens.csv \\
                --store sqlite:purchases.sqlite \\
            \(AppStoreCommand.keyArguments)
            """)

    @Argument(help: .value("original-id", "The original transaction id."))
    var id: String?

    @Argument(help: .value("uuid", "The token, a UUID."))
    var token: String?

    @Option(file: "A file with the columns originalTransactionId and appAccountToken.")
    var csv: String?

    @Option(
        help: .value(
            "part",
            "The part of Apple's rate limits to use, more than 0 and at most 1. Other programs can use the rest."))
    var share = 1.0

    @Option(
        help: .value("url", "The store that shares Apple's rate limits between programs: sqlite:PATH or postgres://…"))
    var store: String?

    @OptionGroup var options: AppStoreActionOptions

    func validate() throws {
        guard share > 0, share <= 1 else { throw ValidationError("--share takes a number above 0, up to 1.") }
        guard csv == nil || id == nil else { throw ValidationError("Give an id with its token, or --csv, not both.") }
        guard csv == nil else { return }
        guard let id, let token else {
            throw ValidationError("Give an original transaction id and its token, or --csv.")
        }
        if let problem = AccountTokenRow.problem(id, token) { throw ValidationError(problem) }
    }

    func run() async throws {
        guard let store else { return try await run(sharedThrough: nil) }
        try await StoreOpener.withExisting(store) { try await run(sharedThrough: $0) }
    }

    private func run(sharedThrough store: (any RequestBudgets)?) async throws {
        if let csv { return try await run(csv, sharedThrough: store) }
        guard let row = AccountTokenRow(id ?? "", token ?? "") else { return }
        try await options.run(sharedThrough: store) { session, answer in
            try await session.client.setAppAccountToken(
                row.id, UpdateAppAccountTokenRequest(appAccountToken: row.token))
            answer.add("originalTransactionId", .string(row.id))
            answer.add("appAccountToken", .string(row.token))
        }
    }

    private func run(_ path: String, sharedThrough store: (any RequestBudgets)?) async throws {
        let session = try await options.session(share: share, sharedThrough: store)
        let environment = options.server.environment.rawValue.lowercased()
        let rows = try AccountTokenFile.rows(path)
        let done = try AccountTokenLog(
            "\(path).\(environment).done", scope: "\(options.server.bundleId) \(environment)")
        let outcome = try await AccountTokenRun(client: session.client, done: done).run(rows)
        for line in outcome.refusals { Terminal.error(line) }
        if outcome.refused > outcome.refusals.count {
            Terminal.error("Every refusal is in \(done.path).")
        }
        try Terminal.output(options.json ? outcome.json(session.client.environment) : outcome.text)
        try AppStoreErrorText.end(after: outcome.stopped)
        if outcome.refused + outcome.failed > 0 { throw ExitStatus.refusedByAppStore }
    }
}
