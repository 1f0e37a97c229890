import AppStoreServer
import Purchases
import Synchronization

/// The rates that changed during a run and were not reported yet. Calls of all clients add to it.
final class RateChanges: Sendable {
    private struct State {
        /// The last rates, by app and endpoint.
        var rates: [StoreScope: [APIEndpoint: APIRateChange]] = [:]
        /// The slowest rate of each app that was reported last.
        var reported: [StoreScope: Double] = [:]
    }

    private let state = Mutex(State())

    func add(_ change: APIRateChange, of scope: StoreScope) {
        state.withLock { $0.rates[scope, default: [:]][change.endpoint] = change }
    }

    /// A line for each app whose rate has changed since the last call. A query needs one request to each of several endpoints,
    /// so the slowest one sets the rate.
    func lines() -> [String] {
        state.withLock { state in
            var lines: [String] = []
            for (scope, rates) in state.rates.sorted(by: { Self.name($0.key) < Self.name($1.key) }) {
                guard let slowest = rates.values.min(by: { $0.requestsPerSecond < $1.requestsPerSecond }),
                    (state.reported[scope] ?? slowest.limit) != slowest.requestsPerSecond
                else { continue }
                state.reported[scope] = slowest.requestsPerSecond
                let rate = Self.text(slowest.requestsPerSecond)
                lines.append("Rate of \(Self.name(scope)): \(rate) of \(Self.text(slowest.limit)) queries per second")
            }
            return lines
        }
    }

    private static func name(_ scope: StoreScope) -> String { "\(scope.bundleId), \(scope.environment.rawValue)" }

    /// At most two decimals, the same in every locale.
    private static func text(_ rate: Double) -> String {
        let hundredths = Int((rate * 100).rounded())
        let decimals = hundredths % 100
        guard decimals > 0 else { return "\(hundredths / 100)" }
        let digits = decimals < 10 ? "0\(decimals)" : "\(decimals)"
        return "\(hundredths / 100).\(digits.last == "0" ? String(digits.dropLast()) : digits)"
    }
}
