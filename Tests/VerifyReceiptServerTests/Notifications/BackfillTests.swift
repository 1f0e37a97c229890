import AppStoreModels
import AppStoreServer
import AppStoreSync
import Crypto
import Foundation
import SQLiteTransactionStore
import Synchronization
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Reading Notification History from a server on this machine.
@Suite(.timeLimit(.minutes(10))) struct BackfillTests {
    static let key = P256.Signing.PrivateKey().pemRepresentation
    static let original = "530001234567000"

    /// A notification of the history, with the date by which the server finds it.
    struct Entry: Sendable {
        let jws: String
        let uuid: String
        let date: Int64
    }

    /// A request for a page.
    struct Query: Sendable, Equatable {
        let startDate: Int64
        let endDate: Int64
        let page: Int

        init(_ startDate: Int64, _ endDate: Int64, page: Int = 0) {
            self.startDate = startDate
            self.endDate = endDate
            self.page = page
        }

        /// Nil for another request.
        init?(_ request: LiveServiceStub.Received) {
            guard request.path.hasPrefix("/inApps/v1/notifications/history"),
                let body = try? JSONValue.parse(request.body), let start = body["startDate"]?.integer,
                let end = body["endDate"]?.integer
            else { return nil }
            let token = request.path.firstRange(of: "paginationToken=page-")
            self.init(start, end, page: token.flatMap { Int(request.path[$0.upperBound...]) } ?? 0)
        }
    }

    /// Notifications of a subscription, which is renewed again and again. The server finds them by these dates.
    static func history(_ dates: [Int64]) throws -> [Entry] {
        var subscription = Subscription(original)
        return try dates.enumerated().map { number, date in
            if number > 0 {
                subscription.now = subscription.transaction.expiresDate ?? 0
                subscription.begin(Int64(number))
            }
            let draft = try NotificationDraft(number == 0 ? "SUBSCRIBED" : "DID_RENEW", nil, subscription)
            return Entry(jws: try draft.signed(), uuid: draft.uuid.lowercased(), date: date)
        }
    }

    private static func history(_ count: Int) throws -> [Entry] {
        try history(Array(repeating: request.startDate, count: count))
    }

    /// A history of so many per page.
    /// - Parameters:
    ///   - history: the notifications.
    ///   - perPage: the number of notifications on a page.
    ///   - includesStart: whether a notification of exactly `startDate` belongs to the history.
    ///   - includesEnd: the same for `endDate`.
    ///   - refusal: the body and status for a request that is refused.
    static func server(
        _ history: [Entry], perPage: Int = 2, includesStart: Bool = true, includesEnd: Bool = false,
        refusal: @escaping @Sendable (Query) -> (String, Int)? = { _ in nil }
    ) async throws -> LiveServiceStub {
        try await LiveServiceStub(
            .compute { request in
                guard let query = Query(request) else { return ("", 404) }
                if let refusal = refusal(query) { return refusal }
                let found = history.filter {
                    (query.startDate < $0.date && $0.date < query.endDate)
                        || (includesStart && $0.date == query.startDate) || (includesEnd && $0.date == query.endDate)
                }
                let rest = found.dropFirst(query.page * perPage)
                let hasMore = rest.count > perPage
                let token = hasMore ? "\"paginationToken\":\"page-\(query.page + 1)\"," : ""
                let list = rest.prefix(perPage).map { "{\"signedPayload\":\"\($0.jws)\"}" }.joined(separator: ",")
                return ("{\(token)\"hasMore\":\(hasMore),\"notificationHistory\":[\(list)]}", 200)
            })
    }

    private static func backfill(
        _ server: LiveServiceStub, _ store: any TransactionStore, waits: ServerClock = .system
    ) throws -> NotificationBackfill {
        let client = try AppStoreServerAPIClient(
            key: InAppPurchaseKey(pem: key, keyID: "2X9R4HXF34", issuerID: "57246542-96fe-1a63-e053-0824d011072a"),
            bundleID: Signed.bundleId, environment: .production,
            configuration: APIClientConfiguration(baseURL: server.url, retryPolicy: .never))
        return NotificationBackfill(
            client: client, receiver: try .testing(), store: store, clock: { Self.noon }, waitClock: waits)
    }

    private static let request = NotificationHistoryRequest(startDate: 1, endDate: 2, onlyFailures: true)
    /// Now: 12:00 in UTC.
    private static let noon = NotificationReplyTests.now
    private static let midnight = noon - hours(12)
    /// Four windows; the last one begins at midnight.
    private static let days = NotificationHistoryRequest(startDate: midnight - hours(66), endDate: noon + Signed.day)

    private static func hours(_ count: Int64) -> Int64 { count * 3_600_000 }

    @Test func everyPageIsTakenInAndASecondRunChangesNothing() async throws {
        let history = try Self.history(5)
        let server = try await Self.server(history)
        try await ServerTests.Notifications.withStore { store in
            let first = try await Self.backfill(server, store).run(Self.request)
            #expect(first.stop == nil && first.counts.notifications == 5)
            #expect(first.counts.accepted == 5 && first.counts.repeated == 0 && first.counts.refused.isEmpty)
            for entry in history { #expect(try await store.hasProcessed(notificationUUID: entry.uuid)) }
            #expect(try await store.counts().transactions == 5)
            let second = try await Self.backfill(server, store).run(Self.request).counts
            #expect(second.notifications == 5 && second.accepted == 0 && second.repeated == 5)
            #expect(second.changedFacts == 0)
        }
        let body = String(decoding: try #require(server.received.first).body, as: UTF8.self)
        #expect(body.contains("\"onlyFailures\":true") && body.contains("\"startDate\":1"))
        #expect(server.received.count == 6)
        try await server.stop()
    }

    @Test("The days are read from the oldest to the newest, each with its pages, also one without notifications")
    func windows() async throws {
        let midnight = Self.midnight
        let dates = [
            Self.days.startDate, midnight - 2 * Signed.day, midnight + 1, midnight + Self.hours(1), Self.noon - 1,
        ]
        let server = try await Self.server(Self.history(dates))
        try await ServerTests.Notifications.withStore { store in
            let outcome = try await Self.backfill(server, store).run(Self.days)
            #expect(outcome.stop == nil && outcome.counts.notifications == 5 && outcome.counts.accepted == 5)
        }
        let expected: [Query] = [
            Query(Self.days.startDate, midnight - 2 * Signed.day),
            Query(midnight - 2 * Signed.day - 1_000, midnight - Signed.day),
            Query(midnight - Signed.day - 1_000, midnight),
            Query(midnight - 1_000, Self.noon),
            Query(midnight - 1_000, Self.noon, page: 1),
        ]
        #expect(server.received.compactMap(Query.init) == expected)
        try await server.stop()
    }

    @Test(
        "A notification at the end of a day is read, and counts once, whichever end of a time span belongs to it",
        arguments: [false, true], [false, true])
    func boundaries(includesStart: Bool, includesEnd: Bool) async throws {
        let ends = [Self.midnight - Signed.day, Self.midnight]
        let history = try Self.history(ends.flatMap { [$0 - 1, $0, $0 + 1] })
        let forged = Entry(jws: "a.b.c", uuid: "", date: Self.midnight)
        let server = try await Self.server(
            history + [forged], includesStart: includesStart, includesEnd: includesEnd)
        try await ServerTests.Notifications.withStore { store in
            let counts = try await Self.backfill(server, store).run(Self.days).counts
            #expect(counts.notifications == 7 && counts.accepted == 6 && counts.repeated == 0, "\(counts)")
            #expect(counts.refusedInAll == 1, "\(counts)")
            for entry in history { #expect(try await store.hasProcessed(notificationUUID: entry.uuid)) }
        }
        try await server.stop()
    }

    @Test func notificationsOfErasedCustomersAreCountedAndNotStored() async throws {
        let server = try await Self.server(Self.history(3))
        try await ServerTests.Notifications.withStore { store in
            _ = try await Self.backfill(server, store).run(Self.request)
            let scope = try #require(try await store.scopes().first)
            let customer = try #require(try await store.customers(in: scope, after: nil, limit: 1).first)
            _ = try await store.erase(customer.identities, in: scope, quarantined: [], leavingHashes: true)
            // As if the history had never been read.
            #expect(try await store.removeNotifications(signedBefore: .max) == 3)
            let again = try await Self.backfill(server, store).run(Self.request).counts
            #expect(again.notifications == 3 && again.accepted == 0 && again.erased == 3 && again.refusedInAll == 0)
            #expect(try await store.customer(customer.identities, in: scope) == nil)
        }
        try await server.stop()
    }

    @Test func forgedNotificationsAreCountedAndTheRestStored() async throws {
        var history = try Self.history(3)
        history[1] = Entry(jws: String(history[1].jws.dropLast(8)) + "AAAAAAAA", uuid: "", date: 1)
        let server = try await Self.server(history)
        try await ServerTests.Notifications.withStore { store in
            nonisolated(unsafe) var refusedReports: [NotificationReport] = []
            let counts = try await Self.backfill(server, store).run(
                Self.request, onRefusal: { refusedReports.append($0) }
            ).counts
            #expect(counts.accepted == 2 && counts.refused == [.notGenuine: 1])
            #expect(refusedReports.map(\.outcome) == [.notGenuine])
        }
        try await server.stop()
    }

    /// What a store counts after a backfill that nothing disturbs.
    private static func undisturbed(_ server: LiveServiceStub) async throws -> StoreCounts {
        try await ServerTests.Notifications.withStore { store in
            let run = try await backfill(server, store).run(days)
            #expect(run.stop == nil && run.counts.accepted == 6)
            return try await store.counts()
        }
    }

    @Test("A run that stopped in the middle of a day is continued from the beginning of this day, and loses nothing")
    func continuation() async throws {
        let (midnight, hour) = (Self.midnight, Self.hours(1))
        let day = midnight - Signed.day
        let history = try Self.history([
            Self.days.startDate + hour, day - hour, day + hour, day + 2 * hour, day + 3 * hour, midnight + hour,
        ])
        let isBroken = Mutex(true)
        let server = try await Self.server(history) { query in
            guard query.page == 1, isBroken.withLock({ $0 }) else { return nil }
            return (#"{"errorCode":4000000,"errorMessage":"x"}"#, 400)
        }
        try await ServerTests.Notifications.withStore { store in
            let first = try await Self.backfill(server, store).run(Self.days)
            #expect((first.stop?.error as? AppStoreServerAPIError)?.code == .generalBadRequest)
            #expect(first.counts.notifications == 4 && first.counts.accepted == 4)
            // What came before the failure is durable.
            #expect(try await store.counts().notifications == 4)
            isBroken.withLock { $0 = false }
            let before = server.received.count
            var rest = Self.days
            rest.startDate = try #require(first.stop).startDate
            let second = try await Self.backfill(server, store).run(rest)
            #expect(second.stop == nil && second.counts.accepted == 2 && second.counts.repeated == 2)
            let asked = server.received.dropFirst(before).compactMap(Query.init)
            #expect(
                asked == [
                    Query(day - 1_000, midnight), Query(day - 1_000, midnight, page: 1),
                    Query(midnight - 1_000, Self.noon),
                ])
            let counts = try await store.counts()
            for entry in history { #expect(try await store.hasProcessed(notificationUUID: entry.uuid)) }
            let undisturbed = try await Self.undisturbed(server)
            #expect(undisturbed.transactions == counts.transactions)
            #expect(undisturbed.renewalInfos == counts.renewalInfos)
            #expect(undisturbed.notifications == counts.notifications)
        }
        try await server.stop()
    }

    @Test(
        "While the App Store accepts no requests, a run waits for a minute each time, and loses and repeats nothing",
        arguments: [429, 503])
    func wait(status: Int) async throws {
        let left = Mutex(2)
        let server = try await Self.server(Self.history(4)) { query in
            guard query.page == 1 else { return nil }
            let isRefused = left.withLock { left in
                left -= 1
                return left >= 0
            }
            return isRefused ? ("", status) : nil
        }
        let clock = SkippedWaits()
        try await ServerTests.Notifications.withStore { store in
            nonisolated(unsafe) var holds: [Int64?] = []
            let outcome = try await Self.backfill(server, store, waits: clock.clock)
                .run(Self.request, onHold: { holds.append($0) })
            #expect(outcome.stop == nil && outcome.counts.notifications == 4 && outcome.counts.accepted == 4)
            #expect(holds == [Self.noon + 60_000, nil, Self.noon + 120_000, nil])
        }
        #expect(clock.now == Self.noon + 120_000 && server.received.count == 4)
        try await server.stop()
    }

    @Test("A run names the first complete day with a notification that it refused, also if it stops later")
    func refusedDays() async throws {
        let (midnight, hour) = (Self.midnight, Self.hours(1))
        let forged = [25, 2].map { Entry(jws: "\($0).b.c", uuid: "", date: midnight - $0 * hour) }
        let isBroken = Mutex(true)
        let server = try await Self.server(
            Self.history([Self.days.startDate + hour, midnight + hour]) + forged, perPage: 9
        ) { query in
            guard query.endDate == Self.noon, isBroken.withLock({ $0 }) else { return nil }
            return (#"{"errorCode":4000000,"errorMessage":"x"}"#, 400)
        }
        try await ServerTests.Notifications.withStore { store in
            let stopped = try await Self.backfill(server, store).run(Self.days)
            #expect(stopped.stop?.startDate == midnight - 1_000 && stopped.counts.refusedInAll == 2)
            #expect(stopped.refusedFrom == midnight - 2 * Signed.day - 1_000)
            isBroken.withLock { $0 = false }
            var rest = Self.days
            rest.startDate = try #require(stopped.stop).startDate
            let continued = try await Self.backfill(server, store).run(rest)
            #expect(continued.stop == nil && continued.counts.refusedInAll == 0 && continued.refusedFrom == nil)
            rest.startDate = try #require(stopped.refusedFrom)
            let again = try await Self.backfill(server, store).run(rest)
            #expect(again.stop == nil && again.counts.refusedInAll == 2 && again.refusedFrom == rest.startDate)
        }
        try await server.stop()
    }

    @Test("After 30 waits of a minute without an answer a run stops, and says where it continues")
    func unreachable() async throws {
        let midnight = Self.midnight
        let server = try await Self.server(Self.history([midnight - Self.hours(60)])) { query in
            query.endDate == midnight ? (#"{"errorCode":5000000,"errorMessage":"x"}"#, 500) : nil
        }
        let clock = SkippedWaits()
        try await ServerTests.Notifications.withStore { store in
            let outcome = try await Self.backfill(server, store, waits: clock.clock).run(Self.days)
            #expect(outcome.stop?.error is AppStoreUnreachable)
            #expect(outcome.stop?.startDate == midnight - Signed.day - 1_000 && outcome.counts.accepted == 1)
        }
        #expect(clock.now == Self.noon + 30 * 60_000 && server.received.count == 2 + 31)
        try await server.stop()
    }

    @Test("A key that is not accepted ends a run at the first answer", arguments: [401, 403])
    func refusedKey(status: Int) async throws {
        let server = try await Self.server([]) { _ in ("", status) }
        try await ServerTests.Notifications.withStore { store in
            let outcome = try await Self.backfill(server, store).run(Self.days)
            let refused = try #require(outcome.stop?.error as? AppStoreRefusal)
            #expect(refused.bundleID == Signed.bundleId && refused.httpStatus == status)
            #expect(outcome.stop?.startDate == Self.days.startDate)
        }
        #expect(server.received.count == 1)
        try await server.stop()
    }

    @Test("If a page token expires (4000017), the day is read again, and each notification counts once")
    func expiredPageToken() async throws {
        let isFirst = Mutex(true)
        let server = try await Self.server(Self.history(4)) { query in
            guard query.page == 1 else { return nil }
            let isRefused = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return isRefused ? (#"{"errorCode":4000017,"errorMessage":"x"}"#, 400) : nil
        }
        try await ServerTests.Notifications.withStore { store in
            let outcome = try await Self.backfill(server, store).run(Self.request)
            #expect(outcome.stop == nil && outcome.counts.notifications == 4 && outcome.counts.accepted == 4)
            #expect(outcome.counts.repeated == 0)
        }
        #expect(server.received.count == 4)
        try await server.stop()
    }

    /// A token that expired (4000017) restarts the day, a few times.
    @Test func expiredPageTokenBeginsAnewAndGivesUpInTheEnd() async throws {
        let server = try await Self.server(Self.history(4)) { query in
            query.page == 1 ? (#"{"errorCode":4000017,"errorMessage":"x"}"#, 400) : nil
        }
        try await ServerTests.Notifications.withStore { store in
            let outcome = try await Self.backfill(server, store).run(Self.request)
            #expect((outcome.stop?.error as? AppStoreServerAPIError)?.code == .paginationTokenExpired)
            #expect(outcome.counts.notifications == 2 && outcome.counts.accepted == 2)
            let count = try await store.counts().notifications
            #expect(count == 2)
        }
        #expect(server.received.count == 8)
        try await server.stop()
    }

    @Test func storeThatFailsEndsTheRun() async throws {
        let server = try await Self.server(Self.history(2))
        let store = PuppetStore()
        store.become(.fails(.unavailable))
        let outcome = try await Self.backfill(server, store).run(Self.request)
        #expect(outcome.stop?.error is TransactionStoreError && outcome.counts == NotificationBackfill.Counts())
        try await server.stop()
    }
}

/// A clock for waits, which take no time.
private final class SkippedWaits: Sendable {
    private let time = Mutex(NotificationReplyTests.now)

    var now: Int64 { time.withLock { $0 } }

    var clock: ServerClock {
        ServerClock(
            now: { self.now }, uptime: { .zero },
            sleep: { wait in self.time.withLock { $0 += Int64(wait / .milliseconds(1)) } })
    }
}
