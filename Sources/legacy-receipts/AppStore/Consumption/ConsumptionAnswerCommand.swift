import AppStoreModels
import AppStoreServer
import AppStoreSync
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
            error states why. Run the command again to continue. Missed requests are not sent, and \
            neither are those that a server or another command answers at the moment.

            --customer-consented is a CSV file with the header transactionId,customerConsented and the values true or false. \
            Only transactions with true are sent. A third column, consumptionPercentage, is how much the customer consumed, 0 \
            to 100. --rules is a JSON file; Documentation/AppStore.md describes it.

            EXIT STATUS:
              0  no request that could still be answered is open
              1  some stay open; standard error states why
              2  usage, app, key, network, input or output error; run it again to continue

            EXAMPLES:
              legacy-receipts app-store consumption answer \\
                --store sqlite:purchases.sqlite --rules consumption.json \\
                --customer-consented consents.csv \\
            \(AppStoreCommand.keyArguments)
            """)

    @OptionGroup var store: StoreOption

    @Option(file: "Your rules (JSON).")
    var rules: String

    @Option(file: "What each customer agreed to: a CSV file with transactionId and customerConsented. Required.")
    var customerConsented: String

    @Option(help: .value("name", "The consumer of the ledger that delivers purchases, for rules with isDelivered."))
    var consumer: String?

    @OptionGroup var catalog: ConsumptionCatalogOption

    @Flag(help: "Send nothing; print what would be sent.")
    var dryRun = false

    @OptionGroup var options: AppStoreActionOptions

    func run() async throws {
        let consent = try ConsumptionConsentFile(file: customerConsented)
        let rules = try ConsumptionRules(file: self.rules, consumer: consumer)
        let products = try catalog.products
        let environment = options.server.environment
        let scope = StoreScope(environment: environment, bundleId: options.server.bundleId)
        let outcome = try await StoreOpener.withExisting(store.url) { [options, consumer, dryRun] store in
            let session = try await options.session(sharedThrough: store)
            let clock = ConsumptionAnswers.clock(from: session.now)
            let cases = try await ConsumptionCase.all(
                in: store, scope: scope, consumer: consumer, catalog: { _ in products })
            let answers = ConsumptionAnswers(
                client: session.client, store: store, rules: rules, consent: { consent.rows[$0] }, isDryRun: dryRun,
                clock: clock)
            return try await answers.answer(cases)
        }
        try Terminal.output(
            options.json ? try outcome.json(environment) : try outcome.text(isDryRun: dryRun))
        for (id, problem) in outcome.problems { Terminal.error("\(Printable.text(id)): \(problem.text)") }
        if let error = outcome.storeError { Terminal.error(Self.stillOpen(error)) }
        try AppStoreErrorText.end(after: outcome.stopped)
        if outcome.storeError != nil { throw ExitStatus.usageOrIO }
        guard outcome.problems.isEmpty else { throw ExitStatus.notOpen }
    }

    /// Says that requests could not be closed after their answers.
    static func stillOpen(_ error: TransactionStoreError) -> String {
        "Answered requests are still open in the store, so the next run answers them again. \(error)"
    }
}

extension ConsumptionAnswers.Problem {
    /// A sentence for a person.
    fileprivate var text: String {
        switch self {
        case .undecided(let message): message
        case .appStore(let error): AppStoreErrorText.text(error)
        case .unclaimed(let error):
            "The answer waits, because the store cannot be written, so another program may be sending it. "
                + "It is sent anyway in the last 2 hours before its deadline. \(error)"
        }
    }
}

extension ConsumptionAnswers.Outcome {
    func text(isDryRun: Bool) throws -> String {
        let lines = try answered.map { "\($0.transactionId)  \(AppStoreAnswer.line(try AppStoreAnswer.json($0.sent)))" }
        let word = isDryRun ? "would be answered" : "answered"
        let summary =
            "Transactions \(word): \(answered.count), not answered: \(problems.count), left: \(left); "
            + "missed requests: \(missed)" + (unknown > 0 ? ", with an unknown result: \(unknown)" : "")
        return (lines.map { Printable.text($0) } + [summary]).joined(separator: "\n")
    }

    func json(_ environment: AppStoreModels.Environment) throws -> String {
        try InspectionJSON.object { writer in
            writer.member("environment", environment.rawValue)
            try writer.objects("answered", answered) { writer, each in
                writer.member("transactionId", each.transactionId)
                writer.member("notificationUUIDs", each.notificationUUIDs)
                writer.key("sent")
                writer.value(try AppStoreAnswer.json(each.sent))
            }
            writer.objects("notAnswered", problems) { writer, each in
                writer.member("transactionId", each.transactionId)
                writer.member("problem", each.problem.text)
            }
            writer.member("left", left)
            writer.member("missed", missed)
            writer.member("unknown", unknown)
        }
    }
}

extension ConsumptionRules {
    /// - Parameters:
    ///   - path: the path of the file with the rules.
    ///   - consumer: the consumer of the ledger, which rules with `isDelivered` need.
    /// - Throws: `CommandFailure` that names the rule that is wrong.
    init(file path: String, consumer: String?) throws {
        do {
            try self.init(json: try InputFile.read(path))
        } catch let mistake as JSONMembers.Mistake {
            throw CommandFailure("\(path): \(mistake.message)")
        }
        guard consumer != nil || !needConsumer else {
            throw CommandFailure(
                "\(path) has a rule with isDelivered: name its consumer of the ledger (--consumer; consumption.consumer for serve)."
            )
        }
    }
}
