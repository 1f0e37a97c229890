package import AppStoreModels
package import AppStoreServer
package import TransactionStore

/// Answers the open cases of one app.
package struct ConsumptionAnswers: Sendable {
    /// Why a transaction got no answer.
    package enum Problem: Sendable {
        /// The rules, the consent or the transaction itself.
        case undecided(String)
        /// The App Store refused the answer, or did not answer.
        case appStore(AppStoreServerAPIError)
    }

    /// The result of a run.
    package struct Outcome: Sendable {
        /// The answered transactions. One answer closes all requests about the same transaction.
        package var answered: [(transactionId: String, notificationUUIDs: [String], sent: ConsumptionRequest)] = []
        /// Why a transaction got no answer, in the order of the deadlines.
        package var problems: [(transactionId: String, problem: Problem)] = []
        package var missed = 0
        /// The number of transactions that the run did not reach.
        package var left = 0
        /// The error that ended the run.
        package var stopped: AppStoreServerAPIError?
    }

    private let client: AppStoreServerAPIClient
    private let store: any ConsumptionTasks
    private let rules: ConsumptionRules
    private let consent: @Sendable (String) -> ConsumptionConsent?
    private let isDryRun: Bool
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - client: the API client for the app and the environment of the cases.
    ///   - store: the store of the requests. It closes a request after the answer.
    ///   - rules: the team's.
    ///   - consent: the consent of the customer of a transaction; nil if the caller has none.
    ///   - isDryRun: true sends nothing.
    ///   - clock: the current time, in milliseconds since 1970-01-01T00:00:00Z.
    package init(
        client: AppStoreServerAPIClient, store: any ConsumptionTasks, rules: ConsumptionRules,
        consent: @escaping @Sendable (String) -> ConsumptionConsent?, isDryRun: Bool,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.client = client
        self.store = store
        self.rules = rules
        self.consent = consent
        self.isDryRun = isDryRun
        self.clock = clock
    }

    /// - Parameter cases: of one app and environment, the soonest deadline first.
    /// - Throws: `TransactionStoreError`; `CancellationError`.
    package func answer(_ cases: [ConsumptionCase]) async throws -> Outcome {
        var outcome = Outcome()
        var uuids: [String: [String]] = [:]
        var open: [ConsumptionCase] = []
        for one in cases {
            guard !one.isMissed(at: clock()) else {
                outcome.missed += 1
                continue
            }
            if uuids[one.task.transactionId] == nil { open.append(one) }
            uuids[one.task.transactionId, default: []].append(one.task.notificationUUID)
        }
        for (place, one) in open.enumerated() {
            let id = one.task.transactionId
            // The requests before it may have waited for the rate limit.
            guard !one.isMissed(at: clock()) else {
                outcome.missed += uuids[id]?.count ?? 0
                continue
            }
            do {
                let request = try one.answer(by: rules, with: consent(id))
                if !isDryRun {
                    try await client.sendConsumptionInformation(id, request)
                    _ = try await store.closeConsumptionTasks(uuids[id] ?? [], as: .answered)
                }
                outcome.answered.append((id, uuids[id] ?? [], request))
            } catch let problem as ConsumptionProblem {
                outcome.problems.append((id, .undecided(problem.message)))
            } catch let error as AppStoreServerAPIError {
                guard error.reason == .refused || error.reason == .timedOut || error.reason == .interrupted else {
                    // The cause is the key, the network or the rate limit, so the next request would fail too.
                    outcome.stopped = error
                    outcome.left = open.count - place
                    return outcome
                }
                outcome.problems.append((id, .appStore(error)))
            }
        }
        return outcome
    }
}
