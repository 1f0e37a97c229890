package import AppStoreModels
package import AppStoreServer
package import Purchases
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
        /// The number of requests whose deadline is over.
        package var missed = 0
        /// The number of transactions that the run did not reach.
        package var left = 0
        /// The number of open requests about the transactions without an answer: of ``problems``, and of those left.
        package var unansweredRequests = 0
        package var leftRequests = 0
        /// Whether the run ended because its time was over.
        package var isOutOfTime = false
        /// The error that ended the run.
        package var stopped: AppStoreServerAPIError?
        /// Why requests that were answered are still open in the store. The next run answers them again.
        package var storeError: TransactionStoreError?
    }

    /// The answers in a row that do not come in time after which a run ends: other apps have deadlines too.
    private static let maximumSilence = 3
    /// The runs at the same time. Each app has its own rate limits.
    package static let concurrency = 8

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

    /// Runs of several apps and environments, some beside each other: a slow App Store must not make another app miss its
    /// deadlines.
    ///
    /// - Parameters:
    ///   - runs: in the order in which they begin.
    ///   - limit: the time for each run. The next one goes on.
    /// - Returns: the outcomes in the order of the runs.
    /// - Throws: `CancellationError`.
    package static func answer(
        _ runs: [(answers: ConsumptionAnswers, cases: [ConsumptionCase])], within limit: Duration
    ) async throws -> [Outcome] {
        try await withThrowingTaskGroup(of: (place: Int, outcome: Outcome).self) { group in
            var outcomes = [Outcome](repeating: Outcome(), count: runs.count)
            for (place, run) in runs.enumerated() {
                if place >= concurrency, let ended = try await group.next() { outcomes[ended.place] = ended.outcome }
                group.addTask { (place, try await run.answers.answer(run.cases, within: limit)) }
            }
            for try await ended in group { outcomes[ended.place] = ended.outcome }
            return outcomes
        }
    }

    /// - Parameters:
    ///   - cases: of one app and environment, the soonest deadline first.
    ///   - limit: the time for the run; nil for as long as it takes.
    /// - Throws: `CancellationError`.
    package func answer(_ cases: [ConsumptionCase], within limit: Duration? = nil) async throws -> Outcome {
        let end = limit.map { ContinuousClock.now + $0 }
        var outcome = Outcome()
        var requests: [String: [ConsumptionCase]] = [:]
        var ids: [String] = []
        for one in cases {
            guard !one.isMissed(at: clock()) else {
                outcome.missed += 1
                continue
            }
            if requests[one.task.transactionId] == nil { ids.append(one.task.transactionId) }
            requests[one.task.transactionId, default: []].append(one)
        }
        func leave(from place: Int) {
            outcome.left = ids.count - place
            outcome.leftRequests = ids[place...].reduce(0) { $0 + (requests[$1]?.count ?? 0) }
        }
        var silence = 0
        for (place, id) in ids.enumerated() {
            // The requests before it may have waited for the rate limit.
            let now = clock()
            let waiting = (requests[id] ?? []).filter { !$0.isMissed(at: now) }
            outcome.missed += (requests[id]?.count ?? 0) - waiting.count
            var open: [ConsumptionCase] = []
            for one in waiting {
                // A store that cannot be read must not make a request miss its deadline.
                if (try? await Self.isOpen(one.task, in: store)) ?? true { open.append(one) }
            }
            requests[id] = open
            guard let one = open.first else { continue }
            let uuids = open.map(\.task.notificationUUID)
            do {
                let request = try one.answer(by: rules, with: consent(id))
                if !isDryRun {
                    let error = try await Self.until(end) { [client, store] in
                        try await Self.send(request, about: id, client, closing: uuids, in: store)
                    }
                    // The answers to the others still have their deadlines.
                    if let error { outcome.storeError = error }
                }
                silence = 0
                outcome.answered.append((id, uuids, request))
            } catch is OutOfTime {
                outcome.isOutOfTime = true
                leave(from: place)
                return outcome
            } catch let problem as ConsumptionProblem {
                outcome.problems.append((id, .undecided(problem.message)))
                outcome.unansweredRequests += uuids.count
            } catch let error as AppStoreServerAPIError {
                silence = error.reason == .timedOut || error.reason == .interrupted ? silence + 1 : 0
                guard !error.concernsApp, error.reason == .refused || 1..<Self.maximumSilence ~= silence else {
                    // The cause is the app, the key, the network or the rate limit, so the next request would fail too.
                    outcome.stopped = error
                    leave(from: place)
                    return outcome
                }
                outcome.problems.append((id, .appStore(error)))
                outcome.unansweredRequests += uuids.count
            }
        }
        return outcome
    }

    /// Whether a request is still open: while others were answered, a person may have answered or dismissed it.
    private static func isOpen(_ task: ConsumptionTask, in store: any ConsumptionTasks) async throws -> Bool {
        // Comes before all tasks of the same date.
        var last = ConsumptionTask(
            notificationUUID: "", scope: task.scope, originalTransactionId: task.originalTransactionId,
            transactionId: task.transactionId, reason: nil, requestedDate: task.requestedDate, purchasedPosition: nil)
        while true {
            let page = try await store.openConsumptionTasks(after: last, limit: 10)
            if page.contains(where: { $0.notificationUUID == task.notificationUUID }) { return true }
            guard let end = page.last, end.requestedDate <= task.requestedDate else { return false }
            last = end
        }
    }

    /// Sends an answer that the caller decided on, and closes the requests about the transaction that it answers.
    ///
    /// - Returns: the requests, and why they are still open in the store; nil if they are closed.
    /// - Throws: `AppStoreServerAPIError`; `TransactionStoreError` if the requests cannot be read, before anything is sent.
    package static func send(
        _ request: ConsumptionRequest, about id: String, in scope: StoreScope, _ client: AppStoreServerAPIClient,
        closingRequestsIn store: any ConsumptionTasks, now: Int64
    ) async throws -> (notificationUUIDs: [String], storeError: TransactionStoreError?) {
        let uuids = try await store.allOpenConsumptionTasks()
            .filter { $0.scope == scope && $0.transactionId == id && $0.deadline > now }
            .map(\.notificationUUID)
        return (uuids, try await send(request, about: id, client, closing: uuids, in: store))
    }

    /// Sends an answer, and closes its requests once the App Store has accepted it.
    /// - Returns: why they are still open; nil if they are closed.
    private static func send(
        _ request: ConsumptionRequest, about id: String, _ client: AppStoreServerAPIClient, closing uuids: [String],
        in store: any ConsumptionTasks
    ) async throws -> TransactionStoreError? {
        try await client.sendConsumptionInformation(id, request)
        do {
            // A task of its own, because a cancelled one cannot use the store.
            _ = try await Task { try await store.closeConsumptionTasks(uuids, as: .answered) }.value
            return nil
        } catch let error as TransactionStoreError {
            return error
        } catch {
            return TransactionStoreError(.unavailable, "\(error)")
        }
    }

    private struct OutOfTime: Error {}

    /// Runs `body`, and cancels it when the time is over.
    /// - Throws: ``OutOfTime``, and what `body` throws.
    private static func until<Value: Sendable>(
        _ end: ContinuousClock.Instant?, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let end else { return try await body() }
        guard .now < end else { throw OutOfTime() }
        let work = Task { try await body() }
        let alarm = Task {
            try await Task.sleep(until: end, clock: .continuous)
            work.cancel()
        }
        defer { alarm.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch is CancellationError where !Task.isCancelled {
            throw OutOfTime()
        }
    }
}
