internal import AppStoreModels
public import AppStoreServer
internal import Purchases

/// The apps whose notifications are accepted.
///
/// If apps are listed, only their notifications are accepted, even if the server answers receipts of other apps. Every
/// accepted notification is stored. Without this rule, the developer of another app could fill the store and the delivery
/// ledger.
public struct NotificationApps: Sendable {
    /// One app.
    public struct App: Sendable {
        /// The app, compared byte by byte with the notification.
        public var bundleId: String
        /// The app's id in the App Store. Production notifications of version 2 must state it; nil to check the bundle id alone.
        public var appleId: Int64?
        /// The app-specific shared secrets, for notifications of version 1.
        public var sharedSecrets: [SharedSecret]

        /// An app whose notifications are accepted.
        ///
        /// - Parameters:
        ///   - bundleId: the app.
        ///   - appleId: nil to accept production notifications with any Apple id.
        ///   - sharedSecrets: for notifications of version 1. Without any secret of the app or the account, they are
        ///     refused.
        public init(bundleId: String, appleId: Int64? = nil, sharedSecrets: [SharedSecret] = []) {
            self.bundleId = bundleId
            self.appleId = appleId
            self.sharedSecrets = sharedSecrets
        }
    }

    private let appleIds: [String: Int64?]
    private let secrets: [String: [SharedSecret]]
    private let accountSecrets: [SharedSecret]
    private let acceptsOthers: Bool

    /// - Parameters:
    ///   - apps: the accepted apps. Entries with the same bundle id are merged.
    ///   - accountSecrets: account-wide shared secrets, for notifications of version 1 of every app.
    ///   - acceptsAnyApp: whether genuine notifications of every app are accepted if `apps` is empty.
    public init(_ apps: [App], accountSecrets: [SharedSecret] = [], acceptsAnyApp: Bool = false) {
        appleIds = Dictionary(grouping: apps, by: \.bundleId).mapValues { $0.lazy.compactMap(\.appleId).first }
        secrets = Dictionary(grouping: apps, by: \.bundleId).mapValues { $0.flatMap(\.sharedSecrets) }
        self.accountSecrets = accountSecrets
        acceptsOthers = apps.isEmpty && acceptsAnyApp
    }

    /// - Throws: ``NotificationRefusal`` for an app that is not accepted.
    func check(_ bundleId: String) throws {
        guard acceptsOthers || appleIds[bundleId] != nil else {
            throw NotificationRefusal(.unknownApp, "the bundle id is not configured")
        }
    }

    /// The checks in addition to the signature. Only production notifications contain the Apple id (Reference.md S4).
    func expectation(_ scope: StoreScope) -> SignedDataExpectation {
        SignedDataExpectation(
            bundleId: scope.bundleId,
            appAppleId: scope.environment == .production ? appleIds[scope.bundleId] ?? nil : nil,
            environments: [scope.environment])
    }

    /// Checks that the password is a secret of any app or of the account.
    /// - Throws: ``NotificationRefusal``
    func checkAnySecret(_ password: JSONValue?) throws { try check(password, Array(secrets.values) + [accountSecrets]) }

    /// Checks that the password is a secret of this app or of the account. With nil, only the account's secrets
    /// count.
    /// - Throws: ``NotificationRefusal``
    func checkSecret(_ password: JSONValue?, of bundleId: String?) throws {
        try check(password, [bundleId.flatMap { secrets[$0] } ?? [], accountSecrets])
    }

    private func check(_ password: JSONValue?, _ groups: [[SharedSecret]]) throws {
        guard groups.contains(where: { !$0.isEmpty }) else {
            throw NotificationRefusal(.unknownApp, "no shared secret is configured for the app")
        }
        guard let text = password?.string, SharedSecret.matches(text, anyOf: groups) else {
            throw NotificationRefusal(.notGenuine, "the password is not one of the app's secrets")
        }
    }
}
