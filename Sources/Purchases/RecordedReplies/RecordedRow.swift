import AppStoreModels
import LegacyReceipts

/// One purchase of a recorded document, with the key of each fact.
struct RecordedRow: Sendable {
    var facts: PurchaseFacts
    /// By the raw value of ``Fact``.
    var keys: [RecordedKey?]
    /// `bid`, which only rows of the iOS 6 style have.
    var bundleId: String?
    var bundleIdKey: RecordedKey?
    var notes: [MappingNote]
    /// The age of the list that contains it.
    let age: RecordedListAge

    /// Identifies the transaction in other lists. It includes the product, because edited documents contain repeated
    /// ids, and a purchase that is taken for another one is lost.
    var identity: RecordedRowIdentity {
        let product = facts.productId ?? ""
        if let id = facts.transactionId, !Self.namesNothing(id) { return .transaction(id, product: product) }
        return .purchase(original: facts.originalTransactionId ?? "", product: product, date: facts.purchaseDate)
    }

    /// Xcode writes 0 for every transaction, and masked ids can be all zeros.
    static func namesNothing(_ id: String) -> Bool { id.utf8.allSatisfy { $0 == 0x30 } }
}

enum RecordedRowIdentity: Hashable {
    case transaction(String, product: String)
    case purchase(original: String, product: String, date: Int64?)
}

/// The lists of a document by the time at which Apple determined their state, the oldest first.
enum RecordedListAge: Sendable {
    /// The submitted receipt.
    case receipt
    case latestExpired
    /// The latest state, in any of the places that a reply or notification has for it; also rows without a document.
    case latest
}

extension RecordedRow {
    /// Reads a row (Reference.md V3.5 and V4).
    /// - Parameters:
    ///   - reader: reads the members of the row.
    ///   - object: the name of the list that contains it, for the provenance.
    ///   - age: how new the state in that list is.
    init(_ reader: RecordedObjectReader, object: String, age: RecordedListAge) throws(RecordedReplyError) {
        self.age = age
        facts = PurchaseFacts()
        keys = Array(repeating: nil, count: Fact.allCases.count)
        notes = []

        facts.productId = try stated(.productId, object, "product_id", reader.text)
        facts.transactionId = try stated(.transactionId, object, "transaction_id", reader.text)
        facts.originalTransactionId = try stated(.originalTransactionId, object, "original_transaction_id", reader.text)
        guard facts.productId != nil else { throw reader.error(.missingIdentifier, "product_id") }
        guard facts.transactionId != nil || facts.originalTransactionId != nil else {
            throw reader.error(.missingIdentifier, "transaction_id")
        }
        facts.webOrderLineItemId = try stated(.webOrderLineItemId, object, "web_order_line_item_id", reader.text)
        if facts.webOrderLineItemId == "0" { facts.webOrderLineItemId = nil }
        facts.promotionalOfferId = try stated(.promotionalOfferId, object, "promotional_offer_id", reader.text)
        facts.offerCodeRefName = try stated(.offerCodeRefName, object, "offer_code_ref_name", reader.text)
        facts.appAccountToken = try stated(.appAccountToken, object, "app_account_token", reader.text)
        facts.subscriptionGroupIdentifier = try stated(
            .subscriptionGroupIdentifier, object, "subscription_group_identifier", reader.text)
        let ownership = try stated(.ownershipType, object, "in_app_ownership_type", reader.text)
        facts.ownershipType = ownership.map(InAppOwnershipType.init(rawValue:))

        facts.purchaseDate = try date(reader, object, "purchase_date", .purchaseDate)
        facts.originalPurchaseDate = try date(reader, object, "original_purchase_date", .originalPurchaseDate)
        facts.expiresDate = try date(reader, object, "expires_date", .expiresDate)
        facts.cancellationDate = try date(reader, object, "cancellation_date", .cancellationDate)

        facts.quantity = try stated(.quantity, object, "quantity", reader.integer)
        facts.cancellationReason = try stated(.cancellationReason, object, "cancellation_reason", reader.integer)
        facts.isTrialPeriod = try stated(.isTrialPeriod, object, "is_trial_period", reader.flag)
        facts.isInIntroOfferPeriod = try stated(.isInIntroOfferPeriod, object, "is_in_intro_offer_period", reader.flag)
        facts.isUpgraded = try stated(.isUpgraded, object, "is_upgraded", reader.flag)

        bundleId = try reader.text("bid")
        if bundleId != nil { bundleIdKey = RecordedKey(object: object, key: "bid") }
    }

