import AppStoreModels
import AppStoreServer
import ArgumentParser
import Purchases
import TransactionStore

struct ConsumptionAnswerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Answer the open consumption requests of a store by your rules.",
        discussion: """
            Sends the answer for each open request of the app that has the customer's consent and a rule, the soonest \
            deadline first. A request counts as answered once Apple accepted the answer. The others stay open, and standard \
            error says why. Run the command again to go on. Missed requests are not sent.

            --customer-consented is a CSV file with the header transactionId,customerConsented and the values true or false. \
            Only transactions with true are sent. A third column, consumptionPercentage, is how much the customer consumed, 0 \
            to 100. --rules is a JSON file; Documentation/AppStore.md describes it.

            EXIT STATUS:
              0  no request that could still be answered is open
              1  some stay open; standard error says why
              2  usage, key, network, input or output error; run it again to go on

            EXAMPLES:
              legacy-receipts app-store consumption answer \\
                --store sqlite:purchases.sqlite --rules consumption.json \\
                --customer-consented consents.csv \\
            \(AppStoreCommand.keyArguments)
            """)

    @Option(help: ArgumentHelp("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var store: String

    @Option(help: ArgumentHelp("Your rules (JSON).", valueName: "file"), completion: .file())
    var rules: String

    @Option(
        help: ArgumentHelp(
            "What each customer agreed to: a CSV file with transactionId and customerConsented. Required.",
            valueName: "file"), completion: .file())
    var customerConsented: String

    @Option(
        help: ArgumentHelp(
            "The consumer of the ledger that delivers purchases, for rules with isDelivered.", valueName: "name"))
    var consumer: String?

    @Flag(help: "Send nothing; print what would be sent.")
    var dryRun = false

    @OptionGroup var options: AppStoreActionOptions

    func run() async throws {
        let consent = try ConsumptionConsent(file: customerConsented)
        let rules = try ConsumptionRules(file: self.rules, consumer: consumer)
        let session = try await options.session()
        let scope = StoreScope(environment: session.client.environment, bundleId: options.server.bundleId)
        let outcome = try await StoreOpener.withExisting(store) { [consumer, dryRun] store in
            let cases = try await ConsumptionCase.all(in: store, scope: scope, consumer: consumer)
            let run = ConsumptionAnswerRun(
                client: session.client, store: store, rules: rules, consent: consent, isDryRun: dryRun)
            return try await run.run(cases, now: session.now)
        }
        try Terminal.output(
            options.json ? outcome.json(session.client.environment) : outcome.text(isDryRun: dryRun))
        for (id, problem) in outcome.problems { Terminal.error("\(Printable.text(id)): \(problem)") }
        if let stopped = outcome.stopped {
            Terminal.error("Stopped, run the same command to go on. \(AppStoreErrorText.text(stopped))")
            throw ExitStatus.usageOrIO
        }
        guard outcome.problems.isEmpty else { throw ExitStatus.notOpen }
    }
}

/// Answers the open cases of one app.
struct ConsumptionAnswerRun {
    /// What became of the cases.
    struct Outcome {
        /// The requests with the same transaction, which one answer closes.
        var answered: [(transactionId: String, notificationUUIDs: [String], sent: JSONValue)] = []
        /// Why a transaction got no answer, in the order of the deadlines.
        var problems: [(transactionId: String, problem: String)] = []
        var missed = 0
        /// Transactions that were not reached.
        var left = 0
        /// The error that ended the run.
        var stopped: AppStoreServerAPIError?

        func text(isDryRun: Bool) -> String {
            let lines = answered.map { "\($0.transactionId)  \(AppStoreAnswer.line($0.sent))" }
            let word = isDryRun ? "would be answered" : "answered"
            let summary =
                "Transactions \(word): \(answered.count), not answered: \(problems.count), left: \(left); "
                + "missed requests: \(missed)"
            return (lines.map { Printable.text($0) } + [summary]).joined(separator: "\n")
        }

        func json(_ environment: AppStoreModels.Environment) -> String {
            func object(_ members: [(String, JSONValue)]) -> JSONValue {
                .object(JSONObject(members: members.map { .init(key: $0.0, value: $0.1) }))
            }
            let answered = answered.map { each in
                object([
                    ("transactionId", .string(each.transactionId)),
                    ("notificationUUIDs", .array(each.notificationUUIDs.map { .string($0) })), ("sent", each.sent),
                ])
            }
            let problems = problems.map {
                object([("transactionId", .string($0.transactionId)), ("problem", .string($0.problem))])
            }
            return AppStoreAnswer.line(
                object([
                    ("environment", .string(environment.rawValue)), ("answered", .array(answered)),
                    ("notAnswered", .array(problems)), ("left", .integer(Int64(left))),
                    ("missed", .integer(Int64(missed))),
                ]))
        }
    }

    let client: AppStoreServerAPIClient
    let store: any CompleteTransactionStore
    let rules: ConsumptionRules
    let consent: ConsumptionConsent
    let isDryRun: Bool

    /// - Parameters:
    ///   - cases: of one app and environment, the soonest deadline first.
    ///   - now: in milliseconds since 1970.
    /// - Throws: `TransactionStoreError`; `CancellationError`.
    func run(_ cases: [ConsumptionCase], now: Int64) async throws -> Outcome {
        var outcome = Outcome()
        var uuids: [String: [String]] = [:]
        var open: [ConsumptionCase] = []
        for one in cases {
            guard !one.isMissed(at: now) else {
                outcome.missed += 1
                continue
            }
            if uuids[one.task.transactionId] == nil { open.append(one) }
            uuids[one.task.transactionId, default: []].append(one.task.notificationUUID)
        }
        for (place, one) in open.enumerated() {
            let id = one.task.transactionId
            do {
                let request = try one.answer(by: rules, with: consent.rows[id])
                if !isDryRun {
                    try await client.sendConsumptionInformation(id, request)
                    _ = try await store.closeConsumptionTasks(uuids[id] ?? [], as: .answered)
                }
                outcome.answered.append((id, uuids[id] ?? [], try AppStoreAnswer.json(request)))
            } catch let problem as ConsumptionProblem {
                outcome.problems.append((id, problem.message))
            } catch let error as AppStoreServerAPIError {
                guard error.reason == .refused || error.reason == .timedOut || error.reason == .interrupted else {
                    // The key, the network or the rate limit: the next request would fail too.
                    outcome.stopped = error
                    outcome.left = open.count - place
                    return outcome
                }
                outcome.problems.append((id, AppStoreErrorText.text(error)))
            }
        }
        return outcome
    }
}
