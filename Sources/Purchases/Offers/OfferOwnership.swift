internal import AppStoreModels

/// The ownership of the purchases in a history, for the rules about offers. Purchases of family members and organizations give
/// access, but the customer did not buy them, so they do not count.
///
/// An unsigned row does not change the ownership of a subscription that signed documents state: all of its periods still count.
struct OfferOwnership {
    /// The subscriptions that a signed document states as bought, not as shared.
    private var bought: Set<String> = []
    /// The subscriptions that a signed document states to be shared.
    private var shared: Set<String> = []
    private var assigned: Set<String> = []

    init(_ entries: [PurchaseHistory.Entry]) {
        guard entries.contains(where: { $0.isShared || $0.transaction.inAppOwnershipType == .assigned }) else { return }
        var signed: Set<String> = []
        for entry in entries where entry.isSigned {
            guard let id = entry.subscriptionId else { continue }
            signed.insert(id)
            if entry.isShared { shared.insert(id) } else { bought.insert(id) }
        }
        for entry in entries where entry.transaction.inAppOwnershipType == .assigned {
            guard let id = entry.subscriptionId, entry.isSigned || !signed.contains(id) else { continue }
            assigned.insert(id)
        }
    }

    /// Whether a family member shares the purchase.
    func isShared(_ entry: PurchaseHistory.Entry) -> Bool {
        guard entry.isShared else { return false }
        return entry.isSigned || !bought.contains(entry.subscriptionId ?? "")
    }

    /// The same for the periods of a subscription that decide its standing.
    func isShared(_ standing: SubscriptionStanding) -> Bool {
        let id = standing.subscriptionId
        return standing.isFamilyShared && (shared.contains(id) || !bought.contains(id))
    }

    /// Whether an organization or group assigned the purchase.
    func isAssigned(_ entry: PurchaseHistory.Entry) -> Bool {
        !isShared(entry) && isAssigned(subscription: entry.subscriptionId ?? "")
    }

    /// Whether an organization or group assigned the subscription. One transaction with the ownership `ASSIGNED` shows it,
    /// because receipts do not state it.
    func isAssigned(subscription id: String) -> Bool { assigned.contains(id) }

    /// Whether the customer bought it.
    func isOwn(_ entry: PurchaseHistory.Entry) -> Bool { !isShared(entry) && !isAssigned(entry) }
}
