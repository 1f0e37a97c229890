import AppStoreModels
import AppStoreSync
import Foundation
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Notifications that come twice and in any order leave the same store and give the same replies as once in order.
enum DeliveryOrder {
    static let originals = (0..<4).map { String(530_001_234_567_000 + $0 * 1_000_000) }
    static let scope = StoreScope(environment: .production, bundleId: Signed.bundleId)

    struct Delivery {
        let jws: String
        let uuid: String
    }

    /// The lives of some subscriptions in order: after the first purchase every kind of notification, some twice. Some are
    /// signed in the same millisecond as the one before.
    static func lives(seed: UInt64) throws -> [Delivery] {
        var generator = SeededGenerator(seed: seed)
        var sent: [Delivery] = []
        for original in originals {
            var subscription = Subscription(original)
            var drafts = [try NotificationDraft("SUBSCRIBED", "INITIAL_BUY", subscription)]
            for example in NotificationCase.all.shuffled(using: &generator) {
                let isSimultaneous = UInt64.random(in: 0..<5, using: &generator) == 0
                if isSimultaneous { subscription.now -= Signed.day }
                for event in example.before + [example.event] { drafts.append(try event(&subscription)) }
                // Purchases of other things leave the subscription as it is.
                if subscription.transaction.type != .autoRenewableSubscription {
                    subscription.transaction = Subscription(original).transaction
                }
            }
            for draft in drafts { sent.append(Delivery(jws: try draft.signed(), uuid: draft.uuid.lowercased())) }
        }
        return sent
    }

    /// Everything that can be seen of a store and of the endpoint on it.
    static func view(_ store: any TransactionStore, _ sent: [Delivery]) async throws -> [String] {
        let endpoint = try VerifyReceiptEndpoint(
            configuration: VerifyReceiptServerConfiguration.testing { $0.endpoint.learnsFromReceipts = false }.endpoint,
            store: store)
        var view = ["\(try await store.counts())"]
        for original in originals {
            let customer = try await store.customer([.init(.originalTransactionId, original)], in: scope)
            view.append("\(try #require(customer))")
            let body = Sent.body(Data(try Signed.receipt(original)).base64EncodedString())
            let reply = await endpoint.reply(to: Array(body.utf8), at: .production, now: NotificationReplyTests.now)
            #expect(reply.status == 0)
            view.append(String(decoding: reply.body, as: UTF8.self))
        }
        for notification in sent where try await !store.hasProcessed(notificationUUID: notification.uuid) {
            view.append("\(notification.uuid) is missing")
        }
        return view
    }

    /// - Parameters:
    ///   - seed: the seed of the order.
    ///   - open: gives stores that hold nothing.
    @inline(never)
    static func check(seed: UInt64, _ open: () async throws -> any TransactionStore) async throws {
        let sent = try lives(seed: seed)
        let receiver = try NotificationReceiver.testing()
        let now = NotificationReplyTests.now
        let once = try await open()
        for notification in sent {
            let outcome = await receiver.receive(notification.jws, into: once, now: now).outcome
            #expect(outcome == .accepted)
        }
        let expected = try await view(once, sent)
        try await once.close()

        var generator = SeededGenerator(seed: seed ^ 0xFFFF)
        let twice = (sent + sent).shuffled(using: &generator)
        let shuffled = try await open()
        let repeated = await deliver(twice, receiver, shuffled)
        #expect(repeated == sent.count)
        let found = try await view(shuffled, sent)
        #expect(found.count == expected.count)
        for (one, other) in zip(found, expected) { #expect(one == other) }
        try await shuffled.close()
    }

    /// Several at a time, as they come over several connections.
    @inline(never)
    private static func deliver(
        _ notifications: [Delivery], _ receiver: NotificationReceiver, _ store: any TransactionStore
    ) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for lane in 0..<6 {
                let own = notifications.enumerated().filter { $0.offset % 6 == lane }.map(\.element.jws)
                group.addTask {
                    var repeated = 0
                    for jws in own {
                        let report = await receiver.receive(jws, into: store, now: NotificationReplyTests.now)
                        if report.outcome == .repeated { repeated += 1 }
                        if !report.isStored { Issue.record("\(report)") }
                    }
                    return repeated
                }
            }
            return await group.reduce(0, +)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct DeliveryOrderTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func doubledAndShuffledIsOnceInOrder(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        try await DeliveryOrder.check(seed: seed) {
            try SQLiteTransactionStore.open(path: folder.path + "/\(UUID().uuidString).sqlite")
        }
    }
}

@Suite(
    "PostgreSQL: notifications in any order", .timeLimit(.minutes(10)),
    .enabled(if: PostgreSQLServer.shared != nil, "no PostgreSQL server"))
struct PostgreSQLDeliveryOrderTests {
    @Test(arguments: [1, 2] as [UInt64])
    func doubledAndShuffledIsOnceInOrder(seed: UInt64) async throws {
        let url = try #require(PostgreSQLServer.shared).url
        try await DeliveryOrder.check(seed: seed) {
            let schema = "notifications_" + UUID().uuidString.lowercased().filter { $0 != "-" }
            return try await PostgreSQLTransactionStore.open(
                url: url,
                options: .init(
                    schema: schema, maximumConnections: 4, statementTimeout: 120, lockTimeout: 120,
                    connectionTimeout: 120))
        }
    }
}
