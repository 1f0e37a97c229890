internal import AppStoreModels

/// The statements about one customer, the newest of each kind for each transaction: what a store keeps. ``resolved()`` makes
/// the ``Customer`` of them.
package struct CustomerStatements {
    package let scope: StoreScope
    package var identities: Set<CustomerIdentity> = []
    /// At most one of each kind for each transaction and original transaction id.
    package var transactions: [TransactionFact] = []
    /// By original transaction id.
    package var renewalInfos: [String: ByKind<RenewalInfoFact>] = [:]
    package var appTransactions = ByKind<AppTransactionFact>()
    package private(set) var appReceipt: KnownReceipt?
    package private(set) var transactionReceipt: KnownReceipt?

    package init(scope: StoreScope) {
        self.scope = scope
        transactions.reserveCapacity(32)
    }

    /// Keeps the newest receipt of each form.
    package mutating func add(_ receipt: KnownReceipt) {
        switch receipt.form {
        case .app: Self.keepNewer(receipt, &appReceipt)
        case .transaction: Self.keepNewer(receipt, &transactionReceipt)
        }
    }

    private static func keepNewer(_ receipt: KnownReceipt, _ known: inout KnownReceipt?) {
        if let known, !receipt.isNewer(than: known) { return }
        known = receipt
    }

    /// The customer; nil if there is no identity. The order of the statements changes nothing.
    package func resolved() -> Customer? {
        guard !identities.isEmpty else { return nil }
        return Customer(
            scope: scope, identities: identities.sorted(), transactions: resolvedTransactions(),
            renewalInfos: renewalInfos.keys.sorted(by: Self.precedes).compactMap { id in
                renewalInfos[id].flatMap { StoredRenewalInfo(joining: $0, in: scope) }
            },
            appTransaction: StoredAppTransaction(joining: appTransactions, in: scope), newestAppReceipt: appReceipt,
            newestTransactionReceipt: transactionReceipt)
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        switch TransactionIdOrder.compare(left, right) {
        case .before: true
        case .after: false
        // 07 and 7 have the same value, and sorting must not depend on where they came from.
        case .same: left.utf8.count < right.utf8.count
        }
    }

    /// One transaction per id, the greatest id first, with the upgrades that show between them.
    package func resolvedTransactions() -> [StoredTransaction] {
        func id(_ place: Int) -> String { transactions[place].payload.transactionId ?? "" }
        var order = Array(transactions.indices.reversed())
        // Engines give rows by id, so that they are nearly always in order already.
        if !zip(order, order.dropFirst()).allSatisfy({ !Self.precedes(id($0), id($1)) }) {
            order.sort { Self.precedes(id($1), id($0)) }
        }
        var result: [StoredTransaction] = []
        result.reserveCapacity(order.count)
        var start = 0
        while start < order.count {
            var places = FactsOfTransaction()
            var end = start
            while end < order.count, id(order[end]) == id(order[start]) {
                let place = order[end]
                let kind = transactions[place].origin.source.kind
                if places[kind].map({ isNewer(place, than: $0) }) ?? true { places[kind] = place }
                end += 1
            }
            result.append(StoredTransaction(joining: places, of: transactions, in: scope))
            start = end
        }
        result.concludeUpgrades()
        return result
    }

    /// Two transactions of one kind occur only where documents file one transaction under different original ids.
    private func isNewer(_ place: Int, than other: Int) -> Bool {
        let (date, otherDate) = (transactions[place].origin.signedDate, transactions[other].origin.signedDate)
        if date != otherDate { return date > otherDate }
        let (revokes, otherRevokes) = (transactions[place].revokes, transactions[other].revokes)
        if revokes != otherRevokes { return revokes }
        return Self.precedes(
            transactions[other].storedOriginalTransactionId, transactions[place].storedOriginalTransactionId)
    }
}

// MARK: Without a store

extension Customer {
    /// What the documents about one customer resolve to. A store that has taken in these sets and no others gives the same
    /// customer; the order of the sets changes nothing.
    ///
    /// Nil if the sets identify no customer, or are of several apps or environments.
    /// - Parameter sets: all about one customer. Nothing checks that.
    public init?(resolving sets: [FactSet]) {
        guard let scope = sets.first?.scope, sets.allSatisfy({ $0.scope == scope }) else { return nil }
        var statements = CustomerStatements(scope: scope)
        var transactions = NewestStatements<TransactionFact>()
        var renewals = NewestStatements<RenewalInfoFact>()
        var apps = NewestStatements<AppTransactionFact>()
        for set in sets {
            statements.identities.formUnion(set.identities)
            for fact in set.transactions {
                transactions.add(fact, fact.storedOriginalTransactionId, fact.payload.transactionId ?? "")
            }
            for fact in set.renewalInfos { renewals.add(fact, fact.payload.originalTransactionId ?? "") }
            if let fact = set.appTransaction { apps.add(fact, "") }
            if let receipt = set.receipt { statements.add(receipt) }
        }
        statements.transactions = transactions.all
        for fact in renewals.all {
            statements.renewalInfos[fact.payload.originalTransactionId ?? "", default: ByKind()][
                fact.origin.source.kind] = fact
        }
        for fact in apps.all { statements.appTransactions[fact.origin.source.kind] = fact }
        guard let customer = statements.resolved() else { return nil }
        self = customer
    }
}

/// A statement of a document, as far as it competes with others about the same.
private protocol CompetingStatement {
    var origin: FactOrigin { get }
    /// The form in which engines keep and compare it.
    var row: FactRow { get }
}

extension TransactionFact: CompetingStatement {
    fileprivate var row: FactRow { FactRow(self) }
}

extension RenewalInfoFact: CompetingStatement {
    fileprivate var row: FactRow { FactRow(self) }
}

extension AppTransactionFact: CompetingStatement {
    fileprivate var row: FactRow { FactRow(self) }
}

/// The newest statement of each kind about each subject, by the order of ``FactRow/replaces(_:)``.
private struct NewestStatements<Statement: CompetingStatement> {
    private struct Key: Hashable {
        let kind: FactKind
        let subject: String
        let transactionId: String
    }

    private var places: [Key: Int] = [:]
    private(set) var all: [Statement] = []

    init() {}

    mutating func add(_ statement: Statement, _ subject: String, _ transactionId: String = "") {
        let key = Key(kind: statement.origin.source.kind, subject: subject, transactionId: transactionId)
        guard let place = places[key] else {
            places[key] = all.count
            all.append(statement)
            return
        }
        if statement.row.replaces(all[place].row) { all[place] = statement }
    }
}

extension KnownReceipt {
    /// Whether the receipt is the one to keep of two of the same form: by date, then by bytes, so that the order in which
    /// they come does not matter.
    public func isNewer(than other: KnownReceipt) -> Bool {
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        return other.bytes.lexicographicallyPrecedes(bytes)
    }
}
