import AppStoreModels
import GRDB
import Purchases
import TransactionStore

/// Applies fact sets within one transaction. An instance lives as long as its transaction.
final class FactWriter {
    private let db: Database
    private var encoder = FactEncoder()
    private var scopeIds: [StoreScope: Int64] = [:]
    /// The secrets of the left hashes, read once per transaction.
    private var secrets: [[UInt8]]?
    private let customers: CustomerWriter
    private let session: SharedSession
    /// `lookHistory()`, read once per transaction.
    private var lookHistory: Int64?
    private let insertTransaction: SQLStatement
    private let insertRenewalInfo: SQLStatement
    private let insertAppTransaction: SQLStatement
    private let insertReceipt: SQLStatement

    init(_ db: Database) throws {
        self.db = db
        session = SharedSession(db: db)
        customers = try CustomerWriter(db)
        insertTransaction = try db.statement(StoreTable.transactions.insert)
        insertRenewalInfo = try db.statement(StoreTable.renewalInfos.insert)
        insertAppTransaction = try db.statement(StoreTable.appTransactions.insert)
        insertReceipt = try db.statement(StoreTable.receipts.insert)
    }

    /// `FactRow.revokes` of a row of transactions: 0 or 1.
    ///
    /// Objects in the payload can have a `revocationDate` of their own, such as the items of `advancedCommerceInfo`, so the text
    /// alone proves nothing. JSON is parsed only if the payload contains the text, because nearly no payload does. `CASE` keeps
    /// this order; SQLite may evaluate both sides of an `AND`. A damaged payload states no revocation, so it cannot stop a write.
    static func revokes(_ row: String) -> String {
        """
        (CASE
            WHEN instr(\(row).legacy, CAST('"cancellationDate":' AS BLOB)) > 0 THEN 1
            WHEN instr(\(row).payload, CAST('"revocationDate":' AS BLOB)) = 0 THEN 0
            WHEN json_valid(CAST(\(row).payload AS TEXT))
                THEN json_extract(CAST(\(row).payload AS TEXT), '$.revocationDate') IS NOT NULL
            ELSE 0 END)
        """
    }

    /// Stores a set without what is about erased identities.
    func apply(_ set: FactSet, _ result: inout AppliedFacts) throws {
        guard try !knownSecrets().isEmpty else { return try store(set, &result) }
        let erased = try erased(in: MigrationStep(facts: [set]))
        if let rest = erased.remaining(of: set, &result) { try store(rest, &result) }
    }

    /// The erased identities in a step. No hash may be added after the first call.
    func erased(in step: MigrationStep) throws -> ErasedIdentities {
        try ErasedIdentities(in: step, secrets: knownSecrets()) { try LeftHashTable(db: db).known($0) }
    }

    private func knownSecrets() throws -> [[UInt8]] {
        if let secrets { return secrets }
        let found = try LeftHashTable(db: db).secrets()
        secrets = found
        return found
    }

    /// Stores a set that names no erased identity.
    func store(_ set: FactSet, _ result: inout AppliedFacts) throws {
        let scopeId = try scopeId(set.scope)
        if let notification = set.notification, try !isNew(notification, scopeId) {
            result.repeatedNotifications += 1
            return
        }
        guard !set.identities.isEmpty else { return }
        let owner = try customers.customer(of: set.identities, in: scopeId)
        var customerId = owner.id
        var joined: Set<Int64> = owner.wasJoined ? [owner.id] : []
        func purchase(_ original: String) -> SQLPurchase { SQLPurchase(scopeId: scopeId, original: original) }
        func written(_ fact: borrowing TransactionFact) -> SQLFact {
            SQLFact(
                SQLTransaction(fact.payload.transactionId ?? "", of: purchase(fact.storedOriginalTransactionId)),
                kind: fact.origin.kind, isPlainPurchase: fact.isPlainPurchase, revokes: fact.revokes,
                product: fact.storedProduct, isKnown: true)
        }
        // Indexes, because a copy of a fact is expensive.
        var changed: [Int] = []
        for (place, fact) in set.transactions.enumerated() {
            if try apply(fact, scopeId, &result) { changed.append(place) }
        }
        var connections = SQLConnections()
        if !changed.isEmpty {
            let facts = changed.map { written(set.transactions[$0]) }
            let merged = try join(session.purchasesOfOneCustomer(facts, &connections), scopeId)
            if !merged.isEmpty {
                customerId = try customers.customer(of: set.identities, in: scopeId).id
                joined.formUnion(merged)
            }
            try session.recordTransactions(facts, &connections)
        }
        if !joined.isEmpty { result.mergesCustomers = true }
        // A new customer has no term if no document of the set states the type of a purchase. iOS 6 receipts state none.
        let isKnown = !owner.isNew || !joined.isEmpty
        var withTerms: Set<SQLOwnedPurchase> = []
        for place in changed where set.transactions[place].mayMoveTerms {
            guard isKnown || set.transactions[place].statesNonRenewingSubscription else { continue }
            let original = set.transactions[place].storedOriginalTransactionId
            withTerms.insert(SQLOwnedPurchase(purchase(original), of: customerId))
        }
        try session.recordTerms(of: withTerms, joined: joined, &connections)
        if let original = set.transactions.first?.storedOriginalTransactionId {
            try session.append(SQLEntry.unclaimedSeats(of: set, purchase(original)))
        }
        if let task = ConsumptionTask(of: set) { try session.open(task) }
        var renewed: Set<String> = []
        for fact in set.renewalInfos {
            if try apply(fact, scopeId, &result) { renewed.insert(fact.payload.originalTransactionId ?? "") }
        }
        for place in changed where set.transactions[place].isPeriod {
            renewed.insert(set.transactions[place].storedOriginalTransactionId)
        }
        let events = [NotifiedEvent(of: set)].compactMap { $0 }
        for original in renewed.union(events.map(\.originalTransactionId)).sorted() {
            let notified = events.filter { $0.originalTransactionId == original }
            try session.recordRenewals(of: [(purchase: purchase(original), notified: notified)], &connections)
        }
        if !renewed.isEmpty {
            let history = try lookHistory ?? session.lookHistory()
            lookHistory = history
            try session.keepLookDates(set, scopeId, after: history)
        }
        if let fact = set.appTransaction { try apply(fact, customerId, &result) }
        if let receipt = set.receipt { try apply(receipt, customerId, &result) }
    }

