internal import AppStoreModels
internal import AppStoreServer
internal import Purchases
internal import TransactionStore

/// What came of one question to the App Store.
enum AppStoreWord: Sendable {
    /// It is in the store. It spoke of these original transaction ids.
    case told(Set<String>, changedFacts: Int)
    /// The App Store knows no such transaction.
    case unknown
    /// The App Store, or the budget for asking it, takes no request before a time; milliseconds since 1970.
    case limited(until: Int64)
    /// The App Store does not accept the key: it would refuse every other question too.
    case refused(CustomerEnrichment.Refused)
    case failed(CustomerEnrichment.Failure)

    /// How long to wait, in milliseconds, where the App Store says that it takes no requests, and not for how long.
    private static let unstatedWait: Int64 = 60_000

    /// Asks, and puts the answer into the store.
    /// - Throws: `TransactionStoreError` or `CancellationError`; what the App Store does is an outcome.
    init(
        about id: String, of app: CustomerEnrichment.App, into store: any TransactionStore, now: Int64,
        _ ask: (String) async throws -> CustomerHistory
    ) async throws {
        let history: CustomerHistory
        do {
            history = try await ask(id)
        } catch let error as AppStoreServerAPIError {
            self = Self.outcome(of: error, id, app, now)
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

    private static func outcome(
        of error: AppStoreServerAPIError, _ id: String, _ app: CustomerEnrichment.App, _ now: Int64
    ) -> AppStoreWord {
        if error.isUnknownTransaction { return .unknown }
        switch error.reason {
        case .rateLimited, .rateBudgetExhausted: return .limited(until: error.retryAfter ?? now + unstatedWait)
        default: break
        }
        guard let status = error.httpStatus, status == 401 || status == 403 else {
            return .failed(CustomerEnrichment.Failure(transactionId: id, reason: "\(error)"))
        }
        return .refused(
            CustomerEnrichment.Refused(
                bundleID: app.bundleID, environment: error.environment, httpStatus: status))
    }
}
