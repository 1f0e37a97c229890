import AppStoreModels
import AppStoreServer
import TransactionStore

/// The versions of App Store Server Notifications.
enum NotificationVersion: String, Sendable, CaseIterable {
    case version1 = "v1"
    case version2 = "v2"
}

/// What answers at `/notifications/v2` and `/notifications/v1`.
struct NotificationIntake: Sendable {
    private let store: any TransactionStore
    private let version2: NotificationReceiver
    private let version1: NotificationV1Receiver?

    /// Nil where notifications are switched off, or there is no store.
    /// - Throws: an error of the trust in a certificate that cannot be read.
    init?(_ configuration: VerifyReceiptServerConfiguration, store: (any TransactionStore)?) throws {
        guard configuration.notifications.enabled, let store else { return nil }
        self.store = store
        let endpoint = configuration.endpoint
        version2 = NotificationReceiver(
            verifier: try SignedDataVerifier(
                trust: configuration.signedDataTrust, revocation: configuration.revocation),
            apps: .init(endpoint.apps, unknownBundleIds: endpoint.unknownBundleIds))
        version1 = configuration.notifications.version1 ? try NotificationV1Receiver(endpoint) : nil
    }

    func takes(_ version: NotificationVersion) -> Bool { version == .version2 || version1 != nil }

    /// Handles the body of a request; durable when it returns with `accepted` or `repeated`.
    func receive(_ body: [UInt8], _ version: NotificationVersion, now: Int64) async -> NotificationReport {
        guard let object = try? JSONValue.parse(body).object else {
            return .malformed("the body is not a JSON object")
        }
        if version == .version1, let version1 { return await version1.receive(object, into: store) }
        guard let signedPayload = object["signedPayload"]?.string else {
            return .malformed("signedPayload is missing")
        }
        return await version2.receive(signedPayload, into: store, now: now)
    }
}

extension NotificationReport {
    static func malformed(_ reason: String) -> NotificationReport {
        var report = NotificationReport()
        report.reason = reason
        return report
    }
}
