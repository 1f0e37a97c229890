public import Purchases
internal import TransactionStore

/// Queries the App Store about a customer and writes the answer to the store.
public protocol CustomerRefreshing: Sendable {
    /// Updates purchases in the store, except for those that were updated at `notBefore` or later.
    ///
    /// The purchases may belong to several Apple Accounts with one account token, and an answer of the App Store covers one
    /// account. Concurrent requests for one customer share one call.
    /// - Parameters:
    ///   - originalTransactionIds: the purchases, each once.
    ///   - identities: the customer's other identities.
    ///   - scope: the app and the environment.
    ///   - notBefore: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: the time for each purchase. A purchase that is missing, or earlier than `notBefore`, is not current.
    /// - Throws: any error if a query fails. Its description becomes ``ReplyFacts/reason`` and must not contain a JWS. The
    ///   client gets a ``BackendFailure``.
    func refresh(
        originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> RefreshedPurchases
}

/// The App Store's answers about purchases, by original transaction id.
public struct RefreshedPurchases: Sendable, Hashable {
    /// The time of the query for each purchase in the App Store, in milliseconds since 1970-01-01T00:00:00Z.
    public var times: [String: Int64]
    /// The purchases that the App Store does not know.
    public var unknown: Set<String>

    public init(times: [String: Int64], unknown: Set<String> = []) {
        self.times = times
        self.unknown = unknown
    }
}
