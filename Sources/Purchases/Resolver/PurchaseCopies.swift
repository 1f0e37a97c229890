internal import AppStoreModels
internal import Encodings
internal import ProductCatalog

/// Finds the copies of a purchase: its transactions under several ids. Every rule about copies asks this one.
///
/// Restoring a purchase used to give it another transaction id. Copies have the same original transaction id and product,
/// and are all bought or all shared. What else they have in common depends on the type of the product (``KnownTypes``):
///
/// | product | copies |
/// |---|---|
/// | auto-renewable subscription | have the same `webOrderLineItemId`, and begin or end in the same second |
/// | non-consumable, non-renewing subscription | have nothing else in common |
/// | of unknown type | have nothing else in common, if receipts state that the purchase does not expire |
///
/// A `webOrderLineItemId` identifies a period on all devices. It does not suffice alone: in a real reply of 2015, two
/// consecutive periods have the same one. A copy can begin later, because old receipts date it to its restoration. It
/// can end earlier, because an older receipt does not state that the App Store extended the period. A start after the
/// end shows nothing, because one restoration dates the copies of all periods.
///
/// Consumables have no copies, because they cannot be restored. Transactions for added seats (`additionalTransactionReason`)
/// are purchases of their own.
enum PurchaseCopies {
    /// What the function looks at in one transaction.
    struct Candidate {
        fileprivate let marks: [Mark]
    }

    /// Transactions with a common mark are copies.
    fileprivate struct Mark: Hashable {
        let purchase: Purchase
        let isStart: Bool
        /// When the period begins or ends: receipts have no milliseconds. Nil for a purchase that does not renew.
        let second: Int64?
    }

    fileprivate struct Purchase: Hashable {
        let originalTransactionId: String
        let productId: String
        let isFamilyShared: Bool
        /// Nil for a purchase that does not renew.
        let webOrderLineItemId: String?
    }

    /// The indices of the copies of each purchase, in the order of the first ones. A transaction without copies is alone. The
    /// order of the transactions does not change which of them are copies.
    /// - Parameter candidates: nil for a transaction that can have no copies.
    static func purchases(_ candidates: [Candidate?]) -> [[Int]] {
        CommonMarks.groups(count: candidates.count) { candidates[$0]?.marks ?? [] }
    }

    /// The copy that states that a purchase was refunded or is no longer shared; nil if none of them does. It is stated about
    /// one copy, also when that copy or another one states an upgrade: `CopyRule` gives the others only the revocation of a
    /// copy that was not upgraded. Unsigned documents decide nothing about a signed purchase.
    /// - Parameters:
    ///   - copies: the indices of the copies of the purchase. Of several, the first one counts.
    ///   - isSigned: whether a signed document states the copy.
    ///   - isProven: whether the App Store states the revocation of the copy.
    ///   - hasRevocation: whether the copy has a revocation, also after an upgrade.
    static func refund(
        among copies: [Int], isSigned: (Int) -> Bool, isProven: (Int) -> Bool, hasRevocation: (Int) -> Bool
    ) -> Int? {
        let areSigned = copies.contains(where: isSigned)
        return copies.first { hasRevocation($0) && (!areSigned || isProven($0)) }
    }
}

