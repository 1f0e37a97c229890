internal import AppStoreModels
internal import AppStoreServer

extension SandboxEngine {
    /// Ends a period, a grace period or a billing retry period.
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
            recordSharedEvent(.gracePeriodExpired, nil, subscription: id)
        case .billingRetry: expire(id, .billingError, .billingRetry)
        case .expired, .revoked: break
        }
    }

    private mutating func endPeriod(_ id: String, _ subscription: SandboxSubscription) {
        // After a reversed refund, a paid period of a lower level of service can run longer. Nothing is charged before it ends.
        chooseCurrentPeriod(of: id)
        guard subscriptions[id]?.expiresDate == subscription.expiresDate else { return shareSubscription(id) }
        if let maximum = configuration.maximumRenewals, subscription.renewals >= maximum {
            // The sandbox cancels on behalf of the customer and sends no notification for it.
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
        recordEvent(.didRenew, subscription: id)
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
        let retryEnds = subscription.expiresDate.addingSaturated(
            configuration.pace.days(configuration.billingRetryDays))
        let grace = configuration.gracePeriodDays.map {
            subscription.expiresDate.addingSaturated(configuration.pace.days($0))
        }
        update(id) {
            $0.retryEnds = retryEnds
            $0.phase = grace.map { .gracePeriod(until: $0) } ?? .billingRetry
        }
        recordSharedEvent(.didFailToRenew, grace == nil ? nil : .gracePeriod, subscription: id)
    }

    /// Ends a subscription: EXPIRED.
    mutating func expire(_ id: String, _ intent: ExpirationIntent, _ subtype: Subtype?) {
        update(id) {
            $0.phase = .expired(intent)
            $0.retryEnds = nil
            $0.runningOffer = nil
        }
        recordSharedEvent(.expired, subtype, subscription: id)
    }

    // MARK: Billing

    /// Makes all charges of a subscription fail from now on.
    /// - Throws: ``SandboxError``.
    public mutating func failBilling(_ id: String, at date: Int64) throws {
        advance(to: date)
        try ensure(!ownSubscription(id).hasEnded, .notPossible, "the subscription \(id.quoted) has ended")
        update(id) { $0.isBillingFailing = true }
    }

    /// Makes charges succeed again. An unpaid subscription renews at once: DID_RENEW with BILLING_RECOVERY.
    ///
    /// During the grace period, the new period begins at the end of the old one. Later, it begins now.
    /// - Throws: ``SandboxError``.
    public mutating func recoverBilling(_ id: String, at date: Int64) throws {
        advance(to: date)
        let subscription = try ownSubscription(id)
        try ensure(!subscription.hasEnded, .notPossible, "the subscription \(id.quoted) has ended; buy again")
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
        recordEvent(.didRenew, .billingRecovery, subscription: id)
        shareSubscription(id)
        // If the grace period is longer than the subscription's period, further renewals are already due.
        advance(to: now)
    }

    /// Moves a subscriber to another product of the group, at once or at the next renewal.
    ///
    /// A higher level, or the same level with the same period, takes effect at once (UPGRADE). A lower level, or the same
    /// level with another period, takes effect at the next renewal (DOWNGRADE). Choosing the current product again cancels a
    /// pending change.
    /// - Returns: the transaction of the current period.
    /// - Throws: ``SandboxError``.
    public mutating func changePlan(_ id: String, to productId: String, at date: Int64) throws -> SandboxTransaction {
        advance(to: date)
        let subscription = try ownSubscription(id)
        let product = try productForSale(productId)
        guard product.group == subscription.group else {
            throw SandboxError(.notPossible, "the product \(productId.quoted) belongs to another subscription group")
        }
        try ensure(!subscription.hasEnded, .notPossible, "the subscription has ended; buy again")
        let order = SandboxOrder(customer: subscription.customer, productId: productId)
        return try changeWhileSubscribed(subscription, product, nil, order)
    }

    /// The purchaser's subscription with an id. A family member's copy cannot be changed.
    func ownSubscription(_ id: String) throws -> SandboxSubscription {
        let subscription = try subscription(id)
        guard subscription.sharedFrom == nil else {
            throw SandboxError(.notPossible, "the subscription \(id.quoted) is a family member's copy")
        }
        return subscription
    }

    mutating func changeWhileSubscribed(
        _ subscription: SandboxSubscription, _ product: SandboxProduct, _ offer: SandboxOffer?, _ order: SandboxOrder
    ) throws -> SandboxTransaction {
        let id = subscription.originalTransactionId
        if let token = order.appAccountToken { update(id) { $0.appAccountToken = token } }
        if product.id == subscription.productId {
            if let offer {
                update(id) {
                    $0.autoRenewProductId = product.id
                    $0.isAutoRenewOn = true
                    $0.runningOffer = .init(offer: offer, remaining: offer.transactions)
                }
                recordEvent(.offerRedeemed, subscription: id)
            } else if subscription.isUnpaid {
                // A new purchase proves a working payment method.
                recover(id)
            } else if subscription.autoRenewProductId != product.id {
                update(id) { $0.autoRenewProductId = product.id }
                recordEvent(.didChangeRenewalPref, subscription: id)
            } else {
                throw SandboxError(.alreadyOwned, "the customer is subscribed to \(product.id.quoted) already")
            }
        } else if isImmediate(from: subscription.productId, to: product) {
            moveNow(id, product, offer)
        } else {
            update(id) {
                $0.autoRenewProductId = product.id
                $0.isAutoRenewOn = true
                $0.priceIncrease = nil
                $0.runningOffer = offer.map { .init(offer: $0, remaining: $0.transactions) }
            }
            recordEvent(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .downgrade, subscription: id)
        }
        return try transaction(try self.subscription(id).transactionId)
    }

    private mutating func moveNow(_ id: String, _ product: SandboxProduct, _ offer: SandboxOffer?) {
        guard let old = subscriptions[id] else { return }
        for transaction in currentTransactions(of: old) { upgrade(transaction.id) }
        update(id) {
            $0.isAutoRenewOn = true
            $0.isBillingFailing = false
            $0.runningOffer = nil
            $0.renewals = 0
        }
        addPeriod(to: id, product, offer: offer, price: product.price, reason: .purchase, from: now)
        recordEvent(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade, subscription: id)
        shareSubscription(id)
    }

    /// Ends a period because of an upgrade. A refunded transaction of the period stays refunded; if the refund is reversed, the
    /// transaction is upgraded.
    mutating func upgrade(_ transactionId: String) {
        let date = now
        change(transactionId) {
            $0.upgradeDate = date
            if !$0.isRevoked { $0.payload.isUpgraded = true }
        }
    }

    private func isImmediate(from current: String, to product: SandboxProduct) -> Bool {
        guard let old = catalog[current] else { return true }
        if product.level != old.level { return product.level < old.level }
        guard let period = product.period, let oldPeriod = old.period else { return true }
        return period.isSameLength(as: oldPeriod)
    }

    // MARK: Auto-renewal

    /// Cancels a subscription: DID_CHANGE_RENEWAL_STATUS with AUTO_RENEW_DISABLED. A paid period continues to its end; an
    /// unpaid subscription ends at once.
    /// - Throws: ``SandboxError``.
    public mutating func cancel(_ id: String, at date: Int64) throws {
        advance(to: date)
        let subscription = try ownSubscription(id)
        guard !subscription.hasEnded, subscription.isAutoRenewOn else {
            throw SandboxError(.notPossible, "the subscription \(id.quoted) does not renew")
        }
        switchOff(id)
        if subscription.isUnpaid { expire(id, .cancelled, .voluntary) }
    }

    /// Turns auto-renewal on again: DID_CHANGE_RENEWAL_STATUS with AUTO_RENEW_ENABLED.
    /// - Throws: ``SandboxError``.
    public mutating func enableAutoRenewal(_ id: String, at date: Int64) throws {
        advance(to: date)
        let subscription = try ownSubscription(id)
        guard !subscription.hasEnded, !subscription.isAutoRenewOn else {
            throw SandboxError(
                .notPossible, "the subscription \(id.quoted) has ended or auto-renewal is on already")
        }
        update(id) {
            $0.isAutoRenewOn = true
            $0.renewals = 0
        }
        recordEvent(.didChangeRenewalStatus, .autoRenewEnabled, subscription: id)
    }

    mutating func switchOff(_ id: String) {
        update(id) {
            $0.isAutoRenewOn = false
            $0.runningOffer = nil
        }
        recordEvent(.didChangeRenewalStatus, .autoRenewDisabled, subscription: id)
    }

    /// Sets the price of a product, in milliunits of the currency.
    ///
    /// New customers pay it at once. Subscribers who pay less get PRICE_INCREASE and pay the new price from their next
    /// renewal on. With `needsConsent` the subtype is PENDING until they answer, otherwise ACCEPTED.
    /// - Throws: ``SandboxError``.
    public mutating func setPrice(_ productId: String, _ price: Int64, needsConsent: Bool, at date: Int64) throws {
        advance(to: date)
        _ = try product(productId)
        guard (0...1_000_000_000_000).contains(price) else {
            throw SandboxError(.invalidRequest, "price: must be 0 to 1000000000000 milliunits")
        }
        for id in subscriptions.keys.sorted() {
            guard let subscription = subscriptions[id], subscription.sharedFrom == nil, !subscription.hasEnded,
                subscription.isAutoRenewOn, subscription.autoRenewProductId == productId,
                let current = regularPrice(of: subscription)
            else { continue }
            guard price > current else {
                // Every subscriber pays a lower price from the next renewal on.
                update(id) {
                    $0.renewalPrice = $0.productId == productId ? price : $0.renewalPrice
                    $0.priceIncrease = nil
                }
                continue
            }
            let status: PriceIncreaseStatus = needsConsent ? .pending : .consentedOrNotified
            update(id) { $0.priceIncrease = .init(price: price, status: status) }
            recordEvent(.priceIncrease, needsConsent ? .pending : .accepted, subscription: id)
        }
        catalog[productId]?.price = price
    }

    /// Answers a price increase for a subscriber. Consent sends PRICE_INCREASE with ACCEPTED; refusal turns auto-renewal off.
    /// - Throws: ``SandboxError``.
    public mutating func answerPriceIncrease(_ id: String, accepted: Bool, at date: Int64) throws {
        advance(to: date)
        guard try ownSubscription(id).priceIncrease?.status == .pending else {
            throw SandboxError(.notPossible, "no price increase of \(id.quoted) awaits consent")
        }
        if accepted {
            update(id) { $0.priceIncrease?.status = .consentedOrNotified }
            recordEvent(.priceIncrease, .accepted, subscription: id)
        } else {
            switchOff(id)
        }
    }

    /// Takes a product off sale or puts it back on sale. Subscriptions to a product off sale end at their next renewal:
    /// EXPIRED with PRODUCT_NOT_FOR_SALE.
    /// - Throws: ``SandboxError``.
    public mutating func setForSale(_ productId: String, _ isForSale: Bool, at date: Int64) throws {
        advance(to: date)
        _ = try product(productId)
        catalog[productId]?.isForSale = isForSale
    }
}

