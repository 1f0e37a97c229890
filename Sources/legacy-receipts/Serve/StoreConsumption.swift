import AppStoreModels
import AppStoreServer
import AppStoreSync
import Encodings
import Purchases
import Synchronization
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Answers the open consumption requests of `serve` as `app-store consumption --answer` does. The rules and the consents are read
/// again for each round.
final class StoreConsumption: ConsumptionAnswering {
    private struct Client {
        let key: InAppPurchaseKey
        let server: String?
        let client: AppStoreServerAPIClient
    }

    /// The time for one app and environment in a round.
    private static let timeLimit = Duration.seconds(300)

    private let store: any CompleteTransactionStore
    private let settings: VerifyReceiptServerConfiguration.ConsumptionAnswers
    /// Kept, so that their rate budgets and tokens last longer than a round.
    private let clients = Mutex<[StoreScope: Client]>([:])
    /// The requests that the store could not close after the App Store had accepted their answers. They are not sent again.
    private let accepted = Mutex<Set<String>>([])

    init(_ store: any CompleteTransactionStore, _ settings: VerifyReceiptServerConfiguration.ConsumptionAnswers) {
        self.store = store
        self.settings = settings
    }

    func answerOpenRequests(
        _ credentials: [AppStoreCredentials], _ endpoint: EndpointConfiguration, now: Int64
    ) async throws -> ConsumptionRound {
        let clock = ConsumptionAnswers.clock(from: now)
        let rules: ConsumptionRules
        let consents: ConsumptionConsentFile
        let cases: [ConsumptionCase]
        let storeError = await closeAccepted()
        do {
            rules = try ConsumptionRules(file: settings.rulesFile, consumer: settings.consumer)
            consents = try ConsumptionConsentFile(file: settings.consentFile)
            let accepted = self.accepted.withLock { $0 }
            cases = try await ConsumptionCase.all(
                in: store, consumer: settings.consumer, catalog: { endpoint.catalog(ofApp: $0.bundleId) }, openAt: now
            )
            .filter { !accepted.contains($0.task.notificationUUID) }
        } catch let error where error is TransactionStoreError || error is CancellationError {
            throw error
        } catch {
            return try await unanswered("\(error)", now: now)
        }
        var round = ConsumptionRound()
        round.failure = storeError
        var problems: [String] = []
        var runs: [(answers: ConsumptionAnswers, cases: [ConsumptionCase])] = []
        var scopes: [StoreScope] = []
        // The soonest deadline comes first, also of the apps.
        let byScope = Dictionary(grouping: cases) { $0.task.scope }
        for scope in cases.map(\.task.scope) where !scopes.contains(scope) {
            scopes.append(scope)
            let cases = byScope[scope] ?? []
            guard let credentials = credentials.first(where: { $0.bundleID == scope.bundleId }) else {
                round.unanswered += cases.count
                continue
            }
            do {
                let answers = ConsumptionAnswers(
                    client: try client(credentials, scope.environment), store: store, rules: rules,
                    consent: { consents.rows[$0] }, isDryRun: false, clock: clock)
                runs.append((answers, cases))
            } catch {
                // The requests of other apps are still answered.
                round.left += cases.count
                problems.append("\(Self.name(scope)): \(error)")
            }
        }
        for (run, outcome) in zip(runs, try await ConsumptionAnswers.answer(runs, within: Self.timeLimit)) {
            let app = run.cases.first.map { Self.name($0.task.scope) } ?? ""
            round.answered += outcome.answered.reduce(0) { $0 + $1.notificationUUIDs.count }
            round.unanswered += outcome.unansweredRequests
            round.left += outcome.leftRequests
            round.missed += outcome.missed
            round.unknown += outcome.unknown
            if let stopped = outcome.stopped { problems.append("\(app): \(AppStoreErrorText.text(stopped))") }
            if outcome.isOutOfTime {
                problems.append("\(app): The App Store was too slow; the next round continues.")
            }
            for case .unclaimed(let error) in outcome.problems.map(\.problem) { round.failure = "\(error)" }
            if let error = outcome.storeError {
                round.failure = "\(error)"
                // It is unknown which of them the store has closed. Closing a request twice does no harm.
                accepted.withLock { $0.formUnion(outcome.answered.flatMap(\.notificationUUIDs)) }
            }
        }
        if !problems.isEmpty { round.problem = problems.joined(separator: " ") }
        return round
    }

    /// Closes the requests that the store could not close after an earlier answer.
    /// - Returns: why the store still cannot close them; nil if it closed all.
    private func closeAccepted() async -> String? {
        let waiting = accepted.withLock { $0 }
        guard !waiting.isEmpty else { return nil }
        do {
            _ = try await store.closeConsumptionTasks(waiting.sorted(), as: .answered)
            accepted.withLock { $0.subtract(waiting) }
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func name(_ scope: StoreScope) -> String { "\(scope.bundleId) (\(scope.environment.rawValue))" }

    /// The round while a file or the consumer cannot be used: what is open is counted without them.
    private func unanswered(_ failure: String, now: Int64) async throws -> ConsumptionRound {
        var round = ConsumptionRound()
        round.unanswered = try await openDeadlines(after: now).count
        round.failure = failure
        return round
    }

    func openDeadlines(after date: Int64) async throws -> [Int64] {
        let accepted = self.accepted.withLock { $0 }
        return try await store.answerableConsumptionTasks(at: date)
            .filter { !accepted.contains($0.notificationUUID) }.map(\.deadline)
    }

    /// Requests whose deadline was over before this time do not count: those that a backfill found, for example. In milliseconds.
    private static let countedTime: Int64 = 7 * Int64.millisecondsPerDay

    func countMissed(deadlineUpTo date: Int64) async throws -> MissedConsumptionTasks {
        // The store has answered requests as open.
        guard await closeAccepted() == nil else { return MissedConsumptionTasks() }
        let last = date.subtractingSaturated(ConsumptionTask.answerTime)
        return try await store.countMissedConsumptionTasks(
            requestedAfter: last.subtractingSaturated(Self.countedTime), upTo: last)
    }

    private func client(
        _ credentials: AppStoreCredentials, _ environment: Environment
    ) throws -> AppStoreServerAPIClient {
        let scope = StoreScope(environment: environment, bundleId: credentials.bundleID)
        let server = credentials.server(environment)
        // A reload of the configuration can bring another key under the same identifier.
        if let known = clients.withLock({ $0[scope] }), known.server == server, known.key.isSame(as: credentials.key) {
            return known.client
        }
        let client = try AppStoreServerAPIClient(
            key: credentials.key, bundleID: credentials.bundleID, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: server, sharedBudget: StoreRateBudget(store, scope: scope, priority: .interactive)))
        clients.withLock { $0[scope] = Client(key: credentials.key, server: server, client: client) }
        return client
    }
}