    private mutating func stated<Value>(
        _ fact: Fact, _ object: String, _ key: String, _ read: (String) throws(RecordedReplyError) -> Value?
    ) throws(RecordedReplyError) -> Value? {
        let value = try read(key)
        if value != nil { keys[fact.rawValue] = RecordedKey(object: object, key: key) }
        return value
    }

    private mutating func date(
        _ reader: RecordedObjectReader, _ object: String, _ name: String, _ fact: Fact
    ) throws(RecordedReplyError) -> Int64? {
        guard let (date, key) = try reader.date(name) else { return nil }
        keys[fact.rawValue] = RecordedKey(object: object, key: key)
        if date.isAmbiguous { notes.add(.ambiguousLocalTime) }
        return date.milliseconds
    }

    /// Adds the facts that this row lacks from an earlier row of the same transaction. Apple's database decides the
    /// state (cancellation and upgrade), so the newer list overrules the older one. If both lists are of the same age,
    /// the cancellation stays.
    mutating func complete(from older: RecordedRow) {
        fill(\.quantity, .quantity, older)
        fill(\.productId, .productId, older)
        fill(\.purchaseDate, .purchaseDate, older)
        fill(\.originalTransactionId, .originalTransactionId, older)
        fill(\.originalPurchaseDate, .originalPurchaseDate, older)
        fill(\.expiresDate, .expiresDate, older)
        fill(\.webOrderLineItemId, .webOrderLineItemId, older)
        fill(\.isTrialPeriod, .isTrialPeriod, older)
        fill(\.isInIntroOfferPeriod, .isInIntroOfferPeriod, older)
        fill(\.promotionalOfferId, .promotionalOfferId, older)
        fill(\.ownershipType, .ownershipType, older)
        fill(\.subscriptionGroupIdentifier, .subscriptionGroupIdentifier, older)
        fill(\.appAccountToken, .appAccountToken, older)
        fill(\.offerCodeRefName, .offerCodeRefName, older)
        if bundleId == nil { (bundleId, bundleIdKey) = (older.bundleId, older.bundleIdKey) }
        if age == older.age { keepCancellation(of: older) }
        notes.add(.mergedRows)
    }

    /// The upgrade belongs to the cancellation: it decides whether that is a revocation.
    private mutating func keepCancellation(of older: RecordedRow) {
        if facts.cancellationDate == nil, older.facts.cancellationDate != nil, older.facts.isUpgraded != nil {
            facts.isUpgraded = nil
        }
        fill(\.isUpgraded, .isUpgraded, older)
        fill(\.cancellationDate, .cancellationDate, older)
        guard facts.cancellationDate == older.facts.cancellationDate else { return }
        fill(\.cancellationReason, .cancellationReason, older)
    }

    private mutating func fill<Value>(
        _ path: WritableKeyPath<PurchaseFacts, Value?>, _ fact: Fact, _ older: RecordedRow
    ) {
        guard facts[keyPath: path] == nil, let value = older.facts[keyPath: path] else { return }
        facts[keyPath: path] = value
        keys[fact.rawValue] = older.keys[fact.rawValue]
    }
}

extension PurchaseStatement {
    /// The exact statement of one row of a recorded document: a false flag differs from an absent one (Reference.md
    /// V3.5).
    init(_ row: RecordedRow, of reply: RecordedReply) {
        let isNotification = reply.kind == .notificationV1
        var context = reply.context
        var notes = row.notes
        if let bundleId = row.bundleId, let key = row.bundleIdKey {
            context.bundleId = bundleId
            context.bundleIdProvenance = isNotification ? .notificationV1(key) : .recordedReply(key)
        }
        context.correctEnvironment(row.facts, &notes)
        self.init(row.facts, .recorded(row.keys, isNotification: isNotification), context, notes: notes)
    }
}

extension RecordContext {
    /// A transaction with a sandbox id is a sandbox transaction, also if the document states production (Reference.md V7.5).
    fileprivate mutating func correctEnvironment(_ facts: PurchaseFacts, _ notes: inout [MappingNote]) {
        let ownId = facts.transactionId.flatMap { RecordedRow.namesNothing($0) ? nil : $0 }
        correctEnvironment(ofId: ownId ?? facts.originalTransactionId, &notes)
    }

    /// The same for the id that decides.
    mutating func correctEnvironment(ofId id: String?, _ notes: inout [MappingNote]) {
        guard let id, TransactionReceipt.isSandbox(transactionId: id), environment != .sandbox, environment != .xcode
        else { return }
        if environment != nil { notes.append(.environmentContradiction) }
        environment = .sandbox
        environmentProvenance = .inferred(.sandboxTransactionId)
    }
}
