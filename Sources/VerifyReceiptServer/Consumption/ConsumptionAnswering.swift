public import AppStoreSync

/// Answers the open requests for consumption information (CONSUMPTION_REQUEST) when the server asks for it.
public protocol ConsumptionAnswering: Sendable {
    /// Answers what can be answered now. The other requests stay open until the next round.
    /// - Parameters:
    ///   - credentials: the keys of the apps.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: what became of them. If a file cannot be used, nothing is answered, and the round has a `failure`.
    /// - Throws: `TransactionStoreError`, `CancellationError`.
    func answerOpenRequests(_ credentials: [AppStoreCredentials], now: Int64) async throws -> ConsumptionRound
}

/// What became of the open requests in one round.
public struct ConsumptionRound: Hashable, Sendable {
    /// Requests whose answer the App Store accepted.
    public var answered = 0
    /// Requests that stay open: no consent, no rule, or the App Store refused the answer.
    public var unanswered = 0
    /// Requests that stay open because the App Store cannot be asked now, or refuses the key.
    public var left = 0
    /// Requests whose 12 hours passed during the round.
    public var missed = 0
    /// When the first deadline of the requests that stay open ends, in milliseconds since 1970-01-01T00:00:00Z.
    public var firstDeadline: Int64?
    /// Why requests are left, as a sentence.
    public var problem: String?
    /// Why the round could not do all of its work, as a sentence: the settings or their files cannot be used, so that nothing was
    /// answered, the key of an app cannot be used, or the store cannot close what was answered. The numbers are right all the same.
    public var failure: String?

    public init() {}
}
