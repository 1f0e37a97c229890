internal import AppStoreModels

/// The only reply that grants access.
public enum EntitlementSide: String, Sendable, CaseIterable {
    /// Only our reply grants access: customers could get access without paying.
    case ours
    /// Only Apple's reply grants access: a customer would lose access.
    case apple

    /// The name in tables and messages.
    public var title: String {
        switch self {
        case .ours: "granted by ours only"
        case .apple: "granted by Apple only"
        }
    }
}

/// The reason why the other reply does not grant access.
public enum EntitlementReason: String, Sendable, CaseIterable {
    /// Its status: 21006, or a rejection (Reference.md V2).
    case status
    /// It shows a cancellation date, or an upgrade to another product (V3.5).
    case cancelled
    /// The newest period that it lists has ended (V3.5).
    case expired
    /// The period has ended in both, and only one has a grace period (V3.6).
    case gracePeriod
    /// It does not list the purchase.
    case notListed
}

/// One purchase, or the whole receipt, that only one of the two replies grants.
///
/// Its values are redacted like those of ``ReplyDifference``, so it can be shown to operators and stored.
public struct EntitlementDifference: Sendable, Hashable {
    /// Nil if only one reply accepts the receipt, and no purchase in it is active.
    public let productId: String?
    /// The first transaction of the purchase; nil for the receipt as a whole, or if the entry has none.
    public let originalTransactionId: String?
    /// The reply that grants access.
    public let grantedBy: EntitlementSide
    /// Why the other reply does not grant access.
    public let reason: EntitlementReason
    /// `status` of the reply that does not grant.
    public let status: Int64

    /// One line: product, direction, reason.
    public var summary: String {
        let product = productId ?? (originalTransactionId == nil ? "the receipt as a whole" : "a purchase")
        let id = originalTransactionId.map { " of \($0)" } ?? ""
        return "\(product)\(id): \(grantedBy.title), \(explanation) (\(reason.rawValue))"
    }

    private var explanation: String {
        let denier = grantedBy == .ours ? "Apple's reply" : "our reply"
        return switch reason {
        case .status: "\(denier) has status \(status)"
        case .cancelled: "\(denier) has it cancelled, refunded or upgraded"
        case .expired: "in \(denier) the newest period is over"
        case .gracePeriod: "\(denier) has no grace period"
        case .notListed: "\(denier) does not list it"
        }
    }

    /// Writes the members of one JSON object.
    func write(to writer: inout JSONWriter) {
        writer.member("product", productId)
        writer.member("originalTransactionId", originalTransactionId)
        writer.member("grantedBy", grantedBy.rawValue)
        writer.member("reason", reason.rawValue)
        writer.member("status", status)
    }
}

/// The reason why the access of two replies cannot be compared.
public enum EntitlementObstacle: String, Sendable, CaseIterable {
    /// Apple's reply is a temporary failure: 21005, 21009, 21100 to 21199 unless it is marked as not retryable, or the number of
    /// an HTTP server error (Reference.md V2).
    case temporaryFailure
    /// One of the replies has no status.
    case noStatus
    /// A reply lists periods, and the date of the request is unknown.
    case unknownMoment
    /// The purchases of a reply cannot be read: a value is malformed, a purchase has no transaction id of its own or no purchase
    /// date, or there are more than 10,000 entries. What the reply grants is unknown.
    case unreadablePurchases
}
