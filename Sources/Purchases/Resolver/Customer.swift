public import AppStoreModels
public import ProductCatalog

/// One transaction as the store knows it: the facts of all documents, joined field by field.
public struct StoredTransaction: Sendable {
    /// The transaction. An upgrade that the customer's other transactions show is concluded (`isUpgraded`).
    public package(set) var payload: JWSTransactionDecodedPayload
    /// What the modern model has no field for. The cancellation of an upgraded period that no document dates is the
    /// beginning of the period that replaced it.
    public internal(set) var legacy: LegacyTransactionFields
    /// What the transaction rests on, at most one origin per kind.
    public let origins: [FactOrigin]
    /// A cancellation that no signed document tells of and a newer one that nobody signed does. It is not in ``payload``
    /// and ``legacy``: whoever reads it decides whether to believe it.
    public let recordedCancellation: RecordedCancellation?
    /// Whether the newest document with a cancellation can tell a refund from an upgrade.
    var explainsCancellation: Bool
    /// Where each field comes from.
    var sources: FieldSources

    init(
        payload: JWSTransactionDecodedPayload, legacy: LegacyTransactionFields, origins: [FactOrigin],
        recordedCancellation: RecordedCancellation?, explainsCancellation: Bool, sources: FieldSources
    ) {
        self.explainsCancellation = explainsCancellation
        self.payload = payload
        self.legacy = legacy
        self.origins = origins
        self.recordedCancellation = recordedCancellation
        self.sources = sources
    }

    /// A transaction that one signed transaction states.
    package init(_ payload: JWSTransactionDecodedPayload, origin: FactOrigin) {
        self.init(
            payload: payload, legacy: LegacyTransactionFields(), origins: [origin], recordedCancellation: nil,
            explainsCancellation: true, sources: FieldSources(base: origin.source.kind))
    }

    /// Where a field has its value from; nil for a field without a value.
    public func source(of field: TransactionField) -> FieldSource? {
        var payload = payload
        guard FieldMask(presentIn: &payload).contains(field) else { return nil }
        if let conclusion = sources.conclusion(about: field) {
            switch conclusion {
            case .inferred(let rule): return .inferred(rule)
            case .catalog(let entry): return .catalog(entry)
            default: return nil
            }
        }
        let kind = sources.kind(of: field)
        return origins.first { $0.source.kind == kind }.map { .stated($0) }
    }

    /// Whether a verified signature stands behind the transaction. What rests on recorded documents alone was signed by
    /// nobody.
    public var isSigned: Bool { origins.contains { $0.source.kind.isSigned } }
}

extension StoredTransaction {
    /// What the documents behind the transaction state for `UpgradeRule`.
    var upgradeStatement: UpgradeRule.Statement {
        let signed = origins.first { $0.source.kind == .signedTransaction }
        return UpgradeRule.Statement(
            isSigned: isSigned, isRenewal: payload.transactionReason == .renewal,
            explainsCancellation: explainsCancellation,
            notUpgradedAsOf: payload.isUpgraded == true ? nil : signed?.signedDate)
    }
}

extension [StoredTransaction] {
    /// Applies `UpgradeRule` to the transactions of a customer, or of one original transaction id.
    mutating func concludeUpgrades() {
        let upgrades = UpgradeRule.upgrades(count: count) {
            self[$0].payload.expiresDate == nil ? nil : self[$0].payload.productId
        } period: {
            UpgradeRule.Period(
                self[$0].payload, cancellationDate: self[$0].legacy.cancellationDate,
                statement: self[$0].upgradeStatement)
        }
        for upgrade in upgrades { self[upgrade.place].becomeUpgraded(upgrade) }
    }
}

extension StoredTransaction {
    fileprivate mutating func becomeUpgraded(_ upgrade: UpgradeRule.Upgrade) {
        if let rule = upgrade.rule {
            sources.conclude(&payload.isUpgraded, true, .isUpgraded, .inferred(rule))
        }
        payload.revocationDate = nil
        payload.revocationReason = nil
        if legacy.cancellationDate == nil { legacy.cancellationDate = upgrade.date }
        // So Apple's replies have it beside an upgrade (Reference.md V3.5).
        if legacy.cancellationReason == nil { legacy.cancellationReason = 0 }
    }
}

