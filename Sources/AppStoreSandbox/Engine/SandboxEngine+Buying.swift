internal import AppStoreModels
internal import Foundation

extension SandboxEngine {
    /// Sells a product.
    ///
    /// One-time purchases give ONE_TIME_CHARGE; a first subscription in a group SUBSCRIBED with INITIAL_BUY, a later one
    /// RESUBSCRIBE; another product of the group changes the plan; an offer redeemed while subscribed gives OFFER_REDEEMED.
    /// - Returns: the transaction of the purchase; for what takes effect at the next renewal, that of the current period.
    /// - Throws: ``SandboxError``; nothing has changed then but the time.
    public mutating func buy(_ order: SandboxOrder, at date: Int64) throws -> SandboxTransaction {
        advance(to: date)
        let product = try product(order.productId)
        guard product.isForSale else {
            throw SandboxError(.unknownProduct, "the product \(product.id.quoted) is not for sale")
        }
        if let token = order.appAccountToken, UUID(uuidString: token) == nil {
            throw SandboxError(.invalidRequest, "appAccountToken: not a UUID")
        }
        guard (1...10).contains(order.quantity) else {
            throw SandboxError(.invalidRequest, "quantity: has to be 1 to 10")
        }
        guard !order.isAssigned || order.appAccountToken == nil && order.seats == nil else {
            throw SandboxError(.invalidRequest, "ownership: an assigned purchase has no token and no seats")
        }
        guard order.seats == nil || product.type == .autoRenewableSubscription else {
            throw SandboxError(.invalidRequest, "seats: only a subscription has them")
        }
        if let seats = order.seats, !(1...SandboxSubscription.Seats.maximum).contains(seats) {
            throw SandboxError(.invalidRequest, "seats: has to be 1 to \(SandboxSubscription.Seats.maximum)")
        }
        if product.type == .autoRenewableSubscription {
            guard order.quantity == 1 else {
                throw SandboxError(.invalidRequest, "quantity: a subscription is bought once")
            }
            return try subscribe(order, product)
        }
        switch order.redemption {
        case .automatic, .withoutOffer: break
        default: throw SandboxError(.unknownOffer, "the product \(product.id.quoted) has no offers")
        }
        return try buyOnce(order, product)
    }

    private mutating func buyOnce(_ order: SandboxOrder, _ product: SandboxProduct) throws -> SandboxTransaction {
        let customer = try arrive(order.customer)
        if product.type == .nonConsumable {
            let owned = transactions(of: customer).contains {
                $0.payload.productId == product.id && !$0.isRevoked && $0.sharedFrom == nil
            }
            if owned { throw SandboxError(.alreadyOwned, "the customer has \(product.id.quoted) already") }
            guard order.quantity == 1 else {
                throw SandboxError(.invalidRequest, "quantity: a non-consumable is bought once")
            }
        }
        let transaction = record(
            Charge(
                customer: customer.name, product: product, quantity: order.quantity,
                price: product.price.map { $0.multipliedSaturating(by: Int64(order.quantity)) }, reason: .purchase,
                purchaseDate: now, appAccountToken: order.appAccountToken, isAssigned: order.isAssigned))
        tell(.oneTimeCharge, transaction: transaction.id)
        shareOnce(transaction, product)
        return transaction
    }

    private mutating func subscribe(_ order: SandboxOrder, _ product: SandboxProduct) throws -> SandboxTransaction {
        let known = customers[order.customer]
        let group = product.group ?? product.id
        let current = known?.subscriptions[group].flatMap { subscriptions[$0] }
        if let current, current.sharedFrom != nil, !current.hasEnded {
            throw SandboxError(.alreadyOwned, "the customer has the subscription through the family")
        }
        if current != nil, order.seats != nil || order.isAssigned {
            throw SandboxError(
                .alreadyOwned, "the customer has had a subscription of the group: not with seats or assigned")
        }
        let offer = try redeemedOffer(order, product, customer: known, current: current)
        let customer = try arrive(order.customer)
        if let current, !current.hasEnded, current.sharedFrom == nil {
            return try changeWhileSubscribed(current, product, offer, order)
        }
        if offer?.type == .introductory { customers[customer.name]?.introducedGroups.insert(group) }
        guard let current, current.sharedFrom == nil else {
            return beginSubscription(customer, product, group, offer, order)
        }
        let id = current.originalTransactionId
        resubscribe(id, order, lapse: now - current.expiresDate)
        addPeriod(to: id, product, offer: offer, price: product.price, reason: .purchase, from: now)
        tell(.subscribed, .resubscribe, subscription: id)
        shareSubscription(id)
        return try transaction(try subscription(id).transactionId)
    }

    private mutating func beginSubscription(
        _ customer: SandboxCustomer, _ product: SandboxProduct, _ group: String, _ offer: SandboxOffer?,
        _ order: SandboxOrder
    ) -> SandboxTransaction {
        let expires = end(of: product, offer, from: now)
        let transaction = record(
            Charge(
                customer: customer.name, product: product, quantity: order.seats ?? 1, hasSeats: order.seats != nil,
                offer: offer, price: offer?.price ?? product.price, reason: .purchase, purchaseDate: now,
                expiresDate: expires, appAccountToken: order.appAccountToken, isAssigned: order.isAssigned))
        var subscription = SandboxSubscription(
            originalTransactionId: transaction.id, customer: customer.name, group: group, sharedFrom: nil,
            transactionId: transaction.id, productId: product.id, autoRenewProductId: product.id, expiresDate: expires,
            start: now)
        subscription.renewalPrice = product.price
        subscription.appAccountToken = order.appAccountToken
        subscription.seats = order.seats.map { .init(renewalQuantity: $0) }
        subscription.take(offer)
        subscriptions[transaction.id] = subscription
        customers[customer.name]?.subscriptions[group] = transaction.id
        tell(.subscribed, .initialBuy, subscription: transaction.id)
        shareSubscription(transaction.id)
        return transaction
    }

    /// A lapse of less than 60 days does not begin a new run (Reference.md S5.2).
    private mutating func resubscribe(_ id: String, _ order: SandboxOrder, lapse: Int64) {
        let startsAnew = lapse >= configuration.pace.days(60)
        let begin = now
        update(id) { subscription in
            subscription.isAutoRenewOn = true
            subscription.isBillingFailing = false
            subscription.renewals = 0
            subscription.runningOffer = nil
            subscription.appAccountToken = order.appAccountToken ?? subscription.appAccountToken
            if startsAnew { subscription.start = begin }
        }
    }
}
