import AppStoreModels
import AppStoreServer
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

    /// - Returns: what was done, in words, and whether everything was.
    /// - Throws: `CommandFailure`. What was completed before stays; running it again resumes.
    func run(_ store: any CompleteTransactionStore, bareIds: [String]) async throws -> (text: String, isWhole: Bool) {
        var total = CustomerEnrichment.Counts()
        do {
            let verifier = try SignedDataVerifier(trust: trust)
            let transport = AsyncHTTPClientTransport()
            let ids = Self.unique(bareIds)
            let progress = EnrichmentProgress(
                total: Int(clamping: try await store.counts().customers) + ids.count, isQuiet: isQuiet)
            let enrichment = CustomerEnrichment(
                apps: try Self.unique(bundleIds).compactMap { try app($0, verifier, transport) }, store: store)
            total += try await enrichment.completeCustomers(
                of: store, onFailure: { Self.tell($0) }, onProgress: { progress.report($0) })
            let customers = total
            total += try await enrichment.complete(
                ids: ids, onFailure: { Self.tell($0) }, onProgress: { progress.report(customers + $0) })
            progress.finish()
        } catch {
            throw CommandFailure("Completing the customers stopped, run it again to resume: \(error)")
        }
        return (Self.text(total), total.failed == 0)
    }

    private static func unique(_ ids: [String]) -> [String] {
        var known: Set<String> = []
        return ids.filter { known.insert($0).inserted }
    }

    /// Production first, whatever the order of the arguments: purchases are looked for there before the sandbox.
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
            key: key, bundleID: bundleId, environment: environment, configuration: APIClientConfiguration(baseURL: url),
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

/// A line on standard error from time to time, with an estimate of the time that is left.
private final class EnrichmentProgress {
    private let start = ContinuousClock.now
    private var lastReport = ContinuousClock.now
    private let total: Int
    private let isQuiet: Bool
    private let isTerminal = Terminal.isErrorTerminal

    init(total: Int, isQuiet: Bool) {
        self.total = total
        self.isQuiet = isQuiet
    }

    func report(_ counts: CustomerEnrichment.Counts) {
        let interval: Duration = isTerminal ? .milliseconds(200) : .seconds(5)
        guard !isQuiet, ContinuousClock.now - lastReport >= interval else { return }
        lastReport = .now
        let elapsed = ContinuousClock.now - start
        // Customers that are known already cost nothing; the pace is that of those who were asked about.
        let asked = max(1, counts.seen - counts.known)
        let left = elapsed * max(0, total - counts.seen) / asked
        let line = "\(counts.seen) of \(total) customers, about \(left.components.seconds) s left"
        if isTerminal { Terminal.rewriteLine(line) } else { Terminal.error(line) }
    }

    func finish() { if isTerminal, !isQuiet { Terminal.rewriteLine("") } }
}

extension CustomerEnrichment.Counts {
    fileprivate static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.seen += right.seen
        sum.completed += right.completed
        sum.known += right.known
        sum.unknown += right.unknown
        sum.failed += right.failed
        sum.changedFacts += right.changedFacts
        return sum
    }

    fileprivate static func += (left: inout Self, right: Self) { left = left + right }
}
