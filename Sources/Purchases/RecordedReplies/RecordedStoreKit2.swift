package import AppStoreModels

/// One object of StoreKit 2 JSON that was stored decoded, without its signature.
package enum RecordedStoreKit2: Sendable {
    case transaction(JWSTransactionDecodedPayload)
    case renewalInfo(JWSRenewalInfoDecodedPayload)
    case appTransaction(AppTransaction)
}

extension ReceiptMapper {
    /// Maps one object of unsigned StoreKit 2 JSON.
    /// - Parameters:
    ///   - recorded: the object.
    ///   - surroundings: what is known about the object from beside it.
    package func map(
        _ recorded: RecordedStoreKit2, beside surroundings: RecordedSurroundings = RecordedSurroundings()
    ) -> RecordedMapping {
        switch recorded {
        case .transaction(let payload): map(recorded: [(payload, surroundings)]).mapping
        case .renewalInfo(let payload):
            RecordedMapping(
                storeKit2: payload.environmentOfDecoded ?? surroundings.environment?.value,
                bundleId: surroundings.bundleId?.value,
                renewalInfos: [MappedRenewalInfo(payload, .recordedStoreKit2, .recorded)],
                asOf: payload.signedDate.map { AsOf(date: $0, kind: .recorded) })
        case .appTransaction(let payload):
            RecordedMapping(
                storeKit2: payload.receiptType,
                appTransaction: MappedAppTransaction(payload, .recordedStoreKit2, .recorded),
                asOf: payload.receiptCreationDate.map { AsOf(date: $0, kind: .recorded) })
        }
    }

    /// Maps the unsigned StoreKit 2 transactions of one record together: one transaction per transaction id and product, in
    /// the newest state.
    ///
    /// - Returns: the mapping, and for each of its transactions the index of its payload.
    package func map(
        recorded objects: [(payload: JWSTransactionDecodedPayload, surroundings: RecordedSurroundings)]
    ) -> (mapping: RecordedMapping, places: [Int]) {
        let payloads = objects.map(\.payload)
        var places: [Int] = []
        var known: [PurchaseIdentity: Int] = [:]
        var merged: Set<Int> = []
        for (place, payload) in payloads.enumerated() {
            guard payload.transactionId != "0", let identity = PurchaseIdentity(payload) else {
                places.append(place)
                continue
            }
            guard let row = known[identity] else {
                known[identity] = places.count
                places.append(place)
                continue
            }
            merged.insert(row)
            if payload.isNewer(than: payloads[places[row]]) { places[row] = place }
        }
        let statements = places.map {
            PurchaseStatement(payloads[$0], .recordedStoreKit2, beside: objects[$0].surroundings)
        }
        var transactions = resolve(statements, .recorded)
        for row in merged { transactions[row].note(.mergedRows) }
        let dates = places.compactMap { AsOf(recorded: payloads[$0]) }
        let newest = dates.max { ($0.date, $0.kind.rawValue) < ($1.date, $1.kind.rawValue) }
        let mapping = RecordedMapping(
            storeKit2: statements.lazy.compactMap(\.context.environment).first, transactions: transactions,
            statements: statements, asOf: newest)
        return (mapping, places)
    }
}

extension AsOf {
    /// The date of an unsigned transaction of StoreKit 2: its signing date, else that of the newest event in it.
    package init?(recorded payload: JWSTransactionDecodedPayload) {
        if let date = payload.signedDate {
            self.init(date: date, kind: .recorded)
        } else if let date = [payload.purchaseDate, payload.revocationDate].compactMap(\.self).max() {
            self.init(date: date, kind: .recordedNotBefore)
        } else {
            return nil
        }
    }
}

extension JWSTransactionDecodedPayload {
    /// Of two states of one transaction with the same date, the revoked one counts.
    fileprivate func isNewer(than other: Self) -> Bool {
        func rank(_ payload: Self) -> (Int64, Int) {
            (AsOf(recorded: payload)?.date ?? .min, payload.revocationDate != nil ? 1 : 0)
        }
        return rank(self) > rank(other)
    }
}

extension RecordedMapping {
    fileprivate init(
        storeKit2 environment: Environment?, bundleId: String? = nil, transactions: [MappedTransaction] = [],
        statements: [PurchaseStatement] = [], renewalInfos: [MappedRenewalInfo] = [],
        appTransaction: MappedAppTransaction? = nil, asOf: AsOf?
    ) {
        self.init(
            kind: .storeKit2, transactions: transactions, appTransaction: appTransaction, renewalInfos: renewalInfos,
            embeddedReceipts: [], notes: [], environment: environment, bundleId: bundleId, recordedAt: nil, asOf: asOf,
            statements: statements, otherStoreRows: [])
    }
}
