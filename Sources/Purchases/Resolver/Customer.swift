public import AppStoreModels
public import ProductCatalog

/// One transaction of a customer: the facts of all documents, joined field by field.
public struct StoredTransaction: Sendable {
    /// The transaction. `isUpgraded` is also set if the customer's other transactions show the upgrade, and a revocation if
    /// a copy of the purchase is revoked.
    public package(set) var payload: JWSTransactionDecodedPayload {
        @inlinable _read { yield shared.payload }
        _modify { yield &shared.payload }
    }
    /// Values that the modern model has no field for. If no document dates the cancellation of an upgraded period, its
    /// date is the start of the period that replaced it, or nil if no document states that period.
    public internal(set) var legacy: LegacyTransactionFields
    /// The documents that state the transaction, at most one of each kind.
    public let origins: [FactOrigin]
    /// A cancellation that only an unsigned document states, newer than every signed one. It is not in ``payload`` and
    /// ``legacy``: the caller decides whether to trust it. One from a notification of version 1 that a server received
    /// counts, and is there. One of a copy of the purchase is one of this transaction too.
    public internal(set) var recordedCancellation: RecordedCancellation?
    /// When a notification of version 1 that a server received stated a cancellation, if no signed transaction is newer.
    var cancellationNotifiedAt: Int64?
    /// Whether the newest document with a cancellation distinguishes a refund from an upgrade.
    var explainsCancellation: Bool
    /// Where each field comes from.
    var sources: FieldSources
    @usableFromInline var shared: SharedTransaction

    /// The source of a field's value; nil for a field without a value.
    public func source(of field: TransactionField) -> FieldSource? {
        presentFields.contains(field) ? source(ofPresent: field) : nil
    }

    private var presentFields: FieldMask {
        var payload = payload
        return FieldMask(presentIn: &payload)
    }

    private func source(ofPresent field: TransactionField) -> FieldSource? {
        if let conclusion = sources.conclusion(about: field) {
            switch conclusion {
            case .inferred(let rule): return .inferred(rule)
            case .catalog(let entry): return .catalog(entry)
            default: return nil
            }
        }
        let kind = sources.kind(of: field)
        return origins.first { $0.kind == kind }.map { .stated($0) }
    }

    /// The fields whose values are not from the deciding document (`origins.deciding`), with their sources.
    public var otherSources: [(field: TransactionField, source: FieldSource)] {
        let present = presentFields
        return sources.exceptions.compactMap { field in
            present.contains(field) ? source(ofPresent: field).map { (field, $0) } : nil
        }
    }

    /// Whether a document with a verified signature states the transaction.
    public var isSigned: Bool { origins.isSigned }
}

extension StoredTransaction {
    /// A transaction that one signed transaction states.
    package init(_ payload: JWSTransactionDecodedPayload, origin: FactOrigin) {
        self.init(
            legacy: LegacyTransactionFields(), origins: [origin], recordedCancellation: nil, explainsCancellation: true,
            sources: FieldSources(base: origin.kind), shared: SharedTransaction(payload))
    }

    /// What the documents of the transaction state, for `UpgradeRule`.
    var upgradeStatement: UpgradeRule.Statement {
        let signed = origins.first { $0.kind == .signedTransaction }
        return UpgradeRule.Statement(
            isSigned: isSigned, isRenewal: payload.transactionReason == .renewal,
            explainsCancellation: explainsCancellation,
            notUpgradedAsOf: payload.isUpgraded == true ? nil : signed?.signedDate, upgradedAsOf: upgradedAsOf)
    }

    /// The date of the document that shows that the transaction was upgraded: the one that states it, or the one with the
    /// cancellation from which `UpgradeRule` concluded it. Nil if the document is unsigned and no notification that a server
    /// received.
    private var upgradedAsOf: Int64? {
        guard payload.isUpgraded == true else { return nil }
        let kind = sources.kind(of: sources.conclusion(about: .isUpgraded) == nil ? .isUpgraded : .revocationDate)
        guard kind.isSigned || kind == .notified else { return nil }
        return origins.first { $0.kind == kind }?.signedDate
    }
}

extension [StoredTransaction] {
    /// Applies the rules that compare transactions, `UpgradeRule` and `CopyRule`, to those of a customer or of one original
    /// transaction id.
    /// - Parameters:
    ///   - catalog: gives the types that no document states; nil where a store resolves its documents.
    ///   - rowsStateExpiry: see ``KnownTypes``.
    mutating func concludeFromOthers(_ catalog: ProductCatalog?, rowsStateExpiry: Bool = false) {
        // A cancellation that is an upgrade refunds no copies. A copy of a refunded period was not upgraded when the customer
        // bought another product after the refund.
        // By index, because copying large transactions would take longer than all of this.
        if indices.contains(where: { self[$0].legacy.cancellationDate != nil }) { concludeUpgrades(by: .cancellation) }
        CopyRule.apply(to: &self, catalog, rowsStateExpiry: rowsStateExpiry)
        concludeUpgrades(by: .dates)
    }