    /// Merges the customers of each of these sets of purchases.
    /// - Returns: the customers into which others were merged.
    private func join(_ ofOneCustomer: [Set<SQLPurchase>], _ scopeId: Int64) throws -> Set<Int64> {
        var joined: Set<Int64> = []
        for purchases in ofOneCustomer {
            let identities = purchases.map { CustomerIdentity(.originalTransactionId, $0.original) }
            let owner = try customers.customer(of: identities, in: scopeId)
            if owner.wasJoined { joined.insert(owner.id) }
        }
        return joined
    }

    /// The id of a scope. A missing scope is inserted.
    func scopeId(_ scope: StoreScope) throws -> Int64 {
        if let id = scopeIds[scope] { return id }
        let insert = try db.statement("INSERT INTO scopes (environment, bundle_id) VALUES (?1, ?2)")
        var id = try SQLiteTransactionStore.scopeId(scope, db)
        if id == nil {
            try insert.run(scope.environment.rawValue, scope.bundleId)
            id = db.lastInsertedRowID
        }
        guard let id else { throw TransactionStoreError(.engine, "The database returned no id for a scope.") }
        scopeIds[scope] = id
        return id
    }

    private func isNew(_ notification: ProcessedNotification, _ scopeId: Int64) throws -> Bool {
        let insert = try db.statement(StoreTable.notifications.insert)
        return try insert.run(
            notification.notificationUUID, scopeId, notification.notificationType, notification.subtype,
            notification.signedDate, notification.body) > 0
    }

    /// Returns whether the fact was new or newer.
    private func apply(_ fact: TransactionFact, _ scopeId: Int64, _ result: inout AppliedFacts) throws -> Bool {
        encoder.encode(fact)
        let original = fact.storedOriginalTransactionId
        let id = fact.payload.transactionId ?? ""
        let changed = try insertTransaction.run(
            scopeId, original, id, Int64(fact.origin.kind.rawValue), fact.origin.source.code,
            fact.origin.signedDate, encoder.payload.bytes, encoder.legacy.bytes, fact.origin.documentBytes)
        result.count(changed)
        return changed > 0
    }

    /// Returns whether the fact was new or newer.
    private func apply(_ fact: RenewalInfoFact, _ scopeId: Int64, _ result: inout AppliedFacts) throws -> Bool {
        encoder.encode(fact)
        let changed = try insertRenewalInfo.run(
            scopeId, fact.payload.originalTransactionId ?? "", Int64(fact.origin.kind.rawValue),
            fact.origin.source.code, fact.origin.signedDate, encoder.payload.bytes, fact.origin.documentBytes)
        result.count(changed)
        return changed > 0
    }

    private func apply(_ fact: AppTransactionFact, _ customerId: Int64, _ result: inout AppliedFacts) throws {
        encoder.encode(fact)
        result.count(
            try insertAppTransaction.run(
                customerId, fact.rowKind.rawValue, fact.origin.source.code, fact.origin.signedDate,
                encoder.payload.bytes, encoder.legacy.bytes, fact.origin.documentBytes))
    }

    private func apply(_ receipt: KnownReceipt, _ customerId: Int64, _ result: inout AppliedFacts) throws {
        result.count(try insertReceipt.run(customerId, Int64(receipt.form.rawValue), receipt.signedDate, receipt.bytes))
    }
}

extension AppliedFacts {
    fileprivate mutating func count(_ changedRows: Int) {
        if changedRows > 0 { changed += 1 } else { unchanged += 1 }
    }
}
