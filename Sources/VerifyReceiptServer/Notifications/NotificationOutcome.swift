public import TransactionStore

/// What became of a notification that was sent to the server.
///
/// | outcome | HTTP | why |
/// |---|---|---|
/// | `accepted` | 200 | verified, and durable in the store; also types that this version does not know |
/// | `repeated` | 200 | the store has it already |
/// | `malformed` | 400 | no JSON object, no `signedPayload`, not the three parts of a JWS: no notification at all |
/// | `notGenuine` | 403 | content, signature or certificates are not those of an App Store notification; a wrong shared secret |
/// | `unknownApp` | 403 | genuine, and of another app than those that are configured, or of another Apple id; version 1: no secret is |
/// | `notVerifiable` | 503 | whether a certificate was revoked could not be asked |
/// | `storeFailed` | 503 | the store did not take it |
///
/// The App Store takes 200 to 206 as received and sends again after anything else; in practice not after 400 (Reference.md
/// S5.4). So whatever a second attempt may succeed with gets a status of 500 and above.
public enum NotificationOutcome: String, Sendable, CaseIterable {
    case accepted
    case repeated
    case malformed
    case notGenuine
    case unknownApp
    case notVerifiable
    case storeFailed
}

/// What is known about a notification after it was handled: for logs, metrics and reports. It holds no signed data and no
/// secrets; what a forger wrote is in it only with the outcome ``NotificationOutcome/unknownApp`` and those that are
/// accepted, all of which were verified.
public struct NotificationReport: Sendable {
    public var outcome = NotificationOutcome.malformed
    /// The `notificationUUID`, lower case; of version 1 the name that the store gave.
    public var notificationUUID: String?
    /// `notificationType`, of version 1 `notification_type`.
    public var notificationType: String?
    public var subtype: String?
    public var bundleId: String?
    public var environment: String?
    /// Why it was not accepted: one sentence.
    public var reason: String?
    /// What the store changed.
    public var applied = AppliedFacts()
    /// Time of verification, in nanoseconds.
    public var verificationNanoseconds: Int64 = 0
    /// Time in the store, in nanoseconds; nil if it was not asked.
    public var storeNanoseconds: Int64?

    public init() {}
}

/// Why a notification is not taken in.
struct NotificationRefusal: Error {
    let outcome: NotificationOutcome
    let reason: String

    init(_ outcome: NotificationOutcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}
