import AppStoreServer
import AppStoreSync
import TransactionStore
import VerifyReceipt

extension NotificationApps {
    /// The apps of the configuration. If there are none, `unknownBundleIds` decides, as for receipts.
    init(_ configuration: EndpointConfiguration) {
        self.init(
            configuration.apps.map {
                App(bundleId: $0.bundleId, appleId: $0.appleId, sharedSecrets: $0.sharedSecrets)
            }, accountSecrets: configuration.accountSecrets,
            acceptsAnyApp: configuration.unknownBundleIds == .accepted)
    }
}

extension NotificationIntake {
    /// Nil if notifications are switched off, or there is no store.
    /// - Throws: an error if an additional root certificate cannot be read.
    init?(_ configuration: VerifyReceiptServerConfiguration, store: (any TransactionStore)?) throws {
        guard configuration.notifications.enabled, let store else { return nil }
        let endpoint = configuration.endpoint
        let apps = NotificationApps(endpoint)
        let verifier = try SignedDataVerifier(
            trust: configuration.signedDataTrust, revocation: configuration.revocation)
        self.init(
            store: store, version2: NotificationReceiver(verifier: verifier, apps: apps),
            version1: configuration.notifications.version1
                ? try NotificationV1Receiver(apps: apps, trust: endpoint.trust, limits: endpoint.limits) : nil)
    }
}
