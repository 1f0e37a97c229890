public import AppStoreModels
internal import Purchases

extension SandboxEngine {
    /// Requests a refund as a customer does in the app: CONSUMPTION_REQUEST. The developer has 12 hours, at the sandbox's
    /// pace, to send consumption information. The sandbox then follows the developer's preference, and grants the refund
    /// without one.
    /// - Throws: ``SandboxError``.
    public mutating func requestRefund(_ id: String, reason: ConsumptionRequestReason, at date: Int64) throws {
        advance(to: date)
        let transaction = try refundable(id)
        try ensure(transaction.refundRequest == nil, .notPossible, "a refund of \(id.quoted) is already requested")
        let decidedAt = now.addingSaturated(configuration.pace.scaled(12 * 3_600_000))
        change(id) { $0.refundRequest = .init(reason: reason, decidedAt: decidedAt, preference: nil) }
        openRefunds.insert(id)
        recordEvent(.consumptionRequest, transaction: id, reason: reason)
    }

    /// Grants a refund, with or without a request: REFUND. A refund of a subscription's current period ends the period and
    /// turns auto-renewal off. `percentage` is the refunded part in milliunits of a percent (100000 is all of it); nil for all.
    /// - Throws: ``SandboxError``.
    public mutating func refund(
        _ id: String, percentage: Int32? = nil, reason: RevocationReason = .other, at date: Int64
    ) throws {
        advance(to: date)
        _ = try refundable(id)
        if let percentage, !(1...100_000).contains(percentage) {
            throw SandboxError(.invalidRequest, "percentage: must be 1 to 100000 milliunits")
        }
        revoke(id, percentage: percentage ?? 100_000, reason: reason)
    }

    /// Declines a requested refund: REFUND_DECLINED.
    /// - Throws: ``SandboxError``.
    public mutating func declineRefund(_ id: String, at date: Int64) throws {
        advance(to: date)
        try ensure(transaction(id).refundRequest != nil, .notPossible, "no refund of \(id.quoted) is requested")
        decline(id)
    }

    /// Reverses a refund: REFUND_REVERSED. A subscription is active again if the period has not ended, even if the customer
    /// has bought and lost other periods since.
    /// - Throws: ``SandboxError``.
    public mutating func reverseRefund(_ id: String, at date: Int64) throws {
        advance(to: date)
        let transaction = try transaction(id)
        guard transaction.isRevoked, transaction.payload.revocationType != .familyRevoke else {
            throw SandboxError(.notPossible, "the transaction \(id.quoted) is not refunded")
        }
        change(id) {
            $0.payload.revocationDate = nil
            $0.payload.revocationReason = nil
            $0.payload.revocationType = nil
            $0.payload.revocationPercentage = nil
            $0.refundRevision = nil
            if $0.upgradeDate != nil { $0.payload.isUpgraded = true }
        }
        let time = now
        let isCurrent = subscriptions[transaction.originalId].map { subscription in
            currentTransactions(of: subscription).contains { $0.id == id }
        }
        update(transaction.originalId) { subscription in
            guard isCurrent == true, subscription.phase == .revoked else { return }
            subscription.phase = subscription.expiresDate > time ? .active : .expired(.cancelled)
        }
        chooseCurrentPeriod(of: transaction.originalId)
        recordEvent(.refundReversed, transaction: id)
        if subscriptions[transaction.originalId]?.phase == .active { shareSubscription(transaction.originalId) }
    }

    private func refundable(_ id: String) throws -> SandboxTransaction {
        let transaction = try transaction(id)
        guard transaction.sharedFrom == nil else {
            throw SandboxError(.notPossible, "the transaction \(id.quoted) is a family member's copy")
        }
        try ensure(!transaction.isRevoked, .notPossible, "the transaction \(id.quoted) is refunded already")
        return transaction
    }

    /// Decides a refund request at the end of the developer's 12 hours.
    mutating func decideRefund(_ id: String) {
        guard let request = transactions[id]?.refundRequest else { return }
        switch request.preference {
        case .decline?: decline(id)
        case .grantProrated?: revoke(id, percentage: unusedShare(id), reason: .other)
        default: revoke(id, percentage: 100_000, reason: .other)
        }
    }

