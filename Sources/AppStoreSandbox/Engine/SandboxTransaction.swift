public import AppStoreModels

/// One transaction as the sandbox keeps it.
public struct SandboxTransaction: Sendable {
    /// What is signed, but for `signedDate`, which is set when it is.
    public internal(set) var payload: JWSTransactionDecodedPayload
    /// Whose it is.
    public let customer: String
    /// The order it belongs to.
    public let orderId: String
    /// The number of its last change, counted over all transactions from 1: what a history is sorted and continued by.
    public internal(set) var revision: Int64
    /// When another product of the group took the place of the period; milliseconds since 1970.
    public internal(set) var upgradeDate: Int64?
    /// The number of the change that refunded it.
    var refundRevision: Int64?
    /// Whether the app has finished it.
    public internal(set) var isFinished = false
    /// What the customer wants back, until it is decided.
    public internal(set) var refundRequest: RefundRequest?
    /// The consumption information last sent by the developer: the JSON as it came.
    public internal(set) var consumptionInformation: [UInt8]?
    /// For a copy of a family member: the purchaser's transaction.
    public let sharedFrom: String?

    /// A refund that was asked for and not decided.
    public struct RefundRequest: Hashable, Sendable {
        /// Why the customer asks.
        public let reason: ConsumptionRequestReason
        /// Until when the developer may send consumption information; milliseconds since 1970.
        public let decidedAt: Int64
        /// What the developer wishes, if it was said.
        public internal(set) var preference: RefundPreference?
    }

    /// The transaction id.
    public var id: String { payload.transactionId ?? "" }
    /// The id of the first transaction of the purchase.
    public var originalId: String { payload.originalTransactionId ?? "" }
    /// Whether it was refunded or revoked.
    public var isRevoked: Bool { payload.revocationDate != nil }

    /// The cancellation that legacy documents show: of a refund, or of an upgrade, whose reason Apple gives as 0
    /// (Reference.md V3.5).
    var cancellation: (date: Int64, reason: Int32?)? {
        if let date = payload.revocationDate { return (date, payload.revocationReason?.rawValue) }
        return upgradeDate.map { ($0, 0) }
    }
}
