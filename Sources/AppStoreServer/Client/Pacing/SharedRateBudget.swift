/// A rate budget that several programs share, for example through a database.
public protocol SharedRateBudget: Sendable {
    /// Takes permits to send requests. A permit that is not used within ``SharedRateLimit/lifetime`` is lost.
    /// - Parameters:
    ///   - count: the number of permits that the caller can use now. It may get fewer.
    ///   - limit: the limit that all programs share.
    /// - Throws: any error if the budget cannot be reached. The client then keeps to a part of the limit.
    func take(_ count: Int, of limit: SharedRateLimit) async throws -> SharedRatePermits
}

/// A limit of requests to one endpoint, for all programs together.
public struct SharedRateLimit: Sendable, Hashable {
    /// How long a permit can be used.
    public static let lifetime = Duration.milliseconds(500)
    /// The part of its share that a client uses while the shared budget cannot be reached.
    public static let shareAlone = 0.5

    /// The endpoint.
    public let endpoint: APIEndpoint
    /// The time in which the budget for one request becomes available.
    public let interval: Duration
    /// The number of permits in a full budget.
    public let burst: Int

    /// The limit for a rate.
    ///
    /// A burst is the requests of half a second, but at least one. The budget fills slightly slower than the rate. So a
    /// burst, an hour, and permits used at the end of their time stay within Apple's hourly limit.
    public init(_ endpoint: APIEndpoint, requestsPerSecond rate: Double) {
        self.endpoint = endpoint
        let burst = max(1, (rate / 2).rounded(.down))
        let hour = 3_600.0
        let refill =
            rate * hour > burst ? (rate * hour - burst) / (hour + Self.lifetime / .seconds(1)) : rate
        interval = .seconds(1 / refill)
        self.burst = Int(burst)
    }
}

/// Permits of a ``SharedRateBudget``.
public struct SharedRatePermits: Sendable, Hashable {
    /// The number of requests that may be sent.
    public let count: Int
    /// If there are none: the time after which one is available.
    public let wait: Duration

    /// Permits that a budget grants.
    public init(count: Int, wait: Duration) {
        self.count = count
        self.wait = wait
    }
}

/// The permits of one client from a shared budget. Calls that wait at the same time share one batch of permits.
actor SharedPermits {
    /// Whether a call may be sent.
    enum Turn {
        case now
        /// The wait would be longer than the caller allows.
        case later(Duration)
        /// The shared budget cannot be reached.
        case unavailable
    }

    private struct State {
        var count = 0
        /// When the last batch was requested. Its permits cannot be used after their lifetime.
        var begin: Duration?
        /// The size of the last batch, and how many of its permits were used.
        var (size, used) = (0, 0)
        var waiting = 0
        var fetch: Task<SharedRatePermits?, Never>?
    }

    /// The shortest wait before the next attempt. Several permits become available in it at Apple's usual rates.
    private static let leastWait = Duration.milliseconds(100)

    private let budget: any SharedRateBudget
    private let clock: ServerClock
    private var states: [APIEndpoint: State] = [:]

    init(_ budget: any SharedRateBudget, _ clock: ServerClock) {
        self.budget = budget
        self.clock = clock
    }

    /// Waits for a permit.
    /// - Throws: `CancellationError` if the task is canceled during the wait.
    func turn(_ limit: SharedRateLimit, maximumWait: Duration?) async throws -> Turn {
        let start = clock.uptime()
        states[limit.endpoint, default: State()].waiting += 1
        defer { states[limit.endpoint, default: State()].waiting -= 1 }
        while true {
            try Task.checkCancellation()
            if use(limit.endpoint) { return .now }
            guard let permits = await fetch(limit) else { return .unavailable }
            guard permits.count == 0 else {
                // The permits expired before they arrived: the store is too slow to share through.
                if isExpired(limit.endpoint) { return .unavailable }
                continue
            }
            let wait = max(permits.wait, Self.leastWait)
            if let maximumWait, clock.uptime() - start + wait > maximumWait { return .later(wait) }
            try await clock.sleep(wait)
        }
    }

    private func isExpired(_ endpoint: APIEndpoint) -> Bool {
        states[endpoint]?.begin.map { clock.uptime() - $0 >= SharedRateLimit.lifetime } ?? false
    }

    private func use(_ endpoint: APIEndpoint) -> Bool {
        guard var state = states[endpoint], state.count > 0, let begin = state.begin,
            clock.uptime() - begin < SharedRateLimit.lifetime
        else { return false }
        state.count -= 1
        state.used += 1
        states[endpoint] = state
        return true
    }

    /// Requests a batch, or joins the request in progress; nil if the budget cannot be reached.
    private func fetch(_ limit: SharedRateLimit) async -> SharedRatePermits? {
        var state = states[limit.endpoint, default: State()]
        if let fetch = state.fetch { return await fetch.value }
        let begin = clock.uptime()
        let wanted = Self.wanted(state, begin, limit)
        // Not canceled with one of the calls, because others wait for it.
        let fetch = Task { [budget] in
            let permits = try? await budget.take(wanted, of: limit)
            received(permits, begin, limit.endpoint)
            return permits
        }
        state.fetch = fetch
        states[limit.endpoint] = state
        return await fetch.value
    }

    /// One permit for each waiting call. If all permits of a recent batch were used, twice as many as it had: a client
    /// that sends one request at a time needs a batch too.
    private static func wanted(_ state: State, _ now: Duration, _ limit: SharedRateLimit) -> Int {
        guard let begin = state.begin, now - begin < SharedRateLimit.lifetime * 2 else { return state.waiting }
        let recent = state.used == state.size ? 2 * state.used : state.used
        return max(state.waiting, min(recent, limit.burst / 2))
    }

    private func received(_ permits: SharedRatePermits?, _ begin: Duration, _ endpoint: APIEndpoint) {
        var state = states[endpoint, default: State()]
        state.fetch = nil
        if let permits, permits.count > 0 {
            (state.count, state.size, state.used) = (permits.count, permits.count, 0)
            state.begin = begin
        }
        states[endpoint] = state
    }
}
