import AppStoreModels
package import AppStoreServer
import Synchronization

/// What is known of asking the App Store for as long as the server runs: a reload of the configuration must not make it
/// forget what was asked, nor how long the App Store wants to be left alone.
package final class AskedApps: Sendable {
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
        let app: AskedApp
    }

    let memory = RefreshMemory()
    /// How long a request waits.
    let patience: Duration
    private let transport: any APITransport
    private let entries = Mutex<[Place: Entry]>([:])

    /// - Parameters:
    ///   - transport: carries the requests.
    ///   - patience: how long a request waits.
    package init(transport: any APITransport, patience: Duration) {
        self.transport = transport
        self.patience = patience
    }

    /// The app in one environment. With another key than before it is asked in another name, and a server that refused the
    /// old key gets the chance to take the new one; but one that wanted to be left alone is.
    /// - Throws: `APIClientConfigurationError`
    func app(_ credentials: AppStoreCredentials, _ environment: Environment) throws -> AskedApp {
        let place = Place(credentials, environment)
        return try entries.withLock { entries in
            let known = entries[place]
            if let known, known.key.isSame(as: credentials.key) { return known.app }
            let breaker = known?.app.breaker.withoutFailures() ?? CircuitBreaker()
            let app = try AskedApp(
                credentials, environment, transport: transport, patience: patience, breaker: breaker)
            entries[place] = Entry(key: credentials.key, app: app)
            return app
        }
    }

    /// Forgets what is not configured any more, keys included.
    func keep(_ configured: [AppStoreCredentials]) {
        let places = Set(configured.flatMap { [Place($0, .production), Place($0, .sandbox)] })
        entries.withLock { $0 = $0.filter { places.contains($0.key) } }
    }
}
