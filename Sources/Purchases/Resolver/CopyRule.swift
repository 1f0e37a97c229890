internal import AppStoreModels

/// Concludes which copies of a purchase are revoked. It looks at the resolved transactions, and every answer uses the result.
///
/// Restoring a purchase used to give it another transaction id, so one purchase can have several transactions. A refund
/// is stated about one of them, and it refunds them all: the customer paid once. Copies are
/// - transactions of one subscription and product with the same `webOrderLineItemId`, which identifies a period on all
///   devices, and the same expiry;
/// - transactions of one product with the same original transaction id, if the product is a non-consumable or a
///   non-renewing subscription.
///
/// The newest statement of the App Store decides about all copies:
/// - A revocation of one copy revokes the others, from the earliest revocation date.
/// - If the App Store signed a transaction (JWS) of another copy after the newest document with the revocation, and it is
///   not revoked, the refund was reversed and no copy is revoked. A receipt does not show that: receipts often lack
///   cancellations.
///
/// These are no copies: transactions for added seats (`additionalTransactionReason`), which are purchases of their own,
/// and a bought and a shared purchase. An upgraded period is not revoked. Unsigned documents decide nothing about a
/// signed transaction.
enum CopyRule {
    /// What the copies of one purchase have in common.
    private struct Purchase: Hashable {
        let originalTransactionId: String
        let productId: String
        /// Nil for a purchase that does not renew.
        let webOrderLineItemId: String?
        /// In seconds: receipts have no milliseconds.
        let expiry: Int64?
        let isFamilyShared: Bool

        /// - Returns: nil for a transaction that has no copies.
        init?(_ payload: borrowing JWSTransactionDecodedPayload) {
            guard let original = payload.originalTransactionId ?? payload.transactionId,
                let product = payload.productId, payload.additionalTransactionReason == nil
            else { return nil }
            if payload.isSubscription {
                guard let order = payload.webOrderLineItemId, order != "0" else { return nil }
                webOrderLineItemId = order
            } else {
                guard payload.type == .nonConsumable || payload.type == .nonRenewingSubscription else { return nil }
                webOrderLineItemId = nil
            }
            originalTransactionId = original
            productId = product
            expiry = payload.expiresDate?.flooredQuotient(1_000)
            isFamilyShared = payload.inAppOwnershipType == .familyShared
        }
    }

    /// Sets and removes the revocations of copies. The cost is linear in the number of transactions; without a revocation,
    /// the usual case, it only looks for one.
    static func apply(to transactions: inout [StoredTransaction]) {
        var copies: [Purchase: [Int]] = [:]
        for place in transactions.indices where transactions[place].payload.isRevoked {
            if let purchase = Purchase(transactions[place].payload) { copies[purchase] = [] }
        }
        guard !copies.isEmpty else { return }
        for place in transactions.indices {
            guard let purchase = Purchase(transactions[place].payload) else { continue }
            copies[purchase]?.append(place)
        }
        for places in copies.values where places.count > 1 { decide(places, &transactions) }
    }

    private static func decide(_ places: [Int], _ transactions: inout [StoredTransaction]) {
        var revoked = places.filter { transactions[$0].payload.isRevoked }
        let others = places.filter {
            transactions[$0].payload.revocationDate == nil && transactions[$0].payload.isUpgraded != true
        }
        if let reversed = others.compactMap({ transactions[$0].signedTransactionDate }).max() {
            let newest = revoked.filter { transactions[$0].revocationIsProven }
                .map { transactions[$0].revocationStatedAt }.max()
            for place in revoked {
                let stated = transactions[place].revocationStatedAt
                let last = transactions[place].revocationIsProven ? newest ?? stated : stated
                if last < reversed { transactions[place].removeRevocation() }
            }
            revoked.removeAll { !transactions[$0].payload.isRevoked }
        }
        let any = earliest(revoked, transactions)
        let proven = earliest(revoked.filter { transactions[$0].revocationIsProven }, transactions)
        for place in others {
            guard let copy = transactions[place].isSigned ? proven : any else { continue }
            transactions[place].takeRevocation(of: copy)
        }
    }

    private static func earliest(_ places: [Int], _ transactions: [StoredTransaction]) -> StoredTransaction? {
        places.map { transactions[$0] }.min { left, right in
            let (date, other) = (left.payload.revocationDate ?? .max, right.payload.revocationDate ?? .max)
            return date == other
                ? TransactionIdOrder.precedes(left.payload.transactionId ?? "", right.payload.transactionId ?? "")
                : date < other
        }
    }
}

extension StoredTransaction {
    /// When the newest signed transaction (JWS) was signed.
    fileprivate var signedTransactionDate: Int64? {
        origins.first { $0.source.kind == .signedTransaction }?.signedDate
    }

    /// The date of the document with the revocation.
    fileprivate var revocationStatedAt: Int64 {
        let kind = sources.kind(of: .revocationDate)
        return origins.first { $0.source.kind == kind }?.signedDate ?? .max
    }

    /// Whether the App Store states the revocation: in a signed document, or in a notification of version 1 that a server received
    /// with the app's secret.
    fileprivate var revocationIsProven: Bool {
        sources.kind(of: .revocationDate).isSigned || origins.contains { $0.source == .notificationV1 }
    }

    fileprivate mutating func takeRevocation(of copy: StoredTransaction) {
        let rule = Provenance.inferred(.copyWasRevoked)
        sources.conclude(&payload.revocationDate, copy.payload.revocationDate, .revocationDate, rule)
        sources.conclude(&payload.revocationReason, copy.payload.revocationReason, .revocationReason, rule)
        sources.conclude(&payload.revocationType, copy.payload.revocationType, .revocationType, rule)
        sources.conclude(&payload.revocationPercentage, copy.payload.revocationPercentage, .revocationPercentage, rule)
        legacy.cancellationDate = copy.legacy.cancellationDate ?? copy.payload.revocationDate
        legacy.cancellationReason = copy.legacy.cancellationReason
        explainsCancellation = copy.explainsCancellation
    }

    fileprivate mutating func removeRevocation() {
        payload.revocationDate = nil
        payload.revocationReason = nil
        payload.revocationType = nil
        payload.revocationPercentage = nil
        legacy.cancellationDate = nil
        legacy.cancellationReason = nil
    }
}
