internal import AppStoreModels

extension SandboxEngine {
    /// What one transaction is made from.
    struct Charge {
        var customer: String
        var product: SandboxProduct
        var quantity: Int32 = 1
        var hasSeats = false
        var offer: SandboxOffer?
        var price: Int64?
        var reason: TransactionReason
        var purchaseDate: Int64
        var expiresDate: Int64?
        var appAccountToken: String?
        var sharedFrom: String?
        var isAssigned = false
    }

    /// Writes a transaction. Without `originalId` it is the first of its purchase.
    mutating func record(_ charge: Charge, originalId: String? = nil, originalDate: Int64? = nil) -> SandboxTransaction
    {
        let id = identifiers.transactionId()
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = originalId ?? id
        payload.bundleId = configuration.bundleId
        payload.productId = charge.product.id
        payload.purchaseDate = charge.purchaseDate
        payload.originalPurchaseDate = originalDate ?? charge.purchaseDate
        payload.quantity = charge.quantity
        payload.type = charge.product.type
        payload.inAppOwnershipType =
            charge.sharedFrom != nil ? .familyShared : charge.isAssigned ? .assigned : .purchased
        payload.environment = configuration.environment
        payload.storefront = configuration.storefront
        payload.storefrontId = configuration.storefrontId
        payload.transactionReason = charge.reason
        payload.appTransactionId = customers[charge.customer]?.appTransactionId
        // The account token is the purchaser's (Reference.md S5.1).
        if charge.sharedFrom == nil { payload.appAccountToken = charge.appAccountToken }
        if charge.hasSeats {
            payload.multiSeatInfo = TransactionMultiSeatInfo(
                invitationManagement: .developer,
                priceTiers: charge.price.map { [SeatPriceTier(price: $0, quantity: charge.quantity)] })
        }
        if let price = charge.price, !charge.isAssigned {
            payload.price = price
            payload.currency = configuration.currency
        }
        if charge.product.type == .autoRenewableSubscription {
            payload.expiresDate = charge.expiresDate
            payload.subscriptionGroupIdentifier = charge.product.group
            payload.webOrderLineItemId = identifiers.webOrderLineItemId()
        }
        if let offer = charge.offer {
            payload.offerType = offer.type
            payload.offerIdentifier = offer.identifier
            payload.offerDiscountType = offer.discountType
            payload.offerPeriod = offer.period.iso8601
        }
        revision += 1
        let transaction = SandboxTransaction(
            payload: payload, customer: charge.customer, orderId: identifiers.orderId(), revision: revision,
            sharedFrom: charge.sharedFrom)
        transactions[id] = transaction
        customers[charge.customer]?.transactionIds.append(id)
        return transaction
    }

    /// The end of a period of a product, under an offer or not.
    func end(of product: SandboxProduct, _ offer: SandboxOffer?, from start: Int64) -> Int64 {
        if let offer {
            return configuration.pace.end(of: offer.period, times: offer.periodsPerTransaction, from: start)
        }
        return product.period.map { configuration.pace.end(of: $0, from: start) } ?? start
    }

    /// Begins a period of a subscription that exists, and lets the family have it.
    mutating func addPeriod(
        to id: String, _ product: SandboxProduct, offer: SandboxOffer?, price: Int64?, reason: TransactionReason,
        from start: Int64
    ) {
        guard let subscription = subscriptions[id] else { return }
        let expires = end(of: product, offer, from: start)
        let transaction = record(
            Charge(
                customer: subscription.customer, product: product,
                quantity: subscription.seats?.renewalQuantity ?? 1, hasSeats: subscription.seats != nil, offer: offer,
                price: offer?.price ?? price, reason: reason, purchaseDate: start, expiresDate: expires,
                appAccountToken: subscription.appAccountToken,
                isAssigned: transactions[id]?.payload.inAppOwnershipType == .assigned),
            originalId: id, originalDate: transactions[id]?.payload.originalPurchaseDate)
        update(id) { subscription in
            subscription.transactionId = transaction.id
            subscription.productId = product.id
            subscription.autoRenewProductId = product.id
            subscription.phase = .active
            subscription.expiresDate = expires
            subscription.retryEnds = nil
            subscription.priceIncrease = nil
            // After an offer, the regular price applies.
            subscription.renewalPrice = price
            subscription.take(offer)
        }
    }
}

extension SandboxSubscription {
    /// Counts a transaction under an offer.
    mutating func take(_ offer: SandboxOffer?) {
        guard let offer else {
            runningOffer = nil
            return
        }
        let remaining = runningOffer?.offer == offer ? (runningOffer?.remaining ?? 0) - 1 : offer.transactions - 1
        runningOffer = remaining > 0 ? RunningOffer(offer: offer, remaining: remaining) : nil
    }
}
