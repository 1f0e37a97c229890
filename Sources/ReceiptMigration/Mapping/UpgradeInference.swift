import AppStoreModels

extension ReceiptMapper {
    /// Turns a revocation into an upgrade where another product began, under the same original transaction id, in the
    /// second of the cancellation (Reference.md V3.5 "Upgrade/cancel detail").
    ///
    /// Receipts have whole seconds while Apple's replies have milliseconds in cancellation dates, hence the second.
    func inferUpgrades(_ transactions: inout [MappedTransaction]) {
        // Cancellations are rare: no table is made unless there is one.
        var hasCandidate = false
        for index in transactions.indices where transactions[index].payload.revocationDate != nil {
            if transactions[index].mayBeUpgrade { hasCandidate = true }
        }
        guard hasCandidate else { return }
        struct Start: Hashable {
            let originalTransactionId: String
            let second: Int64
        }
        var products: [Start: [String]] = [:]
        for transaction in transactions where transaction.payload.type == .autoRenewableSubscription {
            guard let original = transaction.payload.originalTransactionId, let date = transaction.payload.purchaseDate,
                let product = transaction.payload.productId
            else { continue }
            let start = Start(originalTransactionId: original, second: date.second)
            // Two different products are enough to find one that differs from any third.
            if products[start, default: []].count < 2, products[start]?.contains(product) != true {
                products[start, default: []].append(product)
            }
        }
        for index in transactions.indices where transactions[index].mayBeUpgrade {
            let payload = transactions[index].payload
            guard let original = payload.originalTransactionId, let date = payload.revocationDate,
                let product = payload.productId
            else { continue }
            let successors = products[Start(originalTransactionId: original, second: date.second)] ?? []
            if successors.contains(where: { $0 != product }) { transactions[index].becomeUpgraded() }
        }
    }
}

extension MappedTransaction {
    fileprivate var mayBeUpgrade: Bool {
        payload.revocationDate != nil && payload.type == .autoRenewableSubscription
            && notes.contains(.cancellationMayBeUpgrade)
    }

    fileprivate mutating func becomeUpgraded() {
        provenance.clear(&payload.revocationDate, .revocationDate)
        provenance.clear(&payload.revocationReason, .revocationReason)
        provenance.set(&payload.isUpgraded, to: true, .isUpgraded, .inferred(.cancelledWhenNextPeriodBegan))
        notes.removeAll { $0 == .cancellationMayBeUpgrade }
    }
}

extension Int64 {
    /// The whole second of a date in milliseconds.
    fileprivate var second: Int64 { flooredQuotient(1000) }
}
