import Purchases
import TransactionStore

/// Why a transaction must start over.
enum WriteObstacle: Error {
    /// Customers of these scopes must be merged, which needs an exclusive lock of the scopes.
    case joining(Set<Int32>)
    /// Another writer created one of the identities at the same time.
    case identityTaken
}

/// Writes one batch in one transaction.
///
/// One advisory lock per scope controls concurrency. Writers hold it shared: they may add identities and facts, and the
/// owner of an identity does not change while any writer holds the lock. A writer that merges customers holds it
/// exclusively. Unique keys and conditional updates handle everything else, so any number of programs may write.
struct FactWriter {
    let session: PostgreSQLSession
    /// The scopes to lock exclusively.
    let exclusive: Set<Int32>
    /// Whether new identities may use COPY. COPY fails where INSERT would detect that another writer was faster.
    let mayCopyIdentities: Bool

    /// From this number of rows, COPY is faster than INSERT despite its extra round trip.
    private static let copyThreshold = 64

    private static let lockScopes = Statement(
        """
        SELECT CASE WHEN given.alone = 1 THEN pg_advisory_xact_lock($1::int4, given.scope)::text
            ELSE pg_advisory_xact_lock_shared($1::int4, given.scope)::text END
        FROM unnest($2::int4[], $3::int2[]) AS given (scope, alone)
        """)
    private static let findIdentities = Statement(
        """
        SELECT given.place::int4, known.id, known.customer
        FROM unnest($1::int4[], $2::int2[], $3::bytea[]) WITH ORDINALITY AS given (scope, kind, value, place)
        JOIN identities AS known USING (scope, kind, value)
        """)
    private static let makeIds = Statement("SELECT nextval('identity_ids') FROM generate_series(1, $1::int4)")

    /// - Parameters:
    ///   - given: the facts of several calls.
    ///   - migration: the other parts of a migration step, written in the same transaction.
    /// - Returns: one value per call of the batch.
    /// - Throws: ``WriteObstacle``, ``PostgreSQLFailure`` or `TransactionStoreError`.
    func write(_ given: FactBatch, _ migration: MigrationBatch? = nil) throws -> [AppliedFacts] {
        let scopeIds = try ScopeIds(session).find(given.scopes)
        let migrationIds = try ScopeIds(session).find(migration?.scopes ?? [])
        return try session.transaction {
            // Left hashes remove customers, which needs the lock of an erasure.
            let hashScopes = Set(migration?.step.leftHashes.map { ScopeKey(scope: $0.scope) } ?? [])
            let erasing = zip(migration?.scopes ?? [], migrationIds).filter {
                hashScopes.contains(ScopeKey(scope: $0.0))
            }
            try lock(scopeIds + migrationIds, alone: exclusive.union(erasing.map(\.1)))
            let hashes = LeftHashTable(session: session)
            if let migration, !erasing.isEmpty {
                try hashes.take(migration.step.leftHashes, session) { Int64(try ScopeIds(session).find([$0])[0]) }
            }
            // After the lock, so that the result contains what an erasure that held it has left.
            let erased = try hashes.erased {
                var step = migration?.step ?? MigrationStep()
                step.facts = given.sets.map(\.set)
                return step
            }
            let allowed = given.removing(erased)
            // Without the excluded sets there may be fewer scopes.
            let allowedIds = allowed === given ? scopeIds : try ScopeIds(session).find(allowed.scopes)
            let batch = try takeNotifications(allowed, allowedIds)
            var result = batch.unchanged
            func writeMigration() throws {
                guard let migration else { return }
                var ignored = AppliedFacts()
                let rest = migration.removing(erased, &ignored)
                if !result.isEmpty { result[0].add(ignored) }
                try rest.write(rest === migration ? migrationIds : try ScopeIds(session).find(rest.scopes), session)
            }
            guard !batch.identities.isEmpty else {
                try writeMigration()
                return result
            }
            let ids = batch === allowed ? allowedIds : try ScopeIds(session).find(batch.scopes)
            var owners = try findOwners(batch, ids)
            // Before the ledger's lock, which blocks other writers.
            try writeMigration()
            for (call, changed) in try writeFacts(batch, &owners, ids).enumerated() {
                result[call].changed = changed
                result[call].unchanged -= changed
                result[call].mergesCustomers = !owners.joinedCustomers.isEmpty
            }
            return result
        }
    }

