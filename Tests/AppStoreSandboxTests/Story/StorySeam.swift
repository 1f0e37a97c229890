import AppStoreModels
import AppStoreServer
import TransactionStore

/// How the news of the App Store gets into the store of the endpoint, by notification and by API call.
///
/// The endpoint does both itself once its routes for notifications and its freshness are there; until then this stands in
/// their place, so that the story can be told from end to end.
struct StorySeam: Sendable {
    let checking: Checking
    let store: any TransactionStore

    private var scope: StoreScope { StoreScope(environment: .sandbox, bundleId: "com.example.app") }

    /// What the route for notifications does with one.
    @inline(never)
    func takeNotification(_ signedPayload: String) async throws {
        let verified = try await checking.notification(signedPayload)
        try await apply(verified.transaction?.payload, verified.renewalInfo?.payload, .notificationV2)
    }

    /// What freshness does for a customer of whom nothing was heard.
    @inline(never)
    func ask(_ client: AppStoreServerAPIClient, about transactionId: String) async throws {
        for try await page in client.transactionHistory(transactionId) {
            for jws in page.signedTransactions ?? [] {
                try await apply(try await checking.transaction(jws), nil, .appStoreServerAPI)
            }
        }
        for group in try await client.getAllSubscriptionStatuses(transactionId).data ?? [] {
            for item in group.lastTransactions ?? [] {
                try await apply(nil, try await checking.renewalInfo(item.signedRenewalInfo), .appStoreServerAPI)
            }
        }
    }

    private func apply(
        _ transaction: JWSTransactionDecodedPayload?, _ renewalInfo: JWSRenewalInfoDecodedPayload?, _ source: FactSource
    ) async throws {
        let transactions = transaction.map {
            TransactionFact(
                payload: $0, legacy: nil, origin: FactOrigin(source: source, signedDate: $0.signedDate ?? 0))
        }
        let renewals = renewalInfo.map {
            RenewalInfoFact(payload: $0, origin: FactOrigin(source: source, signedDate: $0.signedDate ?? 0))
        }
        let set = FactSet(
            scope: scope, transactions: [transactions].compactMap { $0 }, renewalInfos: [renewals].compactMap { $0 })
        _ = try await store.apply([set])
    }
}
