package import AppStoreModels
internal import Purchases

// What an entry means is derived when it is read, from its event and the transaction. So a store needs no new columns,
// and the entries of older programs have it too.

extension LedgerEntry {
    /// The change. The raw values are the names in JSON.
    public enum Change: String, Hashable, Sendable, CaseIterable {
        /// A new purchase or subscription, or a subscription that begins again: deliver its content. Each transaction id
        /// is `started` or `renewed` only once.
        case started
        /// A further period of a subscription, with its own transaction id.
        case renewed
        /// The App Store refunded the purchase.
        case refunded
        /// Family Sharing of the purchase, or its assignment by an organization, ended.
        case revoked
        /// ``LedgerEntry/Event/upgraded``
        case upgraded
        /// ``LedgerEntry/Event/reinstated``
        case reinstated
        /// ``LedgerEntry/Event/termMoved``
        case termMoved
        /// ``LedgerEntry/Event/seatUnclaimed``
        case seatUnclaimed
        /// ``LedgerEntry/Event/gracePeriodEntered``
        case gracePeriodEntered
        /// ``LedgerEntry/Event/billingFailed``
        case billingFailed
        /// ``LedgerEntry/Event/gracePeriodExpired``
        case gracePeriodExpired
        /// ``LedgerEntry/Event/billingRecovered``
        case billingRecovered
        /// ``LedgerEntry/Event/expired``, ``LedgerEntry/Event/endedByTime``
        case expired
        /// ``LedgerEntry/Event/priceIncreasePending``
        case priceIncreasePending
        /// ``LedgerEntry/Event/priceIncreaseAccepted``
        case priceIncreaseAccepted
        /// ``LedgerEntry/Event/consumptionRequested``
        case consumptionRequested
    }

    /// The state of a purchase, as far as documents state it, and time where ``PurchaseEndings`` adds entries. Otherwise
    /// compare `expiresDate` of the transaction. The raw values are the names in JSON.
    ///
    /// The newest period of a subscription has its state. A period that another one followed keeps the state from before: the
    /// order in which the documents arrived decides whether it stays active or expired.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Neither refunded, revoked nor upgraded, and no entry states one of the other states.
        case active
        /// The renewal failed, and access continues.
        case inGracePeriod
        /// The renewal failed, and the App Store tries again without access.
        case inBillingRetry
        /// The subscription expired.
        case expired
        /// The App Store refunded the purchase.
        case refunded
        /// Family Sharing of the purchase, or its assignment by an organization, ended.
        case revoked
        /// Another product of the subscription group replaced this one.
        case upgraded
    }

    /// Writes the members of every JSON object about an entry: its position, what changed, and when.
    package func writeChange(to writer: inout JSONWriter) {
        writer.member("position", position)
        writer.member("event", change.rawValue)
        writer.member("before", stateBefore?.rawValue)
        writer.member("after", stateAfter?.rawValue)
        writer.member("byTime", byTime)
        writer.member("recordedDate", recordedDate)
    }

    /// The change, by the event and the transaction.
    ///
    /// The transaction is that at the time of reading. If only a receipt states it, a later signed transaction can turn
    /// `renewed` into `started`, because a receipt does not state the reason of a transaction.
    public var change: Change {
        switch event {
        case .purchased: transaction.isRenewal ? .renewed : .started
        case .revoked: transaction.payload.revocationEndsSharing ? .revoked : .refunded
        case .upgraded: .upgraded
        case .reinstated: .reinstated
        case .termMoved: .termMoved
        case .seatUnclaimed: .seatUnclaimed
        case .gracePeriodEntered: .gracePeriodEntered
        case .billingFailed: .billingFailed
        case .gracePeriodExpired: .gracePeriodExpired
        case .billingRecovered: .billingRecovered
        case .expired, .endedByTime: .expired
        case .priceIncreasePending: .priceIncreasePending
        case .priceIncreaseAccepted: .priceIncreaseAccepted
        case .consumptionRequested: .consumptionRequested
        }
    }

    /// The state of the purchase before the entry; nil for the first entry of a transaction.
    ///
    /// A recovery has the transaction of the new period, which begins as active. The subscription was in its grace period
    /// or in billing retry before. The entries of this transaction do not show which of them, so the state is billing
    /// retry.
    public var stateBefore: State? {
        guard let eventBefore else { return nil }
        let before = state(decidedBy: eventBefore)
        return event == .billingRecovered && before == .active ? .inBillingRetry : before
    }

    /// The state of the purchase after the entry. It equals ``stateBefore`` if the event changes no state.
    public var stateAfter: State? {
        guard let decidingEvent = event.decidingEvent(after: eventBefore) else { return nil }
        return state(decidedBy: decidingEvent)
    }

    /// True if only time shows the event: no document states it, and a later one can show that the purchase continues.
    /// Nil for all other entries.
    public var byTime: Bool? { event == .endedByTime ? true : nil }

    private func state(decidedBy event: Event) -> State? {
        switch event {
        case .purchased, .reinstated: .active
        case .revoked: transaction.payload.revocationEndsSharing ? .revoked : .refunded
        case .upgraded: .upgraded
        case .billingRecovered, .gracePeriodEntered, .billingFailed, .gracePeriodExpired, .expired, .endedByTime:
            event.renewalChange?.status.flatMap { State($0) }
        case .termMoved, .seatUnclaimed, .priceIncreasePending, .priceIncreaseAccepted, .consumptionRequested: nil
        }
    }
}

extension LedgerEntry.State {
    /// The status of a period; nil for other values, which are not events of the ledger.
    fileprivate init?(_ status: SubscriptionStatus) {
        switch status {
        case .active: self = .active
        case .billingGracePeriod: self = .inGracePeriod
        case .billingRetry: self = .inBillingRetry
        case .expired: self = .expired
        default: return nil
        }
    }
}
