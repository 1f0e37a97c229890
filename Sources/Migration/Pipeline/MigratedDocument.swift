public import LegacyReceipts
public import Purchases

/// A document that a migration accepted, for whoever wants more of it than the output files: a transaction store, say.
public indirect enum MigratedDocument: Sendable {
    /// A genuine app receipt and its bytes without transport encoding.
    case appReceipt(Verified<AppReceipt>, bytes: [UInt8])
    /// A genuine transaction receipt (iOS 6) and its bytes without transport encoding.
    case transactionReceipt(Verified<TransactionReceipt>, bytes: [UInt8])
    /// A recorded reply, notification or rows of one; the genuine receipts inside it come on their own.
    case recorded(RecordedMapping)
    /// A bare transaction id. It is in quarantine; whoever can ask the App Store may want it.
    case transactionId(String)
}
