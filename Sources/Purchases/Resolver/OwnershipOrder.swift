internal import AppStoreModels

/// The rule for the ownership of a transaction. All other rules use it.
///
/// A signed document decides. If one states the purchase, unsigned documents can only add `PURCHASED`, because an absent
/// ownership has that meaning anyway. Another value in a wrong or forged row would hide a used trial from the offers. Or it would
/// keep a copy of a refunded purchase granted.
enum OwnershipOrder {
    /// The ownership that an unsigned document adds to a transaction; nil for none. `isSigned` is true if a signed document
    /// states the transaction.
    static func added(by recorded: InAppOwnershipType?, isSigned: Bool) -> InAppOwnershipType? {
        !isSigned || recorded == .purchased ? recorded : nil
    }

    /// Whether a newer receipt replaces the ownership of a signed transaction. Receipts have only bought and shared purchases,
    /// so they do not contradict `ASSIGNED`.
    static func isReplaceable(_ signed: InAppOwnershipType?) -> Bool {
        signed == nil || signed == .purchased || signed == .familyShared
    }
}
