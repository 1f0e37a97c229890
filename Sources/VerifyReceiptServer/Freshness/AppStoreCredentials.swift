import AppStoreModels
public import AppStoreServer

/// With what the App Store Server API is asked for one app.
public struct AppStoreCredentials: Sendable {
    public var bundleID: String
    public var key: InAppPurchaseKey
    /// Where the API is, for example a local sandbox; nil for Apple's.
    public var productionURL: String?
    public var sandboxURL: String?

    public init(bundleID: String, key: InAppPurchaseKey, productionURL: String? = nil, sandboxURL: String? = nil) {
        self.bundleID = bundleID
        self.key = key
        self.productionURL = productionURL
        self.sandboxURL = sandboxURL
    }

    /// Where the API of an environment is; nil for Apple's.
    func server(_ environment: Environment) -> String? {
        environment == .production ? productionURL : sandboxURL
    }
}
