package import LegacyReceipts

/// The date of a document, and how that date is known. Of two documents about one purchase, the newer one counts; see
/// Documentation/Migrate.md, "Merging".
public struct AsOf: Hashable, Sendable {
    /// How exactly the date is known.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Apple signed the document at that date: attribute 12 of an app receipt.
        case signed
        /// Apple signed the document at that date or later: an iOS 6 receipt states only its purchase and its
        /// cancellation.
        case signedNotBefore
        /// The document states that it was made at that date: the request date of a reply.
        case recorded
        /// The document was made at that date or later: the date of the newest event or the newest receipt in it.
        case recordedNotBefore
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// Whether ``date`` is exact or the earliest possible one, and whether Apple signed it.
    public let kind: Kind

    /// Creates a date.
    /// - Parameters:
    ///   - date: milliseconds since 1970-01-01T00:00:00Z.
    ///   - kind: how exactly the date is known.
    public init(date: Int64, kind: Kind) {
        self.date = date
        self.kind = kind
    }

    init?(_ receipt: borrowing AppReceipt) {
        guard let date = receipt.receiptCreationDate else { return nil }
        self.init(date: date, kind: .signed)
    }

    init?(_ receipt: TransactionReceipt) {
        guard let date = receipt.statedDate else { return nil }
        self.init(date: date, kind: .signedNotBefore)
    }
}

extension TransactionReceipt {
    /// The date used in place of the signing date, because an iOS 6 receipt has none: the purchase date, or the
    /// cancellation date if that is later. Milliseconds since 1970-01-01T00:00:00Z; nil without a purchase date.
    ///
    /// Of two receipts for one purchase, the one with a cancellation always has the later date.
    package var statedDate: Int64? {
        guard let knownReceiptDate else { return nil }
        return max(knownReceiptDate, cancellationDate ?? .min)
    }

    /// The date that decides which receipt of a customer is kept: the purchase date. So a refund of an old period does
    /// not replace the receipt of the renewal. With a cancellation, one millisecond later, so that it replaces the same
    /// receipt without one.
    package var knownReceiptDate: Int64? {
        guard let purchaseDate, cancellationDate != nil, purchaseDate < .max else { return purchaseDate }
        return purchaseDate + 1
    }
}
