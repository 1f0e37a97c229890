internal import AppStoreModels
package import AppStoreServer
internal import Synchronization
package import TransactionStore

/// The clients of a running server, with their cached answers. A reload of the configuration keeps the answers and each
/// `Retry-After`.
package final class AppStoreClientPool: Sendable {
    private struct Place: Hashable {
        let bundleID: String
        let environment: Environment
        let server: String?

        init(_ credentials: AppStoreCredentials, _ environment: Environment) {
            bundleID = credentials.bundleID
            self.environment = environment
            server = credentials.server(environment)
        }
    }

    private struct Entry {
        let key: InAppPurchaseKey
        let client: AppStoreClient
    }

    let memory = RefreshMemory()
    /// How long a request waits.
    let timeout: Duration
    private let transport: any APITransport
    private let budgets: (any RequestBudgets)?
    private let entries = Mutex<[Place: Entry]>([:])

    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - timeout: how long a request waits.
    ///   - budgets: the store through which programs share the rate limits; nil to share none.
    package init(transport: any APITransport, timeout: Duration, budgets: (any RequestBudgets)? = nil) {
        self.transport = transport
        self.budgets = budgets
        self.timeout = timeout
    }

    /// The client of an app in one environment. A new key gets a new client, which keeps the `Retry-After` and resets the
    /// failure count.
    /// - Throws: `APIClientConfigurationError`
    func client(_ credentials: AppStoreCredentials, _ environment: Environment) throws -> AppStoreClient {
        let place = Place(credentials, environment)
        return try entries.withLock { entries in
            let known = entries[place]
            if let known, known.key.isSame(as: credentials.key) { return known.client }
            let breaker = known?.client.breaker.withoutFailures() ?? CircuitBreaker()
            let client = try AppStoreClient(
                credentials, environment, transport: transport, timeout: timeout, breaker: breaker, budgets: budgets)
            entries[place] = Entry(key: credentials.key, client: client)
            return client
        }
    }

    /// Drops the clients and keys of apps that are no longer configured.
    package func keep(_ configured: [AppStoreCredentials]) {
        let places = Set(configured.flatMap { [Place($0, .production), Place($0, .sandbox)] })
        entries.withLock { $0 = $0.filter { places.contains($0.key) } }
    }
}
