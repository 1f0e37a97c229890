/// Removes what a team keeps for a limited time. Every engine implements it.
///
/// Statements about purchases are no part of it: without them the store would forget what people paid for. Entries of the ledger
/// are removed by ``DeliveryLedger/removeEntries(before:evenUnread:)``.
public protocol StoreRetention: Sendable {
    /// Forgets the notifications that were signed before a date, and returns how many. What they stated about purchases stays.
    ///
    /// A forgotten notification that arrives again is processed again: it changes no statement, but the ledger gets the entry of its
    /// event a second time. The App Store repeats a notification for about three days, and its history has those of 180 days.
    /// - Parameter date: in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: ``TransactionStoreError``. What was removed before the error stays removed.
    func removeNotifications(signedBefore date: Int64) async throws -> Int64

    /// Removes the receipts that were created before a date, and returns how many. The store keeps the newest receipts of a customer;
    /// the statements in them stay.
    /// - Parameter date: in milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: ``TransactionStoreError``. What was removed before the error stays removed.
    func removeReceipts(signedBefore date: Int64) async throws -> Int64
}