    private mutating func concludeUpgrades(by evidence: UpgradeRule.Evidence) {
        let upgrades = UpgradeRule.upgrades(count: count, by: evidence) {
            // Like the periods below: whether a subscription is compared must not depend on the customer's others.
            self[$0].payload.isSubscription ? self[$0].payload.productId : nil
        } isCanceledUpgrade: {
            self[$0].payload.isUpgraded == true && self[$0].legacy.cancellationDate != nil
        } period: {
            UpgradeRule.Period(
                self[$0].payload, lineItem: self[$0].decidingLineItem,
                cancellationDate: self[$0].legacy.cancellationDate, statement: self[$0].upgradeStatement)
        }
        for upgrade in upgrades { self[upgrade.place].becomeUpgraded(upgrade) }
    }
}

extension StoredTransaction {
    fileprivate mutating func becomeUpgraded(_ upgrade: UpgradeRule.Upgrade) {
        if let rule = upgrade.rule {
            sources.conclude(&shared.payload.isUpgraded, true, .isUpgraded, .inferred(rule))
            payload.revocationDate = nil
            payload.revocationReason = nil
        }
        // The App Store refunded the period too, and states when and why.
        guard payload.revocationDate == nil else { return }
        if legacy.cancellationDate == nil { legacy.cancellationDate = upgrade.date }
        // Apple's replies have this value beside an upgrade (Reference.md V3.5).
        if legacy.cancellationDate != nil, legacy.cancellationReason == nil { legacy.cancellationReason = 0 }
    }
}

/// A cancellation in an unsigned document.
public struct RecordedCancellation: Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// `cancellation_reason`; nil if it is not stated.
    public let reason: Int64?
    /// The unsigned document that states the cancellation.
    public let source: FactSource

    package init(date: Int64, reason: Int64?, source: FactSource) {
        self.date = date
        self.reason = reason
        self.source = source
    }
}

/// What is known about the next renewal of one subscription.
public struct StoredRenewalInfo: Sendable {
    /// The statement of the document that decides.
    public let payload: JWSRenewalInfoDecodedPayload
    /// The documents that state renewal information of this subscription, at most one of each kind.
    public let origins: [FactOrigin]

    package init(payload: JWSRenewalInfoDecodedPayload, origins: [FactOrigin]) {
        self.payload = payload
        self.origins = origins
    }

    /// Whether at least one of the documents is signed.
    public var isSigned: Bool { origins.isSigned }

    /// When the document that states the payload was signed or, if it is unsigned, recorded. A recorded payload does
    /// not state its date.
    package var statedDate: Int64? {
        let origin =
            origins.first { $0.kind == .signedTransaction } ?? origins.first { $0.kind.isSigned }
            ?? origins.first
        return origin?.signedDate
    }
}

/// What is known about the app itself.
public struct StoredAppTransaction: Sendable {
    /// Each value from the newest signed document that states it. Unsigned documents count only if no document is signed.
    public let payload: AppTransaction
    /// What a receipt or a reply states beside the modern fields.
    public let legacy: LegacyAppTransactionFields
    /// The documents that state the app transaction: at most one signed document of each kind, and two unsigned ones.
    public let origins: [FactOrigin]
}

extension Customer {
    /// The terms of the customer's non-renewing subscriptions, by transaction id, from all documents in the store.
    /// Purchases of products without a length in the catalog are left out.
    ///
    /// A document that is stored later can move terms: a refund of an earlier purchase, or an earlier purchase that was
    /// unknown.
    public func nonRenewingTerms(_ catalog: ProductCatalog) -> [String: NonRenewingTerm] {
        nonRenewingTerms(catalog) { $0.payload }
    }

    /// The term of a purchase of a non-renewing subscription if exactly these purchases came before it and none of them is
    /// refunded. It is the former term for an entry `termMoved` of the ledger.
    /// - Parameters:
    ///   - transactionId: a transaction of the purchase.
    ///   - earlier: original transaction ids of signed purchases of the customer.
    ///   - catalog: states the lengths.
    /// - Returns: nil if the catalog states no length of the purchase, or if one of the purchases is not in the store.
    public func nonRenewingTerm(
        of transactionId: String, after earlier: [String], _ catalog: ProductCatalog
    ) -> NonRenewingTerm? {
        let known = Set(transactions.lazy.filter(\.isSigned).compactMap(\.purchaseId))
        guard let own = transactions.first(where: { $0.payload.transactionId == transactionId })?.purchaseId,
            known.isSuperset(of: earlier)
        else { return nil }
        let counting = Set(earlier + [own])
        return nonRenewingTerms(catalog) { transaction in
            guard transaction.isSigned, transaction.purchaseId.map(counting.contains) == true else { return nil }
            var payload = transaction.payload
            payload.revocationDate = nil
            return payload
        }[transactionId]
    }

