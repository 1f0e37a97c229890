internal import AppStoreModels

/// A verified receipt or signed StoreKit 2 data of one record, for the recorded rows beside it.
package struct SignedRecord {
    package let reference: SignedReference
    package let receipt: MappedReceipt
    /// When it was signed, in milliseconds since 1970-01-01T00:00:00Z.
    package let date: Int64

    package init(reference: SignedReference, receipt: MappedReceipt, date: Int64) {
        self.reference = reference
        self.receipt = receipt
        self.date = date
    }
}

/// The name and the date of a verified receipt or of signed StoreKit 2 data.
package struct SignedReference: Sendable {
    /// SHA-256, 64 hexadecimal digits.
    package let sha256: String
    package let asOf: AsOf?

    package init(sha256: String, asOf: AsOf?) {
        self.sha256 = sha256
        self.asOf = asOf
    }
}

/// The purchases in the signed documents of one record, resolved together. The recorded rows of the record are resolved
/// beside them.
package struct SignedTransactions {
    /// The document of one kind that states a purchase.
    fileprivate struct Speaker {
        let reference: SignedReference
        let date: Int64
        let isTakenBack: Bool
        /// In ``statements``.
        let statement: Int
    }

    /// What the signed documents say about a recorded row.
    package enum Confirmation {
        /// No signed document has the purchase.
        case none
        /// Nothing in the row contradicts the signed document.
        case confirmed(SignedReference)
        /// The row states something else than the signed document does. It is resolved alone.
        case contradicted
    }

    private let mapper: ReceiptMapper
    /// By identity, the place in ``speakers`` and ``transactions``.
    private var places: [PurchaseIdentity: Int] = [:]
    /// A receipt and a signed transaction may both state one purchase.
    private var speakers: [ByKind<Speaker>] = []
    private var ids: Set<String> = []
    private var statements: [PurchaseStatement] = []
    private let transactions: [MappedTransaction]

    /// - Parameters:
    ///   - verified: newest first: of two documents of one kind with the same purchase the newer one speaks, of two of one date
    ///     the one in which the purchase is cancelled or upgraded.
    ///   - mapper: has the catalog.
    package init(_ verified: [SignedRecord], _ mapper: ReceiptMapper) {
        self.mapper = mapper
        for record in verified {
            for (transaction, statement) in zip(record.receipt.transactions, record.receipt.statements) {
                guard let identity = PurchaseIdentity(transaction.payload) else { continue }
                let place = places[identity] ?? speakers.count
                if place == speakers.count {
                    places[identity] = place
                    speakers.append(ByKind())
                    ids.insert(identity.transactionId)
                }
                let kind = statement.form.source.kind
                let known = speakers[place][kind]
                if let known {
                    // Within one receipt the first purchase stands.
                    guard known.reference.sha256 != record.reference.sha256, known.date == record.date,
                        !known.isTakenBack, transaction.isTakenBack
                    else { continue }
                    statements[known.statement] = statement
                } else {
                    statements.append(statement)
                }
                speakers[place][kind] = Speaker(
                    reference: record.reference, date: record.date, isTakenBack: transaction.isTakenBack,
                    statement: known?.statement ?? statements.count - 1)
            }
        }
        // One document is resolved already.
        transactions =
            verified.count == 1 && verified[0].receipt.transactions.count == statements.count
            ? verified[0].receipt.transactions : mapper.resolve(statements, speakers.map(\.statements))
    }

    /// The purchase, resolved from all signed documents of the record; nil if another one is the one that decides about it.
    package func transaction(_ identity: PurchaseIdentity, of document: SignedReference) -> MappedTransaction? {
        guard let place = places[identity], speakers[place].first?.reference.sha256 == document.sha256 else {
            return nil
        }
        return transactions[place]
    }

    /// The rows of a recorded document, resolved with the signed documents, in their order.
    package func resolve(_ mapping: RecordedMapping) -> [(transaction: MappedTransaction, confirmation: Confirmation)] {
        guard !speakers.isEmpty, !mapping.transactions.isEmpty else { return mapping.transactions.map { ($0, .none) } }
        let confirmations = mapping.transactions.indices.map {
            confirmation(of: mapping.transactions[$0], mapping.statements[$0])
        }
        var purchases: [ByKind<Int>] = []
        var rest = Set(speakers.indices)
        for (row, confirmation) in confirmations.enumerated() {
            var purchase = ByKind<Int>()
            switch confirmation {
            case .contradicted: continue
            case .none: break
            case .confirmed:
                if let place = PurchaseIdentity(mapping.transactions[row].payload).flatMap({ places[$0] }) {
                    purchase = speakers[place].statements
                    rest.remove(place)
                }
            }
            purchase.recorded = statements.count + row
            purchases.append(purchase)
        }
        // Also what the signed documents alone state: a period can replace that of a row.
        for place in rest.sorted() { purchases.append(speakers[place].statements) }
        var resolved = mapper.resolve(statements + mapping.statements, purchases).makeIterator()
        return confirmations.enumerated().map { place, confirmation in
            if case .contradicted = confirmation { return (mapping.transactions[place], .contradicted) }
            return (resolved.next() ?? mapping.transactions[place], confirmation)
        }
    }

    private func confirmation(of row: MappedTransaction, _ statement: PurchaseStatement) -> Confirmation {
        guard let identity = PurchaseIdentity(row.payload) else { return .none }
        guard let place = places[identity], let speaker = speakers[place].first else {
            // Apple gives each id once: a known one with a product that no receipt has beside it was edited.
            return ids.contains(identity.transactionId) ? .contradicted : .none
        }
        let signed = transactions[place]
        // A row that is older than the signed transaction cannot have its revocation.
        let isOlder = speakers[place].signed.map { $0.date > statement.context.recordedAt ?? .min } ?? false
        let comparison = RowComparison(row: row, signed: signed, isOlder: isOlder)
        let differs = speakers[place].receipt.map { statement.legacy.contradicts(statements[$0.statement].legacy) }
        let isContradicted =
            differs == true || statement.legacy.isCancelledBeforePurchase(signed) || !comparison.isConsistent
        return isContradicted ? .contradicted : .confirmed(speaker.reference)
    }
}

extension ByKind<SignedTransactions.Speaker> {
    /// The document that names the purchase: the signed transaction states all of its fields.
    fileprivate var first: SignedTransactions.Speaker? { signed ?? receipt }

    fileprivate var statements: ByKind<Int> {
        var places = ByKind<Int>()
        places.receipt = receipt?.statement
        places.signed = signed?.statement
        return places
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
    /// Whether the row is older than the signed statement.
    let isOlder: Bool

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
        if signed.payload.expiresDate == nil {
            switch row.provenance[.expiresDate] {
            case .recordedReply, .recordedStoreKit2: return signed.isFreeSubscription
            default: break
            }
        }
        return agree(\.expiresDate, .expiresDate, Self.sameSecond)
    }

    /// A receipt cannot tell an upgrade from a refund, and a row can be younger than the receipt; but a cancellation that
    /// Apple signed must not vanish. Only subscriptions are upgraded.
    private var revocationAgrees: Bool {
        if row.payload.isUpgraded == true, signed.payload.type == .autoRenewableSubscription { return true }
        if signed.payload.revocationDate != nil, row.payload.revocationDate == nil { return isOlder }
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
        case .inferred, .catalog: true
        default: false
        }
    }
}
