internal import AppStoreModels
internal import Encodings
internal import LegacyReceipts

/// A verified receipt or signed StoreKit 2 data in a record, to compare the record's unsigned rows with.
package struct SignedRecord {
    package let reference: SignedReference
    package let receipt: MappedReceipt
    /// When it was signed, in milliseconds since 1970-01-01T00:00:00Z.
    package let date: Int64

    package init(sha256: String, receipt: MappedReceipt) {
        reference = SignedReference(sha256: sha256, asOf: receipt.asOf)
        self.receipt = receipt
        date = receipt.asOf?.date ?? receipt.evidence.validationTime
    }

    /// The order of the signed documents of a record: the newer one counts. It is total, so that their order in the record
    /// changes nothing.
    package func isNewer(than other: SignedRecord) -> Bool {
        (date, reference.sha256) > (other.date, other.reference.sha256)
    }
}

/// The name and the date of a verified receipt or of signed StoreKit 2 data.
package struct SignedReference: Sendable {
    /// SHA-256, 64 hexadecimal digits.
    package let sha256: String
    package let asOf: AsOf?
}

/// The purchases in the signed documents of one record, resolved together. The unsigned rows of the record are resolved
/// with them.
package struct SignedTransactions {
    /// The document of one kind that states a purchase.
    fileprivate struct DocumentStatement {
        let reference: SignedReference
        let date: Int64
        /// As a store files it.
        let origin: FactOrigin
        /// The index in ``statements``.
        let statement: Int
    }

    /// How a recorded row compares with the signed documents.
    package enum Confirmation {
        /// No signed document has the purchase.
        case none
        /// Nothing in the row contradicts the signed document.
        case confirmed(SignedReference)
        /// The row contradicts the signed document. It is resolved alone.
        case contradicted
    }

    private let mapper: ReceiptMapper
    /// By identity, the place in ``documents`` and ``transactions``.
    private var places: [PurchaseIdentity: Int] = [:]
    /// A receipt and a signed transaction may both state one purchase.
    private var documents: [ByKind<DocumentStatement>] = []
    private var ids: Set<String> = []
    private var statements: [PurchaseStatement] = []
    private let transactions: [MappedTransaction]
    /// By original transaction id, the places in ``documents`` and ``transactions``, in their order.
    private var placesByOriginal: [String: [Int]] = [:]

    /// - Parameters:
    ///   - verified: the signed documents, the newest first (``SignedRecord/isNewer(than:)``). If two documents of one kind
    ///     state a purchase, the one counts that a store keeps (``TransactionFact/isNewer(than:)``).
    ///   - mapper: contains the catalog.
    package init(_ verified: [SignedRecord], _ mapper: ReceiptMapper) {
        self.mapper = mapper
        for record in verified {
            let document = Fingerprint(hex: record.reference.sha256)
            for (transaction, statement) in zip(record.receipt.transactions, record.receipt.statements) {
                guard let identity = PurchaseIdentity(transaction.payload) else { continue }
                let place = places[identity] ?? documents.count
                if place == documents.count {
                    places[identity] = place
                    documents.append(ByKind())
                    ids.insert(identity.transactionId)
                }
                let kind = statement.form.source.kind
                let known = documents[place][kind]
                let origin = FactOrigin(
                    source: statement.form.source, signedDate: statement.factDate(), document: document)
                if let known {
                    // Within one receipt the first entry counts.
                    guard known.reference.sha256 != record.reference.sha256,
                        TransactionFact(statement, origin)
                            .isNewer(than: TransactionFact(statements[known.statement], known.origin))
                    else { continue }
                    statements[known.statement] = statement
                } else {
                    statements.append(statement)
                }
                documents[place][kind] = DocumentStatement(
                    reference: record.reference, date: record.date, origin: origin,
                    statement: known?.statement ?? statements.count - 1)
            }
        }
        // The purchases of a single document are already resolved.
        transactions =
            verified.count == 1 && verified[0].receipt.transactions.count == statements.count
            ? verified[0].receipt.transactions : mapper.resolve(statements, documents.map(\.statements))
        for place in transactions.indices {
            guard let id = transactions[place].payload.purchaseId else { continue }
            placesByOriginal[id, default: []].append(place)
        }
    }

    /// The purchase, resolved from all signed documents of the record; nil if another document decides about it.
    package func transaction(_ identity: PurchaseIdentity, of document: SignedReference) -> MappedTransaction? {
        guard let place = places[identity], documents[place].first?.reference.sha256 == document.sha256 else {
            return nil
        }
        return transactions[place]
    }

    /// The rows of a recorded document that contradict the signed documents.
    package func contradictedRows(of mapping: RecordedMapping) -> Set<Int> {
        guard !documents.isEmpty else { return [] }
        let rows = mapping.transactions.indices.filter { row in
            if case .contradicted = confirmation(of: mapping.transactions[row], mapping.statements[row]) { return true }
            return false
        }
        return Set(rows)
    }

    /// The rows of a recorded document, resolved with the signed documents, in their order. The terms of non-renewing
    /// subscriptions depend on all purchases of the record, and the caller adds them.
    ///
    /// The cost depends on the rows and on the signed purchases with their original transaction ids, not on all signed
    /// purchases. A record can have thousands of both.
    package func resolve(_ mapping: RecordedMapping) -> [(transaction: MappedTransaction, confirmation: Confirmation)] {
        guard !documents.isEmpty, !mapping.transactions.isEmpty else { return mapping.transactions.map { ($0, .none) } }
        let confirmations = mapping.transactions.indices.map {
            confirmation(of: mapping.transactions[$0], mapping.statements[$0])
        }
        var chosen = mapping.statements
        func choose(_ place: Int) -> ByKind<Int> {
            var purchase = ByKind<Int>()
            let signed = documents[place].statements
            for kind in [FactKind.receipt, .signedTransaction] {
                guard let statement = signed[kind] else { continue }
                purchase[kind] = chosen.count
                chosen.append(statements[statement])
            }
            return purchase
        }
        var purchases: [ByKind<Int>] = []
        var confirmed: Set<Int> = []
        var originals: Set<String> = []
        for (row, confirmation) in confirmations.enumerated() {
            var purchase = ByKind<Int>()
            switch confirmation {
            case .contradicted: continue
            case .none: break
            case .confirmed:
                if let place = PurchaseIdentity(mapping.transactions[row].payload).flatMap({ places[$0] }) {
                    purchase = choose(place)
                    confirmed.insert(place)
                    if let id = transactions[place].payload.purchaseId { originals.insert(id) }
                }
            }
            if let id = mapping.transactions[row].payload.purchaseId { originals.insert(id) }
            purchase.recorded = row
            purchases.append(purchase)
        }
        // Include purchases that only the signed documents state. One of their periods can replace that of a row, and a
        // refund of one copy refunds the others. Both rules compare only purchases with one original transaction id.
        let rest = originals.flatMap { placesByOriginal[$0] ?? [] }.filter { !confirmed.contains($0) }
        for place in rest.sorted() { purchases.append(choose(place)) }
        var resolved = mapper.resolve(chosen, purchases, rowDate: mapping.asOf?.date).makeIterator()
        return confirmations.enumerated().map { place, confirmation in
            if case .contradicted = confirmation { return (mapping.transactions[place], .contradicted) }
            return (resolved.next() ?? mapping.transactions[place], confirmation)
        }
    }

    private func confirmation(of row: MappedTransaction, _ statement: PurchaseStatement) -> Confirmation {
        guard let identity = PurchaseIdentity(row.payload) else { return .none }
        guard let place = places[identity], let decisive = documents[place].first else {
            // Apple assigns each id once. A row with a known id and another product was edited.
            return ids.contains(identity.transactionId) ? .contradicted : .none
        }
        let signed = transactions[place]
        // A row that is older than the signed transaction cannot have its revocation.
        let isOlder = documents[place].signed.map { $0.date > statement.context.recordedAt ?? .min } ?? false
        let comparison = RowComparison(row: row, signed: signed, isOlder: isOlder)
        let differs = documents[place].receipt.map { statement.legacy.contradicts(statements[$0.statement].legacy) }
        let isContradicted =
            differs == true || statement.legacy.isCancelledBeforePurchase(signed) || !comparison.isConsistent
        return isContradicted ? .contradicted : .confirmed(decisive.reference)
    }
}

