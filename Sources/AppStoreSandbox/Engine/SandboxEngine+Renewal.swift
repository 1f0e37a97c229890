internal import AppStoreModels

extension SandboxEngine {
    /// What the App Store does when a period, a grace period or a retry period ends.
    mutating func continueSubscription(_ id: String) {
        guard let subscription = subscriptions[id] else { return }
        switch subscription.phase {
        case .active: endPeriod(id, subscription)
        case .gracePeriod(let until):
            guard now >= until, (subscription.retryEnds ?? .max) > now else {
                expire(id, .billingError, .billingRetry)
                return
            }
            update(id) { $0.phase = .billingRetry }
            tell(.gracePeriodExpired, subscription: id)
            mirror(id, .gracePeriodExpired, nil)
        case .billingRetry: expire(id, .billingError, .billingRetry)
        case .expired, .revoked: break
        }
    }

    private mutating func endPeriod(_ id: String, _ subscription: SandboxSubscription) {
        if let maximum = configuration.maximumRenewals, subscription.renewals >= maximum {
            // The sandbox cancels for the customer, without a notification of its own.
            update(id) { $0.isAutoRenewOn = false }
            return expire(id, .cancelled, .voluntary)
        }
        guard subscription.isAutoRenewOn else { return expire(id, .cancelled, .voluntary) }
        if subscription.priceIncrease?.status == .pending {
            return expire(id, .noConsentToPriceIncrease, .priceIncrease)
        }
        guard let product = catalog[subscription.autoRenewProductId], product.isForSale else {
            return expire(id, .productUnavailable, .productNotForSale)
        }
        if subscription.isBillingFailing { return failBilling(id, subscription) }
        renew(id, product, from: subscription.expiresDate)
        tell(.didRenew, subscription: id)
        shareSubscription(id)
    }

    private mutating func renew(_ id: String, _ product: SandboxProduct, from start: Int64) {
        guard let subscription = subscriptions[id] else { return }
        let offer = subscription.runningOffer?.offer
        addPeriod(
            to: id, product, offer: offer, price: regularPrice(of: subscription), reason: .renewal, from: start)
        update(id) { $0.renewals += 1 }
    }

    private mutating func failBilling(_ id: String, _ subscription: SandboxSubscription) {
        let retryEnds = subscription.expiresDate.advanced(
            bySaturating: configuration.pace.days(configuration.billingRetryDays))
        let grace = configuration.gracePeriodDays.map {
            subscription.expiresDate.advanced(bySaturating: configuration.pace.days($0))
        }
        update(id) {
            $0.retryEnds = retryEnds
            $0.phase = grace.map { .gracePeriod(until: $0) } ?? .billingRetry
        }
        tell(.didFailToRenew, grace == nil ? nil : .gracePeriod, subscription: id)
        mirror(id, .didFailToRenew, grace == nil ? nil : .gracePeriod)
    }

    /// Ends a subscription: EXPIRED.
    mutating func expire(_ id: String, _ intent: ExpirationIntent, _ subtype: Subtype?) {
        update(id) {
            $0.phase = .expired(intent)
            $0.retryEnds = nil
            $0.runningOffer = nil
        }
        tell(.expired, subtype, subscription: id)
        mirror(id, .expired, subtype)
    }

    // MARK: Billing

    /// Lets all charges of a subscription fail from now on.
    /// - Throws: ``SandboxError``.
    public mutating func failBilling(_ id: String, at date: Int64) throws {
        advance(to: date)
        guard try !ownSubscription(id).hasEnded else {
            throw SandboxError(.notPossible, "the subscription \(id.quoted) has ended")
        }
        update(id) { $0.isBillingFailing = true }
    }

    /// Lets charges succeed again. A subscription that is unpaid renews at once: DID_RENEW with BILLING_RECOVERY.
    ///
    /// Within the grace period the new period begins where the old one ended, later it begins now.
    /// - Throws: ``SandboxError``.
    public mutating func recoverBilling(_ id: String, at date: Int64) throws {
        advance(to: date)
        let subscription = try ownSubscription(id)
        guard !subscription.hasEnded else {
            throw SandboxError(.notPossible, "the subscription \(id.quoted) has ended; buy again")
        }
        update(id) { $0.isBillingFailing = false }
        if subscription.isUnpaid { recover(id) }
    }

    mutating func recover(_ id: String) {
        guard let subscription = subscriptions[id] else { return }
        guard let product = catalog[subscription.autoRenewProductId], product.isForSale else {
            return expire(id, .productUnavailable, .productNotForSale)
        }
        var start = now
        if case .gracePeriod = subscription.phase { start = subscription.expiresDate }
        update(id) { $0.isBillingFailing = false }
        renew(id, product, from: start)
        tell(.didRenew, .billingRecovery, subscription: id)
        shareSubscription(id)
        // A grace period longer than the subscription's period: what was missed meanwhile is due at once.
        advance(to: now)
    }
}
