internal import AppStoreModels
internal import Synchronization

/// Keeps the calls of one client within its rate budgets: a token bucket per endpoint, stored as a single point in time
/// (the generic cell rate algorithm). Waiting calls run in the order of arrival. If there is a shared budget, each call needs a
/// permit of it too.
final class RateLimiter: Sendable {
    private let budgets: RateBudgets
    private let environment: Environment
    private let clock: ServerClock
    private let shared: SharedPermits?
    /// Paces the calls while the shared budget cannot be reached.
    private let alone: RateLimiter?
    private let states = Mutex<[APIEndpoint: State]>([:])

    private struct State {
        /// When the bucket would be full again without further calls.
        var full = Duration.zero
        /// The end of the wait that Apple's `Retry-After` requires.
        var blockedUntil = Duration.zero
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
            tolerance = .seconds((capacity - 1) / refill)
        }
    }

    init(budgets: RateBudgets, shared: (any SharedRateBudget)? = nil, environment: Environment, clock: ServerClock) {
        self.budgets = budgets
        self.environment = environment
        self.clock = clock
        self.shared = shared.map { SharedPermits($0, clock) }
        var part = budgets
        part.share *= SharedRateLimit.shareAlone
        alone = shared.map { _ in RateLimiter(budgets: part, environment: environment, clock: clock) }
    }

    /// Waits until the rate budget and Apple's `Retry-After` allow one call.
    /// - Throws: ``Exhausted`` if the wait would be too long, `CancellationError` if the task is canceled during the wait.
    func waitForTurn(_ endpoint: APIEndpoint) async throws {
        let rate = budgets.requestsPerSecond(for: endpoint, in: environment)
        let bucket = rate.map(Bucket.init)
        let start = clock.uptime()
        while true {
            let wait = try reserve(endpoint, bucket)
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

    /// The call would wait longer than the budgets allow.
    struct Exhausted: Error {
        let wait: Duration
    }

    private func reserve(_ endpoint: APIEndpoint, _ bucket: Bucket?) throws -> Duration {
        let now = clock.uptime()
        return try states.withLock { states in
            var state = states[endpoint, default: State()]
            var start = max(now, state.blockedUntil)
            if let bucket {
                let full = max(state.full, now)
                start = max(start, full - bucket.tolerance)
                state.full = max(full, start) + bucket.interval
            }
            let wait = start - now
            if let maximum = budgets.maximumWait, wait > maximum { throw Exhausted(wait: wait) }
            states[endpoint] = state
            return wait
        }
    }
}
