internal import AppStoreModels

/// Concludes which copies of a purchase are revoked. It looks at the resolved transactions, and every answer uses the result.
///
/// Restoring a purchase used to give it another transaction id, so one purchase can have several transactions. A refund
/// is stated about one of them, and it refunds them all: the customer paid once. Copies are
/// - transactions of one subscription and product with the same `webOrderLineItemId`, which identifies a period on all
///   devices, and the same expiry;
/// - transactions of one product with the same original transaction id, if the product is a non-consumable or a
///   non-renewing subscription. One of them must state the type; iOS 6 receipts and rows of replies do not.
///
/// The newest statement of the App Store decides about all copies:
/// - A revocation of one copy revokes the others, from the earliest revocation date.
/// - If the App Store signed a transaction (JWS) of another copy more than a day after the newest document with the
///   revocation, and it is not revoked, the refund was reversed and no copy is revoked. A receipt does not show that:
///   receipts often lack cancellations. The day is for answers with several copies, which are signed one after the other;
///   a reversal is usually stated about the refunded copy itself, and counts at once.
///
/// These are no copies: transactions for added seats (`additionalTransactionReason`), which are purchases of their own,
/// and a bought and a shared purchase. An upgraded period is not revoked. Unsigned documents decide nothing about a
/// signed transaction.
enum CopyRule {
    /// A product under an original transaction id.
    private struct Subject: Hashable {
        let originalTransactionId: String
        let productId: String

        init?(_ payload: borrowing JWSTransactionDecodedPayload) {
            guard let original = payload.originalTransactionId ?? payload.transactionId,
                let product = payload.productId
            else { return nil }
            (originalTransactionId, productId) = (original, product)
        }
    }

    /// What the copies of one purchase have in common.
    private struct Purchase: Hashable {
        let subject: Subject
        /// Nil for a purchase that does not renew.
        let webOrderLineItemId: String?
        /// In seconds: receipts have no milliseconds.
        let expiry: Int64?
        let isFamilyShared: Bool

        /// - Parameter types: the stated types.
        /// - Returns: nil for a transaction that has no copies.
        init?(_ payload: borrowing JWSTransactionDecodedPayload, _ types: [Subject: ProductType]) {
            guard let subject = Subject(payload), payload.additionalTransactionReason == nil else { return nil }
            let type = payload.type ?? types[subject]
            if JWSTransactionDecodedPayload.isSubscription(type, expiresDate: payload.expiresDate) {
                guard let order = payload.webOrderLineItemId, order != "0" else { return nil }
                webOrderLineItemId = order
            } else {
                guard type == .nonConsumable || type == .nonRenewingSubscription else { return nil }
                webOrderLineItemId = nil
            }
            self.subject = subject
            expiry = payload.expiresDate?.flooredQuotient(1_000)
            isFamilyShared = payload.inAppOwnershipType == .familyShared
        }
    }

    /// Sets and removes the revocations of copies. The cost is linear in the number of transactions; without a revocation,
    /// the usual case, it only looks for one.
    static func apply(to transactions: inout [StoredTransaction]) {
        let revoked = transactions.indices.filter { transactions[$0].payload.isRevoked }
        guard !revoked.isEmpty, transactions.count > 1 else { return }
        let types = statedTypes(transactions)
        var copies: [Purchase: [Int]] = [:]
        for place in revoked {
            if let purchase = Purchase(transactions[place].payload, types) { copies[purchase] = [] }
        }
        for place in transactions.indices where !copies.isEmpty {
            guard let purchase = Purchase(transactions[place].payload, types) else { continue }
            copies[purchase]?.append(place)
        }
        for places in copies.values where places.count > 1 { decide(places, &transactions) }
    }

    /// The indices of the transactions of each purchase, in the order of the first ones.
    fileprivate static func purchases(among transactions: [StoredTransaction]) -> [[Int]] {
        let types = statedTypes(transactions)
        var known: [Purchase: Int] = [:]
        var result: [[Int]] = []
        for place in transactions.indices {
            if let purchase = Purchase(transactions[place].payload, types) {
                if let copies = known[purchase] {
                    result[copies].append(place)
                    continue
                }
                known[purchase] = result.count
            }
            result.append([place])
        }
        return result
    }

    private static func statedTypes(_ transactions: [StoredTransaction]) -> [Subject: ProductType] {
        var types: [Subject: ProductType] = [:]
        for place in transactions.indices {
            guard let type = transactions[place].payload.type, let subject = Subject(transactions[place].payload)
            else { continue }
            // Documents can disagree.
            if let known = types[subject], known.rawValue <= type.rawValue { continue }
            types[subject] = type
        }
        return types
    }

    private static func decide(_ places: [Int], _ transactions: inout [StoredTransaction]) {
        var revoked = places.filter { transactions[$0].payload.isRevoked }
        var others = places.filter { transactions[$0].payload.isGranted }
        if let reversed = others.compactMap({ transactions[$0].signedTransactionDate }).max() {
            let newest = revoked.filter { transactions[$0].revocationIsProven }
                .map { transactions[$0].revocationStatedAt }.max()
            for place in revoked {
                let stated = transactions[place].revocationStatedAt
                let last = transactions[place].revocationIsProven ? newest ?? stated : stated
                if last.addingSaturated(.millisecondsPerDay) < reversed { transactions[place].removeRevocation() }
            }
            revoked.removeAll { !transactions[$0].payload.isRevoked }
            others = places.filter { transactions[$0].payload.isGranted }
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

extension [StoredTransaction] {
    /// One transaction of each purchase, where prices or refunds are counted: the customer paid once for all copies.
    package var onePerPurchase: [StoredTransaction] {
        CopyRule.purchases(among: self).compactMap { places -> StoredTransaction? in
            // Unsigned documents decide nothing about a signed purchase.
            let signed = places.filter { self[$0].isSigned }
            let deciding = signed.isEmpty ? places : signed
            guard let place = deciding.first(where: { self[$0].payload.price != nil }) ?? deciding.first
            else { return nil }
            var one = self[place]
            // A refund is stated about one copy, also when another copy states an upgrade.
            let refunded = places.first {
                self[$0].payload.isRevoked && (signed.isEmpty || self[$0].revocationIsProven)
            }
            if one.payload.isUpgraded == true, let refunded {
                one.payload.isUpgraded = nil
                one.removeRevocation()
                one.takeRevocation(of: self[refunded])
            }
            if one.payload.price == nil, let priced = places.first(where: { self[$0].payload.price != nil }) {
                one.payload.price = self[priced].payload.price
                one.payload.currency = self[priced].payload.currency
            }
            return one
        }
    }
}

extension JWSTransactionDecodedPayload {
    /// Neither revoked nor upgraded.
    fileprivate var isGranted: Bool { revocationDate == nil && isUpgraded != true }
}

extension StoredTransaction {
    /// When the newest signed transaction (JWS) was signed.
    fileprivate var signedTransactionDate: Int64? {
        origins.first { $0.source.kind == .signedTransaction }?.signedDate
    }

    /// The date of the newest document with the revocation.
    fileprivate var revocationStatedAt: Int64 {
        let kind = sources.kind(of: .revocationDate)
        let stated = origins.first { $0.source.kind == kind }?.signedDate ?? .max
        return max(stated, cancellationNotifiedAt ?? stated)
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
