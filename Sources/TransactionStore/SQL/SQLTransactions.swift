package import Purchases

/// The parts of a fact that decide the entries about its transaction.
package struct SQLFact: Sendable {
    fileprivate let transaction: SQLTransaction
    fileprivate let isSigned: Bool
    /// Whether the transaction is a plain purchase, as far as this fact states.
    fileprivate let isPlain: Bool
    fileprivate let revokes: Bool
    fileprivate let product: [UInt8]?
    fileprivate let isKnown: Bool

    /// - Parameters:
    ///   - transaction: the transaction.
    ///   - kind: the kind of the fact.
    ///   - isPlainPurchase: `TransactionFact.isPlainPurchase`
    ///   - revokes: `TransactionFact.revokes`
    ///   - product: `TransactionFact.storedProduct`
    ///   - isKnown: whether the store may have other facts about the purchase than the given ones.
    package init(
        _ transaction: SQLTransaction, kind: FactKind?, isPlainPurchase: Bool, revokes: Bool, product: [UInt8]?,
        isKnown: Bool
    ) {
        self.transaction = transaction
        isSigned = kind?.isSigned == true
        isPlain = isSigned ? isPlainPurchase : kind != .notified
        self.revokes = revokes
        self.product = product
        self.isKnown = isKnown
    }

    /// Two facts about one transaction.
    fileprivate init(_ one: SQLFact, _ other: SQLFact) {
        transaction = one.transaction
        isSigned = one.isSigned || other.isSigned
        isPlain = one.isPlain && other.isPlain
        revokes = one.revokes || other.revokes
        product = one.product
        isKnown = one.isKnown || other.isKnown
    }
}

extension SQLPurchaseRows {
    /// The purchases that signed documents show to be of one customer, in sets of two or more: they state a transaction under the
    /// original ids of both, or of others of the set. The engine merges the customers of each set, so that each answer about
    /// them uses all of their documents, as the ledger does. Unsigned data must not merge two customers.
    ///
    /// Costs nothing of its own: ``recordTransactions(_:_:)`` uses the same connections.
    /// - Parameters:
    ///   - facts: the facts about transactions that were written.
    ///   - connections: found after the last fact was written.
    package func purchasesOfOneCustomer(
        _ facts: [SQLFact], _ connections: inout SQLConnections
    ) throws -> [Set<SQLPurchase>] {
        _ = try connections.units(of: Array(Set(facts.map(\.transaction.purchase))), self)
        return Array(connections.ofOneCustomer)
    }

    /// Appends the entries that are due after facts about transactions were written.
    /// - Parameters:
    ///   - facts: the facts.
    ///   - connections: found after the last fact was written.
    package func recordTransactions(_ facts: [SQLFact], _ connections: inout SQLConnections) throws {
        let connected = try connections.units(of: Array(Set(facts.map(\.transaction.purchase))), self)
        let together = try purchasesToExamine(facts, and: Set(connected.keys))
        let all = Self.merged(facts)
        var open = all.indices.filter { !together.contains(all[$0].transaction.purchase) }
        let plain = open.filter { all[$0].isSigned && all[$0].isPlain }
        let known = plain.filter { all[$0].isKnown }
        let cancelled = Set(try notified(known.map { all[$0].transaction }).map { known[$0] })
        // Nearly all transactions of a bulk load end here: they are new, or a newer receipt states the same purchase.
        let bought = plain.filter { !cancelled.contains($0) }
        let entries = bought.map { place -> SQLNumberedEntry in (all[place].transaction, 0, .purchased) }
        let repeated = try appendNumbered(entries).map { bought[$0] }
        let granted = try histories(of: repeated.map { all[$0].transaction }).filter(\.value.isGranted)
        let done = Set(bought).subtracting(repeated).union(granted.keys.map { repeated[$0] })
        open.removeAll { done.contains($0) }
        // Every signed transaction has an entry.
        let unsigned = open.filter { !all[$0].isSigned }
        let mentioned = try histories(of: unsigned.map { all[$0].transaction }).keys.map { unsigned[$0] }
        let examined = open.filter { all[$0].isSigned } + mentioned
        try recordTogether(together.union(examined.map { all[$0].transaction.purchase }), connected)
    }