    /// The terms by transaction id. `payload` returns the part of a transaction that counts; nil if it does not count.
    private func nonRenewingTerms(
        _ catalog: ProductCatalog, _ payload: (StoredTransaction) -> JWSTransactionDecodedPayload?
    ) -> [String: NonRenewingTerm] {
        let transactions = transactionsWithTypes(from: catalog)
        let types = KnownTypes(transactions, catalog)
        let purchases = transactions.map { transaction in
            payload(transaction).flatMap {
                NonRenewingTermRule.Purchase(
                    $0, type: types.type(of: transaction), isSigned: transaction.isSigned, catalog: catalog)
            }
        }
        var terms: [String: NonRenewingTerm] = [:]
        for (transaction, term) in zip(transactions, NonRenewingTermRule.terms(of: purchases)) {
            guard let id = transaction.payload.transactionId, let term else { continue }
            terms[id] = term
        }
        return terms
    }

    /// ``transactions``, in the same order, with the copies of a purchase whose type only a catalog states.
    ///
    /// A store resolves its documents without a catalog. Then such a purchase has no copies, unless receipts state that
    /// it does not expire. Unsigned rows of a subscription can lack its expiry, and would look the same. The ledger
    /// contains signed purchases only. Their copies do not depend on the catalog, so it needs none.
    package func transactionsWithTypes(from catalog: ProductCatalog?) -> [StoredTransaction] {
        // Also a period: an unsigned row about a copy of it can lack the expiry.
        let isOpen = transactions.indices.contains {
            (transactions[$0].payload.isRevoked || transactions[$0].recordedCancellation != nil)
                && transactions[$0].signedType == nil
        }
        guard let catalog, isOpen, transactions.count > 1 else { return transactions }
        return statements.resolvedTransactions(catalog)
    }

    /// Whether the store already has a set of facts: it has the set's receipt, and stores a set in whole or not at all.
    package func hasTakenIn(_ facts: FactSet) -> Bool {
        guard let receipt = facts.receipt else { return false }
        let newest = receipt.form == .app ? newestAppReceipt : newestTransactionReceipt
        guard newest == receipt else { return false }
        // Both lists are sorted.
        var known = identities[...]
        return facts.identities.allSatisfy { identity in
            known = known.drop { $0 < identity }
            return known.first == identity
        }
    }
}

extension Customer {
    /// The customer with the transactions and the renewal info of one purchase only.
    /// - Parameter originalTransactionId: the id that a store keeps the purchase under.
    package func only(_ originalTransactionId: String) -> Customer {
        func isOfPurchase(_ transaction: StoredTransaction) -> Bool {
            transaction.storedOriginalTransactionId == originalTransactionId
        }
        func isOfSubscription(_ info: StoredRenewalInfo) -> Bool {
            info.payload.originalTransactionId == originalTransactionId
        }
        guard !transactions.allSatisfy(isOfPurchase) || !renewalInfos.allSatisfy(isOfSubscription) else { return self }
        return Customer(
            kept: kept, identities: identities, transactions: transactions.filter(isOfPurchase),
            renewalInfos: renewalInfos.filter(isOfSubscription))
    }
}

/// One customer of one app: everything that the documents state, resolved.
public struct Customer: Sendable {
    /// What is large and seldom read. A class, so that a copy of a customer does not copy it.
    final class Kept: Sendable {
        /// Only needed to add another document.
        let statements: CustomerStatements
        let appTransaction: StoredAppTransaction?

        init(_ statements: CustomerStatements) {
            self.statements = statements
            appTransaction = StoredAppTransaction(joining: statements.appTransactions, in: statements.scope)
        }
    }

    let kept: Kept
    /// All ids of the customer, each once, ascending. The first one is the smallest (``key``).
    public let identities: [CustomerIdentity]
    /// By transaction id, the newest (numerically greatest) first.
    public let transactions: [StoredTransaction]
    /// By original transaction id, ascending.
    public let renewalInfos: [StoredRenewalInfo]
    /// Nil if no document states the app itself.
    public var appTransaction: StoredAppTransaction? { kept.appTransaction }

    /// The statements that the customer was resolved from.
    package var statements: CustomerStatements { kept.statements }
    /// The app and the environment of all documents about the customer.
    public var scope: StoreScope { kept.statements.scope }
    /// The newest app receipt, by signing date.
    public var newestAppReceipt: KnownReceipt? { kept.statements.appReceipt }

    /// The newest app receipt, if it is newer than a submitted one.
    /// - Parameter date: when the submitted receipt was signed, in milliseconds since 1970-01-01T00:00:00Z. Nil if it does not
    ///   state the date: then no other receipt counts as newer.
    package func appReceipt(newerThan date: Int64?) -> KnownReceipt? {
        guard let date, let known = newestAppReceipt, known.signedDate > date else { return nil }
        return known
    }

    /// The newest transaction receipt (iOS 6), by purchase date.
    public var newestTransactionReceipt: KnownReceipt? { kept.statements.transactionReceipt }
}
