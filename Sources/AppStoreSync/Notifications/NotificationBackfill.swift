public import AppStoreModels
public import AppStoreServer
internal import Encodings
internal import LegacyReceipts
internal import Purchases
public import TransactionStore

/// Reads the App Store's notification history and applies the notifications that are not in the store.
///
/// A run reads the time span in windows that end with a day in UTC, the oldest first. If it stops, another run from
/// ``Stop/startDate`` on continues it. Stored notifications change nothing. The App Store keeps the history for 180
/// days, and for 30 days in the sandbox (Reference.md S5.6). So a run needs at most 181 or 31 calls, and one more for
/// each further page of a day.
public struct NotificationBackfill: Sendable {
    /// The counts of a run. A notification that the run reads again counts once.
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

        /// All counts are 0.
        public init() {}

        /// All refused notifications.
        public var refusedInAll: Int { refused.values.reduce(0, +) }
    }

    /// How a run ended.
    public struct Outcome: Sendable {
        /// The counts, also of a run that stopped.
        public internal(set) var counts = Counts()
        /// Nil if the whole time span was read.
        public internal(set) var stop: Stop?
        /// The `startDate` of the first complete window with a refused notification; nil if there is none. When the cause is
        /// removed, a run from there reads the refused notifications again. One that continues after a stop does not.
        public internal(set) var refusedFrom: Int64?
    }

    /// Why a run stopped, and where another one continues.
    public struct Stop: Sendable {
        /// The `startDate` of the first window that is not complete. All before it was read.
        public let startDate: Int64
        /// ``AppStoreRefusal``, ``AppStoreUnreachable``, `AppStoreServerAPIError`, `TransactionStoreError` or
        /// `CancellationError`.
        public let error: any Error
    }

    /// The length of the App Store's history, in days.
    public static func reach(_ environment: Environment) -> Int64 { environment == .production ? 180 : 30 }

    /// How much of a window the next one reads again, in milliseconds. Apple does not document whether a notification of exactly
    /// the `startDate` or `endDate` belongs to the history, nor how exactly the dates are compared.
    private static let overlap: Int64 = 1_000

    /// The token for the next page expires after a time that Apple does not document. Then the window is read again.
    private static let maximumRestarts = 3

    private let client: AppStoreServerAPIClient
    private let receiver: NotificationReceiver
    private let store: any TransactionStore
    private let clock: @Sendable () -> Int64
    private let waitClock: ServerClock

    /// - Parameters:
    ///   - client: queries one environment for one app.
    ///   - receiver: verifies the notifications.
    ///   - store: receives the facts.
    ///   - clock: the time for the notifications, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - waitClock: measures how long a run waits for the App Store.
    public init(
        client: AppStoreServerAPIClient, receiver: NotificationReceiver, store: any TransactionStore,
        clock: @escaping @Sendable () -> Int64, waitClock: ServerClock = .system
    ) {
        self.client = client
        self.receiver = receiver
        self.store = store
        self.clock = clock
        self.waitClock = waitClock
    }

    /// The progress of a run.
    private struct Progress {
        var counts = Counts()
        /// The notifications of this window, and of the one before it.
        private var window: Set<Fingerprint> = []
        private var windowBefore: Set<Fingerprint> = []

        mutating func beginWindow() { (windowBefore, window) = (window, []) }

        /// Whether the run has not read the notification before.
        mutating func isNew(_ notification: String) -> Bool {
            let key = Fingerprint(of: notification.utf8)
            return !windowBefore.contains(key) && window.insert(key).inserted
        }
    }

    /// Applies the history page by page. Each page is durable before the next one is requested.
    ///
    /// The run waits while the App Store accepts no requests, and during an outage 30 times for a minute.
    /// - Parameters:
    ///   - request: the time span, and which notifications. An `endDate` in the future counts as now.
    ///   - onRefusal: called with each refused notification.
    ///   - onHold: called with the time until which the run waits, in milliseconds since 1970-01-01T00:00:00Z; with nil when
    ///     it continues.
    public func run(
        _ request: NotificationHistoryRequest, onRefusal: (NotificationReport) -> Void = { _ in },
        onHold: (Int64?) -> Void = { _ in }
    ) async -> Outcome {
        let end = min(request.endDate, clock())
        var window = request
        var progress = Progress()
        var refusedFrom: Int64?
        repeat {
            let refused = progress.counts.refusedInAll
            window.endDate = window.startDate < end ? min(Self.end(ofWindowFrom: window.startDate), end) : end
            do {
                try await read(window, &progress, onRefusal, onHold)
            } catch {
                let stop = Stop(startDate: window.startDate, error: error)
                return Outcome(counts: progress.counts, stop: stop, refusedFrom: refusedFrom)
            }
            if progress.counts.refusedInAll > refused { refusedFrom = refusedFrom ?? window.startDate }
            window.startDate = window.endDate - Self.overlap
            progress.beginWindow()
        } while window.endDate < end
        return Outcome(counts: progress.counts, refusedFrom: refusedFrom)
    }

    /// A window from the last second of a day ends with the next day.
    private static func end(ofWindowFrom startDate: Int64) -> Int64 {
        ((startDate + overlap).flooredQuotient(.millisecondsPerDay) + 1) * .millisecondsPerDay
    }

    private func read(
        _ window: NotificationHistoryRequest, _ progress: inout Progress, _ onRefusal: (NotificationReport) -> Void,
        _ onHold: (Int64?) -> Void
    ) async throws {
        var window = window
        var restarts = 0
        var waits = OutageWaits()
        var pages = client.notificationHistory(window).makeAsyncIterator()
        while true {
            do {
                guard let page = try await pages.next() else { return }
                waits.end()
                try await take(page.notificationHistory ?? [], &progress, onRefusal)
            } catch let error as AppStoreServerAPIError
                where error.code == .paginationTokenExpired && restarts < Self.maximumRestarts
            {
                restarts += 1
                pages = client.notificationHistory(window).makeAsyncIterator()
            } catch let error as AppStoreServerAPIError
                where error.code == .startDateTooFarInPast && restarts < Self.maximumRestarts
                && window.startDate < earliestStart && earliestStart < window.endDate
            {
                // It was in the history before the run waited.
                restarts += 1
                window.startDate = earliestStart
                pages = client.notificationHistory(window).makeAsyncIterator()
            } catch let error as AppStoreServerAPIError {
                // After a wait, the same page is requested again.
                let now = waitClock.now()
                switch RequestFailure(error, bundleID: client.tokens.bundleID, now: now) {
                case .limited(let until): try await waitClock.hold(until: until, onHold)
                case .refused(let refused): throw refused
                case .outage: try await waitClock.hold(until: waits.next(after: "\(error)", now: now), onHold)
                case .other: throw error
                }
            }
        }
    }

    /// The first date that the history has now, and a minute, because the clocks may differ.
    private var earliestStart: Int64 {
        waitClock.now() - Self.reach(client.environment) * .millisecondsPerDay + 60_000
    }

    private func take(
        _ items: [NotificationHistoryResponseItem], _ progress: inout Progress,
        _ onRefusal: (NotificationReport) -> Void
    ) async throws {
        var counts = progress.counts
        var sets: [FactSet] = []
        for item in items {
            let (facts, report) = await read(item)
            if let name = facts?.notification?.notificationUUID ?? item.signedPayload {
                guard progress.isNew(name) else { continue }
            }
            counts.notifications += 1
            if let facts {
                sets.append(facts)
            } else {
                counts.refused[report.outcome, default: 0] += 1
                onRefusal(report)
            }
        }
        if !sets.isEmpty {
            let applied = try await store.apply(sets)
            counts.repeated += applied.repeatedNotifications
            counts.erased += applied.erasedNotifications
            counts.accepted += sets.count - applied.repeatedNotifications - applied.erasedNotifications
            counts.changedFacts += applied.changed
        }
        progress.counts = counts
    }

    private func read(_ item: NotificationHistoryResponseItem) async -> (facts: FactSet?, report: NotificationReport) {
        guard let signedPayload = item.signedPayload else {
            return (nil, .malformed("the history has an entry without signedPayload"))
        }
        return await receiver.read(signedPayload, now: clock())
    }
}
