public import AppStoreModels

/// The data that the App Store Server API could change about one purchase of a customer. Get Transaction History and Get All
/// Subscription Statuses answer it, for all purchases of the Apple Account.
public struct OpenQuestion: Hashable, Sendable {
    /// Why to ask, in the order of what the answer could change.
    public enum Reason: Int, CaseIterable, Hashable, Sendable {
        /// An unsigned document that is newer than every signed one states a cancellation. It does not count until the App
        /// Store confirms it.
        case unconfirmedCancellation
        /// A receipt states a cancellation, and no document states whether it was a refund or an upgrade. It counts as a
        /// refund.
        case unexplainedCancellation
        /// No signed document states the transaction.
        case unsigned
        /// The last known period of a subscription is over, and no document states what followed.
        case notCurrent
        /// A transaction lacks fields that the App Store states about every purchase.
        case missingFields

        /// The name in tables.
        package var name: String {
            switch self {
            case .unconfirmedCancellation: "unconfirmedCancellation"
            case .unexplainedCancellation: "unexplainedCancellation"
            case .unsigned: "unsigned"
            case .notCurrent: "notCurrent"
            case .missingFields: "missingFields"
            }
        }
    }

    /// What the answer could change. A customer's questions are in the order of their reasons.
    public let reason: Reason
    /// The purchase. For a transaction without an original transaction id, its own id.
    public let originalTransactionId: String
    /// The newest transaction that the reason is about.
    public let transactionId: String
    /// How many transactions of the purchase the reason is about.
    public internal(set) var transactionCount: Int
    /// The missing fields, for ``Reason/missingFields``; in the order of `TransactionField`.
    public internal(set) var missingFields: [TransactionField]
}

extension Customer {
    /// The data that the App Store Server API could change: at most one question for each reason and purchase. Sorted
    /// by reason, then by transaction. Empty for purchases of other environments than Production and Sandbox, which the
    /// App Store does not answer for.
    /// - Parameter subscriptions: the standings of this customer at one moment, see ``PurchaseHistory/subscriptions(at:)``.
    public func openQuestions(_ subscriptions: [SubscriptionStanding]) -> [OpenQuestion] {
        guard scope.environment == .production || scope.environment == .sandbox else { return [] }
        let last = Set(subscriptions.lazy.filter { !$0.isCurrent }.map(\.transactionId))
        var collected = QuestionCollector()
        for transaction in transactions {
            if transaction.recordedCancellation != nil { collected.add(.unconfirmedCancellation, transaction) }
            if transaction.isCancelledWithoutCause { collected.add(.unexplainedCancellation, transaction) }
            if !transaction.isSigned { collected.add(.unsigned, transaction) }
            if last.contains(transaction.payload.transactionId) { collected.add(.notCurrent, transaction) }
            let missing = transaction.missingFields
            if !missing.isEmpty { collected.add(.missingFields, transaction, missing) }
        }
        return collected.questions
    }
}

/// Adds up the transactions of each purchase.
private struct QuestionCollector {
    private struct Key: Hashable {
        let reason: OpenQuestion.Reason
        let originalTransactionId: String
    }

    private var found: [[OpenQuestion]] = OpenQuestion.Reason.allCases.map { _ in [] }
    private var places: [Key: Int] = [:]

    var questions: [OpenQuestion] { found.flatMap(\.self) }

    mutating func add(
        _ reason: OpenQuestion.Reason, _ transaction: StoredTransaction, _ missing: [TransactionField] = []
    ) {
        guard let id = transaction.payload.transactionId, let purchaseId = transaction.purchaseId else { return }
        let key = Key(reason: reason, originalTransactionId: purchaseId)
        guard let place = places[key] else {
            places[key] = found[reason.rawValue].count
            found[reason.rawValue].append(
                OpenQuestion(
                    reason: reason, originalTransactionId: key.originalTransactionId, transactionId: id,
                    transactionCount: 1, missingFields: missing))
            return
        }
        found[reason.rawValue][place].transactionCount += 1
        let known = found[reason.rawValue][place].missingFields
        guard !missing.allSatisfy(known.contains) else { return }
        found[reason.rawValue][place].missingFields = Set(known + missing).sorted { $0.rawValue < $1.rawValue }
    }
}

extension StoredTransaction {
    /// Whether a subscription period has a cancellation that may be an upgrade.
    fileprivate var isCancelledWithoutCause: Bool {
        payload.revocationDate != nil && payload.isSubscription && !upgradeStatement.explainsCancellation
    }

    /// The fields that the App Store states about every transaction, or every transaction of a subscription, and these documents do
    /// not. None after an answer of the App Store: another query gives no new data.
    package var missingFields: [TransactionField] {
        guard !hasAppStoreAnswer else { return [] }
        let values: [(TransactionField, Bool)] = [
            (.originalTransactionId, payload.originalTransactionId == nil),
            (.productId, payload.productId == nil),
            (.subscriptionGroupIdentifier, payload.isSubscription && payload.subscriptionGroupIdentifier == nil),
            (.purchaseDate, payload.purchaseDate == nil),
            (.expiresDate, payload.isSubscription && payload.expiresDate == nil),
            (.type, payload.type == nil),
            (.storefront, payload.storefront == nil),
            (.transactionReason, payload.transactionReason == nil),
            (.currency, payload.currency == nil),
            (.price, payload.price == nil),
        ]
        return values.filter(\.1).map(\.0)
    }

    /// The modern fields that are not known of the transaction and that it may have: ``missingFields``; the offer, if
    /// no signed transaction states it, because receipts contain no offer codes and win-back offers; the id of the
    /// download; the account token, which only an app or a server sets.
    package var uncarriedFields: [TransactionField] {
        var fields = missingFields
        let isSignedModern = origins.contains { $0.kind == .signedTransaction }
        if payload.isSubscription, payload.offerType == nil, !isSignedModern { fields.append(.offerType) }
        if payload.appTransactionId == nil, !hasAppStoreAnswer { fields.append(.appTransactionId) }
        if payload.appAccountToken == nil { fields.append(.appAccountToken) }
        return fields
    }
}
