internal import Purchases

/// What documents changed about the terms of customers (`TermChanges`).
package struct SQLTermMoves: Sendable {
    package fileprivate(set) var outdated: [SQLTransaction] = []
    package fileprivate(set) var new: [(term: SQLTransaction, basis: Int64)] = []
    fileprivate var entries: [SQLEntry] = []
}

extension SQLPurchaseRows {
    /// Appends an entry for each term that moved, after the entries about the transactions themselves.
    /// - Parameters:
    ///   - changed: the purchases of non-renewing subscriptions with new or newer facts.
    ///   - joined: the customers into which others were merged.
    ///   - connections: found after the last fact was written.
    package func recordTerms(
        of changed: Set<SQLOwnedPurchase>, joined: Set<Int64>, _ connections: inout SQLConnections
    ) throws {
        let known = try adding(purchasesWithTermsOf: joined, changed)
        // Documents can state one of their transactions under an original id without a term, for example after a refund.
        let moves = try termMoves(of: known.union(try connected(with: known, &connections)))
        guard !moves.outdated.isEmpty || !moves.new.isEmpty else { return }
        try replace(moves.outdated, with: moves.new)
        try append(moves.entries)
    }

    /// What ``recordTerms(of:joined:_:)`` writes, for a store of an older schema, which cannot look up transaction ids yet.
    package func termMoves(by changed: Set<SQLOwnedPurchase>) throws -> SQLTermMoves {
        try termMoves(of: adding(purchasesWithTermsOf: [], changed))
    }

    /// The changed purchases, and all purchases with terms of their customers and of these customers.
    private func adding(
        purchasesWithTermsOf customers: Set<Int64>, _ changed: Set<SQLOwnedPurchase>
    ) throws -> Set<SQLOwnedPurchase> {
        let customers = customers.union(changed.map(\.customer)).sorted()
        guard !customers.isEmpty else { return [] }
        return changed.union(try purchasesWithTerms(of: customers))
    }

    /// The other purchases of the same customers that documents connect with these. Nearly always none.
    private func connected(
        with known: Set<SQLOwnedPurchase>, _ connections: inout SQLConnections
    ) throws -> Set<SQLOwnedPurchase> {
        let purchases = known.map(\.purchase)
        let units = try connections.units(of: purchases, self)
        let others = Array(Set(units.values.joined()).subtracting(purchases))
        guard !others.isEmpty else { return [] }
        let owners = try owners(of: others)
        let customers = Set(known.map(\.customer))
        var found: Set<SQLOwnedPurchase> = []
        for (place, other) in others.enumerated() {
            guard let customer = owners[place], customers.contains(customer) else { continue }
            found.insert(SQLOwnedPurchase(other, of: customer))
        }
        return found
    }

    private func termMoves(of owned: Set<SQLOwnedPurchase>) throws -> SQLTermMoves {
        var moves = SQLTermMoves()
        guard !owned.isEmpty else { return moves }
        let known = owned.sorted { ($0.purchase.id, $0.purchase.original) < ($1.purchase.id, $1.purchase.original) }
        let purchases = known.map(\.purchase)
        let bases = try bases(of: purchases)
        let customers = Dictionary(grouping: known.indices) { known[$0].customer }
            .sorted { $0.key < $1.key }.map(\.value)
        // Those of a customer together, as when the customer is read: documents may state a transaction under two original ids.
        let transactions = try transactions(of: customers.map { $0.map { purchases[$0] } }, in: .placeholder)
        for (places, transactions) in zip(customers, transactions) {
            moves.add(places.map { (purchases[$0], bases[$0] ?? [:]) }, transactions)
        }
        return moves
    }
}

extension SQLTermMoves {
    /// Adds what changed about the terms of one customer.
    fileprivate mutating func add(
        _ parts: [(purchase: SQLPurchase, bases: [String: Int64])], _ transactions: [StoredTransaction]
    ) {
        var known: [String: Int64] = [:]
        var purchases: [String: SQLPurchase] = [:]
        for part in parts {
            known.merge(part.bases) { $1 }
            purchases[part.purchase.original] = part.purchase
        }
        var terms: [String: SQLTransaction] = [:]
        for transaction in transactions {
            guard let id = transaction.payload.transactionId,
                let purchase = purchases[transaction.storedOriginalTransactionId]
            else { continue }
            terms[id] = SQLTransaction(id, of: purchase)
        }
        let changes = TermChanges(of: transactions, known: known)
        guard changes.bases != known else { return }
        // Other terms keep their dates. Otherwise a customer with thousands of terms would be read again for each of them.
        for part in parts {
            for id in part.bases.keys where changes.bases[id] != known[id] {
                outdated.append(SQLTransaction(id, of: part.purchase))
            }
        }
        for (id, basis) in changes.bases where known[id] != basis {
            if let term = terms[id] { new.append((term, basis)) }
        }
        for id in changes.moved {
            guard let term = terms[id] else { continue }
            entries.append(SQLEntry(movedTerm: term, earlierPurchases: changes.earlierPurchases[id]))
        }
    }
}
