import AppStoreModels
import AppStoreServer
public import ArgumentParser
import Foundation
import Migration
public import Purchases

extension OpenQuestion.Reason: ExpressibleByArgument {
    public init?(argument: String) {
        guard let reason = Self.allCases.first(where: { $0.name == argument }) else { return nil }
        self = reason
    }

    public static var allValueStrings: [String] { allCases.map(\.name) }
}

struct EnrichCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrich",
        abstract: "Complete the customers in a store from the App Store Server API.",
        discussion: """
            Queries the App Store for each purchase without an answer, and stores the answers: renewals, refunds, prices and \
            the state of each subscription. Bare transaction ids in the quarantine of migrate --into become purchases, with \
            the user that their record names. Ids that the App Store does not know stay in the quarantine as \
            unknownTransactionId. enrich queries unknown purchases and ids again only after the days of --ask-again-after.

            It first prints the number of queries and how long they take at Apple's rate limits; --dry-run stops there. When \
            it runs again, it queries only what is missing. It waits while the App Store accepts no requests, and stops at \
            once if the App Store refuses the key.

            serve and enrich on one store share Apple's rate limits: enrich uses what serve does not need. Each time the App \
            Store answers 429, enrich halves its rate. After each minute without a 429, the rate rises by a tenth of the \
            limit.

            EXIT STATUS:
              0  every customer was queried, or this was a dry run
              1  some queries failed; run it again for these
              2  usage or store error, the App Store refuses the key, or cannot be reached
              130, 143  interrupted by SIGINT (Ctrl-C) or SIGTERM; answers are stored

            EXAMPLES:
              legacy-receipts enrich --store sqlite:purchases.sqlite \\
                --bundle-id com.example.app --key-id ABCDEFGHIJ \\
                --issuer-id 99b16628-15e4-4668-972b-eeff55eeff55 --private-key key.p8
              legacy-receipts enrich --store sqlite:purchases.sqlite \\
                --bundle-id com.example.app --dry-run
              legacy-receipts enrich --store sqlite:purchases.sqlite \\
                --bundle-id com.example.app --reason unexplainedCancellation \\
                --key-id ABCDEFGHIJ --issuer-id 99b1… --private-key key.p8
            """)

    @OptionGroup var store: StoreOption

    @Option(name: .customLong("bundle-id"), parsing: .singleValue, help: .value("id", "The app. Repeatable."))
    var bundleIds: [String]

    @Option(
        help: .value("name", "Only Production or Sandbox. Repeatable."), completion: .list(["Production", "Sandbox"]),
        transform: FormatArguments.appStoreEnvironment)
    var environment: [AppStoreModels.Environment] = []

    @Option(help: "Only customers with this open question in the table to_ask_apple of export. Repeatable.")
    var reason: [OpenQuestion.Reason] = []

    @Option(file: "A product catalog, as for export. Types of products answer some open questions. Repeatable.")
    var catalog: [String] = []

    @Option(file: "Query the transaction ids in this file instead, one per line; - for standard input.")
    var ids: String?

    @Option(help: "The column or member with a bare transaction id, if migrate had one with --column. Repeatable.")
    var column: [String] = []

    @Option(help: "The column or member with your id of the user, if migrate had one with --user-column.")
    var userColumn: String?

    @Option(help: "A column or member to keep with the user, as for migrate. Repeatable.")
    var carry: [String] = []

    @Flag(name: .customLong("dry-run"), help: "Print the number of queries, and send none. Needs no key.")
    var isDryRun = false

    @Option(
        help: .value(
            "days", "Query a purchase again if the App Store did not know it this many days ago; 0 for at once."))
    var askAgainAfter = 30

    @Option(
        help: .value(
            "part",
            "The part of Apple's rate limits to use, more than 0 and at most 1. On one store, enrich uses what serve does not need."
        ))
    var share = 1.0

    @Option(help: "The issuer id that App Store Connect shows above the In-App Purchase keys.")
    var issuerId: String?

    @Option(help: "The id of the In-App Purchase key.")
    var keyId: String?

    @Option(file: "The In-App Purchase key, as it was downloaded (.p8).")
    var privateKey: String?

    @Option(help: .value("url", "The production server, instead of Apple's, for tests."))
    var productionURL: String?

    @Option(help: .value("url", "The sandbox server, instead of Apple's, for tests."))
    var sandboxURL: String?

    @Option(file: "A file for the counts, as JSON.", completion: .file(extensions: ["json"]))
    var summary: String?

    @Flag(help: "No progress on standard error.")
    var quiet = false

    @OptionGroup(title: "Trust")
    var trust: TrustOptions

    func validate() throws {
        guard !bundleIds.contains("") else { throw ValidationError("--bundle-id is empty.") }
        guard summary != "" else { throw ValidationError("The path of --summary is empty.") }
        guard (0...3_650).contains(askAgainAfter) else {
            throw ValidationError("--ask-again-after takes a number of days from 0 to 3650.")
        }
        guard share > 0, share <= 1 else { throw ValidationError("--share takes a number above 0, up to 1.") }
        guard ids == nil || reason.isEmpty else { throw ValidationError("Give --ids or --reason, not both.") }
        guard ids == nil || column.isEmpty && userColumn == nil && carry.isEmpty else {
            throw ValidationError(
                "--column, --user-column and --carry are about the quarantine, which --ids does not read.")
        }
        guard !isDryRun else { return }
        for (name, value) in [("--issuer-id", issuerId), ("--key-id", keyId), ("--private-key", privateKey)]
        where value == nil {
            throw ValidationError("Missing \(name). Only --dry-run works without it.")
        }
    }

    func run() async throws {
        let key = try key()
        let ids = try ids.map(Self.transactionIds)
        var includes: @Sendable (Customer) -> Bool = { _ in true }
        if !reason.isEmpty {
            let (reasons, catalog) = (Set(reason), try CatalogArguments.catalog(catalog))
            let now = ServerClock.system.now()
            includes = { customer in
                let standings = customer.purchaseHistory(catalog: catalog).subscriptions(at: now)
                return customer.openQuestions(standings).contains { reasons.contains($0.reason) }
            }
        }
        let bareIds: EnrichmentRun.BareIds =
            if let ids { .list(ids) } else if !reason.isEmpty { .list([]) } else {
                .quarantine(
                    BareTransactionIds(
                        receiptColumns: column, userColumn: userColumn, carriedColumns: Set(carry)))
            }
        let run = EnrichmentRun(
            options: self, key: key, trust: SignedDataTrust(additionalRoots: try trust.policy().additionalRoots),
            bareIds: bareIds, includes: includes)
        let outcome = try await Interruption.running(
            ifEnded: "Interrupted. All answers are stored. Run the same command to continue."
        ) { [store] in
            try await StoreOpener.withExisting(store.url) { try await run.run($0) }
        }
        if let summary { try OutputFile.write(outcome.json(), to: summary) }
        try Terminal.output(outcome.text)
        if let stopped = outcome.stopped { throw stopped }
        if !outcome.isWhole { throw ExitStatus.someQuarantined }
    }

    /// Nil for a dry run, which sends no query.
    /// - Throws: `CommandFailure` for a file without a key.
    private func key() throws -> InAppPurchaseKey? {
        guard !isDryRun, let issuerId, let keyId, let privateKey else { return nil }
        return try InAppPurchaseKey(file: privateKey, keyID: keyId, issuerID: issuerId)
    }

    /// - Throws: `CommandFailure` that names the line.
    private static func transactionIds(_ path: String) throws -> [String] {
        var ids: [String] = []
        let lines = String(decoding: try InputFile.read(path), as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            let id = line.trimmingCharacters(in: .whitespaces)
            guard !id.isEmpty else { continue }
            guard id.utf8.count <= 20, id.isDecimal else {
                throw CommandFailure(
                    "Line \(number + 1) of \(path) is not a transaction id, which has 1 to 20 digits.")
            }
            ids.append(id)
        }
        return ids
    }
}
