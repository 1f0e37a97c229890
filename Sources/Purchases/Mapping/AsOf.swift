package import LegacyReceipts

/// Of when a document speaks, and how that is known. Of two documents about one purchase the newer one counts; see
/// Documentation/Migrate.md, "Merging".
public struct AsOf: Hashable, Sendable {
    /// How exactly the date is known.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Apple signed the document at that date: attribute 12 of an app receipt.
        case signed
        /// Apple signed the document at that date or later: an iOS 6 receipt states its purchase and its cancellation
        /// only.
        case signedNotBefore
        /// The document says that it was made at that date: the request date of a reply.
        case recorded
        /// The document was made at that date or later: that is the newest event that it tells of, or the date of a
        /// receipt in it.
        case recordedNotBefore
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    public let kind: Kind

    public init(date: Int64, kind: Kind) {
        self.date = date
        self.kind = kind
    }
}

extension AsOf {
    init?(_ receipt: AppReceipt) {
        guard let date = receipt.receiptCreationDate else { return nil }
        self.init(date: date, kind: .signed)
    }

    init?(_ receipt: TransactionReceipt) {
        guard let date = receipt.statedDate else { return nil }
        self.init(date: date, kind: .signedNotBefore)
    }
}

extension TransactionReceipt {
    /// The date that stands for the signing date, which this kind of receipt does not state: it was signed after the
    /// purchase, and where it tells of a refund, after that too. Milliseconds since 1970-01-01T00:00:00Z; nil without a
    /// purchase date.
    ///
    /// Of two receipts of one purchase the one with a cancellation is always of the later date.
    package var statedDate: Int64? {
        guard let knownReceiptDate else { return nil }
        return max(knownReceiptDate, cancellationDate ?? .min)
    }

    /// The date by which one of a customer's receipts is kept: that of the purchase, so that the refund of an old period does
    /// not drive out the receipt of the renewal; a millisecond later with a cancellation, which is news about the purchase.
    package var knownReceiptDate: Int64? {
        guard let purchaseDate, cancellationDate != nil, purchaseDate < .max else { return purchaseDate }
        return purchaseDate + 1
    }
}