/// A cancellation in a document that nobody signed.
public struct RecordedCancellation: Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// `cancellation_reason`, where it is stated.
    public let reason: Int64?
    public let source: FactSource

    package init(date: Int64, reason: Int64?, source: FactSource) {
        self.date = date
        self.reason = reason
        self.source = source
    }
}

/// The next renewal of one subscription as the store knows it.
public struct StoredRenewalInfo: Sendable {
    public let payload: JWSRenewalInfoDecodedPayload
    public let origins: [FactOrigin]

    package init(payload: JWSRenewalInfoDecodedPayload, origins: [FactOrigin]) {
        self.payload = payload
        self.origins = origins
    }

    public var isSigned: Bool { origins.contains { $0.source.kind.isSigned } }
}

/// What the store knows about the app itself.
public struct StoredAppTransaction: Sendable {
    public let payload: AppTransaction
    public let origins: [FactOrigin]

    package init(payload: AppTransaction, origins: [FactOrigin]) {
        self.payload = payload
        self.origins = origins
    }
}

extension Customer {
    /// The terms of the customer's non-renewing subscriptions, by transaction id, reckoned over all documents that the store
    /// has. Purchases of products without a length in the catalog are left out.
    ///
    /// A document that is stored later can move terms: a refund of an earlier purchase, or a purchase that was not known.
    public func nonRenewingTerms(_ catalog: ProductCatalog) -> [String: NonRenewingTerm] {
        let purchases = transactions.map {
            NonRenewingTermRule.Purchase($0.payload, isSigned: $0.isSigned, catalog: catalog)
        }
        var terms: [String: NonRenewingTerm] = [:]
        for (transaction, term) in zip(transactions, NonRenewingTermRule.terms(of: purchases)) {
            guard let id = transaction.payload.transactionId, let term else { continue }
            terms[id] = term
        }
        return terms
    }

    /// Whether a set of facts is in the store already, because its receipt is the one that the store would hand out: a set
    /// is taken in whole or not at all.
    package func hasTakenIn(_ facts: FactSet) -> Bool {
        guard let receipt = facts.receipt else { return false }
        let newest = receipt.form == .app ? newestAppReceipt : newestTransactionReceipt
        guard newest == receipt else { return false }
        // Both are in order.
        var known = identities[...]
        return facts.identities.allSatisfy { identity in
            known = known.drop { $0 < identity }
            return known.first == identity
        }
    }
}

/// Everything the store knows about one customer of one app.
public struct Customer: Sendable {
    /// A class, because statements are large and are read only to add another document.
    final class Kept: Sendable {
        let statements: CustomerStatements

        init(_ statements: CustomerStatements) { self.statements = statements }
    }

    let kept: Kept
    public let identities: [CustomerIdentity]
    /// By transaction id, the newest (numerically greatest) first.
    public let transactions: [StoredTransaction]
    /// By original transaction id, ascending.
    public let renewalInfos: [StoredRenewalInfo]
    public let appTransaction: StoredAppTransaction?

    init(
        kept: Kept, transactions: [StoredTransaction], renewalInfos: [StoredRenewalInfo],
        appTransaction: StoredAppTransaction?
    ) {
        self.kept = kept
        identities = kept.statements.identities.sorted()
        self.transactions = transactions
        self.renewalInfos = renewalInfos
        self.appTransaction = appTransaction
    }

    /// The statements that the customer is resolved from.
    package var statements: CustomerStatements { kept.statements }
    public var scope: StoreScope { kept.statements.scope }
    /// The newest app receipt, by signing date.
    public var newestAppReceipt: KnownReceipt? { kept.statements.appReceipt }
    /// The newest transaction receipt (iOS 6), by purchase date.
    public var newestTransactionReceipt: KnownReceipt? { kept.statements.transactionReceipt }
}
