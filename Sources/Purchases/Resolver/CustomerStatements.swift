internal import AppStoreModels
internal import ProductCatalog

/// The statements about one customer that a store keeps: the newest of each kind for each transaction. ``resolved()``
/// turns them into a ``Customer``.
package struct CustomerStatements: Sendable {
    package var scope: StoreScope
    package var identities: Set<CustomerIdentity> = []
    /// At most one of each kind for each transaction and original transaction id.
    package var transactions: [TransactionFact] = []
    /// By original transaction id.
    package var renewalInfos: [String: ByKind<RenewalInfoFact>] = [:]
    package var appTransactions: [AppTransactionRowKind: AppTransactionFact] = [:]
    package private(set) var appReceipt: KnownReceipt?
    package private(set) var transactionReceipt: KnownReceipt?

    package init(scope: StoreScope) {
        self.scope = scope
        transactions.reserveCapacity(32)
    }

    /// Keeps the newest receipt of each form.
    /// - Returns: whether it was kept.
    @discardableResult
    package mutating func add(_ receipt: KnownReceipt) -> Bool {
        switch receipt.form {
        case .app: Self.keepNewer(receipt, &appReceipt)
        case .transaction: Self.keepNewer(receipt, &transactionReceipt)
        }
    }

    /// Keeps the newest statement of each kind of row.
    /// - Returns: whether it was kept.
    @discardableResult
    package mutating func add(_ fact: AppTransactionFact) -> Bool {
        Self.keepNewer(fact, &appTransactions[fact.rowKind])
    }

    /// Keeps the newest statement of each kind, as an engine does.
    /// - Returns: whether anything was kept.
    mutating func add(_ sets: [FactSet]) -> Bool {
        struct Key: Hashable {
            let kind: FactKind
            let originalTransactionId: String
            let transactionId: String

            init(_ fact: TransactionFact) {
                kind = fact.origin.kind
                originalTransactionId = fact.storedOriginalTransactionId
                transactionId = fact.payload.transactionId ?? ""
            }
        }
        var places: [Key: Int] = [:]
        for place in transactions.indices { places[Key(transactions[place])] = place }
        var hasChanged = false
        for set in sets {
            // Write only changes, because the collections share their storage with the customer.
            for identity in set.identities where !identities.contains(identity) {
                identities.insert(identity)
                hasChanged = true
            }
            for fact in set.transactions {
                let key = Key(fact)
                if let place = places[key] {
                    guard fact.isNewer(than: transactions[place]) else { continue }
                    transactions[place] = fact
                } else {
                    places[key] = transactions.count
                    transactions.append(fact)
                }
                hasChanged = true
            }
            for fact in set.renewalInfos {
                let (id, kind) = (fact.payload.originalTransactionId ?? "", fact.origin.kind)
                if Self.keepNewer(fact, &renewalInfos[id, default: ByKind()][kind]) { hasChanged = true }
            }
            if let fact = set.appTransaction, add(fact) { hasChanged = true }
            if let receipt = set.receipt, add(receipt) { hasChanged = true }
        }
        return hasChanged
    }

    private static func keepNewer<Statement: CompetingStatement>(
        _ statement: Statement, _ known: inout Statement?
    ) -> Bool {
        if let known, !statement.isNewer(than: known) { return false }
        known = statement
        return true
    }

    /// The customer; nil if there is no identity. The order of the statements changes nothing.
    package func resolved() -> Customer? { identities.isEmpty ? nil : Customer(self) }

    fileprivate func resolvedRenewalInfos() -> [StoredRenewalInfo] {
        renewalInfos.keys.sorted(by: TransactionIdOrder.precedes).compactMap { id in
            renewalInfos[id].flatMap { StoredRenewalInfo(joining: $0, in: scope) }
        }
    }

    /// One transaction per id, the greatest id first, with what each shows about the others.
    package func resolvedTransactions() -> [StoredTransaction] { resolvedTransactions(nil) }

    /// - Parameters:
    ///   - catalog: gives the types that no document states; stores have none.
    ///   - rowsStateExpiry: see ``KnownTypes``.
    func resolvedTransactions(_ catalog: ProductCatalog?, rowsStateExpiry: Bool = false) -> [StoredTransaction] {
        func id(_ place: Int) -> String { transactions[place].payload.transactionId ?? "" }
        var order = Array(transactions.indices.reversed())
        // Engines return rows by id, so they are nearly always sorted already.
        if !zip(order, order.dropFirst()).allSatisfy({ !TransactionIdOrder.precedes(id($0), id($1)) }) {
            order.sort { TransactionIdOrder.precedes(id($1), id($0)) }
        }
        var result: [StoredTransaction] = []
        result.reserveCapacity(order.count)
        var start = 0
        while start < order.count {
            var places = FactsOfTransaction()
            var end = start
            while end < order.count, id(order[end]) == id(order[start]) {
                let place = order[end]
                let kind = transactions[place].origin.kind
                if places[kind].map({ transactions[place].isNewer(than: transactions[$0]) }) ?? true {
                    places[kind] = place
                }
                end += 1
            }
            result.append(joining: places, of: transactions, in: scope)
            start = end
        }
        result.concludeFromOthers(catalog, rowsStateExpiry: rowsStateExpiry)
        return result
    }
}

// MARK: From documents

extension Customer {
    /// - Parameters:
    ///   - statements: the statements; resolved even if they identify no customer.
    ///   - rowsStateExpiry: see ``KnownTypes``.
    init(_ statements: CustomerStatements, rowsStateExpiry: Bool = false) {
        kept = Kept(statements)
        identities = statements.identities.sorted()
        transactions = statements.resolvedTransactions(nil, rowsStateExpiry: rowsStateExpiry)
        renewalInfos = statements.resolvedRenewalInfos()
    }

