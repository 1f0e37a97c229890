internal import AppStoreModels
internal import AppStoreServer
public import LegacyReceipts
internal import Purchases
internal import TransactionStore

/// Checks App Store Server Notifications of version 1, and applies them to a store (Reference.md V8).
///
/// These notifications are not signed: only the shared secret shows that they come from the App Store. A notification is
/// rejected if no secret of its app or of the account is configured. Its content counts as recorded, not as signed. A genuine
/// receipt in `latest_receipt` counts as a receipt. ``NotificationIntake`` calls this type.
public struct NotificationV1Receiver: Sendable {
    private let apps: NotificationApps
    private let verifier: ReceiptVerifier

    /// - Parameters:
    ///   - apps: the accepted apps, with their secrets.
    ///   - trust: the trust anchors for embedded receipts.
    ///   - limits: bounds for decoding embedded receipts.
    /// - Throws: `ReceiptError` for a certificate of the trust policy that cannot be read.
    public init(
        apps: NotificationApps, trust: TrustPolicy = .apple, limits: DecodingLimits = .standard
    ) throws {
        self.apps = apps
        verifier = try ReceiptVerifier(trust: trust, limits: limits)
    }

    /// Checks a notification and applies it. With the outcome `accepted` or `repeated`, the notification is durable.
    /// - Parameters:
    ///   - object: the body of the request.
    ///   - store: receives the facts.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    func receive(_ object: JSONObject, into store: any TransactionStore, now: Int64) async -> NotificationReport {
        var report = NotificationReport()
        guard let sets = await report.verifying({ try facts(object, &$0, now) }) else { return report }
        return await NotificationStoring.apply(sets, to: store, report)
    }

    private func facts(_ object: JSONObject, _ report: inout NotificationReport, _ now: Int64) throws -> [FactSet] {
        guard object["notification_type"]?.string != nil else {
            throw NotificationRefusal(.malformed, "notification_type is missing")
        }
        // Checked first, so requests without a valid secret cost little.
        try apps.checkAnySecret(object["password"])
        let reply = try Self.reply(object)
        let mapping = reply.map { ReceiptMapper().map($0) }
        let rowBundleId = mapping?.transactions.lazy.compactMap(\.payload.bundleId).first
        let bundleId = object["bid"]?.string ?? rowBundleId
        try apps.checkSecret(object["password"], of: bundleId)
        let receipts = (reply?.embeddedReceipts ?? []).compactMap { embedded in
            facts(embedded).flatMap { bundleId == nil || $0.scope.bundleId == bundleId ? $0 : nil }
        }
        let sets = [FactSet](notificationV1: object, mapping: mapping, receipts: receipts, now: now)
        guard let notification = sets.last?.notification, let scope = sets.last?.scope else {
            throw NotificationRefusal(.malformed, "the notification states no app in production or sandbox")
        }
        // Otherwise the secret of one app would allow facts about another app.
        guard sets.allSatisfy({ $0.scope.bundleId == bundleId ?? scope.bundleId }) else {
            throw NotificationRefusal(.notGenuine, "the notification contains several apps")
        }
        report.notificationUUID = notification.notificationUUID
        report.notificationType = notification.notificationType
        report.bundleId = scope.bundleId
        report.environment = scope.environment.rawValue
        try apps.check(scope.bundleId)
        return sets
    }

    /// The content of the notification; nil if it contains no purchases.
    private static func reply(_ object: JSONObject) throws -> RecordedReply? {
        do throws(RecordedReplyError) {
            return try RecordedReply(.object(object))
        } catch {
            guard error.code == .nothingInside else { throw NotificationRefusal(.malformed, error.message) }
            return nil
        }
    }

    /// The facts of an embedded receipt; nil if it is not genuine.
    private func facts(_ embedded: RecordedReply.EmbeddedReceipt) -> FactSet? {
        guard
            let container = try? ReceiptContainer(stored: Array(embedded.text.utf8), limits: verifier.limits),
            let receipt = try? verifier.verify(container)
        else { return nil }
        return FactSet(receipt, bytes: container.bytes)
    }
}
