/// The rate of calls to one endpoint since its first 429, below or at the limit. A 429 halves the rate. After each minute
/// without a 429, the rate rises by a tenth of the limit.
struct AdaptiveRate {
    /// The time without a 429 after which the rate rises.
    private static let pause = Duration.seconds(60)
    /// A 429 does not lower the rate further than this, in requests per second.
    private static let least = 1.0

    private let limit: Double
    private(set) var rate: Double
    /// When the rate was lowered last.
    private var lowered: Duration?
    /// When the pause began: at the last 429, at the end of its wait, or when the rate rose last.
    private var quietSince = Duration.zero

    /// - Parameter limit: requests per second.
    init(limit: Double) {
        self.limit = limit
        rate = limit
    }

    /// Lowers the rate after a 429.
    /// - Parameters:
    ///   - sent: when the refused request was sent. Calls that run at the same time are refused together, which counts once.
    ///   - now: the current time.
    ///   - end: the end of the wait that Apple's `Retry-After` requires; no request is sent before.
    /// - Returns: whether the rate has changed.
    mutating func lower(sent: Duration, now: Duration, blockedUntil end: Duration) -> Bool {
        quietSince = max(now, end)
        if let lowered, sent <= lowered { return false }
        lowered = now
        let before = rate
        rate = min(rate, max(Self.least, rate / 2))
        return rate != before
    }

    /// Raises the rate by one step if its time has come. Time without calls counts as one step, because it does not show that
    /// Apple accepts a higher rate.
    /// - Returns: whether the rate has changed.
    mutating func rise(now: Duration) -> Bool {
        guard rate < limit, now - quietSince >= Self.pause else { return false }
        quietSince = now
        let higher = rate + limit / 10
        // The sum of the steps is not exact.
        rate = higher > limit * 0.999 ? limit : higher
        return true
    }
}