extension ByKind<SignedTransactions.DocumentStatement> {
    /// The document that decides: the signed transaction, because it states all fields.
    fileprivate var first: SignedTransactions.DocumentStatement? { signed ?? receipt }

    fileprivate var statements: ByKind<Int> {
        var places = ByKind<Int>()
        places.receipt = receipt?.statement
        places.signed = signed?.statement
        return places
    }
}

extension LegacyTransactionFields {
    /// Whether the offers of a recorded row differ from those that the signed receipt states. A false flag states that
    /// there is no offer.
    fileprivate func contradicts(_ signed: LegacyTransactionFields) -> Bool {
        func differ(_ signed: Bool?, _ recorded: Bool?) -> Bool {
            if let signed, let recorded { signed != recorded } else { false }
        }
        if differ(signed.isTrialPeriod, isTrialPeriod) { return true }
        // Apple marks a free trial as introductory in some years and not in others (Reference.md V3.5).
        return signed.isTrialPeriod != true && differ(signed.isInIntroOfferPeriod, isInIntroOfferPeriod)
    }

    /// Whether only the row has a cancellation, dated before the purchase.
    fileprivate func isCancelledBeforePurchase(_ signed: borrowing MappedTransaction) -> Bool {
        guard let cancellationDate, let bought = signed.payload.purchaseDate, signed.payload.revocationDate == nil
        else { return false }
        return cancellationDate.flooredQuotient(1000) < bought.flooredQuotient(1000)
    }
}

/// Compares a recorded row with the signed statement of the same purchase. Fields that only one of them has, and
/// conclusions of rules, contradict nothing.
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

    /// A receipt without an expiry states that the purchase does not expire.
    private var expiryAgrees: Bool {
        if signed.payload.expiresDate == nil {
            switch row.provenance[.expiresDate] {
            case .recordedReply, .recordedStoreKit2: return signed.isFreeSubscription
            default: break
            }
        }
        return agree(\.expiresDate, .expiresDate, Self.sameSecond)
    }

    /// A receipt does not distinguish an upgrade from a refund, and a row can be newer than the receipt. But a row must
    /// not remove a cancellation that Apple signed. Only subscriptions are upgraded.
    private var revocationAgrees: Bool {
        if row.payload.isUpgraded == true, signed.payload.type == .autoRenewableSubscription { return true }
        if signed.payload.revocationDate != nil, row.payload.revocationDate == nil {
            return isOlder || signed.provenance[.revocationDate].isInferred
        }
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

extension Provenance {
    fileprivate var isInferred: Bool {
        switch self {
        case .inferred, .catalog: true
        default: false
        }
    }
}