extension PurchaseCopies.Candidate {
    /// - Parameters:
    ///   - payload: the transaction.
    ///   - lineItem: the `webOrderLineItemId` that counts.
    ///   - type: the type of the product, also if another document or the catalog states it; nil if it is unknown.
    ///   - neverExpires: whether receipts state that the purchase does not expire.
    /// - Returns: nil for a transaction that can have no copies.
    init?(
        _ payload: borrowing JWSTransactionDecodedPayload, lineItem: String?, type: ProductType?,
        neverExpires: Bool = false
    ) {
        guard let original = payload.purchaseId, let product = payload.productId,
            !payload.sharesPeriod
        else { return nil }
        let isShared = payload.inAppOwnershipType == .familyShared
        if JWSTransactionDecodedPayload.isSubscription(type, expiresDate: payload.expiresDate) {
            self.init(
                originalTransactionId: original, productId: product, isFamilyShared: isShared,
                webOrderLineItemId: lineItem, start: payload.purchaseDate, end: payload.expiresDate)
        } else {
            guard type == .nonConsumable || type == .nonRenewingSubscription || type == nil && neverExpires else {
                return nil
            }
            let purchase = PurchaseCopies.Purchase(
                originalTransactionId: original, productId: product, isFamilyShared: isShared, webOrderLineItemId: nil)
            self.init(marks: [PurchaseCopies.Mark(purchase: purchase, isStart: true, second: nil)])
        }
    }

    /// A period of an auto-renewable subscription.
    /// - Parameters:
    ///   - originalTransactionId: the id of the subscription.
    ///   - productId: the product of the period.
    ///   - isFamilyShared: whether a family member shares it.
    ///   - webOrderLineItemId: the id of the period; nil if it is unknown.
    ///   - start: in milliseconds since 1970-01-01T00:00:00Z, like `end`.
    ///   - end: the expiry.
    init?(
        originalTransactionId: String, productId: String, isFamilyShared: Bool, webOrderLineItemId: String?,
        start: Int64?, end: Int64?
    ) {
        guard let order = webOrderLineItemId.flatMap(\.lineItem) else { return nil }
        let purchase = PurchaseCopies.Purchase(
            originalTransactionId: originalTransactionId, productId: productId, isFamilyShared: isFamilyShared,
            webOrderLineItemId: order)
        var marks = [PurchaseCopies.Mark(purchase: purchase, isStart: false, second: end?.flooredQuotient(1_000))]
        // A later start is the date of a restoration, which can have been that of other periods too.
        if let start, start < end ?? .max {
            marks.append(
                PurchaseCopies.Mark(purchase: purchase, isStart: true, second: start.flooredQuotient(1_000)))
        }
        self.init(marks: marks)
    }
}

/// What is known about the types of a customer's products. `TypeOrder` decides which statement counts.
///
/// Documents about other transactions of a purchase count too: iOS 6 receipts and rows of replies state no type. A purchase of
/// unknown type does not expire if receipts state it without an expiry, and nothing else that is signed states it. An unsigned
/// row can lack the expiry of a subscription.
struct KnownTypes {
    /// A product under an original transaction id. Stores write the ledger from the documents about one such id, so those about
    /// another one must change nothing.
    private struct Subject: Hashable {
        let originalTransactionId: String
        let productId: String

        init?(_ payload: borrowing JWSTransactionDecodedPayload) {
            guard let original = payload.purchaseId, let product = payload.productId else { return nil }
            (originalTransactionId, productId) = (original, product)
        }
    }

    /// What documents show about the expiry of a purchase of unknown type.
    private enum Expiry {
        case absent
        case unknown
    }

    private var signed: [Subject: ProductType] = [:]
    private var recorded: [Subject: ProductType] = [:]
    private var expiries: [Subject: Expiry] = [:]
    /// The purchases whose type, or whose expiry and line item, signed documents state. A receipt states the absence of the
    /// last two; a JWS without a type shows nothing.
    private var decided: Set<Subject> = []
    /// The purchases with a signed expiry or line item, which only subscriptions have.
    private var periods: Set<Subject> = []
    private let catalog: ProductCatalog?

    /// - Parameters:
    ///   - transactions: the transactions of one customer.
    ///   - catalog: nil where a store resolves its documents, because it has no catalog.
    ///   - rowsStateExpiry: whether an unsigned row without an expiry states that there is none, as in a whole reply.
    init(_ transactions: [StoredTransaction], _ catalog: ProductCatalog?, rowsStateExpiry: Bool = false) {
        self.catalog = catalog
        for place in transactions.indices {
            let kinds = transactions[place].origins.map(\.kind)
            let isSigned = transactions[place].isSigned
            add(
                transactions[place].payload, isSigned: isSigned, order: transactions[place].decidingLineItem,
                isReceipt: kinds.contains(.receipt) || rowsStateExpiry, isJWS: kinds.contains(.signedTransaction))
        }
    }

