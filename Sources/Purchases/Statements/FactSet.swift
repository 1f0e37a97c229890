/// Everything one document states about one customer. A store stores it in whole or not at all.
public struct FactSet: Sendable {
    /// The app and the environment of the document. An unsigned one may state neither: then from data beside it, or
    /// from the caller.
    public let scope: StoreScope
    /// The ids of the customer in this document, each once, ascending. Empty only for a set that contains nothing but a
    /// notification without a customer.
    public let identities: [CustomerIdentity]
    /// Each with a transaction id and an original transaction id that identify a transaction. Others are left out.
    public let transactions: [TransactionFact]
    /// Each with an original transaction id that identifies a subscription. Others are left out.
    public let renewalInfos: [RenewalInfoFact]
    /// Nil if the document does not state the app itself.
    public let appTransaction: AppTransactionFact?
    /// A verified receipt of the customer, which a store keeps if it is the newest of its form; nil if there is none.
    public let receipt: KnownReceipt?
    /// The notification that states the facts; nil for other documents. A store skips the set if it has processed the
    /// notification before.
    public let notification: ProcessedNotification?
    /// The seat claims of the first transaction that the App Store ended (UNCLAIM_SEATS), each once, in lower case.
    /// Empty if the set has no transaction.
    public let unclaimedSeatIds: [String]

    /// Every set is created here, so engines can rely on two things: invalid ids are left out, and `identities`
    /// contains the ids that the facts state.
    package init(
        scope: StoreScope, identities: [CustomerIdentity] = [], transactions: [TransactionFact] = [],
        renewalInfos: [RenewalInfoFact] = [], appTransaction: AppTransactionFact? = nil, receipt: KnownReceipt? = nil,
        notification: ProcessedNotification? = nil, unclaimedSeatIds: [String] = []
    ) {
        self.scope = scope
        self.transactions = transactions.filter { fact in
            guard let id = fact.payload.transactionId, CustomerIdentity.isMeaningful(id: id) else { return false }
            return CustomerIdentity.isMeaningful(id: fact.storedOriginalTransactionId)
        }
        self.renewalInfos = renewalInfos.filter {
            CustomerIdentity.isMeaningful(id: $0.payload.originalTransactionId ?? "")
        }
        self.appTransaction = appTransaction
        self.receipt = receipt
        self.notification = notification
        let seats = self.transactions.isEmpty ? [] : unclaimedSeatIds.map { $0.lowercased() }
        self.unclaimedSeatIds = Set(seats.filter { !$0.isEmpty && CustomerIdentity.isPlain($0) }).sorted()

        var found = Set(identities.filter(\.isMeaningful))
        func add(_ kind: CustomerIdentity.Kind, _ value: String?) {
            guard let value else { return }
            let identity = CustomerIdentity(kind, value)
            if identity.isMeaningful { found.insert(identity) }
        }
        for fact in self.transactions {
            add(.originalTransactionId, fact.storedOriginalTransactionId)
            // Unsigned data must not merge two customers.
            guard fact.origin.kind.isSigned else { continue }
            // After a migration the purchase has both ids (App Store Server Notifications 2.16).
            add(.originalTransactionId, fact.payload.previousOriginalTransactionId)
            add(.appTransactionId, fact.payload.appTransactionId)
            add(.appAccountToken, fact.payload.appAccountToken)
        }
        for fact in self.renewalInfos {
            add(.originalTransactionId, fact.payload.originalTransactionId)
            guard fact.origin.kind.isSigned else { continue }
            add(.appTransactionId, fact.payload.appTransactionId)
            add(.appAccountToken, fact.payload.appAccountToken)
        }
        add(.appTransactionId, appTransaction?.payload.appTransactionId)
        if found.isEmpty, let receipt { add(.receiptDigest, receipt.digest) }
        self.identities = found.sorted()
    }
}

extension TransactionFact {
    /// The original transaction id under which the fact is stored; the transaction id if the document states none.
    public var storedOriginalTransactionId: String { payload.storedOriginalTransactionId }
}

extension StoredTransaction {
    /// The original transaction id under which a store keeps a fact about the transaction. If documents state two, it is the one of
    /// the resolved transaction.
    public var storedOriginalTransactionId: String { payload.storedOriginalTransactionId }
}
