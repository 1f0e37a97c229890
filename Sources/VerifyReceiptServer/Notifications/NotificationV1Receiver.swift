import AppStoreModels
import LegacyReceipts
import Purchases
import TransactionStore
import VerifyReceipt

/// Takes App Store Server Notifications of version 1 in (Reference.md V8).
///
/// Nothing but the shared secret says that they come from the App Store: without a configured secret of the app or the
/// account none is taken in. What they state counts as recorded (``EndpointConfiguration/RecordedFacts``); the receipt in
/// `latest_receipt`, where it is genuine, counts as what it is.
struct NotificationV1Receiver: Sendable {
    private let secrets: [String: [SharedSecret]]
    private let accountSecrets: [SharedSecret]
    private let apps: NotificationReceiver.Apps
    private let verifier: ReceiptVerifier

    /// - Throws: `ReceiptError` for a certificate of the trust policy that cannot be read.
    init(_ configuration: EndpointConfiguration) throws {
        secrets = Dictionary(grouping: configuration.apps, by: \.bundleId).mapValues { $0.flatMap(\.sharedSecrets) }
        accountSecrets = configuration.accountSecrets
        apps = NotificationReceiver.Apps(configuration.apps, unknownBundleIds: configuration.unknownBundleIds)
        verifier = try ReceiptVerifier(trust: configuration.trust, limits: configuration.limits)
    }

    func receive(_ object: JSONObject, into store: any TransactionStore) async -> NotificationReport {
        var report = NotificationReport()
        let started = ContinuousClock.now
        let sets: [FactSet]
        do {
            sets = try facts(object, &report)
            report.verificationNanoseconds = started.duration(to: .now).nanoseconds
        } catch {
            report.verificationNanoseconds = started.duration(to: .now).nanoseconds
            let refusal = error as? NotificationRefusal
            report.outcome = refusal?.outcome ?? .notVerifiable
            report.reason = refusal?.reason ?? "unexpected failure: \(type(of: error))"
            return report
        }
        return await NotificationStoring.apply(sets, to: store, report)
    }

    private func facts(_ object: JSONObject, _ report: inout NotificationReport) throws -> [FactSet] {
        guard object["notification_type"]?.string != nil else {
            throw NotificationRefusal(.malformed, "notification_type is missing")
        }
        // Before anything is read for somebody who knows no secret at all.
        try check(object["password"], Array(secrets.values) + [accountSecrets])
        let reply = try Self.reply(object)
        let mapping = reply.map { ReceiptMapper().map($0) }
        let rowBundleId = mapping?.transactions.lazy.compactMap(\.payload.bundleId).first
        let bundleId = object["bid"]?.string ?? rowBundleId
        try check(object["password"], [bundleId.flatMap { secrets[$0] } ?? [], accountSecrets])
        let receipts = (reply?.embeddedReceipts ?? []).compactMap { embedded in
            facts(embedded).flatMap { bundleId == nil || $0.scope.bundleId == bundleId ? $0 : nil }
        }
        let sets = [FactSet](notificationV1: object, mapping: mapping, receipts: receipts)
        guard let notification = sets.last?.notification, let scope = sets.last?.scope else {
            throw NotificationRefusal(.malformed, "the notification names no app in production or sandbox")
        }
        // The secret of one app vouches for nothing of another.
        guard sets.allSatisfy({ $0.scope.bundleId == bundleId ?? scope.bundleId }) else {
            throw NotificationRefusal(.notGenuine, "the notification speaks of several apps")
        }
        report.notificationUUID = notification.notificationUUID
        report.notificationType = notification.notificationType
        report.bundleId = scope.bundleId
        report.environment = scope.environment.rawValue
        try apps.check(scope.bundleId)
        return sets
    }

    /// What the notification says; nil if it says nothing of purchases.
    private static func reply(_ object: JSONObject) throws -> RecordedReply? {
        do throws(RecordedReplyError) {
            return try RecordedReply(.object(object))
        } catch {
            guard error.code == .nothingInside else { throw NotificationRefusal(.malformed, error.message) }
            return nil
        }
    }

    private func check(_ password: JSONValue?, _ groups: [[SharedSecret]]) throws {
        guard groups.contains(where: { !$0.isEmpty }) else {
            throw NotificationRefusal(.unknownApp, "no shared secret is configured for the app")
        }
        guard let text = password?.string, SharedSecret.matches(text, anyOf: groups) else {
            throw NotificationRefusal(.notGenuine, "the password is none of the app's secrets")
        }
    }

    /// The facts of an embedded receipt; nil if it is not genuine, as in most of what people edited.
    private func facts(_ embedded: RecordedReply.EmbeddedReceipt) -> FactSet? {
        guard
            let container = try? ReceiptContainer(stored: Array(embedded.text.utf8), limits: verifier.limits),
            let receipt = try? verifier.verify(container)
        else { return nil }
        return FactSet(receipt, octets: container.bytes)
    }
}