/// A request to extend all active subscriptions of a product.
struct MassExtension: Sendable {
    struct Completion: Sendable {
        let date: Int64
        let succeeded: Int64
        let failed: Int64
    }

    let request: MassExtendRenewalDateRequest
    let dueDate: Int64
    var completion: Completion?
}

extension SandboxEngine {
    /// Apple's error for a request to extend the subscription; nil if the subscription can be extended.
    ///
    /// Apple allows two extensions of a subscription in 365 days, of at most 90 days each, while the subscription is active
    /// and paid (Reference.md S5.6). Days pass at the sandbox's pace.
    func refusalToExtend(_ subscription: SandboxSubscription) -> APIErrorCode? {
        guard subscription.sharedFrom == nil else { return .familySharedSubscriptionExtensionIneligible }
        guard subscription.phase == .active else { return .subscriptionExtensionIneligible }
        let payload = transactions[subscription.transactionId]?.payload
        guard payload?.offerDiscountType != .freeTrial, payload?.price ?? 1 > 0 else {
            return .subscriptionExtensionIneligible
        }
        let since = now - configuration.pace.days(365)
        return subscription.extensions.count { $0.date > since } >= 2 ? .subscriptionMaxExtension : nil
    }

    /// Extends a subscription without checking ``refusalToExtend(_:)``: RENEWAL_EXTENDED.
    mutating func extend(_ id: String, byDays days: Int32, requestIdentifier: String) {
        lengthen(id, byDays: days, requestIdentifier: requestIdentifier)
        recordEvent(.renewalExtended, subscription: id)
    }

