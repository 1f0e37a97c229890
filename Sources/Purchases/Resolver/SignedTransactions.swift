internal import AppStoreModels

/// A verified receipt of one record, for the recorded rows beside it.
package struct SignedRecord {
    package let reference: SignedReference
    package let receipt: MappedReceipt
    /// When the receipt was signed, in milliseconds since 1970-01-01T00:00:00Z.
    package let date: Int64

    package init(reference: SignedReference, receipt: MappedReceipt, date: Int64) {
        self.reference = reference
        self.receipt = receipt
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

/// The purchases in the verified receipts of one record, resolved together. The recorded rows of the record are resolved
/// beside them.
package struct SignedTransactions {
    private struct Speaker {
        let reference: SignedReference
        let date: Int64
        let isTakenBack: Bool
        /// In ``statements`` and ``transactions``.
        let place: Int
    }

    /// What a verified receipt says about a recorded row.
    package enum Confirmation {
        /// No receipt has the purchase.
        case none
        /// Nothing in the row contradicts the receipt.
        case confirmed(SignedReference)
        /// The row states something else than the receipt does. It is resolved alone.
        case contradicted
    }

    private let mapper: ReceiptMapper
    private var speakers: [PurchaseIdentity: Speaker] = [:]
    private var ids: Set<String> = []
    private var statements: [PurchaseStatement] = []
    private let transactions: [MappedTransaction]

    /// - Parameters:
    ///   - verified: newest first: of two receipts with the same purchase the newer one speaks, of two of one date the one in
    ///     which the purchase is cancelled or upgraded.
    ///   - mapper: has the catalog.
    package init(_ verified: [SignedRecord], _ mapper: ReceiptMapper) {
        self.mapper = mapper
        for record in verified {
            for (transaction, statement) in zip(record.receipt.transactions, record.receipt.statements) {
                guard let identity = PurchaseIdentity(transaction.payload) else { continue }
                let known = speakers[identity]
                if let known {
                    // Within one receipt the first purchase stands.
                    guard known.reference.sha256 != record.reference.sha256, known.date == record.date,
                        !known.isTakenBack, transaction.isTakenBack
                    else { continue }
                    statements[known.place] = statement
                } else {
                    statements.append(statement)
                }
                speakers[identity] = Speaker(
                    reference: record.reference, date: record.date, isTakenBack: transaction.isTakenBack,
                    place: known?.place ?? statements.count - 1)
                ids.insert(identity.transactionId)
            }
        }
        // One receipt is resolved already.
        transactions =
            verified.count == 1 && verified[0].receipt.transactions.count == statements.count
            ? verified[0].receipt.transactions : mapper.resolve(statements, .receipt)
    }

    /// The purchase, resolved from all receipts of the record; nil if another receipt is the one that decides about it.
    package func transaction(_ identity: PurchaseIdentity, of receipt: SignedReference) -> MappedTransaction? {
        guard let speaker = speakers[identity], speaker.reference.sha256 == receipt.sha256 else { return nil }
        return transactions[speaker.place]
    }

    /// The rows of a recorded document, resolved with the receipts, in their order.
    package func resolve(_ mapping: RecordedMapping) -> [(transaction: MappedTransaction, confirmation: Confirmation)] {
        guard !speakers.isEmpty else { return mapping.transactions.map { ($0, .none) } }
        let confirmations = mapping.transactions.indices.map {
            confirmation(of: mapping.transactions[$0], mapping.statements[$0])
        }
        var purchases: [ByKind<Int>] = []
        var rest = Set(statements.indices)
        for (place, confirmation) in confirmations.enumerated() {
            var places = ByKind<Int>()
            places.recorded = statements.count + place
            switch confirmation {
            case .contradicted: continue
            case .none: break
            case .confirmed:
                places.receipt = PurchaseIdentity(mapping.transactions[place].payload).flatMap { speakers[$0]?.place }
                if let receipt = places.receipt { rest.remove(receipt) }
            }
            purchases.append(places)
        }
        // Also what the receipts alone state: a period can replace that of a row.
        for place in rest.sorted() {
            var places = ByKind<Int>()
            places.receipt = place
            purchases.append(places)
        }
        var resolved = mapper.resolve(statements + mapping.statements, purchases).makeIterator()
        return confirmations.enumerated().map { place, confirmation in
            if case .contradicted = confirmation { return (mapping.transactions[place], .contradicted) }
            return (resolved.next() ?? mapping.transactions[place], confirmation)
        }
    }

    private func confirmation(of row: MappedTransaction, _ statement: PurchaseStatement) -> Confirmation {
        guard let identity = PurchaseIdentity(row.payload) else { return .none }
        guard let speaker = speakers[identity] else {
            // Apple gives each id once: a known one with a product that no receipt has beside it was edited.
            return ids.contains(identity.transactionId) ? .contradicted : .none
        }
        let signed = transactions[speaker.place]
        let comparison = RowComparison(row: row, signed: signed)
        let isContradicted =
            statement.legacy.contradicts(statements[speaker.place].legacy)
            || statement.legacy.isCancelledBeforePurchase(signed) || !comparison.isConsistent
        return isContradicted ? .contradicted : .confirmed(speaker.reference)
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

    /// A cancellation that only the row has, of a time at which nothing was bought yet.
    fileprivate func isCancelledBeforePurchase(_ signed: borrowing MappedTransaction) -> Bool {
        guard let cancellationDate, let bought = signed.payload.purchaseDate, signed.payload.revocationDate == nil
        else { return false }
        return cancellationDate.flooredQuotient(1000) < bought.flooredQuotient(1000)
    }
}

/// Compares a recorded row with the signed statement of the same purchase. What only one of them has and what a rule
/// concluded contradicts nothing.
private struct RowComparison {
    let row: MappedTransaction
    let signed: MappedTransaction

    var isConsistent: Bool {
        agree(\.originalTransactionId, .originalTransactionId) && agree(\.bundleId, .bundleId)
            && agree(\.environment, .environment) && agree(\.webOrderLineItemId, .webOrderLineItemId)
            && agree(\.quantity, .quantity) && agree(\.type, .type)
            && agree(\.inAppOwnershipType, .inAppOwnershipType) && agree(\.offerType, .offerType)
            && agree(\.offerIdentifier, .offerIdentifier) && agree(\.offerDiscountType, .offerDiscountType)
            && agree(\.purchaseDate, .purchaseDate, Self.sameSecond)
            && agree(\.originalPurchaseDate, .originalPurchaseDate, Self.sameSecond) && expiryAgrees
            && revocationAgrees
    }

    /// A receipt states that a purchase has no expiry by leaving it out.
    private var expiryAgrees: Bool {
        if signed.payload.expiresDate == nil, case .recordedReply = row.provenance[.expiresDate] {
            return signed.isFreeSubscription
        }
        return agree(\.expiresDate, .expiresDate, Self.sameSecond)
    }

    /// A receipt cannot tell an upgrade from a refund, and a row can be younger than the receipt; but a cancellation that
    /// Apple signed must not vanish. Only subscriptions are upgraded.
    private var revocationAgrees: Bool {
        if row.payload.isUpgraded == true, signed.payload.type == .autoRenewableSubscription { return true }
        if signed.payload.revocationDate != nil, row.payload.revocationDate == nil { return false }
        return agree(\.revocationDate, .revocationDate, Self.sameSecond)
            && agree(\.revocationReason, .revocationReason)
    }

    private func agree<Value: Equatable>(
        _ value: WritableKeyPath<JWSTransactionDecodedPayload, Value?>, _ field: TransactionField,
        _ equal: (Value, Value) -> Bool = { $0 == $1 }
    ) -> Bool {
        guard let theirs = signed.payload[keyPath: value], let ours = row.payload[keyPath: value] else { return true }
        return equal(ours, theirs) || signed.provenance[field].isInferred || row.provenance[field].isInferred
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
