package import AppStoreModels
package import ProductCatalog

/// The term of one purchase of a non-renewing subscription. Apple's documents do not contain it (Reference.md P3): a
/// product catalog gives the length, and `NonRenewingTermRule` the start.
public struct NonRenewingTerm: Hashable, Sendable {
    /// When the term begins, in milliseconds since 1970-01-01T00:00:00Z: at the purchase or, if the purchase extends another
    /// one, at the end of that term.
    public let start: Int64
    /// When the term ends, in milliseconds since 1970-01-01T00:00:00Z; the first moment after the term. Nil if it does
    /// not fit 64-bit milliseconds.
    public let end: Int64?
    /// When the purchase was refunded, in milliseconds since 1970-01-01T00:00:00Z; nil if it was not. A document about any
    /// copy of the purchase (the original or a restored transaction) can state it.
    public let revocationDate: Int64?
    /// Whether the term begins at the end of an earlier one.
    public let isStacked: Bool
    /// Whether the transaction restores a purchase that another transaction states: both have the same term.
    public fileprivate(set) var isRestored: Bool
    /// Where the catalog states the length.
    package let source: Provenance

    /// Whether a time is within the term and before a refund.
    package func isRunning(at now: Int64) -> Bool { start <= now && now < min(end ?? .max, revocationDate ?? .max) }

    /// When time can end the term, after a date; `Int64.max` without a usable end. Nil if it has ended, or was refunded.
    package func nextEnd(after date: Int64) -> Int64? {
        let end = end ?? .max
        return revocationDate == nil && end > date ? end : nil
    }

    /// The change of the end of the term, by time or a document: it ended, or it continues although it had ended. Nil if nothing
    /// changed; a refund is not the end of a term.
    /// - Parameters:
    ///   - isEnded: whether the term is known to have ended.
    ///   - beginning: ends up to this time are history, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - date: the time.
    package func change(isEnded: Bool, from beginning: Int64, to date: Int64) -> RenewalChange? {
        guard revocationDate == nil else { return nil }
        if nextEnd(after: date) != nil { return isEnded ? .billingRecovered : nil }
        let isNew = (end ?? .max) > beginning
        return isNew && !isEnded ? .endedByTime : nil
    }
}

/// Computes the terms of a customer's non-renewing subscriptions, for the migration, the ledger and the entitlements.
///
/// - Purchases that unlock the same (the catalog's `entitlement`, else the product) are processed in the order of
///   their purchase dates, then of their transaction ids.
/// - A term begins at its purchase. If the terms before it end later, it begins at their end, unless the catalog says
///   `stacks: false`. It lasts as long as the catalog states. The quantity does not count.
/// - A revoked purchase begins at its purchase and extends nothing.
/// - A restored transaction counts as the purchase that it restores (``PurchaseCopies``): it has the same purchase date
///   and counts once. If a document states a revocation of either, the purchase is revoked.
/// - Purchases of different apps do not extend each other; nor do test purchases and real ones.
/// - Unsigned documents do not move the term of a signed purchase: signed purchases get their terms first.
///
/// The order of the purchases does not change the result. The cost is that of sorting them.
package enum NonRenewingTermRule {
    /// A purchase with a known length.
    package struct Purchase: Sendable {
        fileprivate let transactionId: String?
        /// Distinguishes the copies of the purchase from other purchases.
        fileprivate let candidate: PurchaseCopies.Candidate?
        /// When it was bought, in milliseconds since 1970-01-01T00:00:00Z.
        fileprivate let date: Int64
        fileprivate let revocationDate: Int64?
        fileprivate let isSigned: Bool
        fileprivate let isTest: Bool
        fileprivate let bundleId: String?
        fileprivate let product: CatalogProduct
        fileprivate let duration: SubscriptionPeriod

        /// - Parameters:
        ///   - payload: a transaction without the conclusions of this rule.
        ///   - type: the type of the product, also if another document or the catalog states it; nil if it is unknown.
        ///   - isSigned: whether a signed document states the transaction.
        ///   - catalog: gives the length of the term.
        /// - Returns: nil for another type of product, for an unknown length, and without a purchase date.
        package init?(
            _ payload: JWSTransactionDecodedPayload, type: ProductType?, isSigned: Bool, catalog: ProductCatalog
        ) {
            guard payload.expiresDate == nil, type == .nonRenewingSubscription, let productId = payload.productId,
                let product = catalog.product(productId), !product.isFreeSubscription,
                let duration = product.duration, let date = payload.bought
            else { return nil }
            transactionId = payload.transactionId
            candidate = PurchaseCopies.Candidate(payload, lineItem: nil, type: .nonRenewingSubscription)
            self.date = date
            revocationDate = payload.revocationDate
            self.isSigned = isSigned
            isTest = payload.environment == .sandbox || payload.environment == .xcode
            bundleId = payload.bundleId
            self.product = product
            self.duration = duration
        }

        fileprivate func precedes(_ other: Purchase) -> Bool? {
            if date != other.date { return date < other.date }
            switch TransactionIdOrder.compare(transactionId, other.transactionId) {
            case .before: return true
            case .after: return false
            case .same: break
            }
            let (product, otherProduct) = (product.productId, other.product.productId)
            return product == otherProduct ? nil : product < otherProduct
        }
    }

    /// The terms of one customer's purchases, in their order; nil for each nil purchase.
    package static func terms(of purchases: [Purchase?]) -> [NonRenewingTerm?] {
        var entries: [Entry] = []
        for copies in PurchaseCopies.purchases(purchases.map { $0?.candidate }) {
            for place in copies {
                guard let purchase = purchases[place] else { continue }
                entries.append(Entry(place: place, purchase: purchase, unit: copies[0]))
            }
        }
        entries.sort { $0.purchase.precedes($1.purchase) ?? ($0.place < $1.place) }
        var terms = [NonRenewingTerm?](repeating: nil, count: purchases.count)
        let signed = entries.filter(\.purchase.isSigned)
        reckon(signed, &terms)
        if signed.count < entries.count { reckon(entries, &terms) }
        return terms
    }

    private struct Entry {
        let place: Int
        let purchase: Purchase
        /// The place of the first copy of the purchase, the same for all of them.
        let unit: Int
    }

    /// Identifies the purchases that extend each other.
    private struct Key: Hashable {
        let isTest: Bool
        let bundleId: String?
        /// Whether `name` is an entitlement of the catalog, not a product.
        let isEntitlement: Bool
        let name: String

        init(_ purchase: Purchase, onlyBundleId: String?) {
            isTest = purchase.isTest
            bundleId = purchase.bundleId ?? onlyBundleId
            isEntitlement = purchase.product.entitlement != nil
            name = purchase.product.entitlement ?? purchase.product.productId
        }
    }

    /// Sets the missing terms. Existing terms do not change.
    private static func reckon(_ entries: [Entry], _ terms: inout [NonRenewingTerm?]) {
        let bundleIds = Set(entries.lazy.compactMap(\.purchase.bundleId))
        let onlyBundleId = bundleIds.count == 1 ? bundleIds.first : nil
        // CopyRule has revoked the copies of a revoked purchase, as far as they were resolved together. The documents of a
        // record are not.
        var revocations: [Int: Int64] = [:]
        var known: [Int: (term: NonRenewingTerm, transactionId: String?)] = [:]
        for entry in entries {
            let unit = entry.unit
            if let date = entry.purchase.revocationDate { revocations[unit] = min(revocations[unit] ?? date, date) }
            if let term = terms[entry.place], !term.isRestored { known[unit] = (term, entry.purchase.transactionId) }
        }
        var ends: [Key: Int64] = [:]
        for entry in entries {
            let purchase = entry.purchase
            let key = Key(purchase, onlyBundleId: onlyBundleId)
            if terms[entry.place] == nil {
                if let (term, transactionId) = known[entry.unit] {
                    terms[entry.place] = term
                    terms[entry.place]?.isRestored = transactionId != purchase.transactionId
                    continue
                }
                let revocationDate = revocations[entry.unit]
                var start = purchase.date
                if purchase.product.stacks, revocationDate == nil, let end = ends[key] { start = max(start, end) }
                let term = NonRenewingTerm(
                    start: start, end: purchase.duration.adding(to: start), revocationDate: revocationDate,
                    isStacked: start > purchase.date, isRestored: false,
                    source: purchase.product.provenance(of: .duration))
                terms[entry.place] = term
                known[entry.unit] = (term, purchase.transactionId)
            }
            guard let term = terms[entry.place], term.revocationDate == nil, let end = term.end else { continue }
            ends[key] = max(ends[key] ?? end, end)
        }
    }
}

