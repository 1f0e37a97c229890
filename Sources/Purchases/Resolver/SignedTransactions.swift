internal import AppStoreModels

/// A verified receipt of one record, for comparison with the recorded rows beside it.
package struct SignedRecord {
    package let reference: SignedReference
    package let transactions: [MappedTransaction]
    /// One for each transaction, in the same order.
    package let legacy: [LegacyTransactionFields]
    /// When the receipt was signed, in milliseconds since 1970-01-01T00:00:00Z.
    package let date: Int64

    package init(
        reference: SignedReference, transactions: [MappedTransaction], legacy: [LegacyTransactionFields], date: Int64
    ) {
        self.reference = reference
        self.transactions = transactions
        self.legacy = legacy
        self.date = date
    }
}

/// The name and the date of a verified receipt.
package struct SignedReference: Sendable {
    /// SHA-256, 64 hexadecimal digits.
    package let sha256: String
    package let asOf: AsOf?

    package init(sha256: String, asOf: AsOf?) {
        self.sha256 = sha256
        self.asOf = asOf
    }
}

/// The transactions of the verified receipts of one record. Unsigned rows of the record are compared with them.
package struct SignedTransactions {
    private struct Statement {
        let transaction: MappedTransaction
        let flags: LegacyTransactionFields
        let reference: SignedReference
        let date: Int64
    }

    private var byIdentity: [PurchaseIdentity: Statement] = [:]
    private var ids: Set<String> = []

    /// - Parameter verified: newest first: of two receipts with the same purchase the newer one speaks, of two of one date
    ///   the one in which the purchase is cancelled or upgraded.
    package init(_ verified: [SignedRecord]) {
        for receipt in verified {
            for (transaction, flags) in zip(receipt.transactions, receipt.legacy) {
                guard let identity = PurchaseIdentity(transaction.payload) else { continue }
                if let known = byIdentity[identity] {
                    // Within one receipt the first purchase stands.
                    guard known.reference.sha256 != receipt.reference.sha256, known.date == receipt.date,
                        !known.transaction.isTakenBack, transaction.isTakenBack
                    else { continue }
                }
                byIdentity[identity] = Statement(
                    transaction: transaction, flags: flags, reference: receipt.reference, date: receipt.date)
                ids.insert(identity.transactionId)
            }
        }
    }

    /// Whether it is this receipt that speaks of the purchase.
    package func isSpeaker(_ receipt: SignedReference, of identity: PurchaseIdentity) -> Bool {
        byIdentity[identity]?.reference.sha256 == receipt.sha256
    }

    /// What a verified receipt says about a recorded row.
    package enum Confirmation {
        /// No receipt has the purchase.
        case none
        /// Nothing in the row contradicts the receipt: the row with what the receipt adds to it.
        case confirmed(MappedTransaction, SignedReference)
        /// The row says something else than the receipt does.
        case contradicted
    }

    /// - Parameter statement: what the row states.
    package func confirmation(of recorded: MappedTransaction, _ statement: RecordedStatement) -> Confirmation {
        let legacy = statement.legacyFields
        guard let identity = PurchaseIdentity(recorded.payload) else { return .none }
        guard let signed = byIdentity[identity] else {
            // Apple gives each id once: a known one with a product that no receipt has beside it was edited.
            return ids.contains(identity.transactionId) ? .contradicted : .none
        }
        guard !legacy.contradicts(signed.flags), !Self.isCancelledBeforePurchase(legacy, signed.transaction) else {
            return .contradicted
        }
        var merge = RowMerge(row: recorded, signed: signed.transaction)
        return merge.isConsistent() ? .confirmed(merge.row, signed.reference) : .contradicted
    }

    /// A cancellation that only the row has, of a time at which nothing was bought yet.
    private static func isCancelledBeforePurchase(
        _ legacy: LegacyTransactionFields, _ signed: borrowing MappedTransaction
    ) -> Bool {
        guard let cancelled = legacy.cancellationDate, let bought = signed.payload.purchaseDate,
            signed.payload.revocationDate == nil
        else { return false }
        return cancelled.flooredQuotient(1000) < bought.flooredQuotient(1000)
    }
}

