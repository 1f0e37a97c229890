public import LegacyReceipts
public import Purchases

/// An accepted document of a migration, for a transaction store.
public indirect enum MigratedDocument: Sendable {
    /// A genuine app receipt and its bytes without transport encoding.
    case appReceipt(Verified<AppReceipt>, bytes: [UInt8])
    /// A genuine transaction receipt (iOS 6) and its bytes without transport encoding.
    case transactionReceipt(Verified<TransactionReceipt>, bytes: [UInt8])
    /// The facts of the verified StoreKit 2 data and version 2 notifications of one record; empty if a store accepts
    /// none of them.
    case signedData([FactSet])
    /// A recorded reply, notification, rows of one, or StoreKit 2 JSON. Verified receipts inside it are documents of
    /// their own.
    case recorded(RecordedMapping)
}
