package import AppStoreModels
package import AppStoreServer
package import Purchases
internal import Synchronization
package import TransactionStore

/// Answers the open cases of one app.
package struct ConsumptionAnswers: Sendable {
    /// Why a transaction got no answer.
    package enum Problem: Sendable {
        /// The rules, the consent or the transaction itself.
        case undecided(String)
        /// The App Store refused the answer, or did not answer.
        case appStore(AppStoreServerAPIError)
        /// The store cannot be written, so another program may be sending the answer. It waits until ``unclaimedTime`` before
        /// its deadline.
        case unclaimed(TransactionStoreError)
    }

    /// The result of a run.
    package struct Outcome: Sendable {
        /// The answered transactions. One answer closes all requests about the same transaction.
        package var answered: [(transactionId: String, notificationUUIDs: [String], sent: ConsumptionRequest)] = []
        /// Why a transaction got no answer, in the order of the deadlines.
        package var problems: [(transactionId: String, problem: Problem)] = []
        /// The number of requests whose deadline passed before their answer could be sent. No other number counts them.
        package var missed = 0
        /// As ``missed``, but an answer may have arrived: the App Store took too long, for example, or the connection broke.
        package var unknown = 0
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

    /// The effect of an accepted answer on the store.
    package struct Sent: Sendable {
        /// The requests whose deadline had not passed when the answer was sent. They are closed, unless there is a
        /// ``storeError``.
        package let notificationUUIDs: [String]
        /// The number of the other open requests about the transaction. They stay open.
        package let missed: Int
        /// Why the requests are still open in the store.
        package let storeError: TransactionStoreError?
    }

    /// The answers in a row that do not come in time after which a run ends: other apps have deadlines too.
    private static let maximumSilence = 3
    /// How long a claim lasts, in milliseconds: an attempt and a slow store take less. Another program sends the answer of a killed one
    /// after this time.
    private static let claimTime: Int64 = 60_000
    /// How long before its deadline an answer is sent without a claim, in milliseconds. The same answer from two programs is better
    /// than none. This is longer than the longest pause between two rounds of a server.
    package static let unclaimedTime: Int64 = 2 * 3_600_000
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

    /// Runs of several apps and environments, some at the same time: a slow App Store must not make another app miss its
    /// deadlines.
    ///
    /// - Parameters:
    ///   - runs: in the order in which they begin.
    ///   - limit: the time for each run. The next one continues.
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
        /// The transactions to which an answer may have arrived, although none was accepted.
        var maybeAnswered: Set<String> = []
        for one in cases {
            guard !one.isMissed(at: clock()) else {
                outcome.missed += 1
                continue
            }
            if requests[one.task.transactionId] == nil { ids.append(one.task.transactionId) }
            requests[one.task.transactionId, default: []].append(one)
        }
        func noteMissed(_ count: Int, about id: String) {
            if maybeAnswered.contains(id) { outcome.unknown += count } else { outcome.missed += count }
        }
        /// The requests about a transaction that can still be answered. The others count as missed from now on.
        func waiting(_ id: String) -> [ConsumptionCase] {
            let (now, all) = (clock(), requests[id] ?? [])
            let left = all.filter { !$0.isMissed(at: now) }
            noteMissed(all.count - left.count, about: id)
            requests[id] = left
            return left
        }
        func note(_ problem: Problem, about id: String) {
            outcome.problems.append((id, problem))
            let count = waiting(id).count
            outcome.unansweredRequests += count
        }
        func leave(from place: Int) {
            let counts = ids[place...].map { waiting($0).count }.filter { $0 > 0 }
            outcome.left = counts.count
            outcome.leftRequests = counts.reduce(0, +)
        }
        var silence = 0
        for (place, id) in ids.enumerated() {
            var open: [ConsumptionCase] = []
            for one in waiting(id) {
                // A store that cannot be read must not make a request miss its deadline.
                if (try? await Self.isOpen(one.task, in: store)) ?? true { open.append(one) }
            }
            requests[id] = open
            guard let one = open.first else { continue }
            let tasks = open.map(\.task)
            do {
                let request = try one.answer(by: rules, with: consent(id))
                var uuids = tasks.map(\.notificationUUID)
                if !isDryRun {
                    let sent = try await Self.until(end) { [client, store, clock] in
                        try await Self.send(
                            request, about: id, client, closing: tasks, in: store, clock, onlyInTime: true)
                    }
                    outcome.missed += sent.missed
                    uuids = sent.notificationUUIDs
                    // The other requests must still be answered before their deadlines.
                    if let error = sent.storeError { outcome.storeError = error }
                }
                silence = 0
                outcome.answered.append((id, uuids, request))
            } catch let error as NotSent {
                if error.isMaybeAnswered { maybeAnswered.insert(id) }
                if let storeError = error.storeError {
                    note(.unclaimed(storeError), about: id)
                } else {
                    noteMissed(open.count, about: id)
                }
            } catch is OutOfTime {
                outcome.isOutOfTime = true
                leave(from: place)
                return outcome
            } catch let problem as ConsumptionProblem {
                note(.undecided(problem.message), about: id)
            } catch let error as AppStoreServerAPIError {
                if error.mayBeProcessed { maybeAnswered.insert(id) }
                silence = error.reason == .timedOut || error.reason == .interrupted ? silence + 1 : 0
                guard !error.concernsApp, error.reason == .refused || 1..<Self.maximumSilence ~= silence else {
                    // The cause is the app, the key, the network or the rate limit, so the next request would fail too.
                    outcome.stopped = error
                    leave(from: place)
                    return outcome
                }
                note(.appStore(error), about: id)
            }
        }
        return outcome
    }

    /// Whether a request is still open: while others were answered, a person may have answered or dismissed it.
    private static func isOpen(_ task: ConsumptionTask, in store: any ConsumptionTasks) async throws -> Bool {
        var last = ConsumptionTask.beforeAll(of: task.requestedDate)
        while true {
            let page = try await store.openConsumptionTasks(after: last, limit: 10)
            if page.contains(where: { $0.notificationUUID == task.notificationUUID }) { return true }
            guard let end = page.last, end.requestedDate <= task.requestedDate else { return false }
            last = end
        }
    }

    /// Sends an answer that the caller decided on, and closes the requests about the transaction whose deadline had not
    /// passed when it was sent. The answer is sent even if the store has no request.
    ///
    /// - Parameters:
    ///   - request: the answer.
    ///   - id: the transaction that the requests are about.
    ///   - scope: the app and the environment of the transaction.
    ///   - client: sends the answer.
    ///   - store: the store with the requests.
    ///   - now: the current time.
    /// - Throws: `AppStoreServerAPIError`; ``ConsumptionProblem`` if another program is sending an answer about the transaction;
    ///   `TransactionStoreError` if the requests cannot be read or claimed, before anything is sent.
    package static func send(
        _ request: ConsumptionRequest, about id: String, in scope: StoreScope, _ client: AppStoreServerAPIClient,
        closingRequestsIn store: any ConsumptionTasks, now: Int64
    ) async throws -> Sent {
        let clock = Self.clock(from: now)
        let tasks = try await store.allOpenConsumptionTasks().filter { $0.scope == scope && $0.transactionId == id }
        do {
            return try await send(request, about: id, client, closing: tasks, in: store, clock, onlyInTime: false)
        } catch let error as NotSent {
            guard let storeError = error.storeError else { throw error }
            throw storeError
        }
    }

    /// The state of an answer that is being sent.
    private struct Sending: Sendable {
        /// The requests whose deadline was not over before the last attempt.
        var inTime: [String] = []
        var claim: ConsumptionClaim?
        /// Whether an attempt may have arrived.
        var isMaybeAnswered = false
    }

    /// Claims the requests and sends an answer. Once the App Store has accepted it, closes the requests whose deadline
    /// was not over when it was sent.
    ///
    /// - Parameters:
    ///   - request: the answer.
    ///   - id: the transaction that the requests are about.
    ///   - client: sends the answer.
    ///   - tasks: the requests about the transaction.
    ///   - store: the store with the requests.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - onlyInTime: sends nothing once all deadlines are over, or if the requests are closed. The rate limit can
    ///     make an answer wait for long.
    /// - Throws: ``NotSent``; ``ConsumptionProblem`` if another program has the requests;
    ///   `AppStoreServerAPIError`, `CancellationError`.
    private static func send(
        _ request: ConsumptionRequest, about id: String, _ client: AppStoreServerAPIClient,
        closing tasks: [ConsumptionTask], in store: any ConsumptionTasks, _ clock: @escaping @Sendable () -> Int64,
        onlyInTime: Bool
    ) async throws -> Sent {
        let state = Mutex(Sending())
        do {
            try await client.sendConsumptionInformation(id, request) { failure in
                let now = clock()
                let inTime = tasks.filter { $0.deadline > now }
                let uuids = inTime.map(\.notificationUUID)
                let before = state.withLock { state in
                    if let failure, failure.mayBeProcessed { state.isMaybeAnswered = true }
                    state.inTime = uuids
                    return state
                }
                guard !uuids.isEmpty else {
                    if onlyInTime { throw NotSent(isMaybeAnswered: before.isMaybeAnswered) }
                    return
                }
                let granted: ConsumptionClaim?
                do {
                    granted = try await store.claimConsumptionTasks(uuids, for: Self.claimTime, renewing: before.claim)
                } catch let error as TransactionStoreError {
                    // A store that cannot be written must not make a request miss its deadline.
                    let last = now.addingSaturated(Self.unclaimedTime)
                    if inTime.contains(where: { $0.deadline <= last }) { return }
                    throw NotSent(storeError: error, isMaybeAnswered: before.isMaybeAnswered)
                }
                guard let claim = granted, !claim.notificationUUIDs.isEmpty || !onlyInTime else {
                    throw ConsumptionProblem(
                        message: "Another program answers the requests about this transaction now.")
                }
                state.withLock { $0.claim = claim }
            }
        } catch {
            let last = state.withLock { $0 }
            if let claim = last.claim {
                // A cancelled attempt may have arrived.
                let mayBeProcessed = (error as? AppStoreServerAPIError)?.mayBeProcessed ?? (error is CancellationError)
                let isMaybeAnswered = last.isMaybeAnswered || mayBeProcessed
                // A task of its own, because a cancelled one cannot use the store. A claim that cannot be ended ends by
                // itself.
                await Task { try? await store.endClaim(claim, maybeAnswered: isMaybeAnswered) }.value
            }
            throw error
        }
        let uuids = state.withLock { $0.inTime }
        func sent(_ storeError: TransactionStoreError?) -> Sent {
            Sent(notificationUUIDs: uuids, missed: tasks.count - uuids.count, storeError: storeError)
        }
        do {
            // A task of its own, because a cancelled one cannot use the store.
            _ = try await Task { try await store.closeConsumptionTasks(uuids, as: .answered) }.value
            return sent(nil)
        } catch {
            return sent(error as? TransactionStoreError ?? TransactionStoreError(.unavailable, "\(error)"))
        }
    }

    /// A clock that starts at a time, in milliseconds since 1970.
    package static func clock(from now: Int64) -> @Sendable () -> Int64 {
        let start = ContinuousClock.now
        return { now + Int64((ContinuousClock.now - start) / .milliseconds(1)) }
    }

    /// No attempt was accepted.
    private struct NotSent: Error {
        /// Why the store cannot be written, while the deadlines are not near; nil if all deadlines were over.
        var storeError: TransactionStoreError?
        /// Whether an earlier attempt may have arrived.
        let isMaybeAnswered: Bool
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