    private func lock(_ scopeIds: [Int32], alone: Set<Int32>) throws {
        let ids = Set(scopeIds).sorted()
        try session.run(
            Self.lockScopes, .int4(session.lockClass), .int4s(ids), .int2s(ids.map { alone.contains($0) ? 1 : 0 }))
    }

    /// Inserts the notifications and returns the batch without the sets whose notification already existed.
    private func takeNotifications(_ batch: FactBatch, _ scopeIds: [Int32]) throws -> FactBatch {
        var given: [(notification: ProcessedNotification, scope: StoreScope)] = []
        for each in batch.sets {
            if let notification = each.set.notification { given.append((notification, each.set.scope)) }
        }
        guard !given.isEmpty else { return batch }
        given.sort { $0.notification.notificationUUID < $1.notification.notificationUUID }
        let scopes = batch.scopes.map { ScopeKey(scope: $0) }
        let ids = Dictionary(zip(scopes, scopeIds), uniquingKeysWith: { first, _ in first })
        var rows = RowBuffer(.notifications, .columns)
        for (notification, scope) in given {
            rows.beginRow()
            rows.bytes(notification.notificationUUID.utf8)
            rows.integer(ids[ScopeKey(scope: scope)] ?? 0)
            rows.integer(notification.signedDate)
            rows.bytes(notification.notificationType.utf8)
            if let subtype = notification.subtype { rows.bytes(subtype.utf8) } else { rows.null() }
            rows.bytes(notification.body)
        }
        let inserted = try rows.insert(session)
        guard inserted.count < given.count else { return batch }
        var repeated = Set(given.map { Array($0.notification.notificationUUID.utf8) })
        for row in 0..<inserted.count { repeated.remove(try inserted.bytes(row, 0)) }
        return batch.excluding(notifications: repeated)
    }

    // MARK: Identities

    /// The database ids of the identities and customers of a batch.
    struct Owners {
        var identities: [Int64]
        var isNewIdentity: [Bool]
        var customers: [Int64]
        var isNewCustomer: [Bool]
        /// The customers into which others were merged.
        var joinedCustomers: Set<Int64> = []
    }

    private func findOwners(_ batch: FactBatch, _ scopeIds: [Int32]) throws -> Owners {
        var owners = Owners(
            identities: Array(repeating: 0, count: batch.identities.count),
            isNewIdentity: Array(repeating: true, count: batch.identities.count),
            customers: Array(repeating: 0, count: batch.componentCount),
            isNewCustomer: Array(repeating: true, count: batch.componentCount))
        let joining = try findKnown(batch, scopeIds, &owners)
        if !joining.isEmpty {
            let scopes = Set(batch.identities.lazy.filter { joining[$0.component] != nil }.map { scopeIds[$0.scope] })
            guard scopes.isSubset(of: exclusive) else { throw WriteObstacle.joining(scopes) }
            let moves = try CustomerJoiner(session: session).join(joining.values)
            owners.customers = owners.customers.map { moves[$0] ?? $0 }
            owners.joinedCustomers = Set(moves.values)
        }
        try addIdentities(batch, scopeIds, &owners)
        return owners
    }

    /// Fills in the known ids, and returns the components that belong to several customers.
    private func findKnown(
        _ batch: FactBatch, _ scopeIds: [Int32], _ owners: inout Owners
    ) throws -> [Int: Set<Int64>] {
        let known = try session.run(
            Self.findIdentities, .int4s(batch.identities.map { scopeIds[$0.scope] }),
            .int2s(batch.identities.map(\.kind)), .slices(batch.identities.map(\.value), of: batch.bytes))
        var joining: [Int: Set<Int64>] = [:]
        for (row, place) in try known.places(among: batch.identities.count) {
            let component = batch.identities[place].component
            let customer = try known.integer(row, 2, as: Int64.self)
            owners.identities[place] = try known.integer(row, 1)
            owners.isNewIdentity[place] = false
            if owners.isNewCustomer[component] {
                owners.isNewCustomer[component] = false
                owners.customers[component] = customer
            } else if owners.customers[component] != customer {
                joining[component, default: [owners.customers[component]]].insert(customer)
            }
        }
        return joining
    }

