internal import Purchases

/// The queries that complete one customer.
struct CustomerQueries: Sendable {
    /// The purchases to query. One answer covers all purchases of one Apple Account, and a customer may have several accounts.
    /// Answered queries are removed.
    var left: [UnansweredPurchase]
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
        left = customer.unansweredPurchases
        isPartlyKnown = !customer.purchasesByAnswer.answered.isEmpty
    }

    mutating func leaveOut(_ known: UnknownMemory.Known) {
        onceUnknown = Set(left.map(\.originalTransactionId)).intersection(known.all)
        let count = left.count
        left.removeAll { known.recent.contains($0.originalTransactionId) }
        leftOut = count - left.count
    }
}
