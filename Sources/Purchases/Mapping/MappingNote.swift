/// A fact about a mapped record that a person should know and its fields cannot state.
public enum MappingNote: String, Hashable, Sendable, CaseIterable {
    case cancellationMayBeUpgrade
    case restored
    case freeSubscription
    case environmentContradiction
    case unknownEnvironment
    case unknownProductType
    case unknownOwnershipType
    case catalogTypeDiffers
    case xcodeTransactionIdZero
    case missingTransactionId
    case valueOutOfRange
    case termUnknown
    case termStacked
    case termIgnoresQuantity
    case restoredTermCountedOnce
    case mergedRows
    case contradictsSignedReceipt
    case ambiguousLocalTime
    case purchasedAfterExpiry
    case cancellationNotPlaced

    /// The name of the note in the output.
    public var name: String { rawValue }

    /// What it means.
    public var sentence: String {
        switch self {
        case .cancellationMayBeUpgrade:
            """
            The record has a cancellation date and does not say whether it was a refund, the end of family sharing or an \
            upgrade; it is mapped as a revocation. Get Transaction Info returns the answer.
            """
        case .restored:
            """
            The transaction restores the one named by originalTransactionId; both ids are kept as they were signed or \
            recorded, while the App Store Server API gives only the original.
            """
        case .freeSubscription: "A free (Newsstand) subscription: it never expires."
        case .environmentContradiction:
            """
            The environment that the record claims without a signature and its transaction id contradict each other: the \
            record was edited. It counts as a sandbox record.
            """
        case .unknownEnvironment: "The record names an environment or receipt type that is not known."
        case .unknownProductType: "Attribute 1707 has a value that is not known."
        case .unknownOwnershipType: "Attribute 1722 has a value that is not known; the ownership is left open."
        case .catalogTypeDiffers:
            "The catalog gives the product another type than the signed attribute 1707, which is kept."
        case .xcodeTransactionIdZero:
            "Xcode writes the transaction id 0, which identifies no transaction. It is left out."
        case .missingTransactionId:
            "The record has no transaction id; only the original transaction id and the product identify it."
        case .valueOutOfRange: "A number does not fit the modern field and was left out."
        case .termUnknown:
            """
            A non-renewing subscription whose length neither the record nor the catalog gives: the end is not known.
            """
        case .termStacked:
            """
            The term begins where the previous purchase of the same entitlement in the same record ends, because the \
            catalog says that purchases extend one another.
            """
        case .termIgnoresQuantity: "More than one was bought at once; the term is that of a single one."
        case .restoredTermCountedOnce:
            "A restored transaction of a purchase whose term is already counted; it does not extend it."
        case .ambiguousLocalTime:
            """
            A date exists only as Los Angeles time in the hour that occurs twice when summer time ends; the earlier \
            reading was taken.
            """
        case .purchasedAfterExpiry:
            """
            The purchase date is after the expiry date: receipts before 2015 gave restored transactions the date of \
            the restoration, so the beginning of the period is not known.
            """
        case .contradictsSignedReceipt:
            """
            A verified receipt in the same record contradicts this purchase; the receipt's version is in a line of its \
            own.
            """
        case .mergedRows: "The transaction occurs in the document more than once; the newer state was taken."
        case .cancellationNotPlaced:
            """
            The document has a cancellation date of its own, and none of its rows is the purchase that it belongs to; no \
            transaction was marked as revoked by it. Get Transaction History returns the right one.
            """
        }
    }
}

extension [MappingNote] {
    /// Adds a note once.
    mutating func add(_ note: MappingNote) {
        if !contains(note) { append(note) }
    }
}
