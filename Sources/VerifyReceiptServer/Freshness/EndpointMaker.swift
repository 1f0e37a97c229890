import AppStoreServer
public import AppStoreSync
public import Purchases
import TransactionStore
public import VerifyReceipt

/// Creates the endpoint of a configuration, with its refresher.
struct EndpointMaker: Sendable {
    let store: (any TransactionStore)?
    let writer: StoreWriter?
    let metrics: ServerMetrics
    /// Milliseconds since 1970-01-01T00:00:00Z.
    let clock: @Sendable () -> Int64
    /// Connections to the App Store and cached answers. A reload keeps them.
    let pool: AppStoreClientPool

    /// - Throws: `ReceiptError` or `SignedDataError` for a certificate of the configuration.
    func callAsFunction(_ configuration: VerifyReceiptServerConfiguration) throws -> VerifyReceiptEndpoint {
        var endpoint = configuration.endpoint
        if let store, !configuration.appStore.isEmpty, endpoint.customerRefresher == nil {
            let verifier = try SignedDataVerifier(
                trust: configuration.signedDataTrust, revocation: configuration.revocation)
            endpoint.customerRefresher = AppStoreRefresher(
                credentials: configuration.appStore, verifier: verifier, store: store, pool: pool, clock: clock,
                wallClock: { SystemClock.now() },
                // A request that waits for the App Store uses no slot of the queue.
                waiting: { wait in
                    do { return try await WorkPlace.suspended(wait) } catch is WorkPlace.TooManySuspended {
                        throw RefreshError.tooManyWaiting
                    }
                },
                onRefresh: { [metrics] in metrics.refreshes.add($0.rawValue) })
        }
        let made = try VerifyReceiptEndpoint(configuration: endpoint, store: store, writer: writer)
        pool.keep(configuration.appStore)
        return made
    }
}

extension AppStoreRefresher: CustomerRefreshing {
    /// As `answers(about:identities:scope:notBefore:)`. Answers that the App Store does not know a purchase are in
    /// `RefreshedPurchases.unknown`, and have no time.
    /// - Throws: `RefreshError`, `AppStoreServerAPIError`, `SignedDataError`, `TransactionStoreError` or
    ///   `CancellationError`.
    public func refresh(
        originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> RefreshedPurchases {
        let answers = try await answers(
            about: originalTransactionIds, identities: identities, scope: scope, notBefore: notBefore)
        return RefreshedPurchases(
            times: answers.filter { $0.value.isKnown }.mapValues { $0.time },
            unknown: Set(answers.filter { !$0.value.isKnown }.keys))
    }
}
