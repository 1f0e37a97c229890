import AppStoreModels
import AppStoreSync
import HTTPTypes
import Logging
import VerifyReceipt

/// The work of a request.
enum Work: Sendable {
    case verifyReceipt(EndpointEnvironment, VerifyReceiptEndpoint)
    case validate(EndpointEnvironment, VerifyReceiptEndpoint)
    case notifications(NotificationVersion, NotificationIntake)

    /// Nil if there is nothing at the path.
    init?(_ route: Route, _ current: ServerState.Replaceable) {
        switch route {
        case .verifyReceipt(let environment): self = .verifyReceipt(environment, current.endpoint)
        case .validate(let environment):
            guard current.endpoint.answersValidations else { return nil }
            self = .validate(environment, current.endpoint)
        case .notifications(let version):
            guard let intake = current.notifications, intake.accepts(version) else { return nil }
            self = .notifications(version, intake)
        case .unknown: return nil
        }
    }

    /// The answer to another method than POST.
    var notAPost: Answer {
        switch self {
        case .verifyReceipt: Answer(status: .ok, reply: VerifyReceiptEndpoint.notAPost)
        case .validate: .problem(.methodNotAllowed, "Send validations with POST.")
        case .notifications: .problem(.methodNotAllowed, "Send notifications with POST.")
        }
    }

    /// The answer when there is no room for the request.
    func unavailable(closes: Bool) -> Answer {
        switch self {
        case .verifyReceipt: .unavailable(closes: closes)
        case .validate: .validation(VerifyReceiptEndpoint.validationUnavailable, closes: closes)
        case .notifications:
            .problem(.serviceUnavailable, "The server is too busy for the request. Send it again.", closes: closes)
        }
    }
}

extension Answer {
    /// The answer to a validation. Its status is the plugin's code.
    static func validation(_ validation: ValidationReply, closes: Bool = false) -> Answer {
        Answer(
            status: .init(code: validation.httpStatus),
            reply: VerifyReceiptReply(status: validation.code, body: validation.body, facts: validation.facts),
            closes: closes)
    }

    /// The answer to a notification. It quotes nothing from the request.
    static func notification(_ report: NotificationReport) -> Answer {
        var answer: Answer
        switch report.outcome {
        case .accepted, .repeated, .erased:
            let reply = VerifyReceiptReply(status: 0, body: Array("{}".utf8), facts: ReplyFacts())
            answer = Answer(status: .ok, reply: reply)
        case .malformed: answer = .problem(.badRequest, "The body is not a notification.")
        case .notGenuine: answer = .problem(.forbidden, "The notification is not genuine.")
        case .unknownApp:
            answer = .problem(.forbidden, "The notification is for an app that this server does not serve.")
        case .notVerifiable, .storeFailed:
            answer = .problem(.serviceUnavailable, "The notification cannot be stored now. Send it again.")
        }
        answer.notification = report
        return answer
    }
}

extension ServerMetrics {
    /// Counts a request to `/notifications/…`. Unknown types count as one, so the number of labels is bounded.
    func count(_ answer: Answer, _ version: NotificationVersion, _ duration: Duration) {
        let report = answer.notification
        let type: String
        switch (report?.notificationType, version) {
        case (nil, _): type = "none"
        case (let name?, .version2) where NotificationTypeV2(rawValue: name).isKnown: type = name
        case (let name?, .version1) where Self.version1Types.contains(name): type = name
        default: type = "other"
        }
        notifications.add(version.rawValue, type, report?.outcome.rawValue ?? "refused")
        notificationDuration.recordNanoseconds(duration.wholeNanoseconds)
        guard let report else { return }
        if report.verificationNanoseconds > 0 {
            notificationVerification.recordNanoseconds(report.verificationNanoseconds)
        }
        if let nanoseconds = report.storeNanoseconds { store.recordNanoseconds(nanoseconds) }
        if report.outcome == .storeFailed { storeFailures.increment() }
    }

    /// The values of `notification_type` in version 1, from recorded notifications and Apple's documentation.
    private static let version1Types: Set<String> = [
        "CANCEL", "CONSUMPTION_REQUEST", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "DID_FAIL_TO_RENEW",
        "DID_RECOVER", "DID_RENEW", "INITIAL_BUY", "INTERACTIVE_RENEWAL", "PRICE_INCREASE_CONSENT", "REFUND", "RENEWAL",
        "REVOKE",
    ]
}

extension NotificationReport {
    /// The fields of the log line. It never contains signed data.
    func describe(in fields: inout Logger.Metadata) {
        fields["bundleId"] = bundleId.map { .string($0) }
        fields["environment"] = environment.map { .string($0) }
        fields["notificationType"] = notificationType.map { .string(String($0.prefix(80))) }
        fields["notificationUUID"] = notificationUUID.map { .string(String($0.prefix(80))) }
        fields["outcome"] = .string(outcome.rawValue)
        fields["reason"] = reason.map { .string($0) }
        fields["storeMs"] = storeNanoseconds.map { .stringConvertible(Duration.nanoseconds($0).milliseconds) }
        fields["subtype"] = subtype.map { .string(String($0.prefix(80))) }
        if verificationNanoseconds > 0 {
            fields["verificationMs"] = .stringConvertible(Duration.nanoseconds(verificationNanoseconds).milliseconds)
        }
    }
}
