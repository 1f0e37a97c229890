public import AppStoreModels

/// The verified data of the App Store Server API about one customer of one app.
public struct CustomerHistory: Sendable {
    /// The environment of the client that read the history. Every payload in it has this environment.
    public let environment: Environment
    /// The newest data of each transaction, in the App Store's order. Empty if there are no transactions.
    public let transactions: [Verified<JWSTransactionDecodedPayload>]
    /// The next renewal of each auto-renewable subscription.
    public let renewalInfos: [Verified<JWSRenewalInfoDecodedPayload>]
    /// The `revision` of the last page, which can be used to request later changes; nil if there was no page.
    public let revision: String?
}

/// Reads a customer's history and subscription statuses, and verifies every JWS in them.
public struct CustomerHistoryReader: Sendable {
    /// Sends the queries, with retries and rate limits.
    public let client: AppStoreServerAPIClient
    /// Verifies every JWS in the answers. If one fails, the whole history fails.
    public let verifier: SignedDataVerifier
    /// The app. A transaction of another app makes ``history(of:)`` throw ``SignedDataError``.
    public let bundleID: String
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - client: queries one environment for one app.
    ///   - verifier: verifies the answers.
    ///   - bundleID: the app. A transaction of another app is an error.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    public init(
        client: AppStoreServerAPIClient, verifier: SignedDataVerifier, bundleID: String,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.client = client
        self.verifier = verifier
        self.bundleID = bundleID
        self.clock = clock
    }

    /// The history of the customer who has this transaction. It requests the statuses only if a transaction belongs to an
    /// auto-renewable subscription.
    ///
    /// - Parameter anyTransactionId: a transactionId, originalTransactionId or appTransactionId.
    /// - Throws: ``AppStoreServerAPIError``, ``SignedDataError`` if one JWS is not genuine or of another app, or
    ///   `CancellationError`.
    public func history(of anyTransactionId: String) async throws -> CustomerHistory {
        let expectation = SignedDataExpectation(bundleId: bundleID, environments: [client.environment])
        var transactions: [Verified<JWSTransactionDecodedPayload>] = []
        var revision: String?
        for try await page in client.transactionHistory(anyTransactionId) {
            for jws in page.signedTransactions ?? [] {
                transactions.append(
                    try await verifier.verifiedTransaction(jws, expecting: expectation, now: clock()))
            }
            revision = page.revision ?? revision
        }
        var renewalInfos: [Verified<JWSRenewalInfoDecodedPayload>] = []
        guard transactions.contains(where: { $0.payload.type == .autoRenewableSubscription }) else {
            return CustomerHistory(
                environment: client.environment, transactions: transactions, renewalInfos: [], revision: revision)
        }
        let statuses = try await client.getAllSubscriptionStatuses(anyTransactionId)
        for item in (statuses.data ?? []).flatMap({ $0.lastTransactions ?? [] }) {
            if let jws = item.signedTransactionInfo {
                transactions.append(
                    try await verifier.verifiedTransaction(jws, expecting: expectation, now: clock()))
            }
            if let jws = item.signedRenewalInfo {
                renewalInfos.append(
                    try await verifier.verifiedRenewalInfo(jws, expecting: expectation, now: clock()))
            }
        }
        return CustomerHistory(
            environment: client.environment, transactions: transactions, renewalInfos: renewalInfos, revision: revision)
    }
}
