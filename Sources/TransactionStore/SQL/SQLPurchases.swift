package import Purchases

/// What a store has under one original transaction id.
package struct SQLPurchase: Hashable, Sendable {
    /// The database id of the app and environment.
    package let scopeId: Int64
    /// The original transaction id.
    package let original: String
    /// The database id; 0 in a database whose rows contain the original transaction id.
    package let id: Int64

    package init(scopeId: Int64, original: String, id: Int64 = 0) {
        self.scopeId = scopeId
        self.original = original
        self.id = id
    }

    /// The database id suffices, if there is one.
    package static func == (left: SQLPurchase, right: SQLPurchase) -> Bool {
        left.scopeId == right.scopeId && left.id == right.id && (left.id != 0 || left.original == right.original)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scopeId)
        if id != 0 { hasher.combine(id) } else { hasher.combine(original) }
    }
}

/// A purchase and its customer.
package struct SQLOwnedPurchase: Hashable, Sendable {
    package let purchase: SQLPurchase
    /// The database id of the customer.
    package let customer: Int64

    package init(_ purchase: SQLPurchase, of customer: Int64) {
        self.purchase = purchase
        self.customer = customer
    }
}

/// A transaction that is stored under an original transaction id.
package struct SQLTransaction: Hashable, Sendable {
    package let purchase: SQLPurchase
    /// The transaction id.
    package let id: String

    package init(_ id: String, of purchase: SQLPurchase) {
        self.purchase = purchase
        self.id = id
    }
}

/// An entry with its number among those of its transaction, from 0.
package typealias SQLNumberedEntry = (transaction: SQLTransaction, number: Int64, event: LedgerEntry.Event)

/// An entry to append to the ledger. Its number follows the last one of its transaction. If the transaction has no entry in the
/// ledger, the entry is not appended.
package struct SQLEntry: Sendable {
    package let purchase: SQLPurchase
    package let transactionId: String
    package let event: LedgerEntry.Event
    /// ``LedgerEntry/seatClaimId``. The entry is not appended if the app and environment already has one with this claim.
    package private(set) var seatClaimId: String?
    /// ``TermChanges/earlierPurchases``
    package private(set) var earlierPurchases: [UInt8]?

    init(_ entry: RenewalEntries.Entry, of purchase: SQLPurchase) {
        self.purchase = purchase
        transactionId = entry.transactionId
        event = entry.event
    }

    init(movedTerm term: SQLTransaction, earlierPurchases: [UInt8]?) {
        purchase = term.purchase
        transactionId = term.id
        event = .termMoved
        self.earlierPurchases = earlierPurchases
    }

    private init(unclaimedSeat id: String, of transactionId: String, _ purchase: SQLPurchase) {
        self.purchase = purchase
        self.transactionId = transactionId
        event = .seatUnclaimed
        seatClaimId = id
    }

    /// The entries for the seat claims of a set that the App Store ended.
    /// - Parameter purchase: the purchase of the first transaction. A signed document states that transaction, so the ledger has an
    ///   entry about it.
    package static func unclaimedSeats(of set: FactSet, _ purchase: SQLPurchase) -> [SQLEntry] {
        guard let id = set.transactions.first?.payload.transactionId else { return [] }
        return set.unclaimedSeatIds.map { SQLEntry(unclaimedSeat: $0, of: id, purchase) }
    }
}

/// The events of entries that are not in the ledger yet. Documents may state a transaction under two original ids. Then its
/// history includes the entries of both purchases.
struct SQLNewEvents {
    private var events: [Int64: [String: [LedgerEntry.Event]]] = [:]

    mutating func add(_ entries: [SQLEntry]) {
        for entry in entries {
            events[entry.purchase.scopeId, default: [:]][entry.transactionId, default: []].append(entry.event)
        }
    }

    /// The history of a purchase's transactions, after the new events of the same transactions.
    func following(
        _ history: [String: [LedgerEntry.Event]], in scopeId: Int64
    ) -> [String: [LedgerEntry.Event]] {
        guard let new = events[scopeId] else { return history }
        var result = history
        for (id, known) in history {
            if let more = new[id] { result[id] = known + more }
        }
        return result
    }
}