    /// Resolves the documents about one customer. A store that contains exactly these sets returns the same customer.
    /// The order of the sets does not matter.
    ///
    /// Nil if the sets identify no customer, or are of several apps or environments.
    /// - Parameter sets: sets about one customer. The initializer does not check that.
    public init?(resolving sets: [FactSet]) {
        guard let scope = sets.first?.scope, sets.allSatisfy({ $0.scope == scope }) else { return nil }
        var statements = CustomerStatements(scope: scope)
        _ = statements.add(sets)
        guard let customer = statements.resolved() else { return nil }
        self = customer
    }

    /// The customers of documents, in the order of their first ones. Documents are about one customer if they share an identity, or
    /// if signed documents state one transaction, also through other documents. A store merges its customers by the same rule.
    package static func all(resolving sets: [FactSet]) -> [Customer] {
        CommonMarks.groups(count: sets.count) { CustomerMark.all(of: sets[$0]) }
            .compactMap { places in Customer(resolving: places.map { sets[$0] }) }
    }

    /// The customer as a store returns it after it has stored one more document. A document that adds nothing returns
    /// the same customer without resolving it again.
    /// - Parameter set: a set about the same customer, which is not checked. A set of another app or environment is
    ///   ignored.
    public func adding(_ set: FactSet) -> Customer {
        guard set.scope == scope, !hasTakenIn(set) else { return self }
        var statements = kept.statements
        return statements.add([set]) ? Customer(statements) : self
    }

    /// Everything that is stored about the customer, for another store. A set can contain one app transaction and one
    /// receipt, so a customer with more of them gives several sets. A store that contains exactly these sets returns
    /// the same customer; a store with other documents merges them like any document.
    package var factSets: [FactSet] {
        let receipts = [newestAppReceipt, newestTransactionReceipt].compactMap(\.self)
        let apps = statements.appTransactions.all
        // Sorted, so that equal stores give equal sets.
        let renewalInfos = statements.renewalInfos.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .flatMap { $0.value.map(\.self) }
        return (0..<max(1, receipts.count, apps.count)).map { place in
            FactSet(
                scope: scope, identities: identities, transactions: place == 0 ? statements.transactions : [],
                renewalInfos: place == 0 ? renewalInfos : [],
                appTransaction: place < apps.count ? apps[place] : nil,
                receipt: place < receipts.count ? receipts[place] : nil)
        }
    }
}

/// What shows that two documents are about one customer.
private enum CustomerMark: Hashable {
    case identity(StoreScope, CustomerIdentity)
    /// Unsigned data must not merge two customers.
    case signedTransaction(StoreScope, String)

    static func all(of set: FactSet) -> [CustomerMark] {
        var marks = set.identities.map { CustomerMark.identity(set.scope, $0) }
        for fact in set.transactions where fact.origin.kind.isSigned {
            if let id = fact.payload.transactionId { marks.append(.signedTransaction(set.scope, id)) }
        }
        return marks
    }
}

/// The facts about the app itself that a store keeps for one customer: the newest of each kind of row.
extension [AppTransactionRowKind: AppTransactionFact] {
    /// The unsigned facts, the newer one first.
    private var recorded: [AppTransactionFact] {
        [self[.recorded], self[.recordedWithLegacyFields]].compactMap(\.self).sorted { $0.isNewer(than: $1) }
    }

    /// The newest unsigned fact.
    var newestRecorded: AppTransactionFact? { recorded.first }

    /// In the order of `FactKind`, the newest of each kind first.
    var all: [AppTransactionFact] {
        // Most customers have one.
        count > 1 ? [self[.receipt], self[.signedTransaction]].compactMap(\.self) + recorded : Array(values)
    }
}

/// A statement that can replace another one about the same subject.
private protocol CompetingStatement {
    /// Whether it replaces another statement of its kind about the same subject.
    func isNewer(than other: Self) -> Bool
}

extension KnownReceipt: CompetingStatement {}

/// A statement that engines keep as a row.
private protocol RowStatement: CompetingStatement {
    var origin: FactOrigin { get }
    var row: FactRow { get }
}

extension RowStatement {
    /// The order of ``FactRow/replaces(_:)``. Encodes rows only for statements of the same date.
    func isNewer(than other: Self) -> Bool {
        let (date, otherDate) = (origin.signedDate, other.origin.signedDate)
        return date == otherDate ? row.replaces(other.row) : date > otherDate
    }
}

extension TransactionFact: RowStatement {
    fileprivate var row: FactRow { FactRow(self) }

    /// Which of two facts of one kind about a transaction counts. For facts under one original id, it is the order of
    /// ``FactRow/replaces(_:)``. A store keeps two of one kind only if documents state different original ids for the
    /// transaction; of two of the same date that agree about the cancellation, the one with the greater original id counts.
    func isNewer(than other: TransactionFact) -> Bool {
        let (date, otherDate) = (origin.signedDate, other.origin.signedDate)
        if date != otherDate { return date > otherDate }
        if revokes != other.revokes { return revokes }
        let (id, otherId) = (storedOriginalTransactionId, other.storedOriginalTransactionId)
        return id == otherId ? row.replaces(other.row) : TransactionIdOrder.precedes(otherId, id)
    }
}

extension RenewalInfoFact: RowStatement {
    fileprivate var row: FactRow { FactRow(self) }
}

extension AppTransactionFact: RowStatement {
    fileprivate var row: FactRow { FactRow(self) }
}

extension KnownReceipt {
    /// Whether the receipt is kept instead of another one of the same form: by date, then by bytes. So the order of
    /// arrival does not matter.
    public func isNewer(than other: KnownReceipt) -> Bool {
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        return other.bytes.lexicographicallyPrecedes(bytes)
    }
}
