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

    /// The places of the purchases that state a transaction which another purchase states too, if a signed document states that
    /// transaction for one of the two. They may include others, such as one that shares an id with a purchase of another app.
    func sharing(_ purchases: [SQLPurchase]) throws -> [Int]

    /// All purchases that state a transaction of the given ones, which are of the same app and environment: one row for each
    /// transaction and purchase, the given ones included. So thousands of purchases with one transaction give thousands of rows,
    /// not millions.
    /// - Parameter known: the ids of transactions to leave out.
    func stating(
        transactionsOf purchases: [SQLPurchase], except known: Set<String>
    ) throws -> [(transactionId: String, purchase: SQLPurchase, isSigned: Bool)]

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

    /// The database ids of the customers.
    func owners(of purchases: [SQLPurchase]) throws -> [Int: Int64]

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

/// The purchases that documents connect (`connected(_:)`). Each purchase is looked up once. Facts that are written later can
/// connect others.
package struct SQLConnections {
    private var units: [SQLPurchase: Set<SQLPurchase>] = [:]
    private var known: Set<SQLPurchase> = []
    /// Sets of two or more purchases of one customer each, among the connected ones: signed documents state a transaction under
    /// the original ids of two of them, or of others of the set. Nearly always empty.
    private(set) var ofOneCustomer: Set<Set<SQLPurchase>> = []

    package init() {}

    /// `connected(_:)` of the purchases.
    mutating func units(
        of purchases: [SQLPurchase], _ rows: some SQLPurchaseRows
    ) throws -> [SQLPurchase: Set<SQLPurchase>] {
        let new = purchases.filter { known.insert($0).inserted }
        if !new.isEmpty {
            let found = try rows.connections(of: new)
            units.merge(found.units) { first, _ in first }
            ofOneCustomer.formUnion(found.ofOneCustomer)
        }
        guard !units.isEmpty else { return [:] }
        return Dictionary(
            purchases.compactMap { purchase in units[purchase].map { (purchase, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}

extension SQLPurchaseRows {
    /// Appends the entries of `RenewalEntries`, after all other entries of the documents.
    /// - Parameters:
    ///   - purchases: each purchase that documents can have changed, and the events of their notifications about it, in order.
    ///   - connections: found after the last fact was written.
    package func recordRenewals(
        of purchases: [(purchase: SQLPurchase, notified: [NotifiedEvent])], _ connections: inout SQLConnections
    ) throws {
        guard !purchases.isEmpty else { return }
        let customers = try customers(of: purchases.map { $0.purchase }, needsRenewalInfo: true, &connections)
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

    /// The transactions of purchases that are resolved together, newest first.
    func transactions(of units: [[SQLPurchase]], in scope: StoreScope) throws -> [[StoredTransaction]] {
        let purchases = Array(units.joined())
        var assemblers: [Int: CustomerAssembler] = [:]
        for place in purchases.indices { assemblers[place] = CustomerAssembler(scope: scope) }
        try addTransactions(of: purchases, to: &assemblers)
        var place = 0
        return units.map {
            Self.joined($0.count, from: &place, &assemblers, in: scope).joinedTransactions()
        }
    }

    /// The purchases that documents connect with each purchase, itself among them: they state a transaction under the original ids
    /// of both, or of others that are connected. A purchase without such a transaction, the usual case, is left out.
    ///
    /// Each transaction is looked up once for all purchases. So the work is that of reading the connected purchases, also if all of
    /// them share one transaction.
    package func connected(_ purchases: [SQLPurchase]) throws -> [SQLPurchase: Set<SQLPurchase>] {
        try connections(of: purchases).units
    }

    /// `connected(_:)`, and `SQLConnections.ofOneCustomer`.
    fileprivate func connections(
        of purchases: [SQLPurchase]
    ) throws -> (units: [SQLPurchase: Set<SQLPurchase>], ofOneCustomer: [Set<SQLPurchase>]) {
        let sharing = Set(try sharing(purchases).map { purchases[$0] })
        var result: [SQLPurchase: Set<SQLPurchase>] = [:]
        var ofOneCustomer: [Set<SQLPurchase>] = []
        for ofScope in Dictionary(grouping: sharing, by: \.scopeId).values {
            let (shared, signed) = try search(ofScope)
            for unit in Self.groups(shared) {
                for purchase in unit where sharing.contains(purchase) { result[purchase] = unit }
            }
            ofOneCustomer += Self.groups(signed)
        }
        return (result, ofOneCustomer)
    }

    /// The transactions that connected purchases of an app and environment share, and those of them that a signed document states
    /// under the original id of the purchase itself.
    private func search(
        _ purchases: [SQLPurchase]
    ) throws -> (shared: [SQLPurchase: [String]], signed: [SQLPurchase: [String]]) {
        // One signed document suffices, because it connects its purchase with each other one.
        var shared: [SQLPurchase: [String]] = [:]
        var signed: [SQLPurchase: [String]] = [:]
        // Each look-up finds all purchases of its transactions. So of the shared transactions, only those of the last one can come
        // again. Naming all of them would take quadratic time in a long chain, while other writers wait.
        var lastShared: Set<String> = []
        var unsigned: Set<String> = []
        var found = Set(purchases)
        var open = purchases
        while !open.isEmpty {
            let rows = Dictionary(
                grouping: try stating(transactionsOf: open, except: lastShared.union(unsigned)),
                by: { $0.transactionId })
            open = []
            lastShared = []
            for (id, stated) in rows {
                guard stated.contains(where: { $0.isSigned }) else {
                    unsigned.insert(id)
                    continue
                }
                lastShared.insert(id)
                for (_, purchase, isSigned) in stated {
                    shared[purchase, default: []].append(id)
                    if isSigned { signed[purchase, default: []].append(id) }
                    if found.insert(purchase).inserted { open.append(purchase) }
                }
            }
        }
        return (shared, signed)
    }

    /// The purchases with common transactions, each once, in sets of two or more.
    private static func groups(_ transactions: [SQLPurchase: [String]]) -> [Set<SQLPurchase>] {
        let all = Array(transactions.keys)
        return CommonMarks.groups(count: all.count) { transactions[all[$0]] ?? [] }
            .filter { $0.count > 1 }.map { Set($0.map { all[$0] }) }
    }

    /// The entries of purchases that are due because of their dates; nil for a purchase that cannot be read.
    func endings(of purchases: [SQLPurchase], at dates: LookDates) throws -> [EndedEntries?] {
        do {
            var connections = SQLConnections()
            let customers = try customers(of: purchases, needsRenewalInfo: false, &connections)
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

    /// Each purchase as a customer with its transactions and its signed renewal information. Connected purchases are one customer,
    /// which is resolved once, with the transactions of all and the renewal information of the given ones.
    /// - Parameters:
    ///   - purchases: the purchases, each once.
    ///   - needsRenewalInfo: whether to leave out purchases without renewal information.
    ///   - connections: found after the last fact was written.
    private func customers(
        of purchases: [SQLPurchase], needsRenewalInfo: Bool, _ connections: inout SQLConnections
    ) throws -> [Int: Customer] {
        var informed: [Int: CustomerAssembler] = [:]
        try addRenewalInfos(of: purchases, to: &informed)
        let places = purchases.indices.filter { !needsRenewalInfo || informed[$0] != nil }
        guard !places.isEmpty else { return [:] }
        let given = Dictionary(places.map { (purchases[$0], $0) }, uniquingKeysWith: { first, _ in first })
        let asked = places.map { purchases[$0] }
        let units = Self.units(of: asked, try connections.units(of: asked, self))
        var assemblers: [Int: CustomerAssembler] = [:]
        try addTransactions(of: Array(units.joined()), to: &assemblers)
        var customers: [Int: Customer] = [:]
        var index = 0
        for unit in units {
            var assembler = Self.joined(unit.count, from: &index, &assemblers, in: .placeholder)
            let members = unit.compactMap { given[$0] }
            for place in members {
                if let renewals = informed.removeValue(forKey: place) { assembler.addRenewalInfos(of: renewals) }
                try assembler.addIdentity(
                    kind: Int64(CustomerIdentity.Kind.originalTransactionId.rawValue), value: purchases[place].original)
            }
            let customer = assembler.customer()
            for place in members { customers[place] = customer }
        }
        return customers
    }

    /// Purchases that are resolved together, each once: the first of the given ones first.
    /// - Parameter connected: `connected(_:)` of the purchases.
    static func units(
        of purchases: [SQLPurchase], _ connected: [SQLPurchase: Set<SQLPurchase>]
    ) -> [[SQLPurchase]] {
        var units: [[SQLPurchase]] = []
        var done: Set<SQLPurchase> = []
        for purchase in purchases where !done.contains(purchase) {
            let unit = connected[purchase] ?? [purchase]
            done.formUnion(unit)
            units.append(unit.sorted { ($0.id, $0.original) < ($1.id, $1.original) })
        }
        return units
    }

    /// Takes the assemblers of a number of places, and joins their transactions.
    private static func joined(
        _ count: Int, from place: inout Int, _ assemblers: inout [Int: CustomerAssembler], in scope: StoreScope
    ) -> CustomerAssembler {
        var all = assemblers.removeValue(forKey: place) ?? CustomerAssembler(scope: scope)
        for next in (place + 1)..<(place + max(count, 1)) {
            if let other = assemblers.removeValue(forKey: next) { all.addTransactions(of: other) }
        }
        place += count
        return all
    }
}
