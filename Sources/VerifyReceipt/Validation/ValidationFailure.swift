internal import AppStoreModels

/// A reason to answer `ok: false`.
struct ValidationFailure: Error, Sendable {
    enum Kind: Sendable {
        // Verdicts.
        /// The request contains nothing to verify.
        case missingToken
        /// The request is about a product or an app that the document does not have.
        case invalidProductId
        case notVerified
        case subscriptionExpired
        /// The transaction is not the App Store's.
        case otherStore

        // Not verdicts: they state nothing about the purchase.
        case malformedRequest
        /// The app is not configured for it.
        case off
        /// Repeating the request can help.
        case temporary
        case internalFailure
    }

    let kind: Kind
    /// For the client. It contains no secrets and no receipts.
    let message: String
    /// For the operator, as ``ReplyFacts/reason``.
    let reason: String
    /// Whether the newest state was used.
    var usesLatestReceipt = false

    init(_ kind: Kind, _ message: String, reason: String? = nil) {
        self.kind = kind
        self.message = message
        self.reason = reason ?? message
    }

    /// A rejection of verifyReceipt in this protocol: 21003 is a verdict about the receipt, 21005 is not.
    init(_ refusal: Refusal) {
        let kind: Kind =
            switch refusal.condition {
            case .bodyNotJSON, .notAPost: .malformedRequest
            case .receiptDataMissing: .missingToken
            case .receiptDataNotText, .receiptDataNotBase64, .receiptTooLarge, .notAReceipt, .xcodeReceipt, .notGenuine,
                .unknownBundleId, .foreignAppleId, .secretMissing, .secretMismatch, .sandboxAtProduction,
                .contradictoryEnvironment, .productionAtSandbox, .accountNotFound:
                .notVerified
            case .subscriptionExpired, .subscriptionCancelled: .subscriptionExpired
            case .signedTransactionNotAnswered: .off
            case .queueFull, .storeUnavailable, .appStoreUnavailable: .temporary
            case .internalDataAccess: refusal.isRetryable == true ? .temporary : .internalFailure
            case .valid, .storedDataUnreadable: .internalFailure
            }
        self.init(kind, StatusTable.row(refusal.condition).meaning + ".", reason: refusal.reason)
    }

    /// The plugin's error code. Temporary failures are never 6777017, because the plugin takes that as a verdict.
    var code: Int {
        switch kind {
        case .missingToken: 6_777_016
        case .invalidProductId: 6_777_012
        case .notVerified: 6_777_017
        case .subscriptionExpired: 6_778_003
        case .otherStore: 6_777_010
        case .malformedRequest, .off, .temporary, .internalFailure: 6_777_014
        }
    }

    var httpStatus: Int {
        switch kind {
        case .missingToken, .invalidProductId, .notVerified, .subscriptionExpired, .otherStore: 200
        case .malformedRequest: 400
        case .off: 404
        case .temporary: 503
        case .internalFailure: 500
        }
    }

    func reply(_ facts: ReplyFacts = ReplyFacts()) -> ValidationReply {
        let body = JSONWriter.object(reservingCapacity: 256) { writer in
            writer.member("ok", false)
            writer.member("code", code)
            writer.member("message", message)
            writer.member("status", httpStatus)
            writer.object("data") { $0.member("latest_receipt", usesLatestReceipt) }
        }
        return ValidationReply(httpStatus: httpStatus, code: code, body: body, facts: facts.adding(reason: reason))
    }
}
