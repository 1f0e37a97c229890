internal import AppStoreModels

// Multiseat subscriptions whose invitations the developer manages (Reference.md S2.1 and S5.1).

extension SandboxEngine {
    /// Adds seats to the current period as one more transaction: INCREASE_QUANTITY.
    /// - Throws: ``SandboxError``.
    public mutating func addSeats(_ count: Int32, to id: String, at date: Int64) throws -> SandboxTransaction {
        advance(to: date)
        let subscription = try multiseat(id)
        guard subscription.phase == .active, let product = catalog[subscription.productId] else {
            throw SandboxError(.notPossible, "the subscription is not active")
        }
        try SandboxSubscription.Seats.check(count)
        let added = record(
            Charge(
                customer: subscription.customer, product: product, quantity: count, hasSeats: true,
                price: subscription.renewalPrice, reason: .purchase, purchaseDate: now,
                expiresDate: subscription.expiresDate, appAccountToken: subscription.appAccountToken),
            originalId: id, originalDate: transactions[id]?.payload.originalPurchaseDate)
        let renewalQuantity = (subscription.seats?.renewalQuantity ?? 0).advanced(bySaturating: count)
        update(id) { $0.seats?.renewalQuantity = renewalQuantity }
        for transaction in currentTransactions(of: subscription) {
            change(transaction.id) { $0.payload.additionalTransactionReason = .seatAddition }
        }
        recordEvent(.didChangeRenewalPref, .increaseQuantity, subscription: id, transaction: added.id)
        return try transaction(added.id)
    }

    /// Renews with fewer seats from the next period on: DECREASE_QUANTITY.
    /// - Throws: ``SandboxError``.
    public mutating func removeSeats(_ count: Int32, from id: String, at date: Int64) throws {
        advance(to: date)
        guard let seats = try multiseat(id).seats, count > 0, count < seats.renewalQuantity else {
            throw SandboxError(.invalidRequest, "seats: must leave at least one for the next period")
        }
        update(id) { $0.seats?.renewalQuantity -= count }
        recordEvent(.didChangeRenewalPref, .decreaseQuantity, subscription: id)
    }

    /// Refunds seats of a transaction, which stays valid for the remaining seats: REFUND with SEATS.
    /// - Throws: ``SandboxError``.
    public mutating func refundSeats(_ count: Int32, of transactionId: String, at date: Int64) throws {
        advance(to: date)
        let transaction = try transaction(transactionId)
        let revoked = transaction.payload.multiSeatInfo?.revokedSeatQuantity ?? 0
        guard transaction.payload.multiSeatInfo != nil, !transaction.isRevoked else {
            throw SandboxError(.notPossible, "the transaction \(transactionId.quoted) has no seats to refund")
        }
        guard count > 0, count <= (transaction.payload.quantity ?? 0) - revoked else {
            throw SandboxError(.invalidRequest, "seats: the transaction has fewer seats left")
        }
        change(transactionId) { $0.payload.multiSeatInfo?.revokedSeatQuantity = revoked + count }
        recordEvent(.refund, .seats, transaction: transactionId)
    }

    /// Ends claims as the App Store does by itself: UNCLAIM_SEATS.
    /// - Throws: ``SandboxError``.
    public mutating func unclaimSeats(_ claims: [String], of id: String, at date: Int64) throws {
        advance(to: date)
        let known = Set(try multiseat(id).seats?.claims.map(\.id) ?? [])
        guard !claims.isEmpty, known.isSuperset(of: claims) else {
            throw SandboxError(.invalidRequest, "claims: the subscription does not have this claim")
        }
        update(id) { $0.seats?.claims.removeAll { claims.contains($0.id) } }
        recordEvent(.unclaimSeats, subscription: id)
        events[events.count - 1].unclaimSeatIds = claims
    }

    /// The transactions of the current or last period.
    func currentTransactions(of subscription: SandboxSubscription) -> [SandboxTransaction] {
        guard subscription.seats != nil else { return transactions[subscription.transactionId].map { [$0] } ?? [] }
        return (customers[subscription.customer]?.transactionIds ?? []).compactMap { transactions[$0] }.filter {
            $0.originalId == subscription.originalTransactionId && $0.payload.productId == subscription.productId
                && $0.payload.expiresDate == subscription.expiresDate
        }
    }

    /// The seats of the current period: the seats of all its transactions, less the refunded ones.
    func seatCount(of subscription: SandboxSubscription) -> Int {
        currentTransactions(of: subscription).filter { !$0.isRevoked }.reduce(0) { sum, transaction in
            let payload = transaction.payload
            return sum + Int(payload.quantity ?? 0) - Int(payload.multiSeatInfo?.revokedSeatQuantity ?? 0)
        }
    }

    /// Claims a seat. A second request with the same identifier gets the same claim.
    /// - Returns: nil if all seats are claimed.
    mutating func claimSeat(of id: String, requestIdentifier: String, appTransactionId: String?) -> String? {
        guard let subscription = subscriptions[id], let seats = subscription.seats else { return nil }
        if let known = seats.claims.first(where: { $0.requestIdentifier == requestIdentifier }) { return known.id }
        guard seats.claims.count < seatCount(of: subscription) else { return nil }
        let claim = SandboxSubscription.Seats.Claim(
            id: identifiers.uuid(), requestIdentifier: requestIdentifier, appTransactionId: appTransactionId)
        update(id) { $0.seats?.claims.append(claim) }
        return claim.id
    }

    private func multiseat(_ id: String) throws -> SandboxSubscription {
        let subscription = try subscription(id)
        try ensure(subscription.seats != nil, .notPossible, "the subscription \(id.quoted) has no seats")
        return subscription
    }
}

extension Int32 {
    fileprivate func advanced(bySaturating count: Int32) -> Int32 {
        let (sum, overflow) = addingReportingOverflow(count)
        return overflow ? .max : sum
    }
}