extension LegacyTransactionFields {
    /// Whether the offers of a recorded row differ from those of the signed receipt, where the receipt states any: a flag that
    /// is false states that there is no offer.
    fileprivate func contradicts(_ signed: LegacyTransactionFields) -> Bool {
        func differ(_ signed: Bool?, _ recorded: Bool?) -> Bool {
            if let signed, let recorded { signed != recorded } else { false }
        }
        if differ(signed.isTrialPeriod, isTrialPeriod) { return true }
        // Apple marks a free trial as introductory in some years and not in others (Reference.md V3.5).
        return signed.isTrialPeriod != true && differ(signed.isInIntroOfferPeriod, isInIntroOfferPeriod)
    }
}

/// Lays a recorded row over the signed statement of the same purchase. What both say gets the signed provenance, what only
/// one says is kept from that one; a conclusion by rule never contradicts a statement.
private struct RowMerge {
    var row: MappedTransaction
    let signed: MappedTransaction

    mutating func isConsistent() -> Bool {
        agree(\.transactionId, .transactionId) && agree(\.productId, .productId)
            && agree(\.originalTransactionId, .originalTransactionId) && agree(\.bundleId, .bundleId)
            && agree(\.environment, .environment) && agree(\.webOrderLineItemId, .webOrderLineItemId)
            && agree(\.quantity, .quantity) && agree(\.type, .type)
            && agree(\.inAppOwnershipType, .inAppOwnershipType) && agree(\.offerType, .offerType)
            && agree(\.offerIdentifier, .offerIdentifier) && agree(\.offerDiscountType, .offerDiscountType)
            && agree(\.purchaseDate, .purchaseDate, Self.sameSecond)
            && agree(\.originalPurchaseDate, .originalPurchaseDate, Self.sameSecond)
            && agree(\.expiresDate, .expiresDate, Self.sameSecond) && revocationAgrees()
            && takeUpgrade()
    }

    /// A receipt cannot tell an upgrade from a refund, and a row can be younger than the receipt; but a cancellation that
    /// Apple signed must not vanish. Only subscriptions are upgraded.
    private mutating func revocationAgrees() -> Bool {
        if row.payload.isUpgraded == true, signed.payload.type == .autoRenewableSubscription { return true }
        if signed.payload.revocationDate != nil, row.payload.revocationDate == nil { return false }
        return agree(\.revocationDate, .revocationDate, Self.sameSecond)
            && agree(\.revocationReason, .revocationReason)
    }

    /// A row can be older than the upgrade that the receipt tells of, and its cancellation may be that upgrade. The signed
    /// statement decides. It contradicts nothing.
    private mutating func takeUpgrade() -> Bool {
        guard signed.payload.isUpgraded == true, row.payload.isUpgraded != true else { return true }
        row.provenance.clear(&row.payload.revocationDate, .revocationDate)
        row.provenance.clear(&row.payload.revocationReason, .revocationReason)
        row.notes.removeAll { $0 == .cancellationMayBeUpgrade }
        row.payload.isUpgraded = true
        row.provenance.record(.isUpgraded, signed.provenance[.isUpgraded])
        return true
    }

    private mutating func agree<Value: Equatable>(
        _ value: WritableKeyPath<JWSTransactionDecodedPayload, Value?>, _ field: TransactionField,
        _ equal: (Value, Value) -> Bool = { $0 == $1 }
    ) -> Bool {
        guard let theirs = signed.payload[keyPath: value] else { return true }
        let provenance = signed.provenance[field]
        guard let ours = row.payload[keyPath: value] else {
            row.payload[keyPath: value] = theirs
            row.provenance.record(field, provenance)
            return true
        }
        if ours == theirs {
            if provenance.isSigned { row.provenance.record(field, provenance) }
            return true
        }
        if equal(ours, theirs) { return true }
        if provenance.isInferred { return true }
        guard row.provenance[field].isInferred else { return false }
        row.payload[keyPath: value] = theirs
        row.provenance.record(field, provenance)
        return true
    }

    /// Receipts have whole seconds where Apple's own records have milliseconds (Reference.md V3.4).
    private static func sameSecond(_ left: Int64, _ right: Int64) -> Bool {
        left.flooredQuotient(1000) == right.flooredQuotient(1000)
    }
}

extension MappedTransaction {
    /// Refunded, no longer shared, or upgraded.
    fileprivate var isTakenBack: Bool { payload.revocationDate != nil || payload.isUpgraded == true }
}

extension Provenance {
    fileprivate var isInferred: Bool {
        switch self {
        case .inferred, .catalogue: true
        default: false
        }
    }
}
