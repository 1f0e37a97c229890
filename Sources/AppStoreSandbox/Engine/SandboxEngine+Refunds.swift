public import AppStoreModels

extension SandboxEngine {
    /// A customer asks for a refund through the app: CONSUMPTION_REQUEST. The developer has 12 hours, in the pace of the
    /// sandbox, to send consumption information. Then the sandbox does as the developer wishes, and grants where nothing
    /// was wished.
    /// - Throws: ``SandboxError``.
    public mutating func requestRefund(_ id: String, reason: ConsumptionRequestReason, at date: Int64) throws {
        advance(to: date)
        let transaction = try refundable(id)
        guard transaction.refundRequest == nil else {
            throw SandboxError(.notPossible, "a refund of \(id.quoted) is asked for already")
        }
        let decidedAt = now.advanced(bySaturating: configuration.pace.scaled(12 * 3_600_000))
        change(id) { $0.refundRequest = .init(reason: reason, decidedAt: decidedAt, preference: nil) }
        openRefunds.insert(id)
        tell(.consumptionRequest, transaction: id, reason: reason)
    }

    /// The App Store grants a refund, asked for or not: REFUND. If the current period of a subscription is refunded, it
    /// ends, and renewal is switched off.
    /// `percentage` is the refunded part in milliunits of a percent (100000 is all of it); nil for all.
    /// - Throws: ``SandboxError``.
    public mutating func refund(
        _ id: String, percentage: Int32? = nil, reason: RevocationReason = .other, at date: Int64
    ) throws {
        advance(to: date)
        _ = try refundable(id)
        if let percentage, !(1...100_000).contains(percentage) {
            throw SandboxError(.invalidRequest, "percentage: has to be 1 to 100000 milliunits")
        }
        revoke(id, percentage: percentage ?? 100_000, reason: reason)
    }

    /// The App Store refuses the refund that was asked for: REFUND_DECLINED.
    /// - Throws: ``SandboxError``.
    public mutating func declineRefund(_ id: String, at date: Int64) throws {
        advance(to: date)
        guard try transaction(id).refundRequest != nil else {
            throw SandboxError(.notPossible, "no refund of \(id.quoted) is asked for")
        }
        decline(id)
    }

    /// The App Store takes a refund back: REFUND_REVERSED. A subscription whose period still runs is active again.
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
        }
        let time = now
        let isCurrent = subscriptions[transaction.originalId].map { subscription in
            currentTransactions(of: subscription).contains { $0.id == id }
        }
        update(transaction.originalId) { subscription in
            guard isCurrent == true, subscription.phase == .revoked else { return }
            subscription.phase = subscription.expiresDate > time ? .active : .expired(.cancelled)
        }
        tell(.refundReversed, transaction: id)
        if subscriptions[transaction.originalId]?.phase == .active { shareSubscription(transaction.originalId) }
    }

    private func refundable(_ id: String) throws -> SandboxTransaction {
        let transaction = try transaction(id)
        guard transaction.sharedFrom == nil else {
            throw SandboxError(.notPossible, "the transaction \(id.quoted) is a family member's copy")
        }
        guard !transaction.isRevoked else {
            throw SandboxError(.notPossible, "the transaction \(id.quoted) is refunded already")
        }
        return transaction
    }

    /// What becomes of a refund request when its time has come.
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
        tell(.refundDeclined, transaction: id)
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
        // With seats, a period ends only when each of its transactions was refunded.
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
        }
        tell(.refund, transaction: id)
        if current?.isAutoRenewOn == true { switchOff(original) }
        unshare(id)
    }

    /// The part of a period that is still to come, in milliunits of a percent; all of what is not a subscription.
    private func unusedShare(_ id: String) -> Int32 {
        guard let payload = transactions[id]?.payload, let begin = payload.purchaseDate, let end = payload.expiresDate,
            end > begin
        else { return 100_000 }
        let share = Double(end - now) / Double(end - begin) * 100_000
        return Int32(min(max(share, 1), 100_000))
    }

    // MARK: What the developer does

    /// The app has delivered a purchase and says so; once is as good as twice.
    mutating func finish(_ id: String) {
        guard let transaction = transactions[id], !transaction.isFinished else { return }
        change(id) { $0.isFinished = true }
    }

    /// Keeps consumption information and what the developer wishes about the refund.
    mutating func keepConsumption(_ id: String, _ json: [UInt8], _ preference: RefundPreference?) {
        guard var transaction = transactions[id] else { return }
        transaction.consumptionInformation = json
        transaction.refundRequest?.preference = preference
        // Nothing that the history shows has changed.
        transactions[id] = transaction
    }

    /// Ties the purchase to another account, now and at coming renewals.
    mutating func setAppAccountToken(_ original: String, _ token: String) {
        let id = subscriptions[original]?.transactionId ?? original
        change(id) { $0.payload.appAccountToken = token }
        update(original) { $0.appAccountToken = token }
    }
}
