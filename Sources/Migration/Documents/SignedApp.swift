import AppStoreModels
import Purchases

/// The app transaction that a signed document of a record states.
struct SignedApp {
    let scope: StoreScope
    let payload: AppTransaction
    /// The user whose document it is; nil if no column states it.
    let userId: String?

    /// Whether the unsigned app transaction of a document beside it has the same user and contradicts nothing.
    func states(_ recorded: FactSet, of userId: String?) -> Bool {
        guard let other = recorded.appTransaction?.payload, recorded.scope == scope, userId == self.userId else {
            return false
        }
        func agree<Value: Equatable>(_ signed: Value?, _ recorded: Value?) -> Bool {
            recorded == nil || signed == recorded
        }
        // Receipts state whole seconds.
        func seconds(_ date: Int64?) -> Int64? { date.map { $0 / 1_000 } }
        return agree(payload.originalApplicationVersion, other.originalApplicationVersion)
            && agree(seconds(payload.originalPurchaseDate), seconds(other.originalPurchaseDate))
            && agree(payload.appTransactionId, other.appTransactionId)
    }
}
