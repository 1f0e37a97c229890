public import AppStoreSync
public import TransactionStore
public import VerifyReceipt

/// Answers the open requests for consumption information (CONSUMPTION_REQUEST) when the server requests it.
public protocol ConsumptionAnswering: Sendable {
    /// Answers what can be answered now. The other requests stay open until the next round.
    /// - Parameters:
    ///   - credentials: the keys of the apps.
    ///   - endpoint: the configuration with the catalogs of the apps.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: what became of them. If a file cannot be used, nothing is answered, and the round has a `failure`.
    /// - Throws: `TransactionStoreError`, `CancellationError`.
    func answerOpenRequests(
        _ credentials: [AppStoreCredentials], _ endpoint: EndpointConfiguration, now: Int64
    ) async throws -> ConsumptionRound

    /// The deadlines of the open requests, if they are after a time, in milliseconds since 1970-01-01T00:00:00Z. A
    /// missed request stays open until a person dismisses it.
    /// - Parameter date: the time, in the same unit.
    /// - Throws: `TransactionStoreError`, `CancellationError`.
    func openDeadlines(after date: Int64) async throws -> [Int64]

    /// Counts the open requests whose deadline is at or before a time. Each counts once, also after a restart and if several
    /// servers have the store.
    /// - Parameter date: the time, in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: `TransactionStoreError`, `CancellationError`.
    func countMissed(deadlineUpTo date: Int64) async throws -> MissedConsumptionTasks
}

/// The outcome of the open requests in one round.
public struct ConsumptionRound: Hashable, Sendable {
    /// Requests whose answer the App Store accepted.
    public var answered = 0
    /// Requests that stay open: no consent, no rule, or the App Store refused the answer.
    public var unanswered = 0
    /// Requests that stay open because the App Store is not available, rejects the key, or has no usable address.
    public var left = 0
    /// Requests whose 12 hours passed during the round.
    public var missed = 0
    /// As `missed`, but an answer may have arrived.
    public var unknown = 0
    /// Why requests are left, a sentence for each app.
    public var problem: String?
    /// The reason of a failed round, as a sentence. If the settings or their files cannot be used, nothing was answered. If
    /// the store cannot be written, answers wait, or answered requests are still open in it. The numbers are valid in all
    /// cases.
    public var failure: String?

    /// A round without requests: all numbers are 0.
    public init() {}
}
