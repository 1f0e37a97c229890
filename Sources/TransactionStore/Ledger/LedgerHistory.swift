internal import AppStoreModels
public import Purchases

// When an entry is due. Kept apart from the engines, which only look up and append.

/// What the ledger says of one transaction so far.
public struct LedgerHistory: Sendable {
    /// The number of its last entry, whatever the event; numbers count from 0.
    public let number: Int64
    /// The event of its last entry whose event is a state (``LedgerEntry/Event/isState``).
    public let event: LedgerEntry.Event
    /// Whether it was ever `purchased`.
    public let wasPurchased: Bool

    /// - Throws: ``TransactionStoreError`` `corrupt` for an event that this version does not know.
    public init(number: Int64, event: Int64, wasPurchased: Bool) throws {
        guard let event = LedgerEntry.Event(rawValue: event) else {
            throw StoredObject.corrupt("unknown event in the ledger")
        }
        guard event.isState else { throw StoredObject.corrupt("an event of the ledger that is no state") }
        self.number = number
        self.event = event
        self.wasPurchased = wasPurchased
    }

    /// Whether the content is the customer's, as far as the ledger has said.
    package var isGranted: Bool { event == .purchased || event == .reinstated }
}

/// An entry that is due.
///
/// After an engine has written facts, it looks at every transaction under each original transaction id that a changed fact names:
/// those with a changed fact by ``init(after:for:)``, the others by ``init(after:forUnchanged:)``, since a new period can show
/// that another one was upgraded.
public struct DueEntry: Sendable {
    /// The number of the entry among those of its transaction, from 0.
    public let number: Int64
    public let event: LedgerEntry.Event

    /// The entry that brings the ledger up to date; nil if it is.
    public init?(after history: LedgerHistory?, for transaction: StoredTransaction) {
        guard let state = transaction.deliveryState else { return nil }
        guard let history else {
            (number, event) = (0, state)
            return
        }
        switch state {
        case .purchased, .reinstated:
            if history.isGranted { return nil }
            event = history.wasPurchased ? .reinstated : .purchased
        case .revoked, .upgraded:
            if history.event == state { return nil }
            event = state
        default: return nil
        }
        number = history.number + 1
    }

    /// The entry that is due for a transaction that no new fact is about. Of what becomes of it, only an upgrade comes and
    /// goes with the other periods of its subscription.
    public init?(after history: LedgerHistory?, forUnchanged transaction: StoredTransaction) {
        guard transaction.deliveryState == .upgraded || history?.event == .upgraded else { return nil }
        self.init(after: history, for: transaction)
    }
}

extension StoredTransaction {
    /// Purchased, revoked or upgraded; nil if nobody signed it.
    package var deliveryState: LedgerEntry.Event? {
        guard isSigned else { return nil }
        if payload.revocationDate != nil { return .revoked }
        return payload.isUpgraded == true ? .upgraded : .purchased
    }
}