    /// Inserts the missing identities. A new customer gets the number of its first identity.
    private func addIdentities(_ batch: FactBatch, _ scopeIds: [Int32], _ owners: inout Owners) throws {
        var missing = batch.identities.indices.filter { owners.isNewIdentity[$0] }
        guard !missing.isEmpty else { return }
        // By the numbers of the scopes, which are the same in every program. Within a scope the identities are already
        // sorted.
        missing.sort { (scopeIds[batch.identities[$0].scope], $0) < (scopeIds[batch.identities[$1].scope], $1) }
        let numbers = try session.run(Self.makeIds, .int4(Int32(truncatingIfNeeded: missing.count)))
        let layout: RowBuffer.Layout = mayCopyIdentities && missing.count >= Self.copyThreshold ? .rows : .columns
        var rows = RowBuffer(.identities, layout)
        for (index, place) in missing.enumerated() {
            let identity = batch.identities[place]
            owners.identities[place] = try numbers.integer(index, 0)
            if owners.customers[identity.component] == 0 {
                owners.customers[identity.component] = owners.identities[place]
            }
            rows.beginRow()
            rows.integer(owners.identities[place])
            rows.integer(owners.customers[identity.component])
            rows.integer(scopeIds[identity.scope])
            rows.integer(identity.kind)
            rows.bytes(batch.bytes[identity.value])
        }
        guard try rows.send(to: session) == missing.count else { throw WriteObstacle.identityTaken }
    }

    /// Merges the customers of each of these sets of purchases.
    private func join(_ ofOneCustomer: [Set<SQLPurchase>], _ owners: Owners) throws -> Owners {
        guard !ofOneCustomer.isEmpty else { return owners }
        let purchases = ofOneCustomer.flatMap { $0 }
        var customers: [SQLPurchase: Int64] = [:]
        for (place, customer) in try session.owners(of: purchases) { customers[purchases[place]] = customer }
        func owning(_ purchases: Set<SQLPurchase>) -> Set<Int64> { Set(purchases.compactMap { customers[$0] }) }
        let apart = ofOneCustomer.filter { owning($0).count > 1 }
        guard !apart.isEmpty else { return owners }
        let scopes = Set(apart.joined().map { Int32(truncatingIfNeeded: $0.scopeId) })
        guard scopes.isSubset(of: exclusive) else { throw WriteObstacle.joining(scopes) }
        let moves = try CustomerJoiner(session: session).join(apart.map(owning))
        var owners = owners
        owners.customers = owners.customers.map { moves[$0] ?? $0 }
        owners.joinedCustomers = Set(owners.joinedCustomers.map { moves[$0] ?? $0 }).union(moves.values)
        return owners
    }

    // MARK: Facts

    /// Writes the facts and returns, for each call, how many were new or newer. Can merge further customers.
    private func writeFacts(_ batch: FactBatch, _ owners: inout Owners, _ scopeIds: [Int32]) throws -> [Int] {
        var changed = [Int](repeating: 0, count: batch.unchanged.count)
        try write(batch, batch.transactions, .transactions, owners.identities, owners.isNewIdentity, &changed)
        let hasNewTransactions = changed.contains { $0 > 0 }
        let changedBefore = changed
        try write(batch, batch.renewalInfos, .renewalInfos, owners.identities, owners.isNewIdentity, &changed)
        let hasNewRenewalInfos = changed != changedBefore
        // Identities that no document of the batch joins may still belong to one customer.
        var first: [Int64: Int] = [:]
        let components = owners.customers.enumerated().map { component, customer in
            let known = first[customer] ?? component
            first[customer] = known
            return known
        }
        var (appTransactions, receipts) = (batch.appTransactions, batch.receipts)
        if first.count < components.count {
            appTransactions = FactBatch.newest(appTransactions, of: components, batch.bytes)
            receipts = FactBatch.newest(receipts, of: components, batch.bytes)
        }
        try write(batch, appTransactions, .appTransactions, owners.customers, owners.isNewCustomer, &changed)
        try write(batch, receipts, .receipts, owners.customers, owners.isNewCustomer, &changed)
        let tasks = batch.sets.compactMap { ConsumptionTask(of: $0.set) }
        // In the order of their keys, so that two writers wait for each other in one direction only.
        for task in tasks.sorted(by: { $0.notificationUUID < $1.notificationUUID }) { try session.open(task) }
        // Last, because a writer that appends to the ledger blocks the others until the end of its transaction.
        let hasSeats = batch.sets.contains { !$0.set.unclaimedSeatIds.isEmpty }
        let isRenewed = hasNewRenewalInfos && batch.renewalInfos.contains { $0.kind == BatchPurchases.signed }
        let isNotified = batch.sets.contains { NotifiedEvent(of: $0.set) != nil }
        guard hasNewTransactions || hasSeats || isRenewed || isNotified || !owners.joinedCustomers.isEmpty else {
            return changed
        }
        try session.lockLedger()
        var purchases = BatchPurchases(batch: batch, owners: owners, scopeIds: scopeIds)
        var connections = SQLConnections()
        if hasNewTransactions {
            let facts = purchases.facts
            // Under the lock, so that of two writers of one transaction id the second sees the facts of both. Before the first
            // entry, because the transaction may start over.
            owners = try join(session.purchasesOfOneCustomer(facts, &connections), owners)
            purchases.owners = owners
            try session.recordTransactions(facts, &connections)
        }
        try purchases.record(session, &connections)
        if hasNewTransactions || isRenewed { try session.keepLookDates(batch, owners.identities) }
        return changed
    }

