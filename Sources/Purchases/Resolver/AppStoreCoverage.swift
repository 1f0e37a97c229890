internal import AppStoreModels

/// When the App Store last stated the complete history of each purchase in an answer.
///
/// Only an answer of the App Store Server API states a complete history. A notification describes one transaction and
/// reveals nothing about missed ones, and clients choose which JWS they submit. An API answer covers one Apple Account:
/// a customer with several accounts is covered when each of them is.
package struct AppStoreCoverage {
    /// Each id once; those of the submitted receipt come first.
    package private(set) var originalTransactionIds: [String] = []
    /// Milliseconds since 1970-01-01T00:00:00Z.
    private var times: [String: Int64]
    private var dates = PurchaseDates()
    private var seen: Set<String> = []
    private let now: Int64

    /// - Parameters:
    ///   - facts: the submitted facts, whether or not the store has them.
    ///   - knowledge: the facts from the store.
    ///   - countsRecorded: whether the answer shows unsigned facts.
    ///   - asked: the times of further App Store queries, by purchase. The store does not show a query whose answer
    ///     contains nothing about the purchase.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z. Statements that are signed later than this show a clock
    ///     difference, so they do not count.
    package init(
        _ facts: FactSet, _ knowledge: Customer?, countsRecorded: Bool, asked: [String: Int64] = [:], now: Int64
    ) {
        times = asked
        self.now = now
        for fact in facts.transactions {
            add(fact.storedOriginalTransactionId, [])
            dates.add(fact.payload, of: fact.storedOriginalTransactionId)
        }
        guard let customer = knowledge else { return }
        for transaction in customer.transactions where transaction.isSigned || countsRecorded {
            let purchase = transaction.payload.storedOriginalTransactionId
            add(purchase, transaction.origins)
            dates.add(transaction.payload, of: purchase)
        }
        for info in customer.renewalInfos {
            add(info.payload.originalTransactionId, info.origins)
            dates.add(info.payload)
        }
    }

    private mutating func add(_ id: String?, _ origins: [FactOrigin]) {
        guard let id, CustomerIdentity.isMeaningful(id: id) else { return }
        if seen.insert(id).inserted { originalTransactionIds.append(id) }
        for origin in origins where origin.isAppStoreAnswer && origin.signedDate <= now {
            times[id] = max(times[id] ?? .min, origin.signedDate)
        }
    }

    /// The meaning of purchases that the App Store does not know.
    package func unknown(_ ids: [String]) -> PurchaseDates.Unknown {
        dates.unknown(ids, of: originalTransactionIds.count, at: now)
    }

    /// The purchases that the App Store was not queried about at this time or later.
    package func stale(notBefore: Int64) -> [String] {
        originalTransactionIds.filter { id in times[id].map { $0 < notBefore } ?? true }
    }

    /// The time since which no App Store data can be missing; nil if there are no purchases or one of them was never
    /// queried. Milliseconds since 1970-01-01T00:00:00Z.
    package var since: Int64? {
        var least: Int64?
        for id in originalTransactionIds {
            guard let time = times[id] else { return nil }
            least = min(least ?? time, time)
        }
        return least
    }
}
