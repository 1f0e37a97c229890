import AppStoreModels
import AppStoreServer
import AppStoreSync
import Foundation
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// What each notification does to the reply for the same old receipt.
@Suite struct NotificationReplyTests {
    /// 2024-06-01T12:00:00Z.
    static let now: Int64 = 1_717_243_200_000
    static let original = "530001234567000"

    /// A store in a file of its own, an endpoint that reads it, and a receiver that writes to it.
    struct Bench {
        let folder: TemporaryFolder
        let store: SQLiteTransactionStore
        let endpoint: VerifyReceiptEndpoint
        let receiver: NotificationReceiver

        init() throws {
            folder = try TemporaryFolder()
            store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
            endpoint = try VerifyReceiptEndpoint(
                configuration: VerifyReceiptServerConfiguration.testing().endpoint, store: store)
            receiver = try .testing()
        }

        func reply(_ original: String = NotificationReplyTests.original) async throws -> FlatReply {
            let body = Sent.body(Data(try Signed.receipt(original)).base64EncodedString())
            return try FlatReply(await endpoint.reply(to: Array(body.utf8), at: .production, now: now))
        }

        @discardableResult
        func receive(_ draft: NotificationDraft) async throws -> NotificationReport {
            await receiver.receive(try draft.signed(), into: store, now: now)
        }
    }

    @Test(arguments: NotificationCase.all)
    func aNotificationChangesTheReply(_ example: NotificationCase) async throws {
        let bench = try Bench()
        var subscription = Subscription(Self.original)
        // The old client has sent a request before, so that the store has its receipt.
        _ = try await bench.reply()
        if example.followsPurchase {
            #expect(try await bench.receive(NotificationDraft("SUBSCRIBED", "INITIAL_BUY", subscription)).isStored)
        }
        for event in example.before { #expect(try await bench.receive(event(&subscription)).isStored) }
        let before = try await bench.reply()
        let draft = try example.event(&subscription)
        #expect(draft.type == example.type && draft.subtype == example.subtype)
        let report = try await bench.receive(draft)
        #expect(report.outcome == .accepted, "\(report)")
        #expect(report.notificationType == example.type && report.subtype == example.subtype)
        #expect(try await bench.store.hasProcessed(notificationUUID: draft.uuid.lowercased()))
        let after = try await bench.reply()
        #expect(after.status == 0)
        #expect(after.incompleteDates.isEmpty)
        #expect(after.changes(since: before) == example.changes(subscription))
        try await bench.store.close()
    }

    @Test func everyTypeAndSubtypeOfTheReferenceHasAnExample() {
        let types = Set(NotificationCase.all.map(\.type))
        #expect(types == Set(NotificationTypeV2.knownValues.map(\.rawValue)))
        #expect(Set(NotificationCase.all.compactMap(\.subtype)) == Set(Subtype.knownValues.map(\.rawValue)))
        let table = [
            "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"], "DID_RENEW": [nil, "BILLING_RECOVERY"],
            "DID_CHANGE_RENEWAL_PREF": ["UPGRADE", "DOWNGRADE", nil, "INCREASE_QUANTITY", "DECREASE_QUANTITY"],
            "REFUND": [nil, "SEATS"],
            "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
            "OFFER_REDEEMED": [nil, "UPGRADE", "DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE"],
            "DID_FAIL_TO_RENEW": [nil, "GRACE_PERIOD"], "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
            "EXPIRED": ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", nil],
            "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
            "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        ]
        for type in types {
            let subtypes = Set(NotificationCase.all.filter { $0.type == type }.map(\.subtype))
            #expect(subtypes == Set(table[type] ?? [nil]), "\(type)")
        }
    }

    /// An upgrade's notification contains the new period only. The reply marks the old one from then on, and the same way when
    /// the App Store states the upgrade.
    @Test func upgradedPeriodIsMarkedBeforeItIsStatedToo() async throws {
        let bench = try Bench()
        var subscription = Subscription(Self.original)
        let old = subscription.transaction
        _ = try await bench.reply()
        try await bench.receive(NotificationDraft("SUBSCRIBED", "INITIAL_BUY", subscription))
        subscription.now += Signed.day
        subscription.upgrade()
        try await bench.receive(NotificationDraft("DID_CHANGE_RENEWAL_PREF", "UPGRADE", subscription))
        let before = try await bench.reply()
        #expect(before.values["latest/\(Self.original)/is_upgraded"] == "true")
        #expect(before.values["latest/\(Self.original)/cancellation_reason"] == "0")
        subscription.transaction = old
        subscription.transaction.isUpgraded = true
        subscription.now += Signed.day
        try await bench.receive(NotificationDraft("REFUND_DECLINED", nil, subscription))
        let changes = try await bench.reply().changes(since: before)
        #expect(changes.isEmpty)
        try await bench.store.close()
    }

    @Test func typeThatIsNotKnownIsKeptWholeAndItsFactsCount() async throws {
        let bench = try Bench()
        var subscription = Subscription(Self.original)
        _ = try await bench.reply()
        let before = try await bench.reply()
        subscription.renewal.autoRenewStatus = .off
        let draft = try NotificationDraft("FROM_THE_FUTURE", "SOON", subscription)
        let (facts, report) = await bench.receiver.read(try draft.signed(), now: Self.now)
        let body = String(decoding: try #require(facts?.notification).body, as: UTF8.self)
        #expect(report.outcome == .accepted)
        #expect(facts?.notification?.notificationType == "FROM_THE_FUTURE" && facts?.notification?.subtype == "SOON")
        #expect(body.contains("signedTransactionInfo") && body.contains("FROM_THE_FUTURE"))
        try await bench.receive(draft)
        let changes = try await bench.reply().changes(since: before)
        #expect(changes.contains("pending/\(Self.original) new: \(Signed.monthly)"))
        try await bench.store.close()
    }

    /// What stands beside the JWS in a notification is kept with it; the JWS themselves are facts of their own.
    @Test func statusAndConsumptionRequestReasonStayInTheBody() async throws {
        let receiver = try NotificationReceiver.testing()
        var draft = try NotificationDraft("CONSUMPTION_REQUEST", nil, Subscription(Self.original))
        draft.content.data?.consumptionRequestReason = .fulfillmentIssue
        let (facts, _) = await receiver.read(try draft.signed(), now: Self.now)
        let notification = try #require(facts?.notification)
        #expect(notification.notificationUUID == draft.uuid.lowercased())
        #expect(notification.signedDate == draft.signedDate)
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(notification.body)) as? [String: Any])
        let data = try #require(object["data"] as? [String: Any])
        #expect(data["consumptionRequestReason"] as? String == "FULFILLMENT_ISSUE")
        #expect(data["status"] as? Int == 1 && data["bundleVersion"] as? String == "42")
        #expect(data["signedTransactionInfo"] == nil && data["signedRenewalInfo"] == nil)
        #expect(facts?.transactions.count == 1 && facts?.renewalInfos.count == 1)
    }
}

extension NotificationReport {
    var isStored: Bool { outcome == .accepted || outcome == .repeated }
}
