/// What a recorded row states and the modern model has no field for, exactly as it states it: a flag that is false is
/// something else than a flag that is not there (Reference.md V3.5).
package struct RecordedLegacyFacts: Sendable, Equatable {
    package let isTrialPeriod: Bool?
    package let isInIntroOfferPeriod: Bool?
    package let promotionalOfferId: String?
    package let offerCodeRefName: String?
    /// Milliseconds since 1970-01-01T00:00:00Z; of upgraded periods too, which have no revocation.
    package let cancellationDate: Int64?
    package let cancellationReason: Int64?

    init(_ facts: PurchaseFacts) {
        isTrialPeriod = facts.isTrialPeriod
        isInIntroOfferPeriod = facts.isInIntroOfferPeriod
        promotionalOfferId = facts.promotionalOfferId
        offerCodeRefName = facts.offerCodeRefName
        cancellationDate = facts.cancellationDate
        cancellationReason = facts.cancellationReason
    }
}
