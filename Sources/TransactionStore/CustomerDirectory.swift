public import Purchases

/// Going through all customers of an app. Both engines offer it.
public protocol CustomerDirectory: Sendable {
    /// The next customers of a scope, in the order of their least identities (see `CustomerIdentity`), which is the same
    /// in both engines and does not depend on when documents came.
    ///
    /// Give `identities.first` of the last customer to go on. Fewer than `limit` may come where customers have many
    /// transactions, so that a page stays small; only an empty page is the end. Customers that come to be, or are joined,
    /// meanwhile may be left out or seen as they were.
    /// - Parameters:
    ///   - scope: the app and the environment.
    ///   - identity: nil for the beginning.
    ///   - limit: 1 to 1,000; other numbers are moved to the nearer bound.
    /// - Throws: ``TransactionStoreError``.
    func customers(
        in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
    ) async throws -> [Customer]
}

extension CustomerDirectory {
    /// Calls `body` for every customer of a scope, in the order of ``customers(in:after:limit:)``. Only one page is held at
    /// a time.
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

/// A page of ``CustomerDirectory/customers(in:after:limit:)`` that an engine fills. Its bounds are the same for all engines.
public struct CustomerPage {
    /// A page ends after so many transactions, however many customers they are of.
    private static let maximumTransactions = 20_000

    /// The customers that were added.
    public private(set) var customers: [Customer] = []
    private let limit: Int
    private var transactions = 0

    /// - Parameter limit: how many customers the caller asked for.
    public init(limit: Int) { self.limit = max(1, min(limit, 1_000)) }

    /// Whether the page ends here.
    public var isFull: Bool { customers.count >= limit || transactions >= Self.maximumTransactions }
    /// How many identities an engine looks at in one go.
    package static let identitiesAtOnce = 512

    /// Adds the next customer.
    public mutating func add(_ customer: Customer) {
        customers.append(customer)
        transactions += customer.transactions.count
    }
}
