import AppStoreModels
package import AppStoreServer
import Synchronization

/// What is known of asking the App Store for as long as the server runs: a reload of the configuration must not make it
/// forget what was asked, nor how long the App Store wants to be left alone.
package final class AskedApps: Sendable {
    private struct Key: Hashable {
        let bundleID: String
        let environment: Environment
    }

    private struct Entry {
        let credentials: AppStoreCredentials
        let patience: Duration
        let app: AskedApp
    }

    let memory = RefreshMemory()
    private let transport: any APITransport
    private let entries = Mutex<[Key: Entry]>([:])

    /// - Parameter transport: carries the requests.
    package init(transport: any APITransport) { self.transport = transport }

    /// The app in one environment; made anew where it is asked about in another name, at another place, or with another
    /// patience.
    /// - Throws: `APIClientConfigurationError`
    func app(_ credentials: AppStoreCredentials, _ environment: Environment, patience: Duration) throws -> AskedApp {
        let key = Key(bundleID: credentials.bundleID, environment: environment)
        return try entries.withLock { entries in
            if let entry = entries[key], entry.patience == patience, entry.credentials.areSame(as: credentials) {
                return entry.app
            }
            let app = try AskedApp(credentials, environment, transport: transport, patience: patience)
            entries[key] = Entry(credentials: credentials, patience: patience, app: app)
            return app
        }
    }
}
