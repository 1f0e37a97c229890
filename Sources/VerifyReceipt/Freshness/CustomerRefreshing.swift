public import Purchases
internal import TransactionStore

/// Asks the App Store about a customer and puts what it says into the store that the endpoint reads.
public protocol CustomerRefreshing: Sendable {
    /// Brings the store up to date about purchases, but for those about which that was done at `notBefore` or later.
    ///
    /// The purchases may be of several Apple Accounts (they can share an account token of the app), and an answer of the
    /// App Store is about one of them. However many requests wait for the same customer, one call is under way.
    /// - Parameters:
    ///   - originalTransactionIds: the purchases, each once.
    ///   - identities: by what else the customer is known.
    ///   - scope: the app and the environment.
    ///   - notBefore: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: what came of it. A purchase that is not in it, or earlier than `notBefore`, does not count as current.
    /// - Throws: any error if it could not be asked about all; its description goes to ``ReplyFacts/reason`` and must not
    ///   hold a JWS. ``BackendFailure`` is handed on to the client.
    func refresh(
        originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> RefreshedPurchases
}

/// What the App Store has answered about purchases, by original transaction id.
public struct RefreshedPurchases: Sendable, Hashable {
    /// When the App Store was asked about each purchase that it knows, in milliseconds since 1970-01-01T00:00:00Z.
    public var times: [String: Int64]
    /// The purchases that the App Store does not know.
    public var unknown: Set<String>

    public init(times: [String: Int64], unknown: Set<String> = []) {
        self.times = times
        self.unknown = unknown
    }
}
