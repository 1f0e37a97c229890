import LegacyReceipts
import Purchases

/// An accepted document of a record, on its way into a store.
indirect enum MigratedDocument: Sendable {
    /// A genuine app receipt and its bytes without transport encoding.
    case appReceipt(Verified<AppReceipt>, bytes: [UInt8])
    /// A genuine transaction receipt (iOS 6) and its bytes without transport encoding.
    case transactionReceipt(Verified<TransactionReceipt>, bytes: [UInt8])
    /// A recorded reply, notification, rows of one, or StoreKit 2 JSON; the genuine receipts inside it come on their own.
    case recorded(RecordedMapping)
}
