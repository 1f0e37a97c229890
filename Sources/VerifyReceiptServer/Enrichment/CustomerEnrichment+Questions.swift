internal import AppStoreModels
internal import Purchases
internal import TransactionStore

/// What the App Store is asked to complete one customer.
struct CustomerQuestions: Sendable {
    /// By which transaction a subscription, or another purchase, is asked about.
    struct Question: Sendable {
        let originalTransactionId: String
        let transactionId: String
        let isSigned: Bool
    }

    /// One for each subscription and other purchase of which the App Store Server API has not spoken; those that a
    /// signature vouches for first, the newest of them first. One answer is about all purchases of one Apple Account, of
    /// which a customer may have several. What was answered is taken out.
    var left: [Question]
    /// Whether an answer has been put into the store.
    var isTold = false
    /// Facts of the answers that were new to the store.
    var changedFacts = 0
    /// Whether the App Store has spoken of others.
    let isPartlyKnown: Bool

    init(_ customer: Customer) {
        var spoken: Set<String> = []
        var places: [String: Int] = [:]
        var found: [Question] = []
        for stored in customer.transactions {
            guard let id = stored.payload.transactionId else { continue }
            let question = Question(
                originalTransactionId: stored.payload.originalTransactionId ?? id, transactionId: id,
                isSigned: stored.isSigned)
            if stored.isOfAppStore { spoken.insert(question.originalTransactionId) }
            if let place = places[question.originalTransactionId] {
                if question.isSigned, !found[place].isSigned { found[place] = question }
            } else {
                places[question.originalTransactionId] = found.count
                found.append(question)
            }
        }
        let open = found.filter { !spoken.contains($0.originalTransactionId) }
        left = open.filter(\.isSigned) + open.filter { !$0.isSigned }
        isPartlyKnown = !spoken.isEmpty
    }
}

extension StoredTransaction {
    /// Whether the App Store Server API has spoken of it.
    fileprivate var isOfAppStore: Bool { origins.contains { $0.source == .appStoreServerAPI } }
}

extension Customer {
    /// Whether the App Store Server API has spoken of the subscription or other purchase with this id.
    func isKnown(_ originalTransactionId: String) -> Bool {
        transactions.contains {
            ($0.payload.originalTransactionId ?? $0.payload.transactionId) == originalTransactionId && $0.isOfAppStore
        }
    }
}
