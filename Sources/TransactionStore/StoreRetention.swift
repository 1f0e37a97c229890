/// Removes documents that a team keeps only for a limited time. Every engine implements it.
///
/// Statements about purchases are never removed this way, because they are the record of what customers paid for. To
/// remove ledger entries, call ``DeliveryLedger/removeEntries(before:evenUnread:)``.
public protocol StoreRetention: Sendable {
    /// Removes the notifications that were signed before a date, and returns their number. Their statements about
    /// purchases stay.
    ///
    /// A removed notification that arrives again is processed again. It changes no statement, but its event gets a
    /// second ledger entry. The App Store retries a notification for about six days, and its notification history
    /// covers 180 days.
    /// - Parameter date: in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: ``TransactionStoreError``. What was removed before the error stays removed.
    func removeNotifications(signedBefore date: Int64) async throws -> Int64

    /// Removes the stored receipts that were created before a date, and returns their number. Their statements about
    /// purchases stay.
    /// - Parameter date: in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: ``TransactionStoreError``. What was removed before the error stays removed.
    func removeReceipts(signedBefore date: Int64) async throws -> Int64

    /// The newest date at which a stored notification was signed or a stored receipt was created; nil if there is neither.
    ///
    /// These dates come from the App Store's clock. A program that removes data by its own clock compares them with that clock,
    /// because it may be ahead.
    /// - Parameter date: a date that is new enough, in milliseconds since 1970-01-01T00:00:00Z. The first date found from this
    ///   date on is returned, even if another one is newer.
    /// - Throws: ``TransactionStoreError``.
    func newestSignedDate(orFrom date: Int64) async throws -> Int64?
}

/// The limits of ``StoreRetention`` for programs that remove regularly.
package enum RetentionLimits {
    /// How long the App Store keeps the history of notifications, in days (Get Notification History). It can send a
    /// notification again for so long.
    package static let notificationDays = 180
}
