import AppStoreModels
import AppStoreServer
import ArgumentParser
import Foundation
import LegacyReceipts
import Migration
import ReplyComparison
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare recorded verifyReceipt replies with ours.",
        discussion: """
            Sends each recorded request to the endpoint that `serve` runs, with the clock set to the time of the recorded \
            reply. For each field, it prints how often the replies are equal, and the reason for each difference: mismatch, \
            only their database can know, or formatting. For each product, it also prints whether a client would grant \
            access with only one of the two replies ("entitlement"). The output contains no replies. It shows receipts, \
            account tokens and device identifiers as the first 12 digits of their SHA-256.

            A record has one of these forms, in a file of its own, on a line (NDJSON) or as an array element:

              {"request": {"receipt-data": …}, "response": {…}}
              {"receipt-data": …, "password": …, "response": {…}}
              a receipt next to a reply, with any names that migrate reads
              a reply in NAME.json, its receipt in NAME.b64 (or .der, .txt …)
              {"file": "NAME.b64", "recorded_response": "NAME.json"}

            "request_date_ms" next to them states the time of the request if the reply does not.

            Nothing is written to the store. --learn-earlier and --learn-latest use a temporary store. With --learn-earlier, \
            the endpoint stores the receipt inside each reply after the comparison. Sort the records by date: the result is \
            then that of a server that had received them. With --learn-latest, it stores the receipt before the comparison. \
            The result is then an upper bound, which a server reaches only if it gets everything that Apple has.

            EXIT STATUS:
              0  there is no mismatch, and both replies of every pair grant the same
              1  there is a mismatch, pairs grant differently or are not comparable,
                 or Apple's replies are all temporary failures
              2  usage, input or output error, or no pair in the input

            EXAMPLES:
              legacy-receipts compare pairs.ndjson
              legacy-receipts compare pairs.ndjson --config serve.yaml --learn-earlier
              legacy-receipts compare --json - < pairs.ndjson
            """)

    @Argument(help: .value("input", "Files, folders, or - for standard input."), completion: .file())
    var inputs: [String] = []

    @Option(file: "The configuration of serve: apps, secrets, catalogs, trust.")
    var config: String?

    @Option(name: .customLong("set"), help: .value("key=value", "Any key of that configuration. Repeatable."))
    var settings: [String] = []

    @OptionGroup var trust: TrustOptions

    @Option(
        name: .customLong("shared-secret-file"), file: "A file with a shared secret, valid for every app. Repeatable.")
    var secretFiles: [String] = []

    @Option(help: .value("url", "The store to read: sqlite:PATH or postgres://… (default: none)."))
    var store: String?

    @Flag(
        name: .customLong("learn-latest"),
        help: "Store the receipt inside each reply before its comparison. The result is an upper bound.")
    var learnsLatest = false

    @Flag(
        name: .customLong("learn-earlier"),
        help: "Store the receipt inside each reply after its comparison, for the pairs that follow.")
    var learnsEarlier = false

    @Option(name: .customLong("differences"), help: .value("n", "The maximum number of differences to print."))
    var maximumDifferences = 20

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: ArgumentHelp("Print what the endpoint supports as a Markdown table.", visibility: .hidden))
    var coverage = false

    func validate() throws {
        guard coverage || !inputs.isEmpty else { throw ValidationError("Name an input.") }
        guard !learnsLatest || !learnsEarlier else {
            throw ValidationError("Use --learn-latest or --learn-earlier, not both.")
        }
        guard learning == .none || store == nil else {
            throw ValidationError("--learn-latest and --learn-earlier use their own store: remove --store.")
        }
        guard maximumDifferences >= 0 else { throw ValidationError("--differences takes a number from 0.") }
    }

    private var learning: LatestReceiptLearning {
        learnsLatest ? .sameReply : learnsEarlier ? .earlierPairs : .none
    }

    func run() async throws {
        if coverage { return try Terminal.output(String(CoverageTable.markdown().dropLast())) }
        let report = try await withStore { store in
            let endpoint = try self.endpoint(store)
            return try await parity(
                ParityRun(endpoint: endpoint, learning: learning, now: ServerClock.system.now()))
        }
        try Terminal.output(json ? String(decoding: report.json(), as: UTF8.self) : CompareText.text(report))
        if report.pairs + report.failed == 0 {
            throw CommandFailure("The input contains no request with a reply.")
        }
        guard report.hasParity else { throw ExitCode(1) }
    }

    private func parity(_ run: ParityRun) async throws -> ParityReport {
        let source = RecordedPairSource(inputs)
        var report = ParityReport(maximumExamples: maximumDifferences, learning: learning)
        while let batch = try source.next() {
            for outcome in batch { await add(outcome, run, to: &report) }
        }
        return report
    }

    private func add(_ outcome: RecordedPairSource.Outcome, _ run: ParityRun, to report: inout ParityReport) async {
        switch outcome {
        case .skipped(let place, let reason): report.addSkipped(place: place, reason: reason)
        case .pair(let pair):
            do {
                report.add(try await run.compare(pair), place: pair.place)
            } catch {
                report.addFailed(place: pair.place, error: error as? ReplyComparisonError ?? .ourReplyUnreadable)
            }
        }
    }

    // MARK: The endpoint

    private func endpoint(_ store: (any TransactionStore)?) throws -> VerifyReceiptEndpoint {
        let sources = ConfigurationSources(file: config, flags: try SettingArguments.flags(settings))
        var configuration = try sources.load().endpoint
        let more = try trust.policy()
        configuration.trust.additionalRoots += more.additionalRoots
        configuration.trust.additionalIntermediates += more.additionalIntermediates
        configuration.trust.acceptsXcodeReceipts = configuration.trust.acceptsXcodeReceipts || trust.acceptsXcode
        configuration.accountSecrets += try secretFiles.map(Self.secret)
        configuration.learnsFromReceipts = learning != .none
        configuration.learningLimit = .seconds(60)
        return try VerifyReceiptEndpoint(configuration: configuration, store: store)
    }

    private static func secret(_ path: String) throws -> SharedSecret {
        let text = String(decoding: try InputFile.read(path), as: UTF8.self)
        return SharedSecret(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    // MARK: The store

    private func withStore<Result>(_ body: ((any TransactionStore)?) async throws -> Result) async throws -> Result {
        guard learning != .none else {
            guard let store, store != "none" else { return try await body(nil) }
            return try await Self.using(store, body)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "legacy-receipts-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure("The folder for the store cannot be created: \(error.localizedDescription)")
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await Self.using("sqlite:" + folder.appending(path: "store.sqlite").path, body)
    }

    private static func using<Result>(
        _ url: String, _ body: ((any TransactionStore)?) async throws -> Result
    ) async throws -> Result {
        let store = try CommandFailure.naming("The store cannot be opened") { try StoreOpener.open(url) }
        return try await StoreOpener.closing(store, isOnlyRead: true) { try await body($0) }
    }
}

/// The report for the terminal: the table, then the differences.
enum CompareText {
    static func text(_ report: ParityReport) -> String {
        var lines = [report.table()]
        let entitlement = report.entitlement.examples
        if !entitlement.isEmpty {
            lines += ["", "entitlement differs:"] + entitlement.map { "  " + Printable.text($0.summary) }
        }
        for kind in DifferenceKind.allCases {
            let examples = report.examples.filter { $0.difference.kind == kind }
            guard !examples.isEmpty else { continue }
            lines += ["", "\(kind.title):"]
            for example in examples { lines.append("  " + line(example)) }
        }
        if !report.reasons.isEmpty { lines += ["", "left out:"] + report.reasons.map { "  " + Printable.text($0) } }
        return lines.joined(separator: "\n")
    }

    private static func line(_ example: ParityReport.Example) -> String {
        let difference = example.difference
        let id = difference.transactionId.map { " of \($0)" } ?? ""
        let values = "Apple: \(difference.apples ?? "absent"), ours: \(difference.ours ?? "absent")"
        return Printable.text("\(example.place): \(difference.path)\(id): \(values) (\(difference.rule.rawValue))")
    }
}
