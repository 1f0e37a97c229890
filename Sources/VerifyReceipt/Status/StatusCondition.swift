/// A condition that leads to a status. Each condition has one row in ``StatusTable``.
package enum StatusCondition: String, Sendable, CaseIterable {
    case valid

    case notAPost

    case bodyNotJSON
    case receiptDataMissing
    case receiptDataNotText
    case receiptDataNotBase64
    case receiptTooLarge
    case notAReceipt
    case xcodeReceipt
    case signedTransactionNotAnswered

    case notGenuine
    case unknownBundleId
    case foreignAppleId

    case secretMissing
    case secretMismatch

    case queueFull
    case storeUnavailable
    case appStoreUnavailable

    case subscriptionExpired
    case subscriptionCancelled

    case sandboxAtProduction
    case contradictoryEnvironment
    case productionAtSandbox

    case storedDataUnreadable
    case accountNotFound
    case internalDataAccess
}

/// A reason to reply without a receipt.
struct Refusal: Error, Sendable {
    let condition: StatusCondition
    /// A sentence for the operator. It contains no secrets and no receipts.
    let reason: String
    /// The status, if a condition has a range of them.
    var code: Int?
    var isRetryable: Bool?
    /// The app of the genuine receipt that was refused; nil if none was verified, or it has none.
    var genuineBundleId: String?

    init(_ condition: StatusCondition, _ reason: String, code: Int? = nil, isRetryable: Bool? = nil) {
        self.condition = condition
        self.reason = reason
        self.code = code
        self.isRetryable = isRetryable
    }
}

/// A failure of a ``SignedTransactionVerifying`` or a ``CustomerRefreshing``. The client gets its status.
public enum BackendFailure: Error, Hashable, Sendable {
    /// The account was not found or was deleted. The client gets 21010: as if the purchase was never made.
    case accountNotFound
    /// An internal data access error: `code` from 21100 to 21199. Other codes are answered with 21009. The client may repeat
    /// the request if `isRetryable` is true.
    case internalDataAccess(code: Int, isRetryable: Bool)

    /// Two failures with the same code are equal, also if only one of them is retryable.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Nil for an account that was not found.
    private var code: Int? {
        if case .internalDataAccess(let code, _) = self { code } else { nil }
    }
}