    private mutating func decline(_ id: String) {
        openRefunds.remove(id)
        change(id) { $0.refundRequest = nil }
        recordEvent(.refundDeclined, transaction: id)
    }

    private mutating func revoke(_ id: String, percentage: Int32, reason: RevocationReason) {
        let time = now
        openRefunds.remove(id)
        change(id) {
            $0.refundRequest = nil
            $0.payload.revocationDate = time
            $0.payload.revocationReason = reason
            $0.payload.revocationType = percentage == 100_000 ? .refundFull : .refundProrated
            $0.payload.revocationPercentage = percentage
        }
        transactions[id]?.refundRevision = revision
        let original = transactions[id]?.originalId ?? id
        // A period with seats ends when all of its transactions are refunded.
        let current = subscriptions[original].flatMap { subscription in
            let period = currentTransactions(of: subscription)
            return period.contains { $0.id == id } && period.allSatisfy(\.isRevoked) ? subscription : nil
        }
        if current != nil {
            update(original) {
                $0.phase = .revoked
                $0.retryEnds = nil
                $0.runningOffer = nil
            }
            chooseCurrentPeriod(of: original)
        }
        recordEvent(.refund, transaction: id)
        if current?.isAutoRenewOn == true { switchOff(original) }
        unshare(id)
        if current != nil, subscriptions[original]?.phase == .active { shareSubscription(original) }
    }

    /// Makes the period current that decides among the resolved purchases (`PurchaseHistory.subscriptions(at:)`). The documents
    /// that the sandbox signs then resolve to the period that it continues.
    ///
    /// Several run after a reversed refund, if the customer bought again after the refund. The renewal settings stay, because
    /// they are the customer's last.
    mutating func chooseCurrentPeriod(of original: String) {
        guard let subscription = subscriptions[original],
            let standing = history(of: customers[subscription.customer], []).subscriptions(at: now)
                .first(where: { $0.subscriptionId == original }),
            let chosen = standing.transactionId, let product = standing.productId,
            !currentTransactions(of: subscription).contains(where: { $0.id == chosen })
        else { return }
        let price = product == subscription.productId ? subscription.renewalPrice : catalog[product]?.price
        update(original) {
            $0.transactionId = chosen
            $0.productId = product
            $0.expiresDate = standing.periodEnd
            $0.renewalPrice = price
            switch standing.status {
            case .active:
                $0.phase = .active
                $0.retryEnds = nil
            case .revoked: $0.phase = .revoked
            default: if $0.phase == .revoked { $0.phase = .expired(.cancelled) }
            }
        }
    }

    /// The unused part of a period in milliunits of a percent; all of it for one-time purchases.
    private func unusedShare(_ id: String) -> Int32 {
        guard let payload = transactions[id]?.payload, let begin = payload.purchaseDate, let end = payload.expiresDate,
            end > begin
        else { return 100_000 }
        let share = Double(end - now) / Double(end - begin) * 100_000
        return Int32(min(max(share, 1), 100_000))
    }

    // MARK: Developer actions

    /// Finishes a transaction. A second call changes nothing.
    mutating func finish(_ id: String) {
        guard let transaction = transactions[id], !transaction.isFinished else { return }
        change(id) { $0.isFinished = true }
    }

    /// Stores consumption information and the developer's refund preference.
    mutating func keepConsumption(_ id: String, _ json: [UInt8], _ preference: RefundPreference?) {
        guard var transaction = transactions[id] else { return }
        transaction.consumptionInformation = json
        transaction.refundRequest?.preference = preference
        // The history does not show this change, so the revision stays.
        transactions[id] = transaction
    }

    /// Sets the app account token of a purchase and of its later renewals.
    mutating func setAppAccountToken(_ original: String, _ token: String) {
        let id = subscriptions[original]?.transactionId ?? original
        change(id) { $0.payload.appAccountToken = token }
        update(original) { $0.appAccountToken = token }
    }
}
