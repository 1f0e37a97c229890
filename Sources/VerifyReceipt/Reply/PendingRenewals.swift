internal import AppStoreModels
internal import Purchases

extension Customer {
    /// The renewal infos that count in an answer.
    func countingRenewalInfos(_ recordedFacts: EndpointConfiguration.RecordedFacts) -> [StoredRenewalInfo] {
        countingRenewalInfos(trustsRecorded: recordedFacts == .granting)
    }

    /// The renewal infos of the answer, without data that the periods of the answer contradict. Apple has the four basic
    /// members in every entry (Reference.md V3.6).
    func renewalInfos(
        _ recordedFacts: EndpointConfiguration.RecordedFacts, beside entries: [TransactionEntry]
    ) -> [JWSRenewalInfoDecodedPayload] {
        countingRenewalInfos(recordedFacts).map { $0.info(beside: entries.lazy.map { $0.period }) }
    }
}
