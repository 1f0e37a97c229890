import Purchases
import TransactionStore

/// The purchases of a batch about which the ledger may get entries, at the end of the transaction that writes the facts and under
/// the lock of the ledger.
struct BatchPurchases {
    /// The kind of renewal information that the App Store signed.
    static let signed = Int16(FactKind.signedTransaction.rawValue)

    let batch: FactBatch
    var owners: FactWriter.Owners
    let scopeIds: [Int32]

    /// The facts about transactions.
    var facts: [SQLFact] {
        batch.transactions.map { row in
            SQLFact(
                SQLTransaction(String(decoding: batch.bytes[row.id], as: UTF8.self), of: purchase(row.owner)),
                kind: FactKind(rawValue: Int(row.kind)), isPlainPurchase: row.isPlainPurchase, revokes: row.revokes,
                product: row.product.isEmpty ? nil : Array(batch.bytes[row.product]),
                isKnown: !owners.isNewIdentity[row.owner])
        }
    }

    /// Appends the entries that are due after those of the facts.
    func record(_ session: PostgreSQLSession, _ connections: inout SQLConnections) throws {
        // A new customer has no term if no document of the batch states the type of a purchase. A bulk load of old receipts has
        // many.
        let terms = batch.transactions.filter(\.mayMoveTerms).compactMap { row -> SQLOwnedPurchase? in
            let component = batch.identities[row.owner].component
            let customer = owners.customers[component]
            let isKnown = !owners.isNewCustomer[component] || owners.joinedCustomers.contains(customer)
            guard row.statesNonRenewingSubscription || isKnown else { return nil }
            return SQLOwnedPurchase(purchase(row.owner), of: customer)
        }
        try session.recordTerms(of: Set(terms), joined: owners.joinedCustomers, &connections)
        let places = placesOfDocuments()
        try session.append(unclaimedSeats(places))
        try session.recordRenewals(of: renewed(places), &connections)
    }

    private func purchase(_ place: Int) -> SQLPurchase {
        let identity = batch.identities[place]
        return SQLPurchase(
            scopeId: Int64(scopeIds[identity.scope]),
            original: String(decoding: batch.bytes[identity.value], as: UTF8.self), id: owners.identities[place])
    }

    // MARK: Purchases of documents

    /// An original transaction id that a document states.
    private struct Key: Hashable {
        let scope: ScopeKey
        let original: [UInt8]

        init(_ scope: StoreScope, _ original: some Sequence<UInt8>) {
            self.scope = ScopeKey(scope: scope)
            self.original = Array(original)
        }
    }

    /// The places of the identities that are original transaction ids; empty if no document needs them.
    private func placesOfDocuments() -> [Key: Int] {
        let isNeeded = batch.sets.contains { !$0.set.unclaimedSeatIds.isEmpty || NotifiedEvent(of: $0.set) != nil }
        guard isNeeded else { return [:] }
        let kind = Int16(truncatingIfNeeded: CustomerIdentity.Kind.originalTransactionId.rawValue)
        var places: [Key: Int] = [:]
        for (place, identity) in batch.identities.enumerated() where identity.kind == kind {
            places[Key(batch.scopes[identity.scope], batch.bytes[identity.value])] = place
        }
        return places
    }

    /// The entries for the seat claims that the App Store ended, one for each claim.
    private func unclaimedSeats(_ places: [Key: Int]) -> [SQLEntry] {
        struct Claim: Hashable {
            let scopeId: Int64
            let id: String?
        }
        var seen: Set<Claim> = []
        var entries: [SQLEntry] = []
        for set in batch.sets.lazy.map(\.set) where !set.unclaimedSeatIds.isEmpty {
            guard let original = set.transactions.first?.storedOriginalTransactionId,
                let place = places[Key(set.scope, original.utf8)]
            else { continue }
            entries += SQLEntry.unclaimedSeats(of: set, purchase(place)).filter {
                seen.insert(Claim(scopeId: $0.purchase.scopeId, id: $0.seatClaimId)).inserted
            }
        }
        return entries
    }

    /// The purchases whose renewal the batch can have changed: those of notifications in the order of the documents,
    /// those with signed renewal information, and known ones with a period.
    private func renewed(_ placesOfDocuments: [Key: Int]) -> [(purchase: SQLPurchase, notified: [NotifiedEvent])] {
        var places: [Int] = []
        var events: [Int: [NotifiedEvent]] = [:]
        for set in batch.sets.lazy.map(\.set) {
            guard let event = NotifiedEvent(of: set),
                let place = placesOfDocuments[Key(set.scope, event.originalTransactionId.utf8)]
            else { continue }
            places.append(place)
            events[place, default: []].append(event)
        }
        places += batch.renewalInfos.filter { $0.kind == Self.signed }.map(\.owner)
        places += batch.transactions.filter { $0.isPeriod && !owners.isNewIdentity[$0.owner] }.map(\.owner)
        var seen: Set<Int> = []
        return places.filter { seen.insert($0).inserted }.map { (purchase: purchase($0), notified: events[$0] ?? []) }
    }
}
