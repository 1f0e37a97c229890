internal import AppStoreModels

extension SandboxEngine {
    /// Moves a subscriber to another product of the group, at once or at the next renewal.
    ///
    /// A higher level, or the same level with periods of the same length, takes effect at once (UPGRADE); a lower level, or
    /// the same level with another length, at the next renewal (DOWNGRADE). Choosing the current product again takes a
    /// pending change back.
    /// - Returns: the transaction of the current period.
    /// - Throws: ``SandboxError``.
    public mutating func changePlan(_ id: String, to productId: String, at date: Int64) throws -> SandboxTransaction {
        advance(to: date)
        let subscription = try ownSubscription(id)
        let product = try product(productId)
        guard product.isForSale else {
            throw SandboxError(.unknownProduct, "the product \(productId.quoted) is not for sale")
        }
        guard product.group == subscription.group else {
            throw SandboxError(.notPossible, "the product \(productId.quoted) is of another subscription group")
        }
        guard !subscription.hasEnded else { throw SandboxError(.notPossible, "the subscription has ended; buy again") }
        let order = SandboxOrder(customer: subscription.customer, productId: productId)
        return try changeWhileSubscribed(subscription, product, nil, order)
    }

    /// The purchaser's subscription with an id; a copy of the family's cannot be changed.
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
                tell(.offerRedeemed, subscription: id)
            } else if subscription.isUnpaid {
                // Who pays again has mended the payment.
                recover(id)
            } else if subscription.autoRenewProductId != product.id {
                update(id) { $0.autoRenewProductId = product.id }
                tell(.didChangeRenewalPref, subscription: id)
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
            tell(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .downgrade, subscription: id)
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
        tell(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade, subscription: id)
        shareSubscription(id)
    }

    /// Ends a period whose place another product takes now.
    mutating func upgrade(_ transactionId: String) {
        let date = now
        change(transactionId) {
            $0.payload.isUpgraded = true
            $0.upgradeDate = date
        }
    }

    private func isImmediate(from current: String, to product: SandboxProduct) -> Bool {
        guard let old = catalog[current] else { return true }
        if product.level != old.level { return product.level < old.level }
        guard let period = product.period, let oldPeriod = old.period else { return true }
        return period.isSameLength(as: oldPeriod)
    }

    // MARK: Auto-renewal

    /// Switches renewal off, as a customer who cancels does: DID_CHANGE_RENEWAL_STATUS with AUTO_RENEW_DISABLED. What is
    /// unpaid ends at once; what is paid runs to its end.
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

    /// Switches renewal on again: DID_CHANGE_RENEWAL_STATUS with AUTO_RENEW_ENABLED.
    /// - Throws: ``SandboxError``.
    public mutating func enableAutoRenewal(_ id: String, at date: Int64) throws {
        advance(to: date)
        let subscription = try ownSubscription(id)
        guard !subscription.hasEnded, !subscription.isAutoRenewOn else {
            throw SandboxError(.notPossible, "renewal of the subscription \(id.quoted) cannot be switched on")
        }
        update(id) {
            $0.isAutoRenewOn = true
            $0.renewals = 0
        }
        tell(.didChangeRenewalStatus, .autoRenewEnabled, subscription: id)
    }

    mutating func switchOff(_ id: String) {
        update(id) {
            $0.isAutoRenewOn = false
            $0.runningOffer = nil
        }
        tell(.didChangeRenewalStatus, .autoRenewDisabled, subscription: id)
    }
}