extension ReceiptMapper {
    /// Applies ``NonRenewingTermRule`` to transactions of one customer, and replaces the terms that they have. A row that contradicts
    /// a signed document keeps the term from its own document, and moves no other.
    ///
    /// - Parameters:
    ///   - transactions: the transactions. Their terms are set.
    ///   - isConfirmed: whether a signed document of the same record confirms the recorded transaction at an index.
    package func addTerms(_ transactions: inout [MappedTransaction], isConfirmed: (Int) -> Bool = { _ in false }) {
        var candidates: [Int] = []
        // By index, without copying, because nearly all receipts have only other types of products.
        for index in transactions.indices
        where transactions[index].payload.type == .nonRenewingSubscription
            && !transactions[index].notes.contains(.contradictsSignedReceipt)
        {
            transactions[index].removeTerm()
            if transactions[index].hasTerm { candidates.append(index) }
        }
        guard !candidates.isEmpty else { return }
        let terms = NonRenewingTermRule.terms(
            of: candidates.map { index in
                let isSigned = transactions[index].standing != .recorded || isConfirmed(index)
                return catalog.flatMap { catalog in
                    NonRenewingTermRule.Purchase(
                        transactions[index].payload, type: transactions[index].payload.type, isSigned: isSigned,
                        catalog: catalog)
                }
            })
        for (index, term) in zip(candidates, terms) { transactions[index].setTerm(term) }
    }
}

extension MappedTransaction {
    /// Whether the transaction, of a non-renewing subscription, can have a term.
    fileprivate var hasTerm: Bool {
        !isFreeSubscription && payload.expiresDate == nil
    }

    /// Removes what ``setTerm(_:)`` added.
    fileprivate mutating func removeTerm() {
        guard case .catalog = provenance[.expiresDate] else { return }
        termStart = nil
        provenance.clear(&shared.payload.expiresDate, .expiresDate)
        notes.removeAll { $0 == .termStacked || $0 == .restoredTermCountedOnce || $0 == .termIgnoresQuantity }
    }

    fileprivate mutating func setTerm(_ term: NonRenewingTerm?) {
        guard let term else { return note(.termUnknown) }
        if (payload.quantity ?? 1) > 1 { note(.termIgnoresQuantity) }
        if term.isRestored {
            note(.restoredTermCountedOnce)
        } else if term.isStacked {
            note(.termStacked)
        }
        termStart = term.start
        guard let end = term.end else { return note(.valueOutOfRange) }
        provenance.set(&shared.payload.expiresDate, to: end, .expiresDate, term.source)
    }
}

extension JWSTransactionDecodedPayload {
    /// When the purchase was made: for a restored transaction, the date of the purchase that it restores.
    package var bought: Int64? {
        guard let transactionId, let originalTransactionId, transactionId != originalTransactionId else {
            return purchaseDate
        }
        return firstBought
    }
}
