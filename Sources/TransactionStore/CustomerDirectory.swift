internal import AppStoreModels
public import Purchases

/// Lists all customers of an app, and finds customers by ids that are not identities. Every engine implements it.
public protocol CustomerDirectory: Sendable {
    /// The apps and environments of the stored documents, ordered by the bytes of the environment and then of the
    /// bundle id. A scope in the list may have no customers.
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

    /// The identities to look up for a reference, in all apps and environments. Each identity is listed once, ordered
    /// by the bytes of the environment, those of the bundle id, and the identity. Empty if nothing has the reference.
    ///
    /// A transaction or web order line item id matches if any stored fact states it. Its identity is the original
    /// transaction id that the store files the transaction under. A user's identities are those of its claims
    /// (``UserClaim/identity``); the store may have no customer with such an identity.
    /// - Parameters:
    ///   - reference: compared byte by byte.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    /// - Throws: ``TransactionStoreError``.
    func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity]
}

/// An id that belongs to one customer or a few, but is not a `CustomerIdentity`: documents with the same id can be
/// about different customers.
public enum CustomerReference: Hashable, Sendable {
    /// The id of any transaction. Family members and restored purchases have their own transactions.
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
    /// The ids of the App Store are unique only within an app and environment.
    public let scope: StoreScope
    /// Not necessarily that of a stored customer; see ``CustomerDirectory/identities(of:limit:)``.
    public let identity: CustomerIdentity

    /// Creates a value without checking it: the identity need not be meaningful (`CustomerIdentity.isMeaningful`).
    public init(scope: StoreScope, identity: CustomerIdentity) {
        self.scope = scope
        self.identity = identity
    }
}

extension ScopedIdentity: Comparable {
    /// Orders by the bytes of the environment, those of the bundle id, and the identity.
    public static func < (left: Self, right: Self) -> Bool {
        func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        if left.scope.environment != right.scope.environment {
            return isBefore(left.scope.environment.rawValue, right.scope.environment.rawValue)
        }
        if left.scope.bundleId != right.scope.bundleId { return isBefore(left.scope.bundleId, right.scope.bundleId) }
        return left.identity < right.identity
    }
}

/// The web order line item id within a stored payload (`FactRow.payload`). Engines index the bytes between its
/// quotation marks.
package enum StoredWebOrderLineItemId {
    /// The bytes before the id.
    package static let beginning = "\"webOrderLineItemId\":\""

    /// The id as it is written in JSON, without its quotation marks. An id that contains a quotation mark matches no
    /// payload, because the indexed bytes end at the first one.
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
        try await forEachPage(in: scope, pageSize: pageSize) { page in
            for customer in page { try await body(customer) }
        }
    }

    /// As ``forEachCustomer(in:pageSize:_:)``, with all customers of a page at once.
    package func forEachPage(
        in scope: StoreScope, pageSize: Int = 200, _ body: ([Customer]) async throws -> Void
    ) async throws {
        var last: CustomerIdentity?
        while true {
            let page = try await customers(in: scope, after: last, limit: pageSize)
            guard let identity = page.last?.identities.first else { return }
            try await body(page)
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
