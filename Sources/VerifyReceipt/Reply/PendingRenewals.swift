internal import AppStoreModels
internal import Purchases
internal import TransactionStore

extension Customer {
    /// The renewal infos of the answer, without data that the periods of the answer contradict.
    ///
    /// A renewal info may be older than the newest period, for example if a recovery notification was missed and a
    /// newer receipt states the period. Then it describes the end of an older period, and `expiration_intent`,
    /// `is_in_billing_retry_period` and `grace_period_expires_date` are omitted, because clients grant or deny access
    /// by them. Data about future renewals stays as the last known state: whether and to which product the subscription
    /// renews, a price increase, an offer. Apple has the four basic members in every entry (Reference.md V3.6).
    func renewalInfos(
        _ recordedFacts: EndpointConfiguration.RecordedFacts, beside entries: [TransactionEntry]
    ) -> [JWSRenewalInfoDecodedPayload] {
        shownRenewalInfos(recordedFacts).map { stored in
            var info = stored.payload
            guard info.tellsHowAPeriodEnded,
                let period = Self.newestPeriod(of: info.originalTransactionId, among: entries),
                !info.isAbout(
                    periodFrom: period.start, to: period.end, signedDate: stored.statedDate, isExact: stored.isSigned)
            else { return info }
            info.expirationIntent = nil
            info.isInBillingRetryPeriod = nil
            info.gracePeriodExpiresDate = nil
            return info
        }
    }

    /// All signed renewal infos. Recorded ones count as the configuration states: always, or only if a signed transaction of
    /// the subscription is known.
    func shownRenewalInfos(_ recordedFacts: EndpointConfiguration.RecordedFacts) -> [StoredRenewalInfo] {
        guard recordedFacts == .completing, renewalInfos.contains(where: { !$0.isSigned }) else { return renewalInfos }
        let signed = Set(
            transactions.filter(\.isSigned).compactMap { $0.payload.originalTransactionId ?? $0.payload.transactionId })
        return renewalInfos.filter { $0.isSigned || signed.contains($0.payload.originalTransactionId ?? "") }
    }

    /// The newest period of a subscription by its start date, until its end or early end.
    private static func newestPeriod(
        of id: String?, among entries: [TransactionEntry]
    ) -> (start: Int64, end: Int64)? {
        var newest: (start: Int64, end: Int64)?
        for entry in entries {
            guard let id, entry.subscriptionId == id, let start = entry.purchaseDate, let end = entry.expiresDate else {
                continue
            }
            let period = (start: start, end: min(end, entry.cancellationDate ?? .max))
            if let newest, (newest.start, newest.end) >= (period.start, period.end) { continue }
            newest = period
        }
        return newest
    }
}

extension JWSRenewalInfoDecodedPayload {
    fileprivate var tellsHowAPeriodEnded: Bool {
        expirationIntent != nil || isInBillingRetryPeriod == true || gracePeriodExpiresDate != nil
    }
}