    /// The types of a history. A signed entry of unknown type is from a receipt, because a signed transaction states its type.
    init(_ entries: [PurchaseHistory.Entry]) {
        catalog = nil
        for entry in entries {
            add(
                entry.transaction, isSigned: entry.isSigned, order: entry.transaction.webOrderLineItemId,
                isReceipt: entry.isSigned, isJWS: false)
        }
    }

    private mutating func add(
        _ payload: borrowing JWSTransactionDecodedPayload, isSigned: Bool, order: String?, isReceipt: Bool, isJWS: Bool
    ) {
        guard let subject = Subject(payload) else { return }
        let isPeriod = payload.expiresDate != nil || order.flatMap(\.lineItem) != nil
        if isSigned {
            if payload.type != nil || !isJWS { decided.insert(subject) }
            if isPeriod { periods.insert(subject) }
        }
        if let type = payload.type {
            if isSigned {
                TypeOrder.keep(type, in: &signed[subject])
            } else {
                TypeOrder.keep(type, in: &recorded[subject])
            }
            return
        }
        guard isReceipt || isJWS else { return }
        if isJWS || isPeriod {
            expiries[subject] = .unknown
        } else if expiries[subject] == nil {
            expiries[subject] = .absent
        }
    }

    /// The type of a transaction's product; nil if it is unknown.
    func type(of transaction: StoredTransaction) -> ProductType? {
        TypeOrder.type(
            signed: signedType(of: transaction), catalog: catalogType(of: transaction),
            recorded: transaction.payload.type ?? Subject(transaction.payload).flatMap { recorded[$0] },
            isSigned: transaction.isSigned)
    }

    /// The same, where copies are looked for. The catalog does not count for a purchase if signed documents state
    /// enough. A store writes its ledger without a catalog, and must find the same copies.
    func typeForCopies(of transaction: StoredTransaction) -> ProductType? {
        guard let subject = Subject(transaction.payload), decided.contains(subject) else {
            return self.type(of: transaction)
        }
        if let type = signedType(of: transaction) { return type }
        if periods.contains(subject) { return .autoRenewableSubscription }
        return transaction.isSigned ? nil : transaction.payload.type ?? recorded[subject]
    }

    /// The type that signed documents state, about the transaction or else about another one of the same purchase.
    func signedType(of transaction: StoredTransaction) -> ProductType? {
        transaction.signedType ?? Subject(transaction.payload).flatMap { signed[$0] }
    }

    private func catalogType(of transaction: StoredTransaction) -> ProductType? {
        guard let catalog, let product = transaction.payload.productId else { return nil }
        return transaction.catalogType(catalog.product(product)?.type)
    }

    /// Whether receipts state that a purchase of unknown type does not expire.
    func neverExpires(_ payload: borrowing JWSTransactionDecodedPayload) -> Bool {
        Subject(payload).map { expiries[$0] == .absent } ?? false
    }
}

extension [StoredTransaction] {
    /// The types that signed documents state, for transactions without a signed type. Nil if there is no such transaction, or no
    /// signed type.
    var typesOfOthers: KnownTypes? {
        // By index, without copying.
        guard count > 1, indices.contains(where: { self[$0].signedType == nil }),
            indices.contains(where: { self[$0].signedType != nil })
        else { return nil }
        return KnownTypes(self, nil)
    }
}

extension String {
    /// The value of a `webOrderLineItemId`; nil for 0, which names no period.
    fileprivate var lineItem: String? { self == "0" ? nil : self }
}
