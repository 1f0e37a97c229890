public import Purchases

/// The entries that are due at a look at non-renewing subscriptions of one customer, because time has passed.
///
/// A term ends once. If a document moves the end into the future, an entry states that the purchase is active again.
/// The new end gets its own entry. A catalog that states another length changes no end that has an entry, until a
/// document can have moved the term (``TermChanges``).
public struct EndedTerms: Sendable {
    /// In the order in which an engine appends them.
    public let entries: [RenewalEntries.Entry]
    /// The date to keep for each transaction.
    public let nextDates: [String: Int64]

    /// - Parameters:
    ///   - transactionIds: the transactions whose date has come.
    ///   - customer: a customer with all identities and transactions in the store, because other purchases move terms.
    ///   - catalogs: state the lengths.
    ///   - dates: the dates of the look at the app's terms.
    ///   - history: as in ``RenewalEntries``, of these transactions.
    public init(
        of transactionIds: [String], in customer: Customer, catalogs: TermCatalogs, at dates: LookDates,
        history: [String: [LedgerEntry.Event]]
    ) {
        let terms = catalogs.terms(of: customer)
        var ledger = PeriodEvents(nil, history)
        var nextDates: [String: Int64] = [:]
        let inOrder = transactionIds.map { (terms[$0]?.end ?? Int64.max, $0) }.sorted { $0 < $1 }
        for (_, id) in inOrder {
            nextDates[id] = LedgerEndings.whenChanged
            guard let term = terms[id] else {
                // Another program may have a catalog that states the length.
                nextDates[id] = LedgerEndings.oneDay(after: dates.date)
                continue
            }
            guard ledger.isGranted(id) else { continue }
            if let next = term.nextEnd(after: dates.date) { nextDates[id] = next }
            let isEnded = ledger.endedByTime(in: id) != nil
            switch term.change(isEnded: isEnded, from: dates.beginning, to: dates.date) {
            case .endedByTime?: ledger.add(.endedByTime, of: id)
            case let change?: ledger.append(LedgerEntry.Event(change), of: id)
            case nil: break
            }
        }
        entries = ledger.entries
        self.nextDates = nextDates
    }
}
