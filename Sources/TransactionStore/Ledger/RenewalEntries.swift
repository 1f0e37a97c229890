internal import AppStoreModels
public import Purchases

/// The entries about billing, expiry, price increases and consumption requests that are due for one subscription or
/// other purchase. They are the events of its notifications, then those that its resolved purchases show, from any
/// document.
///
/// A period has each event about its billing and expiry once, and none after a later one. For example, an answer of the
/// App Store Server API has shown the expiry: the notification about the failed renewal then changes nothing. The same
/// is true for the events about a price increase.
public struct RenewalEntries: Sendable {
    /// An entry to append. It continues the numbers of its transaction.
    public struct Entry: Hashable, Sendable {
        public let transactionId: String
        public let event: LedgerEntry.Event
    }

    /// In the order in which an engine appends them.
    public let entries: [Entry]

    /// - Parameters:
    ///   - originalTransactionId: the id that the purchase is stored under.
    ///   - purchase: a customer with the transactions and the renewal infos of this purchase, after the new facts were
    ///     stored. Nil if the store has no signed renewal information about it: then only notifications count.
    ///   - notified: the events of the new notifications about the purchase, in order.
    ///   - history: the events in the ledger for each transaction of the purchase, in order, those of the new facts
    ///     included. Transactions without an entry get none.
    public init(
        of originalTransactionId: String, in purchase: Customer?, notified: [NotifiedEvent],
        history: [String: [LedgerEntry.Event]]
    ) {
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
        guard history[id]?.isEmpty == false, event.isDue(after: current(in: id)) else { return }
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

    /// The transaction whose last event says that the period of a transaction ended by time; nil if none does.
    func endedByTime(in id: String) -> String? {
        (periods[id] ?? [id]).first { course(of: $0).last(where: { $0.billingStage != nil }) == .endedByTime }
    }

    /// The events of the period of a transaction.
    private func current(in id: String) -> [LedgerEntry.Event] { (periods[id] ?? [id]).flatMap { course(of: $0) } }

    /// The events of a transaction since it was last granted, revoked or upgraded. Those about its billing and expiry
    /// count from its last recovery, and an end by time only until another one corrects it.
    private func course(of id: String) -> [LedgerEntry.Event] {
        let all = history[id] ?? []
        let events = all.lastIndex(where: \.isState).map { all[($0 + 1)...] } ?? all[...]
        let recovery = events.lastIndex(of: .billingRecovered) ?? events.startIndex
        let last = events.lastIndex { $0.billingStage != nil }
        return events.indices.filter { place in
            events[place].billingStage == nil || place >= recovery && (events[place] != .endedByTime || place == last)
        }.map { events[$0] }
    }

    func status(of ids: [String]) -> SubscriptionStatus {
        let events = ids.flatMap { current(in: $0) }
        switch events.max(by: { $0.billingStage ?? -1 < $1.billingStage ?? -1 }) {
        case .gracePeriodEntered?: return .billingGracePeriod
        case .billingFailed?, .gracePeriodExpired?: return .billingRetry
        case .expired?, .endedByTime?: return .expired
        default: return .active
        }
    }

    func priceIncrease(newestFirst ids: [String]) -> PriceIncreaseStatus? {
        for id in ids {
            switch history[id]?.last(where: { $0.priceStage != nil }) {
            case .priceIncreasePending?: return .pending
            case .priceIncreaseAccepted?: return .consentedOrNotified
            default: continue
            }
        }
        return nil
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

    /// The place of an event about billing and expiry in the course of a period, which begins with a recovery.
    fileprivate var billingStage: Int? {
        switch self {
        case .billingRecovered: 0
        case .gracePeriodEntered: 1
        case .billingFailed, .gracePeriodExpired: 2
        case .expired, .endedByTime: 3
        case .purchased, .revoked, .upgraded, .reinstated, .termMoved, .seatUnclaimed, .priceIncreasePending,
            .priceIncreaseAccepted, .consumptionRequested:
            nil
        }
    }

    fileprivate var priceStage: Int? {
        switch self {
        case .priceIncreasePending: 0
        case .priceIncreaseAccepted: 1
        default: nil
        }
    }

    /// - Parameter events: those of the period.
    fileprivate func isDue(after events: [Self]) -> Bool {
        if let stage = billingStage { return events.allSatisfy { $0.billingStage ?? -1 < stage } }
        if let stage = priceStage { return events.allSatisfy { $0.priceStage ?? -1 < stage } }
        return true
    }
}
