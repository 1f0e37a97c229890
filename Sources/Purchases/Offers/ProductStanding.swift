package import AppStoreModels

/// A customer's access to one product at one moment.
package struct ProductStanding: Hashable, Sendable {
    package let productId: String
    /// The type of the product; nil if neither a document nor the catalog states it.
    package let type: ProductType?
    /// Apple's status. Nil if it is unknown, and for consumables that were not refunded: they give no lasting access.
    package let status: SubscriptionStatus?
    /// The status of the product's subscription, which can continue with another product. Nil for other types.
    package let subscriptionStatus: SubscriptionStatus?
    /// Whether an upgrade replaced the product.
    package let isReplaced: Bool
    /// The transaction that decides.
    package let transaction: JWSTransactionDecodedPayload
    /// When the access ends or ended, in milliseconds since 1970-01-01T00:00:00Z. Nil if it never ends, and if the status is
    /// unknown.
    package let accessEnds: Int64?
    /// The last statement about the renewal of the period that decides; nil if there is none.
    package let renewalInfo: JWSRenewalInfoDecodedPayload?

    /// When the customer bought the product first, in milliseconds since 1970-01-01T00:00:00Z; nil if no document states it.
    package var bought: Int64? { transaction.firstBought }

    /// When the subscription was last renewed, in milliseconds since 1970-01-01T00:00:00Z. Nil in its first period, and for other
    /// products.
    package var renewed: Int64? {
        guard type == .autoRenewableSubscription, let bought, let date = transaction.purchaseDate, date > bought
        else { return nil }
        return date
    }

    /// Whether the access has ended. Nil if unknown, and for consumables that were not refunded.
    package var hasEnded: Bool? {
        switch status {
        case .active?, .billingGracePeriod?: false
        case .expired?, .billingRetry?, .revoked?: true
        default: nil
        }
    }

    /// Whether billing is being retried, which includes the grace period. Nil if it is unknown or no longer matters.
    package var isBillingRetried: Bool? {
        switch status {
        case .billingRetry?, .billingGracePeriod?: true
        case .active?: false
        default: nil
        }
    }

    /// Whether the product's subscription has ended. In billing retry it has not.
    package var isSubscriptionOver: Bool { subscriptionStatus == .expired || subscriptionStatus == .revoked }

    /// The reason for the end of the access.
    package enum EndReason: Hashable, Sendable {
        /// An upgrade.
        case replaced
        /// A refund, or the end of Family Sharing.
        case revoked
        /// The end of the last period or term.
        case expired
    }

    /// Nil if the access has not ended, if that is unknown, and in billing retry, which can still restore it.
    package var endReason: EndReason? {
        if isReplaced { return .replaced }
        switch status {
        case .revoked?: return .revoked
        case .expired?: return .expired
        default: return nil
        }
    }
}

extension PurchaseHistory.Entry {
    /// The purchase with a cancellation that does not count in the history, from a recorded document. It is a revocation,
    /// unless the period was upgraded: then it is the end of that period.
    /// - Parameter date: in milliseconds since 1970-01-01T00:00:00Z; nil for none.
    package func cancelled(at date: Int64?) -> Self {
        guard transaction.revocationDate == nil, transaction.isUpgraded != true else { return self }
        var entry = self
        entry.transaction.revocationDate = date
        return entry
    }
}

extension PurchaseHistory {
    /// The standing of each product, consumables included, in the order of the product ids. Purchases that have not
    /// begun are left out.
    ///
    /// A subscription's status applies to the product of the period that decides (``entitlements(at:)``). A second
    /// product of the same subscription can have a current period: after a reversed refund, or after an upgrade that
    /// only unsigned documents state. It has access until the end of that period. A product that the customer left is
    /// expired, or revoked if its last period was.
    /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z.
    package func productStandings(at now: Int64) -> [ProductStanding] {
        var found: [String: ProductStanding] = [:]
        let subscriptions = subscriptions(at: now)
        let byId = Dictionary(
            SubscriptionTimeline.newest(entries).map { ($0.transaction.transactionId ?? "", $0.transaction) },
            uniquingKeysWith: { first, _ in first })
        // Access lasts as long as that of any subscription: a grace period can end after the current period of another one.
        let ends = Dictionary(
            subscriptions.flatMap(\.products).map { ($0.productId, $0.accessEnds) }, uniquingKeysWith: max)
        func add(_ standing: SubscriptionStanding, _ product: String?, _ transactionId: String?) {
            guard let product, found[product] == nil, let transaction = byId[transactionId ?? ""] else { return }
            found[product] = ProductStanding(
                productId: product, type: .autoRenewableSubscription, status: standing.status,
                subscriptionStatus: standing.status, isReplaced: transaction.isUpgraded == true,
                transaction: transaction, accessEnds: ends[product] ?? standing.accessEnds,
                renewalInfo: transactionId == standing.transactionId ? standing.renewalInfo : nil)
        }
        // The best subscription of each group comes first. It decides about its other products before subscriptions without
        // access do.
        for standing in subscriptions where standing.hasAccess {
            add(standing, standing.productId, standing.transactionId)
        }
        for standing in subscriptions {
            for current in standing.products { add(standing, current.productId, current.transactionId) }
        }
        for standing in subscriptions { add(standing, standing.productId, standing.transactionId) }
        let statuses = Dictionary(
            subscriptions.map { ($0.subscriptionId, $0.status) }, uniquingKeysWith: { first, _ in first })
        let spans = SubscriptionTimeline.all(of: self).flatMap(\.spans)
        for (product, span) in spans.last(begunBy: now, by: \.transaction.productId) where found[product] == nil {
            let status: SubscriptionStatus = span.isRevoked ? .revoked : .expired
            found[product] = ProductStanding(
                productId: product, type: .autoRenewableSubscription, status: status,
                subscriptionStatus: statuses[span.entry.subscriptionId ?? ""] ?? status,
                isReplaced: span.transaction.isUpgraded == true, transaction: span.transaction,
                accessEnds: min(span.end, now), renewalInfo: nil)
        }
        for (product, purchases) in Dictionary(grouping: singlePurchases(), by: \.entry.transaction.productId) {
            guard let product, found[product] == nil,
                let entitlement = entitlement(purchases.filter { $0.date <= now }, at: now),
                let transaction = byId[entitlement.transactionId ?? ""]
            else { continue }
            found[product] = ProductStanding(
                productId: product, type: entitlement.type, status: entitlement.status, subscriptionStatus: nil,
                isReplaced: false, transaction: transaction, accessEnds: entitlement.accessEnds, renewalInfo: nil)
        }
        for transaction in byId.values where transaction.type == .consumable {
            guard let product = transaction.productId, let date = transaction.purchaseDate, date <= now else {
                continue
            }
            if let known = found[product], TransactionPlace(known.transaction) >= TransactionPlace(transaction) {
                continue
            }
            let revocation = transaction.revocationDate.flatMap { $0 <= now ? $0 : nil }
            found[product] = ProductStanding(
                productId: product, type: .consumable, status: revocation == nil ? nil : .revoked,
                subscriptionStatus: nil, isReplaced: false, transaction: transaction, accessEnds: revocation,
                renewalInfo: nil)
        }
        return found.values.sorted { $0.productId < $1.productId }
    }
}
