internal import AppStoreModels
package import Purchases

// When an entry is due. Kept apart from the engines, which only look up and append.

/// What the ledger says of one transaction so far.
package struct LedgerHistory: Sendable {
    /// The number of its last entry; numbers count from 0.
    package let number: Int64
    package let event: LedgerEntry.Event
    /// Whether it was ever `purchased`.
    package let wasPurchased: Bool

    package init(number: Int64, event: Int64, wasPurchased: Bool) throws {
        guard let event = LedgerEntry.Event(rawValue: event) else {
            throw StoredObject.corrupt("unknown event in the ledger")
        }
        self.number = number
        self.event = event
        self.wasPurchased = wasPurchased
    }

    /// Whether the content is the customer's, as far as the ledger has said.
    package var isGranted: Bool { event == .purchased || event == .reinstated }
}

/// An entry that is due.
package struct DueEntry: Sendable {
    package let number: Int64
    package let event: LedgerEntry.Event

    /// The entry that brings the ledger up to date; nil if it is.
    package init?(after history: LedgerHistory?, for transaction: StoredTransaction) {
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
        }
        number = history.number + 1
    }

    /// The entry that is due for a transaction that no new fact is about. Of what becomes of it, only an upgrade comes and
    /// goes with the other periods of its subscription.
    package init?(after history: LedgerHistory?, forUnchanged transaction: StoredTransaction) {
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
