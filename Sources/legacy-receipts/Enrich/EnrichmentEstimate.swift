import AppStoreModels
import AppStoreServer
import AppStoreSync
import Foundation

/// How much a run has to ask, and how long that takes.
struct EnrichmentEstimate {
    let open: [CustomerEnrichment.OpenCustomers]
    let bareIds: Int
    /// Bare ids that are not queried, because the App Store did not know them before.
    let rememberedIds: Int
    /// The time in which it did not know them.
    let unknownDays: Int
    let budgets: RateBudgets

    /// Each query reads a history of at least one page, and most of them the statuses as well.
    var text: String {
        var lines = open.map { open in
            """
            \(open.scope.bundleId), \(open.scope.environment.rawValue): \(open.customers) customers with \
            \(open.purchases) purchases to query\(duration(open.purchases, open.scope.environment)).
            """
        }
        if bareIds > 0 {
            lines.append("Bare transaction ids: \(bareIds) to query\(duration(bareIds, bareIdEnvironment)).")
        }
        let purchases = open.reduce(0) { $0 + $1.rememberedPurchases }
        if purchases + rememberedIds > 0 {
            lines.append(
                """
                Not queried again: \(purchases) purchases and \(rememberedIds) bare transaction ids, unknown to the App \
                Store \(Self.period(days: unknownDays)). --ask-again-after 0 queries them.
                """)
        }
        return lines.joined(separator: "\n")
    }

    static func period(days: Int) -> String { "less than \(days) \(days == 1 ? "day" : "days") ago" }

    /// The environment of bare ids, which no record states: the first one that is queried.
    var bareIdEnvironment: AppStoreModels.Environment { open.first?.scope.environment ?? .production }

    /// The calls of queries.
    struct Calls {
        /// A history of several pages takes more.
        let count: Int
        /// At Apple's rate limits.
        let seconds: Int
        let queriesPerSecond: Double
    }

    /// The calls of a number of queries; nil if there are none. One query covers all purchases of an Apple Account, so that it
    /// may take fewer.
    func calls(_ queries: Int, _ environment: AppStoreModels.Environment) -> Calls? {
        let rates = [APIEndpoint.getTransactionHistory, .getAllSubscriptionStatuses].compactMap {
            budgets.requestsPerSecond(for: $0, in: environment)
        }
        guard queries > 0, let rate = rates.min() else { return nil }
        return Calls(
            count: 2 * queries, seconds: Int((Double(queries) / rate).rounded(.up)), queriesPerSecond: rate)
    }

    private func duration(_ queries: Int, _ environment: AppStoreModels.Environment) -> String {
        guard let calls = calls(queries, environment) else { return "" }
        let time =
            switch calls.seconds {
            case ..<120: "\(calls.seconds) s"
            case ..<7_200: "\(calls.seconds / 60) min"
            default: "\(calls.seconds / 3_600) h"
            }
        return ", up to \(calls.count) calls, about \(time) at \(calls.queriesPerSecond.formatted()) queries per second"
    }
}
