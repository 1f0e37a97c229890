internal import AppStoreModels

/// A customer with an Apple Account who downloaded the app.
public struct SandboxCustomer: Sendable {
    /// The name from the control API.
    public let name: String
    /// The identifier of the download of the app.
    public let appTransactionId: String
    /// When the app was downloaded; milliseconds since 1970.
    public let downloadDate: Int64
    /// In the order of purchase.
    public internal(set) var transactionIds: [String] = []
    /// Original transaction ids by subscription group.
    public internal(set) var subscriptions: [String: String] = [:]
    /// The number of the family, if there is one.
    public internal(set) var family: Int?
}
