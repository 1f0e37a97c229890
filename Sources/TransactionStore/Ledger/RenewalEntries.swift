internal import AppStoreModels
public import Purchases

/// The entries about billing, expiry, price increases and consumption requests that are due for one subscription or
/// other purchase. They are the events of its notifications, then those that its resolved purchases show, from any
/// document.
///
/// `RenewalCourse` decides which of them a period still gets.
public struct RenewalEntries: Sendable {
    /// An entry to append. It continues the numbers of its transaction.
    public struct Entry: Hashable, Sendable {
        /// The transaction of the period that the event is about.
        public let transactionId: String
        /// About billing, expiry, a price increase or a consumption request; never a state
        /// (``LedgerEntry/Event/isState``).
        public let event: LedgerEntry.Event
    }

    /// In the order in which an engine appends them.
    public let entries: [Entry]

    /// - Parameters:
    ///   - originalTransactionId: the id that the purchase is stored under.
    ///   - purchase: a customer with the transactions and the renewal infos of this purchase, after the new facts were
    ///     stored, and with the transactions of connected purchases (``DueEntry``). Nil if the store has no signed renewal
    ///     information about it: then only notifications count.
    ///   - notified: the events of the new notifications about the purchase, in order.
    ///   - history: the events in the ledger for each transaction of the purchase, in order, those of the new facts
    ///     included. Transactions without an entry get none.
    public init(
        of originalTransactionId: String, in purchase: Customer?, notified: [NotifiedEvent],
        history: [String: [LedgerEntry.Event]]
    ) {
        let purchase = purchase?.only(originalTransactionId)
        var ledger = PeriodEvents(purchase, history)
        for event in notified { ledger.add(event.event, of: event.transactionId) }
        if let purchase, let state = RenewalState(of: originalTransactionId, in: purchase) {
            let known = RenewalState.Known(
                status: ledger.status(of: [state.transactionId]),
                previousStatus: ledger.status(of: state.previousTransactionIds),
                priceIncrease: ledger.priceIncrease(
                    newestFirst: purchase.transactions.compactMap(\.payload.transactionId)))
            for change in state.changes(since: known) { ledger.add(LedgerEntry.Event(change), of: state.transactionId) }
        }
        entries = ledger.entries
    }
}

/// The events of a purchase, by period.
struct PeriodEvents {
    private var history: [String: [LedgerEntry.Event]]
    /// ``Customer/sharedPeriods``
    private let periods: [String: [String]]
    private(set) var entries: [RenewalEntries.Entry] = []

    init(_ purchase: Customer?, _ history: [String: [LedgerEntry.Event]]) {
        self.history = history
        periods = purchase?.sharedPeriods ?? [:]
    }

    /// Adds an entry if it is due.
    mutating func add(_ event: LedgerEntry.Event, of id: String) {
        guard history[id]?.isEmpty == false, event.renewalChange.map({ period(of: id).isNew($0) }) ?? true else {
            return
        }
        append(event, of: id)
    }

    /// Adds an entry, also after a later event of the period.
    mutating func append(_ event: LedgerEntry.Event, of id: String) {
        history[id, default: []].append(event)
        entries.append(RenewalEntries.Entry(transactionId: id, event: event))
    }

    /// Whether the last entry about the state of a transaction granted it.
    func isGranted(_ id: String) -> Bool {
        history[id]?.last(where: \.isState)?.isGrant == true
    }

    /// The transaction whose last event is the end of this transaction's period by time; nil if there is none.
    func endedByTime(in id: String) -> String? {
        (periods[id] ?? [id]).first { course(of: $0).isEndedByTime }
    }

    /// The status of the period with these transactions.
    func status(of ids: [String]) -> SubscriptionStatus { RenewalCourse(of: ids.map { period(of: $0) }).status }

    func priceIncrease(newestFirst ids: [String]) -> PriceIncreaseStatus? {
        RenewalCourse.priceIncrease(newestFirst: ids.map { history[$0]?.compactMap(\.renewalChange) ?? [] })
    }

    /// The course of the period of a transaction.
    private func period(of id: String) -> RenewalCourse {
        RenewalCourse(of: (periods[id] ?? [id]).map { course(of: $0) })
    }

    /// The course of a transaction since it was last granted, revoked or upgraded.
    private func course(of id: String) -> RenewalCourse {
        let all = history[id] ?? []
        let events = all.lastIndex(where: \.isState).map { all[($0 + 1)...] } ?? all[...]
        return RenewalCourse(events.compactMap(\.renewalChange))
    }
}

extension LedgerEntry.Event {
    init(_ change: RenewalChange) {
        switch change {
        case .gracePeriodEntered: self = .gracePeriodEntered
        case .billingFailed: self = .billingFailed
        case .gracePeriodExpired: self = .gracePeriodExpired
        case .billingRecovered: self = .billingRecovered
        case .expired: self = .expired
        case .endedByTime: self = .endedByTime
        case .priceIncreasePending: self = .priceIncreasePending
        case .priceIncreaseAccepted: self = .priceIncreaseAccepted
        }
    }

    /// The change of the billing, the expiry or the price that the event states; nil for other events.
    var renewalChange: RenewalChange? { RenewalChange.allCases.first { Self($0) == self } }
}
