extension JWSRenewalInfoDecodedPayload {
    /// The time before the end of a period when the App Store begins to bill the next one: 24 hours.
    private static let billingLead: Int64 = 86_400_000

    /// Whether the information can describe the end of this period instead of an older one.
    ///
    /// Information that was signed before the period began describes the end of the previous period. A recovery may
    /// leave the dates unchanged; then the new period begins when billing first failed. While a period runs, its own
    /// renewal has not failed yet. Billing retry then refers to an older period, unless the end is near.
    /// - Parameters:
    ///   - start: the start of the period, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - end: the end of the period, as known now.
    ///   - signedDate: when the information was signed or recorded; nil if unknown, which counts as too old.
    ///   - isExact: whether `signedDate` is exact. A record without a date is at least as new as its purchases.
    package func isAbout(
        periodFrom start: Int64, to end: Int64, signedDate: Int64?, isExact: Bool = true
    ) -> Bool {
        guard let signedDate, signedDate >= start else { return false }
        guard isExact, isInBillingRetryPeriod == true, signedDate < end else { return true }
        let (lead, isOverflowing) = end.subtractingReportingOverflow(signedDate)
        return !isOverflowing && lead <= Self.billingLead
    }
}
