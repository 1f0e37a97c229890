extension JWSRenewalInfoDecodedPayload {
    /// How long before the end of a period the App Store begins to bill the next one: 24 hours.
    private static let billingLead: Int64 = 86_400_000

    /// Whether the information can be about how a period ends, or is about an older one.
    ///
    /// What was signed before the period began tells how the one before ended. A recovery may leave the dates as they were,
    /// so that the new period begins when billing first failed; but while a period runs, its own renewal has not failed: that
    /// billing is being retried says so of an older one, unless the end is near.
    /// - Parameters:
    ///   - start: when the period begins, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - end: when it ends, as it is known now.
    ///   - signedDate: when the information was signed, or recorded; nil, if nobody knows, is too old.
    ///   - isExact: whether it was made then, and not at an unknown time since: a record without a date is only known to be
    ///     at least as new as the purchases in it.
    package func isAbout(
        periodFrom start: Int64, to end: Int64, signedDate: Int64?, isExact: Bool = true
    ) -> Bool {
        guard let signedDate, signedDate >= start else { return false }
        guard isExact, isInBillingRetryPeriod == true, signedDate < end else { return true }
        let (lead, isOverflowing) = end.subtractingReportingOverflow(signedDate)
        return !isOverflowing && lead <= Self.billingLead
    }
}
