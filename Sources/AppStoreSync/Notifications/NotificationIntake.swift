internal import AppStoreModels
public import TransactionStore

/// The versions of App Store Server Notifications.
public enum NotificationVersion: String, Sendable, CaseIterable {
    /// JSON without a signature. Its `password` is the app's shared secret (Reference.md V8).
    case version1 = "v1"
    /// A JWS that the App Store signed, in `signedPayload` (Reference.md S5.4).
    case version2 = "v2"
}

/// Takes the body of a notification request, and applies the notification to a store.
///
/// An HTTP server passes it the body of each request, and answers with a status by ``NotificationOutcome``.
public struct NotificationIntake: Sendable {
    private let store: any TransactionStore
    private let version2: NotificationReceiver
    private let version1: NotificationV1Receiver?

    /// - Parameters:
    ///   - store: receives the facts.
    ///   - version2: verifies version 2.
    ///   - version1: verifies version 1; nil to accept version 2 only.
    public init(
        store: any TransactionStore, version2: NotificationReceiver, version1: NotificationV1Receiver? = nil
    ) {
        self.store = store
        self.version2 = version2
        self.version1 = version1
    }

    /// Whether notifications of this version are accepted.
    public func accepts(_ version: NotificationVersion) -> Bool { version == .version2 || version1 != nil }

    /// The maximum memory for handling a body, in bytes, in addition to the body itself: its values as a tree, and copies of its
    /// strings. Two bytes of JSON (`0,`) become more than thirty.
    public static func memory(for body: [UInt8]) -> Int { JSONCost(of: body).bytes }

    /// Verifies the notification in a request's body and applies it. With the outcome `accepted` or `repeated`, the
    /// notification is durable.
    /// - Parameters:
    ///   - body: JSON, as the App Store sends it.
    ///   - version: the version for the path of the request.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func receive(_ body: [UInt8], _ version: NotificationVersion, now: Int64) async -> NotificationReport {
        guard let object = try? JSONValue.parse(body).object else { return .malformed("the body is not a JSON object") }
        if version == .version1, let version1 { return await version1.receive(object, into: store, now: now) }
        guard let signedPayload = object["signedPayload"]?.string else { return .malformed("signedPayload is missing") }
        return await version2.receive(signedPayload, into: store, now: now)
    }
}
