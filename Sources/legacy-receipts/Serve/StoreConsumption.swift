import AppStoreModels
import AppStoreServer
import AppStoreSync
import Purchases
import Synchronization
import TransactionStore
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
    private static let patience = Duration.seconds(300)

    private let store: any CompleteTransactionStore
    private let settings: VerifyReceiptServerConfiguration.ConsumptionAnswers
    /// Kept, so that their rate budgets and tokens last longer than a round.
    private let clients = Mutex<[StoreScope: Client]>([:])

    init(_ store: any CompleteTransactionStore, _ settings: VerifyReceiptServerConfiguration.ConsumptionAnswers) {
        self.store = store
        self.settings = settings
    }

    func answerOpenRequests(_ credentials: [AppStoreCredentials], now: Int64) async throws -> ConsumptionRound {
        let clock = ConsumptionAnswers.clock(from: now)
        let rules: ConsumptionRules
        let consents: ConsumptionConsentFile
        let cases: [ConsumptionCase]
        do {
            rules = try ConsumptionRules(file: settings.rulesFile, consumer: settings.consumer)
            consents = try ConsumptionConsentFile(file: settings.consentFile)
            cases = try await ConsumptionCase.all(in: store, consumer: settings.consumer, openAt: now)
        } catch let error as TransactionStoreError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            return try await unanswered("\(error)", now: now)
        }
        var round = ConsumptionRound()
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
                // A key that cannot be used must not keep the answers of other apps from being sent.
                round.unanswered += cases.count
                round.failure = "\(scope.bundleId): \(error)"
            }
        }
        var answered: Set<String> = []
        for (run, outcome) in zip(runs, try await ConsumptionAnswers.answer(runs, within: Self.patience)) {
            answered.formUnion(outcome.answered.flatMap(\.notificationUUIDs))
            round.answered += outcome.answered.reduce(0) { $0 + $1.notificationUUIDs.count }
            round.unanswered += outcome.unansweredRequests
            round.left += outcome.leftRequests
            round.missed += outcome.missed
            if let stopped = outcome.stopped { round.problem = AppStoreErrorText.text(stopped) }
            if outcome.isOutOfTime, let scope = run.cases.first?.task.scope {
                round.problem =
                    "The App Store (\(scope.environment.rawValue)) was too slow for \(scope.bundleId); the next round goes on."
            }
            if let error = outcome.storeError { round.failure = "\(error)" }
        }
        let open = cases.filter { !answered.contains($0.task.notificationUUID) }
        round.firstDeadline = open.map { $0.task.deadline }.min()
        return round
    }

    /// The round while a file or the consumer cannot be used: what is open is counted without them.
    private func unanswered(_ failure: String, now: Int64) async throws -> ConsumptionRound {
        let cases = try await ConsumptionCase.all(in: store, consumer: nil, openAt: now)
        var round = ConsumptionRound()
        round.unanswered = cases.count
        round.firstDeadline = cases.map { $0.task.deadline }.min()
        round.failure = failure
        return round
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
