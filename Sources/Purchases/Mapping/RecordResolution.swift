import AppStoreModels
import LegacyReceipts
import ProductCatalog

extension ReceiptMapper {
    /// Resolves the statements of one record's documents, as ``Customer`` resolves those of a store: one transaction
    /// for each element of `purchases`, in that order.
    /// - Parameters:
    ///   - statements: those of all documents of the record.
    ///   - purchases: for each purchase, the indices of its statements in `statements`.
    ///   - rowDate: the date of the unsigned document, as a store files it; nil if the record has no signed document.
    func resolve(
        _ statements: consuming [PurchaseStatement], _ purchases: [ByKind<Int>], rowDate: Int64? = nil
    ) -> [MappedTransaction] {
        var statements = statements
        var facts: [TransactionFact] = []
        facts.reserveCapacity(statements.count)
        for place in statements.indices { facts.append(TransactionFact(taking: &statements[place], rowDate: rowDate)) }
        var transactions: [StoredTransaction] = []
        transactions.reserveCapacity(purchases.count)
        for places in purchases {
            transactions.append(joining: places, of: facts)
            // Only callers that accept recorded documents pass them. A newer signed document overrules them, as in a store.
            if let row = places.recorded, places.signed != nil || places.receipt != nil,
                StoredTransaction.isRecordedNewer(places, facts)
            {
                transactions[transactions.count - 1].acceptCancellation(of: facts[row])
            }
        }
        // Now only the transactions have the payloads, so concluding copies none.
        facts = []
        transactions.concludeFromOthers(catalog)
        var mapped: [MappedTransaction] = []
        mapped.reserveCapacity(purchases.count)
        let types = transactions.typesOfOthers
        for place in transactions.indices {
            let type = types?.signedType(of: transactions[place])
            mapped.append(
                MappedTransaction(&transactions[place], purchases[place], statements, catalog, stated: type))
        }
        addTerms(&mapped)
        return mapped
    }

    /// Resolves statements of different purchases: one transaction for each.
    func resolve(_ statements: consuming [PurchaseStatement], _ kind: FactKind) -> [MappedTransaction] {
        let purchases = (0..<statements.count).map { place in
            var places = ByKind<Int>()
            places[kind] = place
            return places
        }
        return resolve(statements, purchases)
    }
}

extension TransactionFact {
    /// Moves the payload out of the statement. The rules about the documents of a joined transaction need only the rest.
    fileprivate init(taking statement: inout PurchaseStatement, rowDate: Int64?) {
        let origin = FactOrigin(source: statement.form.source, signedDate: statement.factDate(rowDate: rowDate))
        self.init(statement.shared.take(), legacy: statement.legacy, origin: origin)
    }
}

extension PurchaseStatement {
    /// The date under which a store files the statement, in milliseconds since 1970-01-01T00:00:00Z; 0 if nothing states one.
    /// - Parameter rowDate: the date of the unsigned document with the statement, if that is known.
    func factDate(rowDate: Int64? = nil) -> Int64 {
        switch form.source.kind {
        case .signedTransaction: return payload.factDate
        case .receipt:
            if case .attributes = form, let created = context.recordedAt { return created }
            // A transaction receipt has no date of its own, and is as new as what it states.
            return max(context.recordedAt ?? 0, legacy.cancellationDate ?? .min)
        case .recorded, .notified:
            // Each part of StoreKit 2 JSON can have a date of its own.
            if form.source == .recordedStoreKit2, let own = context.recordedAt { return own }
            return rowDate ?? context.recordedAt ?? 0
        }
    }
}

extension MappedTransaction {
    /// - Parameters:
    ///   - transaction: already joined. This adds the conclusions to it, and takes its payload.
    ///   - places: the indices of its statements.
    ///   - statements: those of all documents of the record, without their payloads.
    ///   - catalog: the product data; nil if there is none.
    ///   - type: the type that signed documents state about other transactions of the purchase.
    fileprivate init(
        _ transaction: inout StoredTransaction, _ places: ByKind<Int>, _ statements: [PurchaseStatement],
        _ catalog: ProductCatalog?, stated type: ProductType?
    ) {
        let standing: RecordStanding =
            places.recorded != nil ? .recorded : places.signed != nil ? .verifiedJWS : .verifiedReceipt
        self.init(standing: standing, reservingFields: 18)
        take(&transaction, places, statements, catalog, stated: type)
    }

    private mutating func take(
        _ transaction: inout StoredTransaction, _ places: ByKind<Int>, _ statements: [PurchaseStatement],
        _ catalog: ProductCatalog?, stated type: ProductType?
    ) {
        if let place = places.recorded ?? places.signed ?? places.receipt { notes = statements[place].notes }
        let product: CatalogProduct? =
            if let catalog, let productId = transaction.payload.productId { catalog.product(productId) } else { nil }
        var recordedAt: Int64?
        for case let place? in [places.receipt, places.signed, places.recorded] {
            if let date = statements[place].context.recordedAt { recordedAt = min(recordedAt ?? date, date) }
        }
        transaction.conclude(product, stated: type, recordedAt: recordedAt, notes: &notes)
        if transaction.payload.environment == nil, let place = places.signed ?? places.receipt ?? places.recorded {
            let context = statements[place].context
            transaction.sources.conclude(
                &transaction.shared.payload.environment, context.environment, .environment,
                context.environmentProvenance)
        }
        for field in FieldMask(presentIn: &transaction.shared.payload) {
            if let conclusion = transaction.sources.conclusion(about: field) {
                provenance.record(field, conclusion)
            } else if let place = places[transaction.sources.kind(of: field)] {
                if let attribute = statements[place].attribute(of: field) {
                    provenance.record(field, attribute: attribute)
                } else {
                    provenance.record(field, statements[place].provenance(of: field))
                }
            } else {
                provenance.record(field, .absent)
            }
        }
        swap(&shared, &transaction.shared)
    }
}
