public import AppStoreModels

/// One transaction in the sandbox.
public struct SandboxTransaction: Sendable {
    /// The payload to sign, without `signedDate`.
    public internal(set) var payload: JWSTransactionDecodedPayload
    /// The name of the customer.
    public let customer: String
    /// The id of the order.
    public let orderId: String
    /// The number of the last change, counted over all transactions from 1. The history is sorted and paged by it.
    public internal(set) var revision: Int64
    /// The date of the upgrade that ended the period; milliseconds since 1970.
    public internal(set) var upgradeDate: Int64?
    /// The revision of the refund.
    var refundRevision: Int64?
    /// Whether the app has finished the transaction.
    public internal(set) var isFinished = false
    /// The open refund request.
    public internal(set) var refundRequest: RefundRequest?
    /// The consumption information that the developer sent last, as JSON.
    public internal(set) var consumptionInformation: [UInt8]?
    /// The purchaser's transaction, if this is a family member's copy.
    public let sharedFrom: String?

    /// An open refund request.
    public struct RefundRequest: Hashable, Sendable {
        /// The customer's reason.
        public let reason: ConsumptionRequestReason
        /// The deadline for consumption information, and the time of the decision; milliseconds since 1970.
        public let decidedAt: Int64
        /// The developer's preference.
        public internal(set) var preference: RefundPreference?
    }

    /// The transaction id.
    public var id: String { payload.transactionId ?? "" }
    /// The id of the first transaction of the purchase.
    public var originalId: String { payload.originalTransactionId ?? "" }
    /// Whether it was refunded or revoked.
    public var isRevoked: Bool { payload.revocationDate != nil }

    /// The cancellation in legacy documents: of a refund, or of an upgrade with the reason 0 (Reference.md V3.5).
    var cancellation: (date: Int64, reason: Int32?)? {
        if let date = payload.revocationDate { return (date, payload.revocationReason?.rawValue) }
        return upgradeDate.map { ($0, 0) }
    }
}
