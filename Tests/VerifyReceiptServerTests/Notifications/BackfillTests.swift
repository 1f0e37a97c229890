import AppStoreModels
import AppStoreServer
import AppStoreSync
import Crypto
import Foundation
import SQLiteTransactionStore
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Reading Notification History from a server on this machine.
@Suite(.timeLimit(.minutes(10))) struct BackfillTests {
    static let key = P256.Signing.PrivateKey().pemRepresentation
    static let original = "530001234567000"

    /// Notifications of a subscription: renewed n times.
    static func history(_ count: Int64) throws -> [(jws: String, uuid: String)] {
        var subscription = Subscription(original)
        return try (0..<count).map { number in
            if number > 0 {
                subscription.now = subscription.transaction.expiresDate ?? 0
                subscription.begin(number)
            }
            let draft = try NotificationDraft(number == 0 ? "SUBSCRIBED" : "DID_RENEW", nil, subscription)
            return (try draft.signed(), draft.uuid.lowercased())
        }
    }

    /// A history of so many per page. The page after `failing` is refused with this text and status.
    static func server(
        _ payloads: [String], perPage: Int = 2, failing: (page: Int, body: String, status: Int)? = nil
    ) async throws -> LiveServiceStub {
        try await LiveServiceStub(
            .compute { request in
                guard request.path.hasPrefix("/inApps/v1/notifications/history") else { return ("", 404) }
                let page = request.path.firstRange(of: "paginationToken=page-").flatMap {
                    Int(request.path[$0.upperBound...])
                }
                let start = (page ?? 0) * perPage
                if let failing, failing.page == page ?? 0 { return (failing.body, failing.status) }
                let items = payloads[start...].prefix(perPage).map { "{\"signedPayload\":\"\($0)\"}" }
                let next = start + perPage < payloads.count ? (page ?? 0) + 1 : nil
                let token = next.map { "\"paginationToken\":\"page-\($0)\"," } ?? ""
                let list = items.joined(separator: ",")
                return ("{\(token)\"hasMore\":\(next != nil),\"notificationHistory\":[\(list)]}", 200)
            })
    }

    private static func backfill(_ server: LiveServiceStub, _ store: any TransactionStore) throws
        -> NotificationBackfill
    {
        let client = try AppStoreServerAPIClient(
            key: InAppPurchaseKey(pem: key, keyID: "2X9R4HXF34", issuerID: "57246542-96fe-1a63-e053-0824d011072a"),
            bundleID: Signed.bundleId, environment: .production,
            configuration: APIClientConfiguration(baseURL: server.url, retryPolicy: .never))
        return NotificationBackfill(
            client: client, receiver: try .testing(), store: store, clock: { NotificationReplyTests.now })
    }

    private static let request = NotificationHistoryRequest(startDate: 1, endDate: 2, onlyFailures: true)

    @Test func everyPageIsTakenInAndASecondRunChangesNothing() async throws {
        let history = try Self.history(5)
        let server = try await Self.server(history.map(\.jws))
        try await ServerTests.Notifications.withStore { store in
            let first = try await Self.backfill(server, store).run(Self.request)
            #expect(first.notifications == 5 && first.accepted == 5 && first.repeated == 0)
            #expect(first.refused.isEmpty)
            for (_, uuid) in history { #expect(try await store.hasProcessed(notificationUUID: uuid)) }
            #expect(try await store.counts().transactions == 5)
            let second = try await Self.backfill(server, store).run(Self.request)
            #expect(second.notifications == 5 && second.accepted == 0 && second.repeated == 5)
            #expect(second.changedFacts == 0)
        }
        let body = String(decoding: try #require(server.received.first).body, as: UTF8.self)
        #expect(body.contains("\"onlyFailures\":true") && body.contains("\"startDate\":1"))
        #expect(server.received.count == 6)
        try await server.stop()
    }

    @Test func notificationsOfErasedCustomersAreCountedAndNotStored() async throws {
        let history = try Self.history(3)
        let server = try await Self.server(history.map(\.jws))
        try await ServerTests.Notifications.withStore { store in
            _ = try await Self.backfill(server, store).run(Self.request)
            let scope = try #require(try await store.scopes().first)
            let customer = try #require(try await store.customers(in: scope, after: nil, limit: 1).first)
            _ = try await store.erase(customer.identities, in: scope, quarantined: [], leavingHashes: true)
            // As if the history had never been read.
            #expect(try await store.removeNotifications(signedBefore: .max) == 3)
            let again = try await Self.backfill(server, store).run(Self.request)
            #expect(again.notifications == 3 && again.accepted == 0 && again.erased == 3 && again.refusedInAll == 0)
            #expect(try await store.customer(customer.identities, in: scope) == nil)
        }
        try await server.stop()
    }

    @Test func whatIsNotGenuineIsCountedAndTheRestTakenIn() async throws {
        var payloads = try Self.history(3).map(\.jws)
        payloads[1] = String(payloads[1].dropLast(8)) + "AAAAAAAA"
        let server = try await Self.server(payloads)
        try await ServerTests.Notifications.withStore { store in
            nonisolated(unsafe) var told: [NotificationReport] = []
            let counts = try await Self.backfill(server, store).run(Self.request, onRefusal: { told.append($0) })
            #expect(counts.accepted == 2 && counts.refused == [.notGenuine: 1])
            #expect(told.map(\.outcome) == [.notGenuine])
        }
        try await server.stop()
    }

    /// What came before the failure is durable, and running again goes on.
    @Test func interruptedRunIsResumedByRunningAgain() async throws {
        let history = try Self.history(5)
        let broken = try await Self.server(
            history.map(\.jws), failing: (1, #"{"errorCode":5000000,"errorMessage":"x"}"#, 500))
        let whole = try await Self.server(history.map(\.jws))
        try await ServerTests.Notifications.withStore { store in
            await #expect(throws: AppStoreServerAPIError.self) {
                try await Self.backfill(broken, store).run(Self.request)
            }
            #expect(try await store.counts().notifications == 2)
            let counts = try await Self.backfill(whole, store).run(Self.request)
            #expect(counts.accepted == 3 && counts.repeated == 2)
        }
        try await broken.stop()
        try await whole.stop()
    }

    /// A token that expired (4000017) begins the run anew, a few times.
    @Test func expiredPageTokenBeginsAnewAndGivesUpInTheEnd() async throws {
        let expired = #"{"errorCode":4000017,"errorMessage":"x"}"#
        let server = try await Self.server(Self.history(4).map(\.jws), failing: (1, expired, 400))
        try await ServerTests.Notifications.withStore { store in
            await #expect(throws: AppStoreServerAPIError.self) {
                try await Self.backfill(server, store).run(Self.request)
            }
            let count = try await store.counts().notifications
            #expect(count == 2)
        }
        #expect(server.received.count == 8)
        try await server.stop()
    }

    @Test func storeThatFailsEndsTheRun() async throws {
        let server = try await Self.server(Self.history(2).map(\.jws))
        let store = PuppetStore()
        store.become(.fails(.unavailable))
        await #expect(throws: TransactionStoreError.self) { try await Self.backfill(server, store).run(Self.request) }
        try await server.stop()
    }
}
