import AppStoreModels
import Purchases

/// The app transaction that a signed document of a record states.
struct SignedApp {
    let scope: StoreScope
    /// The customer of the document.
    let identities: [CustomerIdentity]
    let fact: AppTransactionFact
    /// The user of the document; nil if no column names one.
    let userId: String?

    /// Whether the unsigned app transaction of a document beside it has the same user and contradicts nothing.
    func agrees(with recorded: FactSet, of userId: String?) -> Bool {
        guard let other = recorded.appTransaction, recorded.scope == scope, userId == self.userId else { return false }
        let (payload, stated) = (fact.payload, other.payload)
        return Self.states(payload.originalApplicationVersion, stated.originalApplicationVersion)
            && Self.states(Self.seconds(payload.originalPurchaseDate), Self.seconds(stated.originalPurchaseDate))
            && Self.states(payload.appTransactionId, stated.appTransactionId)
            && (fact.legacy == nil || statesLegacyFields(of: recorded))
    }

    /// Whether it states all legacy fields of the unsigned app transaction. App transactions of StoreKit 2 have none.
    func statesLegacyFields(of recorded: FactSet) -> Bool {
        let (legacy, stated) = (fact.legacy, recorded.appTransaction?.legacy)
        return Self.states(legacy?.receiptType, stated?.receiptType)
            && Self.states(Self.seconds(legacy?.expirationDate), Self.seconds(stated?.expirationDate))
    }

    private static func states<Value: Equatable>(_ signed: Value?, _ recorded: Value?) -> Bool {
        recorded == nil || signed == recorded
    }

    /// Receipts state whole seconds.
    private static func seconds(_ date: Int64?) -> Int64? { date.map { $0 / 1_000 } }
}
