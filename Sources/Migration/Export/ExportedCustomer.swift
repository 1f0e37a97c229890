import AppStoreModels
import ProductCatalog
import Purchases
import TransactionStore

/// A customer at one moment, as the resolver returns it. The rows of all tables are made from it.
final class ExportedCustomer: Sendable {
    let customer: Customer
    let key: String
    let entitlements: [Entitlement]
    let subscriptions: [(entitlement: Entitlement, standing: SubscriptionStanding)]
    let terms: [String: NonRenewingTerm]
    let questions: [OpenQuestion]
    let users: ExportedUsers
    let history: PurchaseHistory
    let catalog: ProductCatalog?
    /// The moment, in milliseconds since 1970-01-01T00:00:00Z.
    let date: Int64
    private let resolved: [StoredTransaction]
    private let groups: [String: String]
    private let origins: [String: [FactOrigin]]

    /// - Parameters:
    ///   - customer: the customer, as the store resolves it.
    ///   - users: the claims of users on the identities of the customer.
    ///   - catalog: the product catalog; nil for none.
    ///   - date: the moment, in milliseconds since 1970-01-01T00:00:00Z.
    init(_ customer: Customer, users: [UserClaim], catalog: ProductCatalog?, at date: Int64) {
        self.users = ExportedUsers(users)
        self.customer = customer
        origins = Dictionary(
            customer.transactions.compactMap { stored in stored.payload.transactionId.map { ($0, stored.origins) } },
            uniquingKeysWith: { first, _ in first })
        key = customer.key
        self.catalog = catalog
        self.date = date
        resolved = customer.transactionsWithTypes(from: catalog)
        history = customer.purchaseHistory(catalog: catalog)
        groups = history.knownGroups
        entitlements = history.entitlements(at: date)
        subscriptions = PurchaseHistory.subscriptions(of: entitlements)
        terms = catalog.map { customer.nonRenewingTerms($0) } ?? [:]
        questions = customer.openQuestions(subscriptions.map(\.standing))
    }

    var transactions: [ExportedTransaction] {
        zip(resolved, history.entries).map { stored, entry in
            ExportedTransaction(
                stored: stored, completed: stored.completed(type: entry.productType, catalog),
                group: stored.payload.isSubscription ? entry.group(groups) : nil)
        }
    }

    /// The documents about a transaction; empty for an unknown one.
    func origins(of transactionId: String?) -> [FactOrigin] { transactionId.flatMap { origins[$0] } ?? [] }

    var termsByTransaction: [ExportedTerm] {
        resolved.compactMap { stored in
            guard let term = stored.payload.transactionId.flatMap({ terms[$0] }) else { return nil }
            return ExportedTerm(stored: stored, term: term)
        }
    }
}

/// A transaction, with what rules and the catalog add if no document states it.
struct ExportedTransaction {
    let stored: StoredTransaction
    /// The transaction with these values, except the group.
    let completed: StoredTransaction
    let group: String?

    var payload: JWSTransactionDecodedPayload { completed.payload }
    var type: ProductType? { completed.payload.type }

    /// The sources of the values that are not from the deciding document, as a JSON object; nil if there are none.
    var provenance: [UInt8]? {
        var sources = completed.otherSources.map { (name: "\($0.field.name)", text: $0.source.text) }
        if stored.payload.type != type {
            sources.removeAll { $0.name == "type" }
            if type != nil { sources.append(("type", "catalog, another transaction or a rule")) }
        }
        if let group, stored.payload.subscriptionGroupIdentifier != group {
            sources.removeAll { $0.name == "subscriptionGroupIdentifier" }
            sources.append(("subscriptionGroupIdentifier", "catalog or another transaction"))
        }
        guard !sources.isEmpty else { return nil }
        return JSONWriter.object { writer in
            for (name, text) in sources {
                writer.key(name)
                writer.string(text)
            }
        }
    }
}

extension FieldSource {
    /// The kind of the document, `catalog` with the entry, or `inferred` with the rule.
    fileprivate var text: String {
        switch self {
        case .stated(let origin): origin.source.rawValue
        case .catalog(let entry): entry.isEmpty ? "catalog" : "catalog \(entry)"
        case .inferred(let rule): "inferred: \(rule.name)"
        }
    }
}

/// The term of a purchase.
struct ExportedTerm {
    let stored: StoredTransaction
    let term: NonRenewingTerm
}
