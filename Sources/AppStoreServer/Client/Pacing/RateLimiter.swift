internal import AppStoreModels
internal import Synchronization

/// Keeps the calls of one client within its rate budgets. Each endpoint has a token bucket, stored as a single point in
/// time (the generic cell rate algorithm). Waiting calls run in the order of arrival. If there is a shared budget, each
/// call needs a permit of it too.
final class RateLimiter: Sendable {
    private let budgets: RateBudgets
    private let environment: Environment
    private let clock: ServerClock
    private let shared: SharedPermits?
    /// Paces the calls while the shared budget cannot be reached.
    private let alone: RateLimiter?
    private let onRateChange: (@Sendable (APIRateChange) -> Void)?
    private let states = Mutex<[APIEndpoint: State]>([:])

    private struct State {
        /// When the bucket would be full again without further calls.
        var full = Duration.zero
        /// The end of the wait that Apple's `Retry-After` requires.
        var blockedUntil = Duration.zero
        /// The rate since the first 429; nil before it.
        var adaptive: AdaptiveRate?
    }

    /// The bucket of an endpoint.
    private struct Bucket {
        /// The time in which the budget for one request becomes available.
        let interval: Duration
        /// The time in which the budget for all requests of a full bucket but one becomes available.
        let tolerance: Duration

        /// The bucket holds the requests of one second, but at least one. It refills slightly slower than Apple's rate,
        /// so that a full bucket plus one hour of refill stays within Apple's hourly limit.
        init(requestsPerSecond rate: Double) {
            let capacity = max(1, rate.rounded(.down))
            let hour = 3600.0
            let refill = rate * hour > capacity ? rate - capacity / hour : rate
            interval = .seconds(1 / refill)
            // A multiple of the rounded interval: the calls of a full bucket wait not even an attosecond.
            tolerance = interval * Int(min(capacity, 1_000_000_000) - 1)
        }
    }

    init(
        budgets: RateBudgets, shared: (any SharedRateBudget)? = nil, environment: Environment, clock: ServerClock,
        onRateChange: (@Sendable (APIRateChange) -> Void)? = nil
    ) {
        self.budgets = budgets
        self.environment = environment
        self.clock = clock
        self.onRateChange = onRateChange
        self.shared = shared.map { SharedPermits($0, clock) }
        var part = budgets
        part.share *= SharedRateLimit.shareAlone
        alone = shared.map { _ in RateLimiter(budgets: part, environment: environment, clock: clock) }
    }

    /// Waits until the rate budget and Apple's `Retry-After` allow one call.
    /// - Throws: ``Exhausted`` if the wait would be too long, `CancellationError` if the task is canceled during the wait.
    func waitForTurn(_ endpoint: APIEndpoint) async throws {
        let limit = budgets.requestsPerSecond(for: endpoint, in: environment)
        let start = clock.uptime()
        while true {
            let (wait, bucket) = try reserve(endpoint, limit)
            guard wait > .zero || shared != nil else { return }
            do {
                if wait > .zero { try await clock.sleep(wait) }
                if !isBlocked(endpoint) { try await waitForPermit(endpoint, since: start) }
            } catch {
                giveBack(endpoint, bucket)
                throw error
            }
            guard isBlocked(endpoint) else { return }
            giveBack(endpoint, bucket)
        }
    }

    /// Waits for a permit of the shared budget, if there is one.
    private func waitForPermit(_ endpoint: APIEndpoint, since start: Duration) async throws {
        var whole = budgets
        whole.share = 1
        guard let shared, let alone, let rate = whole.requestsPerSecond(for: endpoint, in: environment) else { return }
        let left = budgets.maximumWait.map { $0 - (clock.uptime() - start) }
        switch try await shared.turn(SharedRateLimit(endpoint, requestsPerSecond: rate), maximumWait: left) {
        case .now: break
        case .later(let wait): throw Exhausted(wait: wait)
        case .unavailable: try await alone.waitForTurn(endpoint)
        }
    }

    private func isBlocked(_ endpoint: APIEndpoint) -> Bool {
        let now = clock.uptime()
        return states.withLock { $0[endpoint].map { $0.blockedUntil > now } ?? false }
    }

    private func giveBack(_ endpoint: APIEndpoint, _ bucket: Bucket?) {
        guard let bucket else { return }
        states.withLock { $0[endpoint, default: State()].full -= bucket.interval }
    }

    /// Blocks calls of the endpoint for the time of Apple's `Retry-After`.
    func block(_ endpoint: APIEndpoint, for time: Duration) {
        let end = clock.uptime() + time
        states.withLock { states in
            states[endpoint, default: State()].blockedUntil = max(states[endpoint, default: State()].blockedUntil, end)
        }
    }

    /// Lowers the rate after a 429, if the budgets are adaptive. Called after ``block(_:for:)``.
    /// - Parameters:
    ///   - endpoint: the endpoint that answered 429.
    ///   - sent: when the refused request was sent.
    func slowDown(_ endpoint: APIEndpoint, sent: Duration) {
        guard budgets.isAdaptive, let limit = budgets.requestsPerSecond(for: endpoint, in: environment) else { return }
        let now = clock.uptime()
        let lowered = states.withLock { states -> Double? in
            var state = states[endpoint, default: State()]
            var adaptive = state.adaptive ?? AdaptiveRate(limit: limit)
            let isLowered = adaptive.lower(sent: sent, now: now, blockedUntil: state.blockedUntil)
            state.adaptive = adaptive
            states[endpoint] = state
            return isLowered ? adaptive.rate : nil
        }
        if let lowered { report(endpoint, lowered, of: limit) }
    }

    private func report(_ endpoint: APIEndpoint, _ rate: Double, of limit: Double) {
        onRateChange?(
            APIRateChange(endpoint: endpoint, environment: environment, requestsPerSecond: rate, limit: limit))
    }

    /// The call would wait longer than the budgets allow.
    struct Exhausted: Error {
        let wait: Duration
    }

    /// - Parameters:
    ///   - endpoint: the endpoint of the request.
    ///   - limit: requests per second; nil for no limit.
    /// - Returns: the wait, and the bucket of the current rate.
    private func reserve(_ endpoint: APIEndpoint, _ limit: Double?) throws -> (wait: Duration, bucket: Bucket?) {
        let now = clock.uptime()
        let turn = try states.withLock { states -> (wait: Duration, bucket: Bucket?, raised: Double?) in
            var state = states[endpoint, default: State()]
            let isRaised = state.adaptive?.rise(now: now) ?? false
            let bucket = (state.adaptive?.rate ?? limit).map(Bucket.init)
            var start = max(now, state.blockedUntil)
            if let bucket {
                let full = max(state.full, now)
                start = max(start, full - bucket.tolerance)
                state.full = max(full, start) + bucket.interval
            }
            let wait = start - now
            if let maximum = budgets.maximumWait, wait > maximum { throw Exhausted(wait: wait) }
            states[endpoint] = state
            return (wait, bucket, isRaised ? state.adaptive?.rate : nil)
        }
        if let raised = turn.raised, let limit { report(endpoint, raised, of: limit) }
        return (turn.wait, turn.bucket)
    }
}
