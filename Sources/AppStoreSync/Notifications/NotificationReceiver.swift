internal import AppStoreModels
public import AppStoreServer
public import Purchases
public import TransactionStore

/// Verifies App Store Server Notifications of version 2 with the signed data inside, and applies them to a store.
///
/// The store orders statements by the dates of their signatures, so notifications may arrive late, out of order and repeatedly.
/// Any number of tasks may use one receiver at the same time.
public struct NotificationReceiver: Sendable {
    private let verifier: SignedDataVerifier
    private let apps: NotificationApps

    /// - Parameters:
    ///   - verifier: verifies the notification and the JWS inside.
    ///   - apps: the accepted apps.
    public init(verifier: SignedDataVerifier, apps: NotificationApps) {
        self.verifier = verifier
        self.apps = apps
    }

    /// Verifies a notification and applies it. With the outcome `accepted` or `repeated`, the notification is
    /// durable.
    /// - Parameters:
    ///   - signedPayload: the compact JWS.
    ///   - store: receives the facts.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func receive(_ signedPayload: String, into store: any TransactionStore, now: Int64) async
        -> NotificationReport
    {
        let (facts, report) = await read(signedPayload, now: now)
        guard let facts else { return report }
        return await NotificationStoring.apply([facts], to: store, report)
    }

    /// Verifies a notification without applying it.
    /// - Parameters:
    ///   - signedPayload: the compact JWS.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: the facts and a report. Without facts, the report states the reason. With facts, its outcome is
    ///   preliminary.
    public func read(_ signedPayload: String, now: Int64) async -> (facts: FactSet?, report: NotificationReport) {
        var report = NotificationReport()
        let found = await report.verifying { try await facts(signedPayload, &$0, now) }
        if found != nil { report.outcome = .accepted }
        return (found, report)
    }

    private func facts(_ jws: String, _ report: inout NotificationReport, _ now: Int64) async throws -> FactSet {
        let payload = try Self.payload(of: jws)
        // Unverified. It only selects the expectation, and the verifier compares it with the verified content.
        guard let claimed = StoreScope(unverifiedNotification: payload) else {
            throw NotificationRefusal(.notGenuine, "the notification states no app in production or sandbox")
        }
        let verified = try await verifier.verifiedNotification(jws, expecting: apps.expectation(claimed), now: now)
        let content = verified.notification.payload
        report.note(content)
        report.bundleId = claimed.bundleId
        report.environment = claimed.environment.rawValue
        try apps.check(claimed.bundleId)
        guard
            let facts = FactSet(
                notification: verified.notification, payload: payload, transaction: verified.transaction,
                renewalInfo: verified.renewalInfo, appTransaction: verified.appTransaction)
        else { throw NotificationRefusal(.notGenuine, "the notification has no usable notificationUUID") }
        return facts
    }

    /// A notification has fewer than a hundred values. The limit keeps the cost of parsing unverified content low.
    private static let maximumValues = 10_000

    /// The bytes of the second part of a JWS.
    private static func payload(of jws: String) throws -> [UInt8] {
        var jws = jws
        let bytes = try jws.withUTF8 { text in
            do {
                return try CompactJWSParts.bytes(CompactJWSParts(text).payload, at: .payload)
            } catch let error as SignedDataError
                where error.code == .notCompactSerialization || !text.contains(UInt8(ascii: "."))
            {
                throw NotificationRefusal(.malformed, "signedPayload is not a JWS")
            }
        }
        guard JSONCost(of: bytes).elements <= maximumValues else {
            throw NotificationRefusal(.notGenuine, "the payload of the JWS has more values than a notification has")
        }
        return bytes
    }
}

extension NotificationReport {
    /// The result of a verification, whose duration is noted; nil if the notification is refused.
    mutating func verifying<Value>(
        _ verify: (inout NotificationReport) async throws -> Value
    ) async -> Value? {
        let started = ContinuousClock.now
        defer { verificationNanoseconds = started.duration(to: .now).wholeNanoseconds }
        do {
            return try await verify(&self)
        } catch {
            let refusal = Self.refusal(error)
            outcome = refusal.outcome
            reason = refusal.reason
            return nil
        }
    }

    private static func refusal(_ error: any Error) -> NotificationRefusal {
        switch error {
        case let refusal as NotificationRefusal: refusal
        case let error as SignedDataError: NotificationRefusal(error.notificationOutcome, "\(error)")
        // Unexpected, so not the sender's fault: the App Store sends it again.
        default: NotificationRefusal(.notVerifiable, "unexpected failure: \(type(of: error))")
        }
    }

    mutating func note(_ content: ResponseBodyV2DecodedPayload) {
        notificationUUID = content.notificationUUID?.lowercased()
        notificationType = content.notificationType?.rawValue
        subtype = content.subtype?.rawValue
    }
}

/// The last step for both versions.
enum NotificationStoring {
    /// Applies the facts. One of the sets contains the notification.
    static func apply(
        _ sets: [FactSet], to store: any TransactionStore, _ report: NotificationReport
    ) async -> NotificationReport {
        var report = report
        let started = ContinuousClock.now
        do {
            report.applied = try await store.apply(sets)
            report.outcome = outcome(report.applied)
        } catch {
            report.outcome = .storeFailed
            report.reason = TransactionStoreError.text(of: error)
        }
        report.storeNanoseconds = started.duration(to: .now).wholeNanoseconds
        return report
    }

    private static func outcome(_ applied: AppliedFacts) -> NotificationOutcome {
        if applied.repeatedNotifications > 0 { return .repeated }
        return applied.erasedNotifications > 0 && applied.changed + applied.unchanged == 0 ? .erased : .accepted
    }
}
