internal import AppStoreModels
internal import Purchases
internal import TransactionStore

extension Customer {
    /// The renewal infos of the answer, without data that the periods of the answer contradict. Apple has the four basic
    /// members in every entry (Reference.md V3.6).
    func renewalInfos(
        _ recordedFacts: EndpointConfiguration.RecordedFacts, beside entries: [TransactionEntry]
    ) -> [JWSRenewalInfoDecodedPayload] {
        shownRenewalInfos(recordedFacts).map { $0.info(beside: entries.lazy.map { $0.period }) }
    }

    /// All signed renewal infos. Recorded ones count as the configuration states: always, or only if a signed transaction of
    /// the subscription is known.
    func shownRenewalInfos(_ recordedFacts: EndpointConfiguration.RecordedFacts) -> [StoredRenewalInfo] {
        guard recordedFacts == .completing, renewalInfos.contains(where: { !$0.isSigned }) else { return renewalInfos }
        let signed = Set(
            transactions.filter(\.isSigned).compactMap { $0.payload.originalTransactionId ?? $0.payload.transactionId })
        return renewalInfos.filter { $0.isSigned || signed.contains($0.payload.originalTransactionId ?? "") }
    }
}
