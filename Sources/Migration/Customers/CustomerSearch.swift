public import Purchases
public import TransactionStore

/// Finds the customers with an id from a support request, in all apps and environments of a store.
public struct CustomerSearch: Sendable {
    /// The kinds of ids. Each has the name of the column of an export that contains such ids.
    public enum IdKind: String, Hashable, Sendable, CaseIterable {
        /// The App Store's id of one transaction.
        case transactionId
        /// The id of the first transaction of a purchase. All renewals of a subscription have it.
        case originalTransactionId
        /// The App Store's id of a subscription period.
        case webOrderLineItemId
        /// The App Store's id of the download of an app, unique per Apple Account and app.
        case appTransactionId
        /// The UUID with which the app or the server connects a purchase to its own account of the customer.
        case appAccountToken
        /// The SHA-256 of a receipt without purchases.
        case receiptDigest
        /// The caller's user id, from `migrate --into`.
        case userId
    }

    /// A customer with the id.
    public struct Match: Sendable {
        /// Everything that the documents state about the customer.
        public let customer: Customer
        /// The claims of the caller's users on the identities of the customer.
        public let users: [UserClaim]
        /// The kinds of the id for this customer, in the order of ``IdKind``.
        public fileprivate(set) var kinds: [IdKind]
    }

    /// The id, as it was given.
    public let id: String
    /// The customers, in the order of the kinds of ids that found them. No document connects two of them.
    public private(set) var matches: [Match] = []
    /// The purchases of the user according to the records, about which the store has no document.
    public private(set) var unknownPurchases: [ScopedIdentity] = []
    /// Whether these are all customers: at most ``maximumIdentities`` identities of each kind of id are followed.
    public private(set) var isComplete = true

    /// The maximum number of identities that are followed for each kind of id.
    public static let maximumIdentities = 1_000

    /// - Parameters:
    ///   - id: any id of ``IdKind``. Account tokens can be in upper or lower case; all other ids are compared byte by
    ///     byte.
    ///   - store: the store, which is only read.
    /// - Throws: `TransactionStoreError`.
    public init(for id: String, in store: any TransactionStore & CustomerDirectory & MigrationStore) async throws {
        self.id = id
        var places: [ScopedIdentity: Int] = [:]
        let scopes = try await store.scopes()
        for kind in IdKind.allCases {
            for identity in try await identities(kind, scopes, store) {
                if let place = places[identity] {
                    if matches[place].kinds.last != kind { matches[place].kinds.append(kind) }
                    continue
                }
                guard let customer = try await store.customer([identity.identity], in: identity.scope) else {
                    if kind == .userId { unknownPurchases.append(identity) }
                    continue
                }
                let users = try await store.users(of: customer.identities, in: identity.scope)
                for other in customer.identities {
                    places[ScopedIdentity(scope: identity.scope, identity: other)] = matches.count
                }
                matches.append(Match(customer: customer, users: users, kinds: [kind]))
            }
        }
    }

    /// The identities that the id leads to if it is of this kind.
    private mutating func identities(
        _ kind: IdKind, _ scopes: [StoreScope], _ store: any CustomerDirectory
    ) async throws -> [ScopedIdentity] {
        let reference: CustomerReference
        switch kind {
        case .transactionId: reference = .transactionId(id)
        case .webOrderLineItemId: reference = .webOrderLineItemId(id)
        case .userId: reference = .userId(id)
        case .originalTransactionId, .appTransactionId, .appAccountToken, .receiptDigest:
            let known = CustomerIdentity.Kind.allCases.first { $0.name == kind.rawValue }
            guard let identity = known.map({ CustomerIdentity($0, id) }), identity.isMeaningful else { return [] }
            return scopes.map { ScopedIdentity(scope: $0, identity: identity) }
        }
        let found = try await store.identities(of: reference, limit: Self.maximumIdentities)
        if found.count == Self.maximumIdentities { isComplete = false }
        return found
    }
}
