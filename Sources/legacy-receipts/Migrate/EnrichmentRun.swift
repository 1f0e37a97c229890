import AppStoreModels
import AppStoreServer
import AppStoreSync
import Foundation
import TransactionStore
import VerifyReceiptServer

/// Asks the App Store Server API about the customers of a store and about bare transaction ids, app by app.
struct EnrichmentRun {
    let key: InAppPurchaseKey
    let options: EnrichOptions
    let trust: SignedDataTrust
    let bundleIds: [String]
    let environments: [AppStoreModels.Environment]
    let isQuiet: Bool

    /// The maximum number of failures to print. Further failures are only counted.
    private static let maximumLines = 20

    /// A text about the run, and whether it is complete.
    struct Outcome {
        let text: String
        let isWhole: Bool
        /// Why the run stopped before its end.
        var stopped: CommandFailure?
    }

    /// - Throws: `CommandFailure`. Completed customers stay completed; another run continues with the others.
    func run(_ store: any CompleteTransactionStore, bareIds: [String]) async throws -> Outcome {
        var customers = CustomerEnrichment.Counts()
        var found = CustomerEnrichment.Counts()
        do {
            let verifier = try SignedDataVerifier(trust: trust)
            let transport = AsyncHTTPClientTransport()
            let ids = Self.unique(bareIds)
            let enrichment = CustomerEnrichment(
                apps: try Self.unique(bundleIds).compactMap { try app($0, verifier, transport) }, store: store)
            let progress = EnrichmentProgress(
                total: try await enrichment.countOpenCustomers(of: store) + ids.count, isQuiet: isQuiet)
            defer { progress.finish() }
            var failures = 0
            var events = CustomerEnrichment.Events(
                onFailure: { failure in
                    failures += 1
                    if failures <= Self.maximumLines { Self.tell(failure) }
                    if failures == Self.maximumLines + 1 { Terminal.error("Further failures are only counted.") }
                }, onHold: { progress.hold(until: $0) })
            events.onProgress = {
                customers = $0
                progress.report(customers.asked)
            }
            customers = try await enrichment.completeCustomers(of: store, events: events)
            events.onProgress = {
                found = $0
                progress.report(customers.asked + found.seen)
            }
            found = try await enrichment.complete(ids: ids, events: events)
        } catch let refused as CustomerEnrichment.Refused {
            let text = Self.text(customers + found)
            return Outcome(text: text, isWhole: false, stopped: Self.failure(refused))
        } catch {
            throw CommandFailure("The run stopped; run it again to resume: \(error)")
        }
        let total = customers + found
        return Outcome(text: Self.text(total), isWhole: total.failed == 0)
    }

    private static func failure(_ refused: CustomerEnrichment.Refused) -> CommandFailure {
        var text = """
            \(refused) Completing the customers stopped at this answer. Check that --private-key is an In-App \
            Purchase key (an App Store Connect API key is another kind), that --key-id and --issuer-id are those that App \
            Store Connect shows for it, that it is not revoked, that the app is of the same team and --bundle-id is spelled \
            as there, and that this machine's clock is right.
            """
        if refused.environment == .production {
            text += """
                 Production refuses an app without a release: give --environment Sandbox then.
                """
        }
        return CommandFailure(text + " Run it again to resume.")
    }

    private static func unique(_ ids: [String]) -> [String] {
        var known: Set<String> = []
        return ids.filter { known.insert($0).inserted }
    }

    /// Production comes first, in any order of the arguments, because it is queried before the sandbox.
    private func app(
        _ bundleId: String, _ verifier: SignedDataVerifier, _ transport: AsyncHTTPClientTransport
    ) throws -> CustomerEnrichment.App? {
        let readers = try [AppStoreModels.Environment.production, .sandbox].filter { environments.contains($0) }
            .map { try reader($0, bundleId, verifier, transport) }
        guard let first = readers.first else { return nil }
        return CustomerEnrichment.App(first, fallback: readers.dropFirst().first)
    }

    private func reader(
        _ environment: AppStoreModels.Environment, _ bundleId: String, _ verifier: SignedDataVerifier,
        _ transport: AsyncHTTPClientTransport
    ) throws -> CustomerHistoryReader {
        let url = environment == .production ? options.productionURL : options.sandboxURL
        let client = try AppStoreServerAPIClient(
            key: key, bundleID: bundleId, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: url,
                // Longer waits are for the run, which shows them.
                rateBudgets: RateBudgets(maximumWait: .seconds(60)),
                retryPolicy: RetryPolicy(maximumRetryAfter: .seconds(1))),
            transport: transport)
        return CustomerHistoryReader(
            client: client, verifier: verifier, bundleID: bundleId,
            clock: { Int64(Date().timeIntervalSince1970 * 1_000) })
    }

    private static func tell(_ failure: CustomerEnrichment.Failure) {
        Terminal.error("Transaction \(failure.transactionId): \(failure.reason)")
    }

    private static func text(_ counts: CustomerEnrichment.Counts) -> String {
        var text = """
            App Store Server API: \(counts.completed) customers completed, \(counts.known) known before, \
            \(counts.unknown) unknown to the App Store; \(counts.changedFacts) facts are new.
            """
        if counts.failed > 0 { text += "\nNot completed: \(counts.failed). Run it again to try those." }
        return text
    }
}

/// Writes a line to standard error from time to time, with an estimate of the remaining time.
private final class EnrichmentProgress {
    private let start = ContinuousClock.now
    private var lastReport = ContinuousClock.now
    /// The time in which the App Store accepted no requests.
    private var held = Duration.zero
    private var holdStart: ContinuousClock.Instant?
    private let total: Int
    private let isQuiet: Bool
    private let isTerminal = Terminal.isErrorTerminal

    /// - Parameter total: the number of customers and ids to query.
    init(total: Int, isQuiet: Bool) {
        self.total = total
        self.isQuiet = isQuiet
    }

    /// - Parameter count: the number of queried customers and ids.
    func report(_ count: Int) {
        let interval: Duration = isTerminal ? .milliseconds(200) : .seconds(5)
        guard !isQuiet, count > 0, ContinuousClock.now - lastReport >= interval else { return }
        lastReport = .now
        let left = (ContinuousClock.now - start - held) * max(0, total - count) / count
        write("\(count) of \(total) customers, about \(left.components.seconds) s left")
    }

    /// - Parameter date: the time until which the App Store accepts no requests, in milliseconds; nil when it accepts them again.
    func hold(until date: Int64?) {
        guard let date else {
            if let holdStart { held += ContinuousClock.now - holdStart }
            holdStart = nil
            return
        }
        holdStart = .now
        guard !isQuiet else { return }
        let time = Date(timeIntervalSince1970: Double(date) / 1_000).formatted(
            .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false))
        write("rate limited until \(time) UTC")
    }

    private func write(_ line: String) { if isTerminal { Terminal.rewriteLine(line) } else { Terminal.error(line) } }

    func finish() { if isTerminal, !isQuiet { Terminal.rewriteLine("") } }
}

extension CustomerEnrichment.Counts {
    fileprivate static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.seen += right.seen
        sum.asked += right.asked
        sum.completed += right.completed
        sum.known += right.known
        sum.unknown += right.unknown
        sum.failed += right.failed
        sum.changedFacts += right.changedFacts
        return sum
    }
}