    /// The transactions that facts are about, each once and in order.
    private static func merged(_ facts: [SQLFact]) -> [SQLFact] {
        var places: [SQLTransaction: Int] = [:]
        var all: [SQLFact] = []
        for fact in facts {
            if let place = places[fact.transaction] {
                all[place] = SQLFact(all[place], fact)
            } else {
                places[fact.transaction] = all.count
                all.append(fact)
            }
        }
        return all
    }

    /// The purchases whose transactions `UpgradeRule` and `CopyRule` must examine together: those that, among the facts or in
    /// the store, have a transaction of another product, or with a cancellation. The given ones are among them.
    private func purchasesToExamine(
        _ facts: [SQLFact], and given: Set<SQLPurchase>
    ) throws -> Set<SQLPurchase> {
        var result = given
        var products: [SQLPurchase: [UInt8]] = [:]
        var asked: [(purchase: SQLPurchase, product: [UInt8])] = []
        for fact in facts {
            let purchase = fact.transaction.purchase
            if fact.revokes { result.insert(purchase) }
            guard let product = fact.product else { continue }
            if let known = products[purchase] {
                if known != product { result.insert(purchase) }
            } else {
                products[purchase] = product
                if fact.isKnown { asked.append((purchase, product)) }
            }
        }
        asked.removeAll { result.contains($0.purchase) }
        return result.union(try dependent(asked).map { asked[$0].purchase })
    }

    private func recordTogether(
        _ purchases: Set<SQLPurchase>, _ connected: [SQLPurchase: Set<SQLPurchase>]
    ) throws {
        guard !purchases.isEmpty else { return }
        _ = try appendNumbered(try dueEntries(of: Array(purchases), connected))
    }

    /// The entries that are due for all transactions of purchases. Other transactions of a purchase can prove or disprove an upgrade
    /// or a revocation.
    ///
    /// Connected purchases are resolved together, as those of a customer are. So a transaction that documents state under two
    /// original ids has one state, by the documents under both. Its entry names the purchase that it is resolved to.
    /// - Parameters:
    ///   - purchases: the purchases.
    ///   - connected: `connected(_:)` of these purchases, if it is known.
    package func dueEntries(
        of purchases: [SQLPurchase], _ connected: [SQLPurchase: Set<SQLPurchase>]? = nil
    ) throws -> [SQLNumberedEntry] {
        let known = try storedTransactions(of: purchases, try connected ?? self.connected(purchases))
        let histories = try histories(of: known.map { $0.key })
        return known.enumerated().compactMap { place, each -> SQLNumberedEntry? in
            DueEntry(after: histories[place], for: each.transaction).map { (each.key, $0.number, $0.event) }
        }
    }

    /// The transactions of purchases and of those connected with them, each once. The oldest of each purchase, or of the connected
    /// ones, comes first.
    private func storedTransactions(
        of purchases: [SQLPurchase], _ connected: [SQLPurchase: Set<SQLPurchase>]
    ) throws -> [(key: SQLTransaction, transaction: StoredTransaction)] {
        let units = Self.units(
            of: purchases.sorted { ($0.id, $0.original) < ($1.id, $1.original) }, connected)
        var all: [(key: SQLTransaction, transaction: StoredTransaction)] = []
        for (unit, transactions) in zip(units, try transactions(of: units, in: .placeholder)) {
            let owners: [String: SQLPurchase] =
                unit.count > 1
                ? Dictionary(unit.map { ($0.original, $0) }, uniquingKeysWith: { first, _ in first }) : [:]
            for transaction in transactions.reversed() {
                guard let id = transaction.payload.transactionId else { continue }
                let owner = owners[transaction.storedOriginalTransactionId] ?? unit[0]
                all.append((SQLTransaction(id, of: owner), transaction))
            }
        }
        return all
    }
}
