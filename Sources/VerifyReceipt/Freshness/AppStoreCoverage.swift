internal import Purchases
internal import TransactionStore

/// When the App Store last stated the whole history of each purchase that an answer shows.
///
/// Only an answer of the App Store Server API states one. A notification speaks of one transaction and says nothing of those
/// that were missed, and which JWS a client hands in is the client's choice. An answer is about one Apple Account: a
/// customer who has several is covered when each of them is.
struct AppStoreCoverage {
    /// Each once, those of the submission first.
    private(set) var originalTransactionIds: [String] = []
    /// Milliseconds since 1970-01-01T00:00:00Z.
    private var times: [String: Int64]
    /// When the newest transaction of each purchase was bought; milliseconds since 1970-01-01T00:00:00Z.
    private var newestPurchases: [String: Int64] = [:]
    /// Until when each subscription runs at least; milliseconds since 1970-01-01T00:00:00Z.
    private var ends: [String: Int64] = [:]
    private var seen: Set<String> = []
    private let now: Int64

    /// - Parameters:
    ///   - facts: what was submitted, whether the store took it in or not.
    ///   - knowledge: what the store knows.
    ///   - countsRecorded: whether an answer shows what nobody signed.
    ///   - asked: what else is known to have been asked about, and when: an answer without renewals may hold nothing about a
    ///     purchase that the store lacks.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z. What the App Store signed later than that says that the two clocks
    ///     differ, and not how long ago it was asked.
    init(
        _ facts: FactSet, _ knowledge: StoreKnowledge?, countsRecorded: Bool, asked: [String: Int64] = [:], now: Int64
    ) {
        times = asked
        self.now = now
        for fact in facts.transactions {
            add(fact.storedOriginalTransactionId, [])
            note(fact.payload.purchaseDate, end: fact.payload.expiresDate, of: fact.storedOriginalTransactionId)
        }
        guard let customer = knowledge?.customer else { return }
        for transaction in customer.transactions where transaction.isSigned || countsRecorded {
            let payload = transaction.payload
            let original = payload.originalTransactionId.flatMap { CustomerIdentity.isMeaningful(id: $0) ? $0 : nil }
            add(original ?? payload.transactionId, transaction.origins)
            note(payload.purchaseDate, end: payload.expiresDate, of: original ?? payload.transactionId)
        }
        for info in customer.renewalInfos {
            add(info.payload.originalTransactionId, info.origins)
            note(nil, end: info.payload.gracePeriodExpiresDate, of: info.payload.originalTransactionId)
        }
    }

    private mutating func add(_ id: String?, _ origins: [FactOrigin]) {
        guard let id, CustomerIdentity.isMeaningful(id: id) else { return }
        if seen.insert(id).inserted { originalTransactionIds.append(id) }
        for origin in origins where origin.source == .appStoreServerAPI && origin.signedDate <= now {
            times[id] = max(times[id] ?? .min, origin.signedDate)
        }
    }

    private mutating func note(_ purchaseDate: Int64?, end: Int64?, of id: String?) {
        guard let id else { return }
        if let purchaseDate { newestPurchases[id] = max(newestPurchases[id] ?? .min, purchaseDate) }
        if let end { ends[id] = max(ends[id] ?? .min, end) }
    }

    /// How an answer that must be current is refused where the App Store does not know these purchases; nil where what it
    /// knows is enough.
    ///
    /// One old purchase that it has no record of must not take from customers what it has just confirmed. It is not
    /// enough where it confirmed nothing, or does not know a subscription that runs: that one may have been refunded. Where
    /// one of the purchases is less than a day old, the App Store may learn of it yet.
    func refusal(ofUnknown ids: [String]) -> StatusCondition? {
        guard ids.count == originalTransactionIds.count || ids.contains(where: { ends[$0].map { $0 > now } ?? false })
        else { return nil }
        let day: Int64 = 86_400_000
        let areNew = ids.contains { now.subtractingSaturated(newestPurchases[$0] ?? .min) < day }
        return areNew ? .appStoreUnavailable : .accountNotFound
    }

    /// What the App Store was never asked about, or not at this time or later.
    func stale(notBefore: Int64) -> [String] {
        originalTransactionIds.filter { id in times[id].map { $0 < notBefore } ?? true }
    }

    /// Since when nothing that the App Store knows can be missing; nil if it was never asked about one of the purchases, or
    /// there is none. Milliseconds since 1970-01-01T00:00:00Z.
    var since: Int64? {
        var least: Int64?
        for id in originalTransactionIds {
            guard let time = times[id] else { return nil }
            least = min(least ?? time, time)
        }
        return least
    }
}
