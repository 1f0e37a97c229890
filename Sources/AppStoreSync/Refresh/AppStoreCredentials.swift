package import AppStoreModels
public import AppStoreServer

/// The key for the App Store Server API of one app, and the addresses of the API.
public struct AppStoreCredentials: Sendable {
    /// The app. The tokens for the API state it.
    public var bundleID: String
    /// An In-App Purchase key of the app's team. It signs the tokens for both environments.
    public var key: InAppPurchaseKey
    /// The address of the production API, for example a local sandbox; nil for Apple's.
    public var productionURL: String?
    /// The address of the sandbox API; nil for Apple's.
    public var sandboxURL: String?

    /// - Parameters:
    ///   - bundleID: the app.
    ///   - key: an In-App Purchase key of the app's team.
    ///   - productionURL: the address of the production API; nil for Apple's.
    ///   - sandboxURL: the address of the sandbox API; nil for Apple's.
    public init(bundleID: String, key: InAppPurchaseKey, productionURL: String? = nil, sandboxURL: String? = nil) {
        self.bundleID = bundleID
        self.key = key
        self.productionURL = productionURL
        self.sandboxURL = sandboxURL
    }

    /// The address of the API of an environment; nil for Apple's.
    package func server(_ environment: Environment) -> String? {
        environment == .production ? productionURL : sandboxURL
    }
}