    private mutating func lengthen(_ id: String, byDays days: Int32, requestIdentifier: String) {
        guard let subscription = subscriptions[id] else { return }
        let effective = subscription.expiresDate.addingSaturated(configuration.pace.days(Int64(days)))
        let time = now
        for each in [subscription] + copies(of: id).filter({ $0.phase == .active }) {
            change(each.transactionId) { $0.payload.expiresDate = effective }
            update(each.originalTransactionId) { $0.expiresDate = effective }
        }
        update(id) {
            $0.extensions.append(.init(requestIdentifier: requestIdentifier, date: time, effectiveDate: effective))
        }
    }

    /// Starts an extension for all subscribers. It completes after an hour at the sandbox's pace; Apple takes hours to days
    /// (Reference.md S2.1).
    mutating func beginMassExtension(_ request: MassExtendRenewalDateRequest) {
        guard massExtensions[request.requestIdentifier] == nil else { return }
        let due = now.addingSaturated(configuration.pace.scaled(3_600_000))
        massExtensions[request.requestIdentifier] = MassExtension(request: request, dueDate: due)
    }

    /// Sends RENEWAL_EXTENSION with FAILURE for each subscription that cannot be extended, and with SUMMARY at the end.
    /// RENEWAL_EXTENDED is for single requests only.
    mutating func completeMassExtension(_ id: String) {
        guard let request = massExtensions[id]?.request else { return }
        var (succeeded, failed): (Int64, Int64) = (0, 0)
        let isEverywhere = request.storefrontCountryCodes?.contains(configuration.storefront) ?? true
        for original in isEverywhere ? subscriptions.keys.sorted() : [] {
            guard let subscription = subscriptions[original], subscription.productId == request.productId,
                subscription.phase == .active, subscription.sharedFrom == nil
            else { continue }
            if refusalToExtend(subscription) == nil {
                lengthen(original, byDays: request.extendByDays, requestIdentifier: id)
                succeeded += 1
            } else {
                failed += 1
                recordEvent(.renewalExtension, .failure, subscription: original)
            }
        }
        massExtensions[id]?.completion = .init(date: now, succeeded: succeeded, failed: failed)
        let date = stamp()
        let summary = Summary {
            $0.environment = configuration.environment
            $0.appAppleId = configuration.shownAppAppleId
            $0.bundleId = configuration.bundleId
            $0.productId = request.productId
            $0.requestIdentifier = id
            $0.storefrontCountryCodes = request.storefrontCountryCodes
            $0.succeededCount = succeeded
            $0.failedCount = failed
        }
        events.append(
            SandboxEvent(
                uuid: identifiers.uuid(), type: .renewalExtension, subtype: .summary, date: date, summary: summary))
    }
}
