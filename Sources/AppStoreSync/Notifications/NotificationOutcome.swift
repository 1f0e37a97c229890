internal import AppStoreServer
public import TransactionStore

/// How the handling of a notification ended.
///
/// | outcome | HTTP status to answer with |
/// |---|---|
/// | `accepted`, `repeated`, `erased` | 200 |
/// | `malformed` | 400 |
/// | `notGenuine`, `unknownApp` | 403 |
/// | `notVerifiable`, `storeFailed` | 503 |
///
/// The App Store counts 200 to 206 as received, and sends again after any other status except, in practice, 400 (Reference.md
/// S5.4). Outcomes that a second attempt can change therefore get 503.
public enum NotificationOutcome: String, Sendable, CaseIterable {
    /// Verified and durable in the store. Includes notification types that this version does not know.
    case accepted
    /// The store has the notification already.
    case repeated
    /// Verified, and not stored: a hash of the customer was left when the customer was erased.
    case erased
    /// Not a notification: no JSON object, no `signedPayload`, or not the three parts of a JWS.
    case malformed
    /// The content, the signature or the certificates do not belong to an App Store notification; in version 1 the shared
    /// secret is wrong.
    case notGenuine
    /// Genuine, but of an app or an Apple id that is not configured; in version 1 no shared secret is configured for the app.
    case unknownApp
    /// The online revocation check got no answer, or this version cannot read the signed data.
    case notVerifiable
    /// The store did not accept the facts.
    case storeFailed
}

/// The result of handling a notification, for logs, metrics and reports.
///
/// It contains no signed data and no secrets. Its texts come from verified notifications only.
public struct NotificationReport: Sendable {
    /// The result. The initial value stands for a body in which no notification could be read.
    public var outcome = NotificationOutcome.malformed
    /// The `notificationUUID` in lower case. Version 1 has none: the store derives one from the content.
    public var notificationUUID: String?
    /// `notificationType`; in version 1 `notification_type`.
    public var notificationType: String?
    /// `subtype`; nil if the type has none, and in version 1.
    public var subtype: String?
    /// The app of the notification; nil if no genuine notification could be read.
    public var bundleId: String?
    /// The environment in Apple's spelling; nil if no genuine notification could be read.
    public var environment: String?
    /// Why the notification was not accepted, in one sentence.
    public var reason: String?
    /// The changes in the store.
    public var applied = AppliedFacts()
    /// The duration of the verification, in nanoseconds.
    public var verificationNanoseconds: Int64 = 0
    /// The duration of the store's work, in nanoseconds; nil if the notification did not reach the store.
    public var storeNanoseconds: Int64?

    /// The report of a notification that was not read yet.
    public init() {}

    static func malformed(_ reason: String) -> NotificationReport {
        var report = NotificationReport()
        report.reason = reason
        return report
    }
}

/// Why a notification is refused.
struct NotificationRefusal: Error {
    let outcome: NotificationOutcome
    let reason: String

    init(_ outcome: NotificationOutcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}

extension SignedDataError {
    var notificationOutcome: NotificationOutcome {
        // Nothing in a payload is read before its signature is verified, so Apple sent it. Another version may be able to read it.
        if isRetryable || code == .malformedPayload { return .notVerifiable }
        return code == .appAppleIdMismatch ? .unknownApp : .notGenuine
    }
}
