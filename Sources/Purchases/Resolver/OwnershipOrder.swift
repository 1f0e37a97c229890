internal import AppStoreModels

/// Which statement about the ownership of a transaction counts. Every rule asks this one.
///
/// A signed document decides. To a purchase that one states, unsigned documents can only add `PURCHASED`: an absent ownership
/// counts as that anyway. Another value, of a wrong or forged row, would hide a used trial from the offers, or keep a copy of a
/// refunded purchase granted.
enum OwnershipOrder {
    /// What an unsigned document adds to a transaction; nil for nothing.
    /// - Parameter isSigned: whether a signed document states the transaction.
    static func added(by recorded: InAppOwnershipType?, isSigned: Bool) -> InAppOwnershipType? {
        !isSigned || recorded == .purchased ? recorded : nil
    }

    /// Whether a newer receipt replaces what a signed transaction states. Receipts know bought and shared purchases only, so
    /// they do not contradict `ASSIGNED`.
    static func isReplaceable(_ signed: InAppOwnershipType?) -> Bool {
        signed == nil || signed == .purchased || signed == .familyShared
    }
}
