/// A fact about a mapped record that a person should know and its fields cannot state. Documentation/Fields.md explains
/// each.
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
}

extension [MappingNote] {
    /// Adds a note once.
    mutating func add(_ note: MappingNote) {
        if !contains(note) { append(note) }
    }
}
