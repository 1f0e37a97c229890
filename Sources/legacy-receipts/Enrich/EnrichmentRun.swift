import AppStoreModels
import AppStoreServer
import AppStoreSync
import Encodings
import Foundation
import Migration
import Purchases
import TransactionStore

/// Queries the App Store Server API for the customers of a store and for bare transaction ids, app by app.
struct EnrichmentRun: Sendable {
    let options: EnrichCommand
    /// Nil for a dry run.
    let key: InAppPurchaseKey?
    let trust: SignedDataTrust
    let bareIds: BareIds
    let includes: @Sendable (Customer) -> Bool

    /// The bare transaction ids to query.
    enum BareIds: Sendable {
        case list([String])
        /// Those of the store, which leave the quarantine.
        case quarantine(BareTransactionIds)
    }

    /// The maximum number of failures to print. Further failures are only counted.
    private static let maximumLines = 20

    /// Whether to complete the customers of the store; if not, only the bare ids.
    private var asksCustomers: Bool { options.ids == nil }

    private var environments: [AppStoreModels.Environment] {
        options.environment.isEmpty ? [.production, .sandbox] : options.environment
    }

    /// - Throws: `CommandFailure`, `TransactionStoreError`. Completed customers stay completed; another run continues with the
    ///   others.
    func run(_ store: any CompleteTransactionStore) async throws -> EnrichmentSummary {
        let work = try await work(store)
        let estimate = EnrichmentEstimate(
            open: work.open, bareIds: work.bareIds, rememberedIds: work.rememberedIds,
            unknownDays: options.askAgainAfter, budgets: budgets)
        var summary = EnrichmentSummary(estimate: estimate)
        guard let key else { return summary }
        if !options.quiet { Terminal.error(estimate.text) }
        let changes = RateChanges()
        let progress = EnrichmentProgress(
            total: work.open.reduce(work.bareIds) { $0 + $1.customers }, changes: changes, isQuiet: options.quiet)
        defer { progress.finish() }
        let tally = EnrichmentTally(AsyncHTTPClientTransport(), store: store)
        let keeping = Task { await tally.keepRegularly() }
        let asked = await Result {
            try await query(store, key, progress: progress, changes: changes, tally: tally)
        }
        keeping.cancel()
        await keeping.value
        let kept = await Result { try await tally.end(asked) }
        do {
            try asked.get()
        } catch let refused as AppStoreRefusal {
            summary.stopped = CommandFailure("\(refused.advice) Run it again to continue.")
        } catch let unreachable as AppStoreUnreachable {
            summary.stopped = CommandFailure("\(unreachable) Run it again to continue.")
        } catch let error where error is TransactionStoreError || error is CancellationError {
            throw error
        } catch {
            throw CommandFailure("The run stopped; run it again to continue: \(error)")
        }
        try kept.get()
        summary.counts = tally.answers
        return summary
    }

    /// Queries for the customers, and then for the bare ids.
    private func query(
        _ store: any CompleteTransactionStore, _ key: InAppPurchaseKey, progress: EnrichmentProgress,
        changes: RateChanges, tally: EnrichmentTally
    ) async throws {
        let verifier = try SignedDataVerifier(trust: trust)
        let enrichment = CustomerEnrichment(
            apps: try Self.unique(options.bundleIds).compactMap { try app($0, key, verifier, tally, store, changes) },
            store: store, unknownPeriod: unknownPeriod, includes: includes)
        var events = Self.events(progress)
        events.onProgress = {
            tally.answers = $0
            progress.report($0.asked)
        }
        let customers =
            asksCustomers
            ? try await enrichment.completeCustomers(of: store, events: events) : CustomerEnrichment.Counts()
        var found = CustomerEnrichment.Counts()
        func complete(_ ids: [String], _ events: CustomerEnrichment.Events) async throws {
            var events = events
            let before = found
            events.onProgress = {
                tally.answers = customers + before + $0
                progress.report(customers.asked + before.seen + $0.seen)
            }
            found = before + (try await enrichment.complete(ids: ids, events: events))
        }
        switch bareIds {
        case .list(let ids): try await complete(Self.unique(ids), events)
        case .quarantine(let bareIds):
            var last: [UInt8]?
            while var page = try await bareIds.page(of: store, after: last) {
                last = page.end
                events.onBareId = { id, purchase in page.answers[id] = .some(purchase) }
                let asked = await Result { try await complete(page.ids, events) }
                // SQLite writes nothing in a canceled task, and what was answered must be stored.
                let step = page.step
                _ = try await Task { try await store.apply(step) }.value
                try asked.get()
            }
        }
    }

    /// Prints the first failures, and the pauses of the App Store.
    private static func events(_ progress: EnrichmentProgress) -> CustomerEnrichment.Events {
        var failures = 0
        return CustomerEnrichment.Events(
            onFailure: { failure in
                failures += 1
                if failures <= maximumLines {
                    Terminal.error("Transaction \(failure.transactionId): \(failure.reason)")
                }
                if failures == maximumLines + 1 { Terminal.error("Further failures are only counted.") }
            }, onHold: { progress.hold(until: $0) })
    }

