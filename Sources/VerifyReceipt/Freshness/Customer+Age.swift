internal import TransactionStore

extension Customer {
    /// Since when nothing that the App Store knows can be missing here, as far as signed data tells: the least over all
    /// original transaction ids of the newest signature by the App Store itself (API or notification). A JWS that a client
    /// handed in does not count: the client chose which one. Nil if the App Store never spoke of one of them.
    ///
    /// Milliseconds since 1970-01-01T00:00:00Z.
    var statedByAppStoreSince: Int64? {
        var newest: [String: Int64] = [:]
        for transaction in transactions {
            let id = transaction.payload.originalTransactionId ?? transaction.payload.transactionId ?? ""
            for origin in transaction.origins where origin.source.isLive {
                newest[id] = max(newest[id] ?? .min, origin.signedDate)
            }
            if newest[id] == nil { newest[id] = .min }
        }
        for info in renewalInfos {
            guard let id = info.payload.originalTransactionId, newest[id] != nil else { continue }
            for origin in info.origins where origin.source.isLive {
                newest[id] = max(newest[id] ?? .min, origin.signedDate)
            }
        }
        guard let least = newest.values.min(), least != .min else { return nil }
        return least
    }
}

extension FactSource {
    /// Whether the App Store itself said it to this server.
    fileprivate var isLive: Bool { self == .appStoreServerAPI || self == .notificationV2 }
}
