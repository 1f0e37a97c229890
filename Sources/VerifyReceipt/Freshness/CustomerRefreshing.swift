public import TransactionStore

/// Asks the App Store about a customer and puts what it says into the store that the endpoint reads.
public protocol CustomerRefreshing: Sendable {
    /// Brings the store up to date, unless that was done at `notBefore` or later.
    ///
    /// However many requests wait for the same customer, one call is under way.
    /// - Parameters:
    ///   - transactionId: any transaction of the customer.
    ///   - identities: by what the customer is known; any of them finds an earlier refresh again.
    ///   - scope: the app and the environment.
    ///   - notBefore: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: when the App Store was asked, in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: any error if it could not be asked; its description goes to ``ReplyFacts/reason`` and must not hold a JWS.
    ///   ``BackendFailure`` is handed on to the client.
    func refresh(
        transactionId: String, identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> Int64
}