    private func work(
        _ store: any CompleteTransactionStore
    ) async throws -> (open: [CustomerEnrichment.OpenCustomers], bareIds: Int, rememberedIds: Int) {
        let scopes = Self.unique(options.bundleIds).flatMap { bundleId in
            environments.map { StoreScope(environment: $0, bundleId: bundleId) }
        }
        let open =
            asksCustomers
            ? try await CustomerEnrichment.openCustomers(
                of: store, in: scopes, unknownPeriod: unknownPeriod, includes: includes)
            : scopes.map { CustomerEnrichment.OpenCustomers(scope: $0) }
        var (asked, remembered) = (0, 0)
        func count(_ ids: [String]) async throws {
            try Task.checkCancellation()
            let left = try await CustomerEnrichment.openIds(
                ids, of: store, in: scopes, unknownPeriod: unknownPeriod
            ).count
            asked += left
            remembered += ids.count - left
        }
        switch bareIds {
        case .list(let ids): try await count(Self.unique(ids))
        case .quarantine(let bareIds):
            // An id in several pages counts more than once.
            var last: [UInt8]?
            while let page = try await bareIds.page(of: store, after: last) {
                last = page.end
                try await count(page.ids)
            }
        }
        return (open, asked, remembered)
    }

    private var unknownPeriod: Duration { .seconds(options.askAgainAfter * 86_400) }

    /// Longer waits are for the run, which shows them.
    private var budgets: RateBudgets {
        RateBudgets(share: options.share, maximumWait: .seconds(60), isAdaptive: true)
    }

    private static func unique(_ ids: [String]) -> [String] {
        var known: Set<String> = []
        return ids.filter { known.insert($0).inserted }
    }

    /// Production comes first, in any order of the arguments, because it is queried before the sandbox.
    private func app(
        _ bundleId: String, _ key: InAppPurchaseKey, _ verifier: SignedDataVerifier,
        _ transport: any APITransport, _ store: any RequestBudgets, _ changes: RateChanges
    ) throws -> CustomerEnrichment.App? {
        let order = [AppStoreModels.Environment.production, .sandbox].filter { environments.contains($0) }
        let readers = try order.map { environment in
            let scope = StoreScope(environment: environment, bundleId: bundleId)
            let client = try AppStoreServerAPIClient(
                key: key, bundleID: bundleId, environment: environment,
                configuration: APIClientConfiguration(
                    baseURL: environment == .production ? options.productionURL : options.sandboxURL,
                    rateBudgets: budgets,
                    // Longer than for a server: the store can be busy with a step of a migration.
                    sharedBudget: StoreRateBudget(store, scope: scope, priority: .background, timeout: .seconds(5)),
                    retryPolicy: RetryPolicy(maximumRetryAfter: .seconds(1)),
                    rateObserver: { changes.add($0, of: scope) }),
                transport: transport)
            return CustomerHistoryReader(
                client: client, verifier: verifier, bundleID: bundleId, clock: ServerClock.system.now)
        }
        return readers.first.map { CustomerEnrichment.App($0, fallback: readers.dropFirst().first) }
    }
}

extension Result where Success == Void, Failure == any Error {
    init(_ body: () async throws -> Void) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
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
    private let changes: RateChanges
    private var lastRates: ContinuousClock.Instant?
    private let isQuiet: Bool
    private let isTerminal = Terminal.isErrorTerminal
    /// The least time between two lines in a log.
    private static let logInterval = Duration.seconds(5)

    /// - Parameters:
    ///   - total: the number of customers and ids to query.
    ///   - changes: rates to report.
    ///   - isQuiet: whether nothing is printed.
    init(total: Int, changes: RateChanges, isQuiet: Bool) {
        self.total = total
        self.changes = changes
        self.isQuiet = isQuiet
    }

    /// - Parameter count: the number of queried customers and ids.
    func report(_ count: Int) {
        reportRates()
        let interval: Duration = isTerminal ? .milliseconds(200) : Self.logInterval
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
            reportRates()
            return
        }
        holdStart = .now
        guard !isQuiet else { return }
        let civil = CivilTime(milliseconds: date)
        write("rate limited until \(civil.date) \(civil.time) UTC")
    }

    /// Each change of a rate stays visible in a line of its own.
    private func reportRates() {
        guard !isQuiet, lastRates.map({ ContinuousClock.now - $0 >= Self.logInterval }) ?? true else { return }
        let lines = changes.lines()
        guard !lines.isEmpty else { return }
        lastRates = .now
        if isTerminal { Terminal.rewriteLine("") }
        for line in lines { Terminal.error(line) }
    }

    private func write(_ line: String) { if isTerminal { Terminal.rewriteLine(line) } else { Terminal.error(line) } }

    func finish() { if isTerminal, !isQuiet { Terminal.rewriteLine("") } }
}

extension CustomerEnrichment.Counts {
    fileprivate static func + (left: Self, right: Self) -> Self {
        let counts: [WritableKeyPath<Self, Int>] = [
            \.seen, \.asked, \.completed, \.known, \.unknown, \.remembered, \.failed, \.changedFacts, \.erasedFacts,
        ]
        return counts.reduce(into: left) { $0[keyPath: $1] += right[keyPath: $1] }
    }
}
