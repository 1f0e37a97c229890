internal import AppStoreModels
internal import AppStoreServer
internal import Purchases
internal import TransactionStore

/// How one query to the App Store ended.
enum EnrichmentOutcome: Sendable {
    /// The answer is in the store.
    case stored(Answer)
    /// The App Store knows no such transaction.
    case unknown
    /// The App Store, or the rate budget, accepts no request before a time, in milliseconds since 1970-01-01T00:00:00Z.
    case limited(until: Int64)
    /// The App Store does not accept the app or its key, and would refuse every other query too.
    case refused(AppStoreRefusal)
    case failed(CustomerEnrichment.Failure)

    /// An answer of the App Store that is in the store.
    struct Answer: Sendable {
        let scope: StoreScope
        /// The original transaction ids that the answer covers.
        let purchases: Set<String>
        /// The original transaction id of the queried purchase; nil if the answer does not contain the purchase.
        let purchase: String?
        /// Facts that were new to the store.
        let changedFacts: Int
        /// Facts that were not stored, because a hash of the customer was left when the customer was erased.
        let erasedFacts: Int
    }

    /// Queries the App Store, and stores the answer.
    /// - Throws: `TransactionStoreError` or `CancellationError`. Errors of the App Store are outcomes.
    init(
        about id: String, of app: CustomerEnrichment.App, into store: any TransactionStore, clock: ServerClock,
        _ ask: (String) async throws -> CustomerHistory
    ) async throws {
        let history: CustomerHistory
        do {
            history = try await ask(id)
        } catch let error as AppStoreServerAPIError {
            self = Self.outcome(of: error, id, app, clock.now())
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
        let purchases = Set(facts.transactions.map(\.storedOriginalTransactionId))
        let asked = facts.transactions.first { $0.payload.transactionId == id }
        let applied = try await store.apply([facts])
        self = .stored(
            Answer(
                scope: facts.scope, purchases: purchases,
                purchase: purchases.contains(id) ? id : asked?.storedOriginalTransactionId,
                changedFacts: applied.changed, erasedFacts: applied.erased))
    }

    private static func outcome(
        of error: AppStoreServerAPIError, _ id: String, _ app: CustomerEnrichment.App, _ now: Int64
    ) -> EnrichmentOutcome {
        if error.isUnknownPurchase { return .unknown }
        func failed(isOutage: Bool) -> EnrichmentOutcome {
            .failed(CustomerEnrichment.Failure(transactionId: id, reason: "\(error)", isOutage: isOutage))
        }
        switch RequestFailure(error, bundleID: app.bundleID, now: now) {
        case .limited(let until): return .limited(until: until)
        case .refused(let refused): return .refused(refused)
        case .outage: return failed(isOutage: true)
        case .other: return failed(isOutage: false)
        }
    }
}
