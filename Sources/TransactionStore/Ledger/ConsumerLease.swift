internal import Purchases

/// The answer to ``DeliveryLedger/lease(_:to:for:)``: who may read as a consumer, and for how long.
///
/// A lease keeps two processes from processing the same entries under one name. It expires by itself, so a killed
/// process blocks its successor only until then. The clock is the store's: that of the database server, or of the
/// machine that has the file.
public struct ConsumerLease: Hashable, Sendable {
    /// Whether the caller has the lease now.
    public let isGranted: Bool
    /// The holder: the caller if the lease is granted, otherwise the other process.
    public let holder: String
    /// The time until the lease expires, in milliseconds, from 0.
    public let remainingMilliseconds: Int64

    /// Creates a lease. Called by engines. A negative remaining time becomes 0.
    /// - Parameters:
    ///   - isGranted: whether the caller has the lease now.
    ///   - holder: the caller if the lease is granted, otherwise the other process.
    ///   - remainingMilliseconds: the time until the lease expires.
    public init(isGranted: Bool, holder: String, remainingMilliseconds: Int64) {
        self.isGranted = isGranted
        self.holder = holder
        self.remainingMilliseconds = max(0, remainingMilliseconds)
    }
}

extension LedgerLimits {
    /// The longest lease, one hour. A stored lease that lasts longer results from a clock that was set back, and counts
    /// as expired.
    public static let maximumLeaseMilliseconds: Int64 = 3_600_000

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for an invalid holder name, or a duration outside 1 to
    ///   ``maximumLeaseMilliseconds``.
    public static func check(holder: String, milliseconds: Int64 = 1) throws {
        guard !holder.isEmpty, CustomerIdentity.isPlain(holder) else {
            throw TransactionStoreError(
                .invalidArgument,
                "The name of a holder has 1 to \(CustomerIdentity.maximumLength) characters of printable ASCII.")
        }
        guard (1...maximumLeaseMilliseconds).contains(milliseconds) else {
            throw TransactionStoreError(
                .invalidArgument, "A lease lasts from 1 to \(maximumLeaseMilliseconds) milliseconds.")
        }
    }
}
