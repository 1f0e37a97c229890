/// A fact about a mapped record that a person should know and its fields cannot state. Documentation/Fields.md explains
/// each.
public enum MappingNote: String, Hashable, Sendable, CaseIterable {
    /// The cancellation date is mapped as a revocation, but the record does not say whether it was a refund, the end of
    /// Family Sharing or an upgrade.
    case cancellationMayBeUpgrade
    /// The transaction restores the one named by `originalTransactionId`. Both ids are kept as they were signed or
    /// recorded.
    case restored
    /// A free (Newsstand) subscription, which never expires.
    case freeSubscription
    /// The environment that the record claims without a signature contradicts its transaction id: the record was
    /// edited. It counts as a sandbox record (Reference.md V7.5).
    case environmentContradiction
    /// The record states an unknown environment or receipt type.
    case unknownEnvironment
    /// Attribute 1707 has an unknown value.
    case unknownProductType
    /// Attribute 1722 has an unknown value. `inAppOwnershipType` is left out.
    case unknownOwnershipType
    /// The catalog gives the product another type than a document.
    case catalogTypeDiffers
    /// Xcode wrote the transaction id 0, which identifies no transaction. It is left out.
    case xcodeTransactionIdZero
    /// The record has no transaction id; only the original transaction id and the product identify it.
    case missingTransactionId
    /// A number or the end of a term does not fit the modern field, or the `expiration_date` of an app cannot be read.
    /// It is left out.
    case valueOutOfRange
    /// Neither the record nor the catalog contains the length of a non-renewing subscription. Its end is unknown.
    case termUnknown
    /// The term begins where the previous purchase of the same entitlement ends, because the catalog says that
    /// purchases extend one another.
    case termStacked
    /// More than one was bought at once; the term is that of a single one.
    case termIgnoresQuantity
    /// A restored transaction of a purchase whose term is already counted; it does not extend it.
    case restoredTermCountedOnce
    /// The transaction occurs in the document more than once; the newer state was taken.
    case mergedRows
    /// A verified receipt in the same record contradicts this purchase.
    case contradictsSignedReceipt
    /// A date exists only as Los Angeles time in the hour that occurs twice when summer time ends; the earlier reading
    /// was taken.
    case ambiguousLocalTime
    /// The purchase date is after the expiry date: receipts before 2015 gave restored transactions the date of the
    /// restoration, so the beginning of the period is not known.
    case purchasedAfterExpiry
    /// The document has a cancellation date of its own that fits none of its rows, so it revoked no transaction.
    case cancellationNotPlaced

    /// The name of the note in the output.
    public var name: String { rawValue }
}

extension [MappingNote] {
    /// Adds a note once.
    mutating func add(_ note: MappingNote) {
        if !contains(note) { append(note) }
    }
}
