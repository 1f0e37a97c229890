public import Purchases

/// Lists all customers of an app. Every engine implements it.
public protocol CustomerDirectory: Sendable {
    /// The apps and environments of the documents in the store, ordered by the bytes of the environment and then of the bundle
    /// id. A scope in the list may have no customers.
    /// - Throws: ``TransactionStoreError``.
    func scopes() async throws -> [StoreScope]

    /// The next customers of a scope, ordered by their smallest identities (see `CustomerIdentity`). The order is the
    /// same in all engines and does not depend on the order of the documents.
    ///
    /// To continue, pass `identities.first` of the last customer. A page may have fewer than `limit` customers if they
    /// have many transactions; only an empty page is the end. Customers that are created or merged during the listing
    /// may be missing, or may appear in their earlier state.
    /// - Parameters:
    ///   - scope: the app and the environment.
    ///   - identity: the identity to continue after; nil to start at the beginning.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    /// - Throws: ``TransactionStoreError``.
    func customers(
        in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
    ) async throws -> [Customer]
}

extension CustomerDirectory {
    /// Calls `body` for every customer of a scope, in the order of ``customers(in:after:limit:)``. Only one page is in
    /// memory at a time.
    /// - Throws: ``TransactionStoreError``, and what `body` throws.
    public func forEachCustomer(
        in scope: StoreScope, pageSize: Int = 200, _ body: (Customer) async throws -> Void
    ) async throws {
        var last: CustomerIdentity?
        while true {
            let page = try await customers(in: scope, after: last, limit: pageSize)
            guard let identity = page.last?.identities.first else { return }
            for customer in page { try await body(customer) }
            last = identity
        }
    }
}

/// A page of ``CustomerDirectory/customers(in:after:limit:)`` that an engine fills. Its limits are the same for all
/// engines.
public struct CustomerPage {
    /// A page ends after this number of transactions, regardless of the number of customers.
    private static let maximumTransactions = 20_000

    /// The customers added so far.
    public private(set) var customers: [Customer] = []
    private let limit: Int
    private var transactions = 0

    /// - Parameter limit: the number of customers that the caller requested.
    public init(limit: Int) { self.limit = max(1, min(limit, 1_000)) }

    /// Whether the page is complete.
    public var isFull: Bool { customers.count >= limit || transactions >= Self.maximumTransactions }
    /// How many identities an engine reads at a time.
    package static let identitiesAtOnce = 512

    /// Adds the next customer.
    public mutating func add(_ customer: Customer) {
        customers.append(customer)
        transactions += customer.transactions.count
    }
}