    /// The key of a row.
    private struct RowKey: Hashable {
        let number: Int64
        let kind: Int16
        /// The transaction id; empty for other rows.
        let id: [UInt8]
    }

    /// - Parameters:
    ///   - batch: the batch of the rows.
    ///   - all: the rows.
    ///   - table: the table of the rows.
    ///   - numbers: for each owner, the database id of the identity or customer.
    ///   - isNew: for each owner, whether this transaction created the id. Then no row of it can exist yet, and COPY
    ///     cannot fail.
    ///   - changed: for each call, the number of new or newer rows. This method adds to it.
    private func write(
        _ batch: FactBatch, _ all: [FactBatch.Row], _ table: Table, _ numbers: [Int64], _ isNew: [Bool],
        _ changed: inout [Int]
    ) throws {
        guard !all.isEmpty else { return }
        let newCount = all.count { isNew[$0.owner] }
        let copies = newCount >= Self.copyThreshold
        var new = RowBuffer(table, .rows)
        var other = RowBuffer(table, .columns)
        var others: [FactBatch.Row] = []
        let hasId = table.name == Table.transactions.name
        let hasSource = table.name != Table.receipts.name
        let hasLegacy = hasId || table.name == Table.appTransactions.name
        func add(_ row: FactBatch.Row, to rows: inout RowBuffer) {
            rows.beginRow()
            rows.integer(numbers[row.owner])
            rows.integer(row.signedDate)
            rows.integer(row.kind)
            if hasSource { rows.integer(row.source) }
            if hasId { rows.bytes(batch.bytes[row.id]) }
            rows.bytes(batch.bytes[row.payload])
            if hasLegacy { rows.bytes(batch.bytes[row.legacy]) }
            if hasSource { rows.bytes(batch.bytes[row.document]) }
        }
        // By database id, an order that is the same in every program. Two writers then wait for each other in one
        // direction only.
        let isSorted = zip(all, all.dropFirst()).allSatisfy { numbers[$0.owner] <= numbers[$1.owner] }
        for row in isSorted ? all : all.sorted(by: { numbers[$0.owner] < numbers[$1.owner] }) {
            if copies, isNew[row.owner] {
                add(row, to: &new)
                changed[row.call] += 1
                if new.isFull { try new.send(to: session) }
            } else {
                add(row, to: &other)
                others.append(row)
                if other.isFull { try insertOthers() }
            }
        }
        try new.send(to: session)
        try insertOthers()

        func insertOthers() throws {
            guard !others.isEmpty else { return }
            let inserted = try other.insert(session)
            if inserted.count == others.count {
                for row in others { changed[row.call] += 1 }
            } else if changed.count == 1 {
                changed[0] += inserted.count
            } else if inserted.count > 0 {
                var calls: [RowKey: Int] = [:]
                for row in others {
                    let id = hasId ? Array(batch.bytes[row.id]) : []
                    calls[RowKey(number: numbers[row.owner], kind: row.kind, id: id)] = row.call
                }
                for row in 0..<inserted.count {
                    let key = RowKey(
                        number: try inserted.integer(row, 0), kind: try inserted.integer(row, 1),
                        id: hasId ? try inserted.bytes(row, 2) : [])
                    guard let call = calls[key] else {
                        throw TransactionStoreError(.engine, "the server returned a row that was not in the batch")
                    }
                    changed[call] += 1
                }
            }
            other.removeAll()
            others = []
        }
    }
}
