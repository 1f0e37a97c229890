internal import AppStoreModels
internal import Purchases
internal import TransactionStore

/// The queries that complete one customer.
struct CustomerQueries: Sendable {
    /// The transaction by which a subscription, or another purchase, is queried.
    struct Query: Sendable {
        let originalTransactionId: String
        let transactionId: String
        let isSigned: Bool
    }

    /// One query for each subscription or other purchase that the App Store Server API has not described. Signed
    /// transactions come before unsigned ones, each from newest to oldest. One answer covers all purchases of one Apple
    /// Account, and a customer may have several accounts. Answered queries are removed.
    var left: [Query]
    /// The number of purchases that are not queried, because the App Store did not know them recently.
    private(set) var leftOut = 0
    /// The purchases about which the store has such an answer, however old.
    private(set) var onceUnknown: Set<String> = []
    /// Whether at least one answer was stored.
    var hasAnswer = false
    /// Facts of the answers that were new to the store.
    var changedFacts = 0
    /// Facts of the answers that were not stored, because a hash of the customer was left.
    var erasedFacts = 0
    /// Whether the store has an answer about other purchases of the customer.
    let isPartlyKnown: Bool

    init(_ customer: Customer) {
        var answered: Set<String> = []
        var places: [String: Int] = [:]
        var found: [Query] = []
        for stored in customer.transactions {
            guard let id = stored.payload.transactionId else { continue }
            let query = Query(
                originalTransactionId: stored.purchaseId ?? id, transactionId: id, isSigned: stored.isSigned)
            if stored.hasAppStoreAnswer { answered.insert(query.originalTransactionId) }
            if let place = places[query.originalTransactionId] {
                if query.isSigned, !found[place].isSigned { found[place] = query }
            } else {
                places[query.originalTransactionId] = found.count
                found.append(query)
            }
        }
        let open = found.filter { !answered.contains($0.originalTransactionId) }
        left = open.filter(\.isSigned) + open.filter { !$0.isSigned }
        isPartlyKnown = !answered.isEmpty
    }

    mutating func leaveOut(_ known: UnknownMemory.Known) {
        onceUnknown = Set(left.map(\.originalTransactionId)).intersection(known.all)
        let count = left.count
        left.removeAll { known.recent.contains($0.originalTransactionId) }
        leftOut = count - left.count
    }
}

extension Customer {
    /// Whether the store has a statement of the App Store Server API about the purchase with this id.
    func isKnown(_ originalTransactionId: String) -> Bool {
        transactions.contains { $0.purchaseId == originalTransactionId && $0.hasAppStoreAnswer }
    }
}
