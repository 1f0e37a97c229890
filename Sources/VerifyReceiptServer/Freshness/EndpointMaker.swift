import AppStoreServer
import TransactionStore
import VerifyReceipt

/// Makes the endpoint of a configuration, with what asks the App Store for it.
struct EndpointMaker: Sendable {
    let store: (any TransactionStore)?
    let writer: StoreWriter?
    let metrics: ServerMetrics
    /// Milliseconds since 1970-01-01T00:00:00Z.
    let clock: @Sendable () -> Int64
    /// Connections to the App Store, and what is known of asking it; they outlive a reload.
    private let apps: AskedApps

    /// - Parameter patience: how long a request waits for the App Store.
    init(
        store: (any TransactionStore)?, writer: StoreWriter?, metrics: ServerMetrics, patience: Duration,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.writer = writer
        self.metrics = metrics
        self.clock = clock
        apps = AskedApps(transport: AsyncHTTPClientTransport(), patience: patience)
    }

    /// - Throws: `ReceiptError` or `SignedDataError` for a certificate of the configuration.
    func callAsFunction(_ configuration: VerifyReceiptServerConfiguration) throws -> VerifyReceiptEndpoint {
        var endpoint = configuration.endpoint
        if let store, !configuration.appStore.isEmpty, endpoint.customerRefresher == nil {
            let verifier = try SignedDataVerifier(
                trust: configuration.signedDataTrust, revocation: configuration.revocation)
            endpoint.customerRefresher = AppStoreRefresher(
                credentials: configuration.appStore, verifier: verifier, store: store, apps: apps, clock: clock,
                wallClock: { SystemClock.now() },
                onRefresh: { [metrics] in metrics.refreshes.add($0.rawValue) })
        }
        let made = try VerifyReceiptEndpoint(configuration: endpoint, store: store, writer: writer)
        apps.keep(configuration.appStore)
        return made
    }
}
