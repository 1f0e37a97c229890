internal import AppStoreModels
internal import AppStoreServer
internal import TransactionStore

/// What came of one question to the App Store.
enum AppStoreWord: Sendable {
    /// It is in the store. It spoke of these original transaction ids.
    case told(Set<String>, changedFacts: Int)
    /// The App Store knows no such transaction.
    case unknown
    case failed(CustomerEnrichment.Failure)

    /// Asks, and puts the answer into the store.
    /// - Throws: `TransactionStoreError` or `CancellationError`; what the App Store does is an outcome.
    init(
        about id: String, of app: CustomerEnrichment.App, into store: any TransactionStore,
        _ ask: (String) async throws -> CustomerHistory
    ) async throws {
        let history: CustomerHistory
        do {
            history = try await ask(id)
        } catch let error as AppStoreServerAPIError where error.isUnknownTransaction {
            self = .unknown
            return
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            self = .failed(CustomerEnrichment.Failure(transactionId: id, reason: "\(error)"))
            return
        }
        let facts = FactSet(
            scope: StoreScope(environment: history.environment, bundleId: app.bundleID), source: .appStoreServerAPI,
            transactions: history.transactions, renewalInfos: history.renewalInfos)
        guard !facts.identities.isEmpty else {
            self = .unknown
            return
        }
        let ids = Set(facts.transactions.map(\.storedOriginalTransactionId))
        self = .told(ids, changedFacts: try await store.apply([facts]).changed)
    }
}
