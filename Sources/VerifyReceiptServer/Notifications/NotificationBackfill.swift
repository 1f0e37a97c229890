public import AppStoreModels
public import AppStoreServer
internal import Purchases
public import TransactionStore

/// Reads the history of notifications that the App Store has tried to send, and takes in what the store lacks.
///
/// What is in the store already stays as it is, so that an interrupted run is resumed by running it again. The App Store keeps
/// the history for 180 days, of the sandbox for 30 (Reference.md S5.6).
public struct NotificationBackfill: Sendable {
    /// What a run has done.
    public struct Counts: Sendable, Hashable {
        /// Notifications in the history.
        public var notifications = 0
        /// Notifications that the store did not have.
        public var accepted = 0
        /// Notifications that the store had.
        public var repeated = 0
        /// Facts that were new to the store, or newer than what it had.
        public var changedFacts = 0
        /// Notifications that were not taken in, by reason.
        public var refused: [NotificationOutcome: Int] = [:]

        public init() {}

        public var refusedInAll: Int { refused.values.reduce(0, +) }
    }

    /// How far back the App Store's history reaches, in days.
    public static func reach(_ environment: Environment) -> Int64 { environment == .production ? 180 : 30 }

    /// The token for the next page expires after a time that Apple does not state; then the run begins anew.
    private static let maximumRestarts = 3

    private let client: AppStoreServerAPIClient
    private let receiver: NotificationReceiver
    private let store: any TransactionStore
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - client: asks one environment for one app.
    ///   - receiver: verifies what comes back.
    ///   - store: takes it in.
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

    /// Takes in what the history holds, page by page; each page is durable before the next is asked for.
    /// - Parameters:
    ///   - request: which notifications.
    ///   - onRefusal: is told of each notification that is not taken in.
    ///   - onPage: is told of the counts so far, after each page.
    /// - Throws: `AppStoreServerAPIError`, `TransactionStoreError` or `CancellationError`. What was taken in before stays.
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
        counts.accepted += sets.count - applied.repeatedNotifications
        counts.changedFacts += applied.changed
    }

    private func read(_ item: NotificationHistoryResponseItem) async -> (facts: FactSet?, report: NotificationReport) {
        guard let signedPayload = item.signedPayload else {
            return (nil, .malformed("the history has an entry without signedPayload"))
        }
        return await receiver.read(signedPayload, now: clock())
    }
}
