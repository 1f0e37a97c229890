import AppStoreModels
import AppStoreServer
import ArgumentParser
import TransactionStore

/// A subcommand of `app-store` that prints one answer.
protocol AppStoreAction: AsyncParsableCommand {
    var options: AppStoreActionOptions { get }

    /// - Throws: as ``AppStoreActionOptions/run(sharedThrough:_:)`` says.
    func act(_ session: AppStoreSession, _ answer: inout AppStoreAnswer) async throws
}

extension AppStoreAction {
    func run() async throws { try await options.run(act) }
}

/// The options of every subcommand of `app-store`.
struct AppStoreActionOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup(title: "App Store Server API")
    var server: AppStoreServerOptions

    @Option(help: "The Apple id of the app, which production payloads of the app and notifications must contain.")
    var appleId: Int64?

    @OptionGroup(title: "Trust")
    var trust: SignedDataTrustOptions

    /// Runs an action and prints its answer.
    ///
    /// - Parameters:
    ///   - store: a store through which programs share the rate limits.
    ///   - action: queries the App Store and adds to the answer.
    /// - Throws: `ExitCode` 1 if the App Store refuses, 3 if signed data of the answer is not genuine;
    ///   `CommandFailure` for the key, the network or standard output.
    func run(
        sharedThrough store: (any RequestBudgets)? = nil,
        _ action: (AppStoreSession, inout AppStoreAnswer) async throws -> Void
    ) async throws {
        let session = try await session(sharedThrough: store)
        var answer = AppStoreAnswer(session.client.environment)
        try await explaining { try await action(session, &answer) }
        try Terminal.output(json ? answer.jsonText : answer.text)
        try finish(answer.notGenuine, answer.hasSucceeded)
    }

    /// - Parameters:
    ///   - share: the part of Apple's rate limits to use, more than 0 and at most 1.
    ///   - store: a store through which programs share the rate limits.
    /// - Throws: `CommandFailure` for the key, the server's address or a root certificate.
    func session(share: Double = 1, sharedThrough store: (any RequestBudgets)? = nil) async throws -> AppStoreSession {
        AppStoreSession(
            client: try server.client(share: share, sharedThrough: store), verifier: try trust.verifier(),
            expectation: SignedDataExpectation(
                bundleId: server.bundleId, appAppleId: appleId,
                environments: [server.environment]),
            now: await server.now())
    }

    /// Runs calls of the App Store Server API. An error is explained on standard error, and with `--json` on standard output.
    func explaining<Value>(_ calls: () async throws -> Value) async throws -> Value {
        do {
            return try await calls()
        } catch let error as AppStoreServerAPIError {
            if json { try Terminal.output(AppStoreErrorText.json(error)) }
            Terminal.error("Error: \(AppStoreErrorText.text(error))")
            throw error.reason == .refused ? ExitStatus.refusedByAppStore : ExitStatus.usageOrIO
        } catch {
            Terminal.error(try AppStoreSession.refusal(of: "The answer of the App Store", error))
            throw ExitStatus.answerNotGenuine
        }
    }

    /// Prints why signed data is not shown, and ends the command if there is any.
    func finish(_ notGenuine: [String], _ hasSucceeded: Bool) throws {
        for message in notGenuine { Terminal.error(message) }
        if !notGenuine.isEmpty { throw ExitStatus.answerNotGenuine }
        if !hasSucceeded { throw ExitStatus.refusedByAppStore }
    }
}

/// An error of the App Store Server API, for the user of the command.
enum AppStoreErrorText {
    /// Apple's number and name, one sentence of explanation, and an option that may help.
    static func text(_ error: AppStoreServerAPIError) -> String {
        var text = error.code.map { "Apple's error \($0): " } ?? error.httpStatus.map { "HTTP \($0): " } ?? ""
        text += error.explanation
        if error.code.map({ $0.name == nil }) ?? false, let message = error.message { text += " \(message)" }
        if let detail = error.detail { text += " (\(detail))" }
        if error.isUnknownTransaction {
            let other = error.environment == .production ? "sandbox" : "production"
            text += " This was \(error.environment.rawValue); --environment \(other) queries the other one."
        } else if error.code == .generalBadRequest, let message = error.message {
            // Apple publishes no numbers for some errors: their text says more (Reference.md S3.1).
            text += " Its text: \(message)"
        }
        if let date = error.retryAfter { text += " Apple accepts requests again at \(DateText.iso(date))." }
        return text
    }

    /// Ends a command whose run an error ended. Prints what it was, and what to check if the App Store does not accept the app or
    /// its key.
    static func end(after error: AppStoreServerAPIError?) throws {
        guard let error else { return }
        Terminal.error(
            "Stopped. Run the same command to continue. \(text(error))"
                + (error.concernsApp ? " \(checkAdvice(in: error.environment))" : ""))
        throw ExitStatus.usageOrIO
    }

    /// Advice if the App Store does not accept an app or its key.
    static func checkAdvice(in environment: AppStoreModels.Environment) -> String {
        let text = """
            Check that --private-key is an In-App Purchase key (not an App Store Connect API key), that \
            --key-id and --issuer-id are those that App Store Connect shows for it, that it is not revoked, that the app \
            belongs to the same team, that --bundle-id is correct, and that this machine's clock is correct.
            """
        guard environment == .production else { return text }
        return text + " Production rejects an app without a release: use --environment sandbox."
    }

    /// One object with the member `error`.
    static func json(_ error: AppStoreServerAPIError) -> String {
        InspectionJSON.object { writer in
            writer.object("error") { writer in
                writer.member("reason", error.reason.rawValue)
                writer.member("httpStatus", error.httpStatus)
                writer.member("errorCode", error.code?.rawValue)
                writer.member("name", error.code?.name)
                writer.member("errorMessage", error.message)
                writer.member("explanation", error.explanation)
                writer.member("retryAfter", error.retryAfter)
            }
        }
    }
}
