internal import AppStoreModels
public import Purchases

// The rules for when an entry is due. Engines only look up and append.

/// The history of one transaction in the ledger.
public struct LedgerHistory: Sendable {
    /// The number of its last entry, of any event. Numbers count from 0.
    public let number: Int64
    /// The event of its last entry whose event is a state (``LedgerEntry/Event/isState``).
    public let event: LedgerEntry.Event
    /// Whether it was ever `purchased`.
    public let wasPurchased: Bool

    /// - Throws: ``TransactionStoreError`` `corrupt` for an unknown event.
    public init(number: Int64, event: Int64, wasPurchased: Bool) throws {
        guard let event = LedgerEntry.Event(rawValue: event) else {
            throw StoredObject.corrupt("unknown event in the ledger")
        }
        guard event.isState else { throw StoredObject.corrupt("an event of the ledger that is not a state") }
        self.number = number
        self.event = event
        self.wasPurchased = wasPurchased
    }

    /// Whether the customer has the content, according to the ledger.
    package var isGranted: Bool { event.isGrant }
}

/// An entry that is due.
///
/// After an engine has written facts, it examines all transactions under the original transaction ids of the changed
/// facts, also unchanged ones. A new period can show that another one was upgraded, and a refund of a purchase can show
/// that its copies were refunded.
///
/// Documents can state one transaction under two original transaction ids, and contradict each other permanently. If one of
/// the documents is signed, it connects the two ids, and other transactions can connect further ids. The engine resolves the
/// transactions under all connected ids together, as those of one customer. The entry belongs to the original transaction id
/// of the resolved transaction. A reader of the ledger resolves it in the same way.
public struct DueEntry: Sendable {
    /// The number of the entry among those of its transaction, from 0.
    public let number: Int64
    /// `purchased`, `revoked`, `upgraded` or `reinstated`.
    public let event: LedgerEntry.Event

    /// The entry that brings the ledger up to date; nil if none is due.
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
}

extension StoredTransaction {
    /// The event that states what `Purchases` concludes: purchased, revoked or upgraded; nil if no signed document states
    /// the transaction.
    package var deliveryState: LedgerEntry.Event? {
        switch signedState {
        case .purchased?: .purchased
        case .revoked?: .revoked
        case .upgraded?: .upgraded
        case nil: nil
        }
    }
}
