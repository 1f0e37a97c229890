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
    package func recordTerms(of changed: Set<SQLOwnedPurchase>, joined: Set<Int64>) throws {
        let moves = try termMoves(by: changed, joined: joined)
        guard !moves.outdated.isEmpty || !moves.new.isEmpty else { return }
        try replace(moves.outdated, with: moves.new)
        try append(moves.entries)
    }

    /// What ``recordTerms(of:joined:)`` writes.
    package func termMoves(by changed: Set<SQLOwnedPurchase>, joined: Set<Int64> = []) throws -> SQLTermMoves {
        var moves = SQLTermMoves()
        let customers = joined.union(changed.map(\.customer)).sorted()
        guard !customers.isEmpty else { return moves }
        let known = changed.union(try purchasesWithTerms(of: customers))
            .sorted { ($0.purchase.id, $0.purchase.original) < ($1.purchase.id, $1.purchase.original) }
        guard !known.isEmpty else { return moves }
        let purchases = known.map(\.purchase)
        let bases = try bases(of: purchases)
        let transactions = try transactions(of: purchases)
        let places = Dictionary(grouping: known.indices) { known[$0].customer }
        for customer in customers {
            moves.add(
                places[customer, default: []].map { place in
                    (purchases[place], bases[place] ?? [:], transactions[place])
                })
        }
        return moves
    }
}

extension SQLTermMoves {
    /// Adds what changed about the terms of one customer.
    fileprivate mutating func add(
        _ parts: [(purchase: SQLPurchase, bases: [String: Int64], transactions: [StoredTransaction])]
    ) {
        var known: [String: Int64] = [:]
        // Documents may state a transaction under two original ids.
        var terms: [String: SQLTransaction] = [:]
        var transactions: [StoredTransaction] = []
        for part in parts {
            known.merge(part.bases) { $1 }
            for transaction in part.transactions {
                guard let id = transaction.payload.transactionId, terms[id] == nil else { continue }
                terms[id] = SQLTransaction(id, of: part.purchase)
                transactions.append(transaction)
            }
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
