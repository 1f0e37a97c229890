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

    /// Whether both ask the same server in the same name.
    func areSame(as other: AppStoreCredentials) -> Bool {
        bundleID == other.bundleID && productionURL == other.productionURL && sandboxURL == other.sandboxURL
            && key.isSame(as: other.key)
    }
}
