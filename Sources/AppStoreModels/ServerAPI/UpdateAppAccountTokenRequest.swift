/// A new app account token for a purchase (App Store Server API 1.16, UpdateAppAccountTokenRequest).
public struct UpdateAppAccountTokenRequest: Codable, Hashable, Sendable {
    /// The UUID text that links the purchase to an account of the developer.
    public var appAccountToken: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(appAccountToken: String) {
        self.appAccountToken = appAccountToken
    }
}
