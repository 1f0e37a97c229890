/// A new app account token for a purchase (App Store Server API 1.16, UpdateAppAccountTokenRequest).
public struct UpdateAppAccountTokenRequest: Codable, Hashable, Sendable {
    /// The UUID text that ties the purchase to an account of the developer.
    public var appAccountToken: String

    /// What has no default must be given; what is nil is left out of the JSON.
    public init(
        appAccountToken: String
    ) {
        self.appAccountToken = appAccountToken
    }
}
