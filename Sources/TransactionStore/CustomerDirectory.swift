internal import AppStoreModels
public import Purchases

/// Lists all customers of an app, and finds customers by ids that are no identities. Every engine implements it.
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

    /// The identities that lead to the customers with this reference, in all apps and environments: each one once, ordered
    /// by the bytes of the environment, those of the bundle id, and the identity. Empty if nothing has the reference.
    ///
    /// A transaction has the ids that any stored fact states; facts of several kinds may state different ones. For a
    /// transaction it is the original transaction id under which the store files it. For a user it is each identity
    /// of its claims (``UserClaim/identity``); the store may have no customer with it.
    /// - Parameters:
    ///   - reference: compared byte by byte.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    /// - Throws: ``TransactionStoreError``.
    func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity]
}

/// An id that belongs to one customer, or to a few, without being a `CustomerIdentity`: documents that share it need not be
/// about the same customer.
public enum CustomerReference: Hashable, Sendable {
    /// The id of any transaction. Family members and restored purchases have transactions of their own.
    case transactionId(String)
    /// The id of a subscription period.
    case webOrderLineItemId(String)
    /// The caller's id of a user (``UserClaim/userId``).
    case userId(String)

    /// The number of identities to read for `limit`: 1 to 1,000.
    public static func identities(_ limit: Int) -> Int { max(1, min(limit, 1_000)) }
}

/// An identity in its app and environment.
public struct ScopedIdentity: Hashable, Sendable {
    public let scope: StoreScope
    public let identity: CustomerIdentity

    public init(scope: StoreScope, identity: CustomerIdentity) {
        self.scope = scope
        self.identity = identity
    }
}

extension ScopedIdentity: Comparable {
    /// By the bytes of the environment, those of the bundle id, and the identity.
    public static func < (left: Self, right: Self) -> Bool {
        func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        if left.scope.environment != right.scope.environment {
            return isBefore(left.scope.environment.rawValue, right.scope.environment.rawValue)
        }
        if left.scope.bundleId != right.scope.bundleId { return isBefore(left.scope.bundleId, right.scope.bundleId) }
        return left.identity < right.identity
    }
}

/// The web order line item id within a stored payload (`FactRow.payload`). The engines index the bytes between the quotation
/// marks.
package enum StoredWebOrderLineItemId {
    /// What stands before the id.
    package static let beginning = "\"webOrderLineItemId\":\""

    /// The id as JSON has it, without the quotation marks. No payload matches an id that contains one, because the indexed
    /// bytes end at the first.
    package static func written(_ id: String) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.string(id)
        return Array(writer.finish().dropFirst().dropLast())
    }
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