/// Reads and writes the rows of one or more purchases at once, so that an engine needs few statements.
///
/// A place is an index in the given list. A result has a value for the place of each purchase that has rows.
package protocol SQLPurchaseRows {
    /// Adds the transactions of purchases to the assemblers of their places.
    func addTransactions(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws

    /// Adds the renewal information that the App Store signed to the assemblers of their places.
    func addRenewalInfos(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws

    /// The other purchases of the same app and environment that state a transaction of a purchase, if a signed document states that
    /// transaction for one of the two. Each has the place of the purchase, and may occur several times.
    func sharing(_ purchases: [SQLPurchase]) throws -> [(place: Int, purchase: SQLPurchase)]

    /// The places of the purchases that have a transaction of another product than the given one, or with a cancellation.
    func dependent(_ purchases: [(purchase: SQLPurchase, product: [UInt8])]) throws -> [Int]

    /// The places of the transactions of which a server received a cancellation in a notification of version 1.
    func notified(_ transactions: [SQLTransaction]) throws -> [Int]

    /// The histories in the ledger of the transactions that have entries.
    func histories(of transactions: [SQLTransaction]) throws -> [Int: LedgerHistory]

    /// Appends entries to the ledger, in this order. An entry whose number the ledger already has is not appended.
    /// - Returns: the places of the entries that were not appended. They may include appended ones; empty if all were appended.
    func appendNumbered(_ entries: [SQLNumberedEntry]) throws -> [Int]

    /// The events in the ledger, in order, by transaction id.
    func events(of purchases: [SQLPurchase]) throws -> [Int: [String: [LedgerEntry.Event]]]

    /// Appends entries to the ledger, in this order.
    func append(_ entries: [SQLEntry]) throws

    /// Takes the purchases whose date (`LedgerEndings`) has come, those of the oldest dates first.
    func duePurchases(by date: Int64, limit: Int) throws -> [SQLPurchase]

    /// Sets when to look at purchases next; nil for never.
    func setLookDates(_ dates: [(purchase: SQLPurchase, date: Int64?)]) throws

    /// For each purchase, its customer with all identities and transactions, without the large receipts; or the error of reading
    /// this customer.
    func customers(
        with purchases: [SQLPurchase], in scope: StoreScope
    ) throws -> [Result<Customer?, TransactionStoreError>]

    /// The purchases of customers that have terms.
    func purchasesWithTerms(of customers: [Int64]) throws -> [SQLOwnedPurchase]

    /// The bases (`TermChanges`), by transaction id.
    func bases(of purchases: [SQLPurchase]) throws -> [Int: [String: Int64]]

    /// Replaces terms with terms of other bases, which are looked at at once.
    func replace(_ outdated: [SQLTransaction], with new: [(term: SQLTransaction, basis: Int64)]) throws

    /// Takes the terms of an app and environment whose date has come, those of the oldest dates first. The customer is 0 if the
    /// purchase has none.
    func dueTerms(in scopeId: Int64, by date: Int64, limit: Int) throws -> [(term: SQLTransaction, customer: Int64)]

    /// Sets when to look at terms next.
    func setLookDates(_ dates: [(term: SQLTransaction, date: Int64)]) throws
}

extension FactKind {
    /// The raw values of the kinds with a verified signature, separated by commas.
    package static let sqlOfSigned = allCases.filter(\.isSigned).map { "\($0.rawValue)" }.joined(separator: ", ")
}

extension SQLPurchaseRows {
    /// Appends the entries of `RenewalEntries`, after all other entries of the documents.
    /// - Parameter purchases: each purchase that documents can have changed, and the events of their notifications about it, in
    ///   order.
    package func recordRenewals(of purchases: [(purchase: SQLPurchase, notified: [NotifiedEvent])]) throws {
        guard !purchases.isEmpty else { return }
        let customers = try customers(of: purchases.map { $0.purchase }, needsRenewalInfo: true)
        let asked = purchases.indices.filter { customers[$0] != nil || !purchases[$0].notified.isEmpty }
        guard !asked.isEmpty else { return }
        let events = try events(of: asked.map { purchases[$0].purchase })
        var entries: [SQLEntry] = []
        var new = SQLNewEvents()
        for (index, place) in asked.enumerated() {
            let (purchase, notified) = purchases[place]
            let due = RenewalEntries(
                of: purchase.original, in: customers[place], notified: notified,
                history: new.following(events[index] ?? [:], in: purchase.scopeId)
            ).entries.map { SQLEntry($0, of: purchase) }
            new.add(due)
            entries += due
        }
        try append(entries)
    }

    /// The transactions of each purchase, newest first.
    func transactions(of purchases: [SQLPurchase]) throws -> [[StoredTransaction]] {
        try transactions(of: purchases.map { [$0] }, in: .placeholder)
    }

    /// The transactions of purchases that are resolved together, newest first.
    func transactions(of units: [[SQLPurchase]], in scope: StoreScope) throws -> [[StoredTransaction]] {
        let purchases = Array(units.joined())
        var assemblers: [Int: CustomerAssembler] = [:]
        for place in purchases.indices { assemblers[place] = CustomerAssembler(scope: scope) }
        try addTransactions(of: purchases, to: &assemblers)
        var place = 0
        return units.map { unit in
            var all = assemblers.removeValue(forKey: place) ?? CustomerAssembler(scope: scope)
            place += 1
            for _ in unit.dropFirst() {
                if let other = assemblers.removeValue(forKey: place) { all.addTransactions(of: other) }
                place += 1
            }
            return all.joinedTransactions()
        }
    }

    /// The other purchases that documents connect with each purchase: they state a transaction under the original ids of both,
    /// or of others that are connected. A purchase without such a transaction, the usual case, is left out.
    func connected(_ purchases: [SQLPurchase]) throws -> [SQLPurchase: Set<SQLPurchase>] {
        var result: [SQLPurchase: Set<SQLPurchase>] = [:]
        for (place, other) in try sharing(purchases) { result[purchases[place], default: []].insert(other) }
        for (purchase, direct) in result {
            var found = direct
            var open = Array(direct)
            while !open.isEmpty {
                open = try sharing(open).map { $0.purchase }.filter { found.insert($0).inserted }
            }
            found.remove(purchase)
            result[purchase] = found
        }
        return result
    }

    /// The entries of purchases that are due because of their dates; nil for a purchase that cannot be read.
    func endings(of purchases: [SQLPurchase], at dates: LookDates) throws -> [EndedEntries?] {
        do {
            let customers = try customers(of: purchases, needsRenewalInfo: false)
            let events = try events(of: purchases)
            return purchases.enumerated().map { place, purchase in
                customers[place].map {
                    EndedEntries(of: purchase.original, in: $0, at: dates, history: events[place] ?? [:])
                }
            }
        } catch let error as TransactionStoreError where error.code == .corrupt {
            // The other purchases can be read.
            return try purchases.count > 1 ? purchases.flatMap { try endings(of: [$0], at: dates) } : [nil]
        }
    }

    /// Each purchase as a separate customer, with its transactions, those of connected purchases, and its signed renewal information.
    /// - Parameters:
    ///   - purchases: the purchases.
    ///   - needsRenewalInfo: whether to leave out purchases without renewal information.
    private func customers(of purchases: [SQLPurchase], needsRenewalInfo: Bool) throws -> [Int: Customer] {
        var informed: [Int: CustomerAssembler] = [:]
        try addRenewalInfos(of: purchases, to: &informed)
        let places = purchases.indices.filter { !needsRenewalInfo || informed[$0] != nil }
        guard !places.isEmpty else { return [:] }
        var assemblers: [Int: CustomerAssembler] = [:]
        for (index, place) in places.enumerated() { assemblers[index] = informed.removeValue(forKey: place) }
        let asked = places.map { purchases[$0] }
        try addTransactions(of: asked, to: &assemblers)
        let connected = try connected(asked)
        for (index, purchase) in asked.enumerated() {
            guard let others = connected[purchase] else { continue }
            var found: [Int: CustomerAssembler] = [:]
            try addTransactions(of: Array(others), to: &found)
            for other in found.values {
                assemblers[index, default: CustomerAssembler(scope: .placeholder)].addTransactions(of: other)
            }
        }
        var customers: [Int: Customer] = [:]
        for (index, place) in places.enumerated() {
            var assembler = assemblers[index] ?? CustomerAssembler(scope: .placeholder)
            try assembler.addIdentity(
                kind: Int64(CustomerIdentity.Kind.originalTransactionId.rawValue), value: purchases[place].original)
            customers[place] = assembler.customer()
        }
        return customers
    }
}
