package import AppStoreModels

extension SandboxEngine {
    /// Notes what happened to a subscription.
    mutating func tell(
        _ type: NotificationTypeV2, _ subtype: Subtype? = nil, subscription id: String, transaction: String? = nil,
        reason: ConsumptionRequestReason? = nil
    ) {
        guard let subscription = subscriptions[id] else { return }
        let date = stamp()
        events.append(
            SandboxEvent(
                uuid: identifiers.uuid(), type: type, subtype: subtype, date: date, customer: subscription.customer,
                transaction: transactions[transaction ?? subscription.transactionId]?.payload,
                renewalInfo: renewalInfo(of: subscription), status: subscription.status,
                consumptionRequestReason: reason, summary: nil))
    }

    /// Notes what happened to a transaction; with its renewal information if it is of a subscription.
    mutating func tell(
        _ type: NotificationTypeV2, _ subtype: Subtype? = nil, transaction id: String,
        reason: ConsumptionRequestReason? = nil
    ) {
        guard let transaction = transactions[id] else { return }
        if subscriptions[transaction.originalId] != nil {
            return tell(type, subtype, subscription: transaction.originalId, transaction: id, reason: reason)
        }
        let date = stamp()
        events.append(
            SandboxEvent(
                uuid: identifiers.uuid(), type: type, subtype: subtype, date: date, customer: transaction.customer,
                transaction: transaction.payload, renewalInfo: nil, status: nil, consumptionRequestReason: reason,
                summary: nil))
    }

    /// The next renewal of a subscription as it looks now, but for `signedDate` (Reference.md S5.2).
    package func renewalInfo(of subscription: SandboxSubscription) -> JWSRenewalInfoDecodedPayload {
        var info = nextRenewal(of: subscription)
        let offers = eligibleWinBackOffers(of: subscription, with: info).map(\.offerIdentifier)
        // Several products may have an offer of one identifier.
        let unique = offers.enumerated().filter { !offers[..<$0.offset].contains($0.element) }.map(\.element)
        if !unique.isEmpty { info.eligibleWinBackOfferIds = unique }
        return info
    }

    /// ``renewalInfo(of:)`` without the offers that depend on it.
    func nextRenewal(of subscription: SandboxSubscription) -> JWSRenewalInfoDecodedPayload {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = subscription.originalTransactionId
        info.autoRenewProductId = subscription.autoRenewProductId
        info.productId = subscription.productId
        info.autoRenewStatus = subscription.isAutoRenewOn ? .on : .off
        info.environment = configuration.environment
        info.recentSubscriptionStartDate = subscription.start
        info.renewalDate = subscription.expiresDate
        info.appTransactionId = customers[subscription.customer]?.appTransactionId
        info.appAccountToken = subscription.appAccountToken
        info.priceIncreaseStatus = subscription.priceIncrease?.status
        if let seats = subscription.seats {
            info.renewalQuantity = seats.renewalQuantity
            info.multiSeatInfo = RenewalMultiSeatInfo(
                renewalPriceTiers: nextPrice(of: subscription).map {
                    [SeatPriceTier(price: $0, quantity: seats.renewalQuantity)]
                })
        }
        if let price = nextPrice(of: subscription) {
            info.renewalPrice = price
            info.currency = configuration.currency
        }
        if let next = subscription.runningOffer?.offer {
            info.offerType = next.type
            info.offerIdentifier = next.identifier
            info.offerDiscountType = next.discountType
            info.offerPeriod = next.period.iso8601
        }
        switch subscription.phase {
        case .active: info.isInBillingRetryPeriod = false
        case .gracePeriod(let until):
            info.isInBillingRetryPeriod = true
            info.expirationIntent = .billingError
            info.gracePeriodExpiresDate = until
        case .billingRetry:
            info.isInBillingRetryPeriod = true
            info.expirationIntent = .billingError
        case .expired(let intent):
            info.isInBillingRetryPeriod = false
            info.expirationIntent = intent
        case .revoked:
            info.isInBillingRetryPeriod = false
            // A refund ends renewal as a cancellation does; Apple's documentation names no intent of its own for it.
            info.expirationIntent = .cancelled
        }
        return info
    }

    /// What the coming renewal costs: the offer's price or the regular one.
    func nextPrice(of subscription: SandboxSubscription) -> Int64? {
        subscription.runningOffer?.offer.price ?? regularPrice(of: subscription)
    }

    /// A price increase's price, what the customer has paid so far, or the catalogue's.
    func regularPrice(of subscription: SandboxSubscription) -> Int64? {
        if let increase = subscription.priceIncrease { return increase.price }
        if subscription.autoRenewProductId == subscription.productId, let price = subscription.renewalPrice {
            return price
        }
        return catalog[subscription.autoRenewProductId]?.price
    }
}
