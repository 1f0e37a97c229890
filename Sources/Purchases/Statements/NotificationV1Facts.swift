package import AppStoreModels
internal import Encodings
internal import LegacyReceipts

// Notifications of version 1 (Reference.md V8). They are unsigned and have no UUID; the receipt in `latest_receipt` is
// signed.

extension [FactSet] {
    /// The facts of a version 1 notification, and the notification itself as the last set.
    ///
    /// The notification's own statements are recorded, not signed; the receipts that it embeds give signed facts. It
    /// states no date of its own. It is at least as new as the changes that it states and as its receipts, which Apple
    /// creates for each notification. So the newest of these dates is used, but none that is more than a day after the clock
    /// of the server: a person who knows the secret could otherwise send a cancellation that no later document replaces. Apple
    /// dates a renewal up to a day ahead, because it charges it before the period begins.
    ///
    /// Its UUID is the SHA-256 of its content without the shared secret: Apple repeats the same content after a failed
    /// delivery. The shared secret is not stored.
    ///
    /// Empty if the notification states no app, or no environment that a store accepts.
    /// - Parameters:
    ///   - object: the notification.
    ///   - mapping: its statements; nil if it states nothing about a purchase.
    ///   - receipts: the facts of the embedded receipts, each verified.
    ///   - now: when the server received it, in milliseconds since 1970-01-01T00:00:00Z.
    package init(notificationV1 object: JSONObject, mapping: RecordedMapping?, receipts: [FactSet], now: Int64) {
        let changes = ["auto_renew_status_change_date_ms", "cancellation_date_ms"].compactMap {
            object[$0]?.wholeNumber
        }
        let latest = now.addingSaturated(.millisecondsPerDay)
        let notBefore = (changes + receipts.compactMap(\.receipt?.signedDate)).max().map { Swift.min($0, latest) }
        let recorded =
            mapping.map {
                [FactSet](
                    recorded: $0, wasReceived: true, notBefore: notBefore,
                    importedAt: latest, userId: nil,
                    document: Fingerprint(of: JSONValue.object(object).json), rows: [])
            } ?? []
        guard let scope = recorded.first?.scope ?? receipts.first?.scope ?? StoreScope(notificationV1: object) else {
            self = []
            return
        }
        let signedDate = recorded.first?.recordedDate ?? notBefore ?? 0
        let notification = ProcessedNotification(
            version1: object, signedDate: signedDate, keepsReceipts: receipts.isEmpty)
        // Last, so that a store that works in several steps marks it as processed only after everything else is stored.
        self = recorded + receipts + [FactSet(scope: scope, notification: notification)]
    }
}

extension StoreScope {
    /// The app and the environment that the notification states; nil if it does not state them.
    fileprivate init?(notificationV1 object: JSONObject) {
        guard let bundleId = object["bid"]?.string else { return nil }
        switch object["environment"]?.string {
        case "PROD", "Production": self.init(storing: .production, bundleId)
        case "Sandbox": self.init(storing: .sandbox, bundleId)
        default: return nil
        }
    }
}

extension FactSet {
    fileprivate var recordedDate: Int64? {
        (transactions.lazy.map(\.origin) + renewalInfos.lazy.map(\.origin)).map(\.signedDate).max()
    }
}

extension ProcessedNotification {
    /// - Parameters:
    ///   - object: the notification.
    ///   - signedDate: when it was sent, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - keepsReceipts: whether embedded receipts stay in the body: only those that could not be verified.
    fileprivate init(version1 object: JSONObject, signedDate: Int64, keepsReceipts: Bool) {
        let content = object.removing(["password"])
        let receiptNames: Set<String> = ["latest_receipt", "latest_expired_receipt"]
        let kept =
            keepsReceipts
            ? content
            : content.removing(receiptNames).changing("unified_receipt") { $0.removing(receiptNames) }
        let type = object["notification_type"]?.string ?? ""
        self.init(
            notificationUUID: "v1-" + Fingerprint(of: JSONValue.object(content).json).description,
            notificationType: CustomerIdentity.isPlain(type) ? type : "", subtype: nil, signedDate: signedDate,
            body: JSONValue.object(kept).json)
    }
}
