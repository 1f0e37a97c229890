internal import AppStoreModels
internal import Encodings
package import ProductCatalog

/// Concludes which copies of a purchase are revoked. It looks at the resolved transactions, and every answer uses the result.
///
/// One purchase can have several transactions (``PurchaseCopies``). A refund is stated about one of them, and it refunds them
/// all: the customer paid once.
///
/// The newest statement of the App Store decides about all copies:
/// - A revocation of one copy revokes the others, from the earliest revocation date.
/// - The refund was reversed if the App Store signed another copy without a revocation (as JWS), more than a day after the
///   newest document with the revocation. Then no copy is revoked. A receipt does not show that: receipts often lack
///   cancellations. The day is for answers with several copies, which are signed one after the other. A reversal is
///   usually stated about the refunded copy itself, and counts at once. The type of a
///   notification (REFUND_REVERSED) shortens the day for no copy: a newer transaction of that copy would replace it,
///   and revoke again.
///
/// An upgraded period is not revoked. Unsigned documents decide nothing about a signed transaction. If they cancel one copy,
/// every copy has that cancellation as its `recordedCancellation`, for callers that trust it.
enum CopyRule {
    /// Sets and removes the revocations of copies. The cost is linear in the number of transactions; without a revocation,
    /// the usual case, it only looks for one.
    /// - Parameters:
    ///   - transactions: the transactions of one customer.
    ///   - catalog: gives the types that no document states; nil where a store resolves its documents.
    ///   - rowsStateExpiry: see ``KnownTypes``.
    static func apply(
        to transactions: inout [StoredTransaction], _ catalog: ProductCatalog?, rowsStateExpiry: Bool = false
    ) {
        let isCancelled = transactions.indices.contains {
            transactions[$0].payload.isRevoked || transactions[$0].recordedCancellation != nil
        }
        guard transactions.count > 1, isCancelled else { return }
        let types = KnownTypes(transactions, catalog, rowsStateExpiry: rowsStateExpiry)
        for places in purchases(among: transactions, types) where places.count > 1 {
            if places.contains(where: { transactions[$0].payload.isRevoked }) { decide(places, &transactions) }
            shareRecorded(places, &transactions)
        }
    }

    /// Gives all copies the cancellation that only unsigned documents state. Removes it if the App Store signed a transaction of a
    /// copy without it more than a day later.
    private static func shareRecorded(_ places: [Int], _ transactions: inout [StoredTransaction]) {
        let granted = places.filter { transactions[$0].payload.isGranted }
        let signed = granted.compactMap { transactions[$0].signedTransactionDate }.max() ?? .min
        var earliest: RecordedCancellation?
        for place in places {
            guard let (cancellation, stated) = transactions[place].unconfirmedCancellation else { continue }
            if stated.addingSaturated(.millisecondsPerDay) < signed {
                transactions[place].recordedCancellation = nil
            } else if cancellation.date < earliest?.date ?? .max {
                earliest = cancellation
            }
        }
        guard let earliest else { return }
        for place in granted where transactions[place].recordedCancellation == nil {
            transactions[place].recordedCancellation = earliest
        }
    }

    /// The indices of the transactions of each purchase, in the order of the first ones.
    fileprivate static func purchases(among transactions: [StoredTransaction], _ types: KnownTypes) -> [[Int]] {
        PurchaseCopies.purchases(
            transactions.indices.map { place in
                PurchaseCopies.Candidate(
                    transactions[place].payload, lineItem: transactions[place].decidingLineItem,
                    type: types.typeForCopies(of: transactions[place]),
                    neverExpires: types.neverExpires(transactions[place].payload))
            })
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
    /// - Parameter catalog: gives the types that no document states.
    package func onePerPurchase(_ catalog: ProductCatalog?) -> [StoredTransaction] {
        CopyRule.purchases(among: self, KnownTypes(self, catalog)).compactMap { places -> StoredTransaction? in
            // Unsigned documents decide nothing about a signed purchase.
            let signed = places.filter { self[$0].isSigned }
            let deciding = signed.isEmpty ? places : signed
            guard let place = deciding.first(where: { self[$0].payload.price != nil }) ?? deciding.first
            else { return nil }
            var one = self[place]
            let refunded = PurchaseCopies.refund(
                among: places, isSigned: { self[$0].isSigned }, isProven: { self[$0].revocationIsProven },
                hasRevocation: { self[$0].payload.hasRevocation })
            if !one.payload.hasRevocation, let refunded {
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
        origins.first { $0.kind == .signedTransaction }?.signedDate
    }

    /// The date of the newest document with the revocation.
    fileprivate var revocationStatedAt: Int64 {
        let kind = sources.kind(of: .revocationDate)
        let stated = origins.first { $0.kind == kind }?.signedDate ?? .max
        return max(stated, cancellationNotifiedAt ?? stated)
    }

    /// A cancellation of the transaction that the App Store does not state, and the date of its document.
    fileprivate var unconfirmedCancellation: (cancellation: RecordedCancellation, stated: Int64)? {
        guard let origin = origins.first(where: { $0.kind == .recorded }) else { return nil }
        if let recordedCancellation { return (recordedCancellation, origin.signedDate) }
        guard !isSigned, payload.isRevoked, !revocationIsProven, let date = payload.revocationDate else { return nil }
        let cancellation = RecordedCancellation(
            date: date, reason: legacy.cancellationReason, source: origin.source)
        return (cancellation, origin.signedDate)
    }

    /// Whether the App Store states the revocation: in a signed document, or in a notification of version 1 that a server received
    /// with the app's secret.
    fileprivate var revocationIsProven: Bool {
        let kind = sources.kind(of: .revocationDate)
        return kind.isSigned || kind == .notified
    }

    fileprivate mutating func takeRevocation(of copy: StoredTransaction) {
        let rule = Provenance.inferred(.copyWasRevoked)
        sources.conclude(&shared.payload.revocationDate, copy.payload.revocationDate, .revocationDate, rule)
        sources.conclude(&shared.payload.revocationReason, copy.payload.revocationReason, .revocationReason, rule)
        sources.conclude(&shared.payload.revocationType, copy.payload.revocationType, .revocationType, rule)
        sources.conclude(
            &shared.payload.revocationPercentage, copy.payload.revocationPercentage, .revocationPercentage, rule)
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
