public import AppStoreModels
public import AppStoreServer
internal import Purchases
public import TransactionStore

/// Reads the App Store's notification history and applies the notifications that are not in the store.
///
/// Stored notifications change nothing, so another run resumes an interrupted one. The App Store keeps the history for 180
/// days, and for 30 days in the sandbox (Reference.md S5.6).
public struct NotificationBackfill: Sendable {
    /// The counts of a run.
    public struct Counts: Sendable, Hashable {
        /// Notifications in the history.
        public var notifications = 0
        /// Notifications that were new to the store.
        public var accepted = 0
        /// Notifications that were already in the store.
        public var repeated = 0
        /// Notifications that were not stored, because a hash of the customer was left when the customer was erased.
        public var erased = 0
        /// Facts that were new to the store, or newer than the stored ones.
        public var changedFacts = 0
        /// Refused notifications, by reason.
        public var refused: [NotificationOutcome: Int] = [:]

        public init() {}

        /// All refused notifications.
        public var refusedInAll: Int { refused.values.reduce(0, +) }
    }

    /// The length of the App Store's history, in days.
    public static func reach(_ environment: Environment) -> Int64 { environment == .production ? 180 : 30 }

    /// The token for the next page expires after a time that Apple does not document. Then the run starts again.
    private static let maximumRestarts = 3

    private let client: AppStoreServerAPIClient
    private let receiver: NotificationReceiver
    private let store: any TransactionStore
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - client: queries one environment for one app.
    ///   - receiver: verifies the notifications.
    ///   - store: receives the facts.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    public init(
        client: AppStoreServerAPIClient, receiver: NotificationReceiver, store: any TransactionStore,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.client = client
        self.receiver = receiver
        self.store = store
        self.clock = clock
    }

    /// Applies the history page by page. Each page is durable before the next one is requested.
    /// - Parameters:
    ///   - request: the time span, and which notifications.
    ///   - onRefusal: called with each refused notification.
    ///   - onPage: called with the counts so far, after each page.
    /// - Throws: `AppStoreServerAPIError`, `TransactionStoreError` or `CancellationError`. Earlier pages stay in the store.
    public func run(
        _ request: NotificationHistoryRequest, onRefusal: (NotificationReport) -> Void = { _ in },
        onPage: (Counts) -> Void = { _ in }
    ) async throws -> Counts {
        var restarts = 0
        while true {
            var counts = Counts()
            do {
                for try await page in client.notificationHistory(request) {
                    try await take(page.notificationHistory ?? [], &counts, onRefusal)
                    onPage(counts)
                }
                return counts
            } catch let error as AppStoreServerAPIError
                where error.code == .paginationTokenExpired && restarts < Self.maximumRestarts
            {
                restarts += 1
            }
        }
    }

    private func take(
        _ items: [NotificationHistoryResponseItem], _ counts: inout Counts, _ onRefusal: (NotificationReport) -> Void
    ) async throws {
        var sets: [FactSet] = []
        for item in items {
            counts.notifications += 1
            let (facts, report) = await read(item)
            if let facts {
                sets.append(facts)
            } else {
                counts.refused[report.outcome, default: 0] += 1
                onRefusal(report)
            }
        }
        guard !sets.isEmpty else { return }
        let applied = try await store.apply(sets)
        counts.repeated += applied.repeatedNotifications
        counts.erased += applied.erasedNotifications
        counts.accepted += sets.count - applied.repeatedNotifications - applied.erasedNotifications
        counts.changedFacts += applied.changed
    }

    private func read(_ item: NotificationHistoryResponseItem) async -> (facts: FactSet?, report: NotificationReport) {
        guard let signedPayload = item.signedPayload else {
            return (nil, .malformed("the history has an entry without signedPayload"))
        }
        return await receiver.read(signedPayload, now: clock())
    }
}
