public import Purchases

/// A transaction that the App Store does not know, as it answered.
public struct UnknownTransaction: Hashable, Sendable {
    /// The app and the environment that were queried.
    public let scope: StoreScope
    /// The original transaction id of a purchase in the store, or the bare id that was queried.
    public let transactionId: String
    /// When the App Store answered, in milliseconds since 1970-01-01T00:00:00Z.
    public let answeredDate: Int64

    /// An answer of the App Store.
    public init(scope: StoreScope, transactionId: String, answeredDate: Int64) {
        self.scope = scope
        self.transactionId = transactionId
        self.answeredDate = answeredDate
    }

    /// Whether the id can identify a transaction. A store does not keep others.
    public var isMeaningful: Bool { identity.identity.isMeaningful }

    package var identity: ScopedIdentity {
        ScopedIdentity(scope: scope, identity: CustomerIdentity(.originalTransactionId, transactionId))
    }
}

/// Stores which transactions the App Store does not know. Later runs skip them.
/// Every engine implements it.
///
/// An answer is no statement about the purchase: no reply, table or ledger entry depends on it.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol UnknownTransactions: Sendable {
    /// Stores answers, all or none. They are durable when this method returns. Of several answers about one id in one scope, the
    /// newest is kept. Answers about ids that are not meaningful, or of which an erasure left a hash, are left out.
    func remember(_ transactions: [UnknownTransaction]) async throws

    /// The stored answers about these ids, in any order.
    /// - Parameters:
    ///   - ids: the ids, any number.
    ///   - scope: the app and the environment.
    func unknownTransactions(_ ids: [String], in scope: StoreScope) async throws -> [UnknownTransaction]

    /// Removes the answers about these ids, for example because the App Store knows them now.
    func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) async throws

    /// The number of stored answers. For reports, not for a hot path.
    func unknownTransactionCount() async throws -> Int64
}
