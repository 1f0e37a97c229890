import AppStoreModels
public import AppStoreServer
import LegacyReceipts
public import Purchases
public import TransactionStore
public import VerifyReceipt

/// Takes App Store Server Notifications of version 2 in: verifies them and what is signed inside of them, and applies what
/// they state to a store.
///
/// The store joins facts by the dates of their signatures, so notifications may come late, out of order and repeatedly.
/// May be used from any number of tasks at once.
public struct NotificationReceiver: Sendable {
    /// Which apps' notifications are taken in.
    ///
    /// Where apps are known it is theirs alone, whatever is answered to receipts of others: a notification is only there to be
    /// kept, and with those of their own apps strangers could fill the store and the delivery ledger.
    public struct Apps: Sendable {
        private let appleIds: [String: Int64?]
        private let acceptsOthers: Bool

        /// - Parameters:
        ///   - apps: those that are known.
        ///   - unknownBundleIds: what becomes of genuine notifications where no app is known at all.
        public init(_ apps: [AppConfiguration], unknownBundleIds: EndpointConfiguration.UnknownBundleIds) {
            appleIds = Dictionary(grouping: apps, by: \.bundleId).mapValues { $0.lazy.compactMap(\.appleId).first }
            acceptsOthers = apps.isEmpty && unknownBundleIds == .accepted
        }

        /// - Throws: ``NotificationRefusal`` for an app that is not ours.
        func check(_ bundleId: String) throws {
            guard acceptsOthers || appleIds[bundleId] != nil else {
                throw NotificationRefusal(.unknownApp, "the bundle id is not configured")
            }
        }

        /// What is checked beside the signature. The Apple id is in production only (Reference.md S4); an
        /// app without a configured one is known by its bundle id alone.
        func expectation(_ scope: StoreScope) -> SignedDataExpectation {
            SignedDataExpectation(
                bundleId: scope.bundleId,
                appAppleId: scope.environment == .production ? appleIds[scope.bundleId] ?? nil : nil,
                environments: [scope.environment])
        }
    }

    private let verifier: SignedDataVerifier
    private let apps: Apps

    public init(verifier: SignedDataVerifier, apps: Apps) {
        self.verifier = verifier
        self.apps = apps
    }

    /// Verifies a notification and applies it; durable when it returns with `accepted` or `repeated`.
    /// - Parameters:
    ///   - signedPayload: the compact JWS.
    ///   - store: takes the facts in.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func receive(_ signedPayload: String, into store: any TransactionStore, now: Int64) async
        -> NotificationReport
    {
        let (facts, report) = await read(signedPayload, now: now)
        guard let facts else { return report }
        return await NotificationStoring.apply([facts], to: store, report)
    }

    /// Verifies a notification without applying it.
    /// - Returns: its facts, and a report whose outcome says why there are none; with facts the outcome is preliminary.
    public func read(_ signedPayload: String, now: Int64) async -> (facts: FactSet?, report: NotificationReport) {
        var report = NotificationReport()
        let started = ContinuousClock.now
        do {
            let facts = try await facts(signedPayload, &report, now)
            report.verificationNanoseconds = started.duration(to: .now).nanoseconds
            report.outcome = .accepted
            return (facts, report)
        } catch {
            report.verificationNanoseconds = started.duration(to: .now).nanoseconds
            let refusal = Self.refusal(error)
            report.outcome = refusal.outcome
            report.reason = refusal.reason
            return (nil, report)
        }
    }

    private func facts(_ jws: String, _ report: inout NotificationReport, _ now: Int64) async throws -> FactSet {
        let payload = try Self.payload(of: jws)
        // Only to know what to expect. Nothing of it is believed before the verifier has compared it.
        guard let claimed = StoreScope(unverifiedNotification: payload) else {
            throw NotificationRefusal(.notGenuine, "the notification names no app in production or sandbox")
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

    /// A notification has fewer than a hundred values, and what is read before its signature is checked must not cost more
    /// than they do.
    private static let maximumValues = 10_000

    /// The bytes of the second part of a JWS.
    private static func payload(of jws: String) throws -> [UInt8] {
        let parts = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw NotificationRefusal(.malformed, "signedPayload is not a JWS") }
        guard let bytes = try? Base64.decodeLeniently(Array(parts[1]).span) else {
            throw NotificationRefusal(.notGenuine, "the payload of the JWS is not base64url")
        }
        guard JSONCost(of: bytes).elements <= maximumValues else {
            throw NotificationRefusal(.notGenuine, "the payload of the JWS has more values than a notification has")
        }
        return bytes
    }

    private static func refusal(_ error: any Error) -> NotificationRefusal {
        switch error {
        case let refusal as NotificationRefusal: refusal
        case let error as SignedDataError: NotificationRefusal(error.notificationOutcome, "\(error)")
        // Nothing else is thrown; what nobody foresaw is our trouble, and worth another attempt.
        default: NotificationRefusal(.notVerifiable, "unexpected failure: \(type(of: error))")
        }
    }
}

extension NotificationReport {
    mutating func note(_ content: ResponseBodyV2DecodedPayload) {
        notificationUUID = content.notificationUUID?.lowercased()
        notificationType = content.notificationType?.rawValue
        subtype = content.subtype?.rawValue
    }
}

/// The last step of both versions.
enum NotificationStoring {
    /// Applies the facts, one set of which carries the notification.
    static func apply(
        _ sets: [FactSet], to store: any TransactionStore, _ report: NotificationReport
    ) async -> NotificationReport {
        var report = report
        let started = ContinuousClock.now
        do {
            report.applied = try await store.apply(sets)
            report.outcome = report.applied.repeatedNotifications > 0 ? .repeated : .accepted
        } catch {
            report.outcome = .storeFailed
            // Only errors of the store are quoted: they promise to hold no secrets.
            report.reason = (error as? TransactionStoreError)?.description ?? "\(type(of: error))"
        }
        report.storeNanoseconds = started.duration(to: .now).nanoseconds
        return report
    }
}
