public import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: DeliveryLedger {
    private static let readLedger = reading(
        "SELECT * FROM ledger WHERE position > $1::int8 ORDER BY position LIMIT $2::int4")
    private static let readEntriesOfPurchases = reading(
        """
        SELECT e.* FROM (
            SELECT DISTINCT t.purchase, t.transaction_id, i.scope
            FROM scopes AS given
            JOIN identities AS i ON i.scope = given.id AND i.kind = 1 AND i.value = ANY ($3::bytea[])
            JOIN transactions AS t ON t.purchase = i.id
            WHERE given.environment = $1::bytea AND given.bundle_id = $2::bytea
        ) AS known
        JOIN ledger AS e
            ON e.transaction_id = known.transaction_id AND e.scope = known.scope AND e.purchase = known.purchase
        """)

    /// Reads entries with the facts of their transactions, in the order of the positions.
    /// - Parameter entries: a query of rows of the ledger.
    private static func reading(_ entries: String) -> Statement {
        Statement(
            """
            SELECT l.position, l.event, s.environment, s.bundle_id, l.transaction_id,
                t.kind, t.source, t.signed_date, t.payload, t.legacy, l.purchase,
                EXISTS (
                    SELECT FROM ledger AS u
                    WHERE u.transaction_id = l.transaction_id AND u.scope = l.scope AND u.event IN (2, 3))::int4,
                coalesce(l.seat_claim_id, ''::bytea), l.recorded_at,
                \(LedgerEntry.Event.sqlOfEventBefore(scope: "scope"))::int2, coalesce(l.earlier_before, ''::bytea)
            FROM (\(entries)) AS l
            JOIN scopes AS s ON s.id = l.scope
            JOIN transactions AS t ON t.purchase = l.purchase AND t.transaction_id = l.transaction_id
            ORDER BY l.position
            """)
    }

    private static let lastPosition = Statement("SELECT coalesce(max(position), 0) FROM ledger")
    /// The greatest position ever taken. It includes erased entries, and positions that a running transaction has taken
    /// but not committed, which no reader has seen.
    private static let lastTakenPosition = Statement(
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ledger_positions")
    private static let keepPosition = Statement(
        """
        INSERT INTO ledger_consumers AS known (name, position) VALUES ($1::bytea, $2::int8)
        ON CONFLICT (name) DO UPDATE SET position = excluded.position WHERE known.position < excluded.position
        """)
    private static let findPosition = Statement("SELECT position FROM ledger_consumers WHERE name = $1::bytea")

    private static let findRemoval = Statement("SELECT position FROM ledger_removal")

    private static func removedPosition(_ session: PostgreSQLSession) throws -> Int64 {
        let rows = try session.run(findRemoval)
        return rows.count == 0 ? 0 : try rows.integer(0, 0)
    }

    public func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry] {
        let limit = Int32(LedgerLimits.entries(limit))
        return try await perform { session in
            let rows = try session.run(Self.readLedger, [.int8(position), .int4(limit)])
            let entries = try Self.entries(rows, session)
            // Checked after the entries are read, because they can be removed during the read.
            try LedgerLimits.check(readFrom: position, removed: Self.removedPosition(session))
            return entries
        }
    }

    public func entries(
        ofPurchases originalTransactionIds: [String], in scope: StoreScope
    ) async throws -> [LedgerEntry] {
        try await perform { session in
            let rows = try session.run(
                Self.readEntriesOfPurchases,
                [.text(scope.environment.rawValue), .text(scope.bundleId), .texts(originalTransactionIds)])
            // Of removed entries, the last state of each transaction stays, for the entries after it.
            let entries = try Self.entries(rows, session)
            let removed = try Self.removedPosition(session)
            return entries.filter { $0.position > removed }
        }
    }

    private static func entries(_ rows: ResultRows, _ session: PostgreSQLSession) throws -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        // The entries of one purchase often follow each other.
        var last: (purchase: Int64, transactions: [StoredTransaction])?
        var start = 0
        while start < rows.count {
            let position = try rows.integer(start, 0, as: Int64.self)
            let scope = try rows.scope(start, 2)
            var assembler = CustomerAssembler(scope: scope)
            var end = start
            while end < rows.count, try rows.integer(end, 0, as: Int64.self) == position {
                try StoredFacts.add(end, of: rows, from: 5, to: &assembler)
                end += 1
            }
            let id = try rows.text(start, 4)
            var transaction = assembler.joinedTransactions().first
            // The transaction's own facts may not state the revocation or the upgrade. Then only the customer's other
            // transactions show it.
            if try rows.integer(start, 11, as: Int32.self) != 0 || transaction?.mayBeChangedByOthers == true {
                let purchase = try rows.integer(start, 10, as: Int64.self)
                if last?.purchase != purchase {
                    let all = try StoredFacts.subscriptions([purchase], session, in: scope).first ?? []
                    last = (purchase, all)
                }
                transaction = last?.transactions.first { $0.payload.transactionId == id } ?? transaction
            }
            guard let event = LedgerEntry.Event(rawValue: Int64(try rows.integer(start, 1, as: Int16.self))),
                let transaction
            else { throw TransactionStoreError(.corrupt, "the ledger has an entry that cannot be read") }
            entries.append(
                LedgerEntry(
                    position: position, event: event,
                    eventBefore: .init(rawValue: Int64(try rows.integer(start, 14, as: Int16.self))), scope: scope,
                    transactionId: id, transaction: transaction,
                    seatClaimId: event == .seatUnclaimed ? try rows.text(start, 12) : nil,
                    earlierPurchasesBefore: EarlierPurchases.decode(try rows.bytes(start, 15)),
                    recordedDate: try rows.integer(start, 13)))
            start = end
        }
        return entries
    }

    public func acknowledge(_ position: Int64, by consumer: String) async throws {
        try LedgerLimits.check(consumer: consumer)
        try await perform { session in
            try session.transaction {
                let last = try session.run(Self.lastTakenPosition).integer(0, 0, as: Int64.self)
                try LedgerLimits.check(position: position, last: last)
                _ = try session.run(Self.keepPosition, [.text(consumer), .int8(position)])
            }
        }
    }

    public func acknowledgedPosition(of consumer: String) async throws -> Int64 {
        try LedgerLimits.check(consumer: consumer)
        return try await perform { session in
            let rows = try session.run(Self.findPosition, [.text(consumer)])
            return rows.count == 0 ? 0 : try rows.integer(0, 0)
        }
    }

    /// The database server's clock, in milliseconds since 1970.
    static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
    private static let takeLease = Statement(
        """
        INSERT INTO ledger_consumers AS known (name, position, holder, leased_until)
        VALUES ($1::bytea, 0, $2::bytea, \(now) + $3::int8)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
        WHERE known.holder IS NULL OR known.holder = excluded.holder OR known.leased_until <= \(now)
            OR known.leased_until > \(now) + $4::int8
        """)
    private static let findLease = Statement(
        """
        SELECT coalesce(holder, ''::bytea), coalesce(leased_until - \(now), 0) FROM ledger_consumers
        WHERE name = $1::bytea
        """)
    private static let endLease = Statement(
        """
        UPDATE ledger_consumers SET holder = NULL, leased_until = NULL
        WHERE name = $1::bytea AND holder = $2::bytea
        """)

    public func lease(_ consumer: String, to holder: String, for milliseconds: Int64) async throws -> ConsumerLease {
        try LedgerLimits.check(consumer: consumer)
        try LedgerLimits.check(holder: holder, milliseconds: milliseconds)
        return try await perform { session in
            try session.transaction {
                let name = Parameter.text(consumer)
                // The row is locked from here on, so the second statement sees the same lease.
                let taken = try session.run(
                    Self.takeLease,
                    [name, .text(holder), .int8(milliseconds), .int8(LedgerLimits.maximumLeaseMilliseconds)])
                if taken.affected > 0 {
                    return ConsumerLease(isGranted: true, holder: holder, remainingMilliseconds: milliseconds)
                }
                let rows = try session.run(Self.findLease, [name])
                guard rows.count > 0 else { throw TransactionStoreError(.engine, "a consumer with a lease is missing") }
                return ConsumerLease(
                    isGranted: false, holder: try rows.text(0, 0), remainingMilliseconds: try rows.integer(0, 1))
            }
        }
    }

    public func endLease(of consumer: String, by holder: String) async throws {
        try LedgerLimits.check(consumer: consumer)
        try LedgerLimits.check(holder: holder)
        try await perform { session in
            _ = try session.run(Self.endLease, [.text(consumer), .text(holder)])
        }
    }
}

extension PostgreSQLTransactionStore {
    private static let listConsumers = Statement(
        """
        SELECT name, position,
            CASE WHEN leased_until > \(now) AND leased_until <= \(now) + $1::int8 THEN coalesce(holder, ''::bytea)
                ELSE ''::bytea END
        FROM ledger_consumers ORDER BY name
        """)
    private static let removeConsumer = Statement("DELETE FROM ledger_consumers WHERE name = $1::bytea")
    private static let findLater = Statement(
        """
        SELECT position FROM ledger
        WHERE position > $1::int8 AND position <= $1::int8 + $3::int8 AND recorded_at >= $2::int8
        ORDER BY position LIMIT 1
        """)
    private static let keepRemoval = Statement(
        "UPDATE ledger_removal SET position = greatest(position, $1::int8) RETURNING position")
    /// Keeps the entries that `LedgerHistory`, `RenewalEntries` and the reader need: `purchased` (1),
    /// `upgraded` (3) and `seatUnclaimed` (6). It keeps the first entry of a transaction, because the writer detects by
    /// number 0 that a transaction has entries, and its last entry. It keeps the last state before the removal, and the
    /// later events about billing, expiry and price increases (7 to 13, 15): they decide the state before the next
    /// entry, and none of them is written again.
    private static let deleteSuperseded = Statement(
        """
        DELETE FROM ledger AS l
        WHERE l.position > $1::int8 AND l.position <= $2::int8 AND l.event NOT IN (1, 3, 6) AND l.number > 0
            AND EXISTS (
                SELECT FROM ledger AS k
                WHERE k.transaction_id = l.transaction_id AND k.scope = l.scope AND k.number > l.number)
            AND (l.event IN (5, 14) OR EXISTS (
                SELECT FROM ledger AS k
                WHERE k.transaction_id = l.transaction_id AND k.scope = l.scope AND k.number > l.number
                    AND k.position <= $3::int8 AND k.event <= 4))
        """)

    public func consumers() async throws -> [LedgerConsumer] { try await perform { try Self.consumers($0) } }

    private static func consumers(_ session: PostgreSQLSession) throws -> [LedgerConsumer] {
        let rows = try session.run(listConsumers, [.int8(LedgerLimits.maximumLeaseMilliseconds)])
        return try (0..<rows.count).map { row in
            // NULL reads as an empty text, and no holder has an empty name.
            let holder = try rows.text(row, 2)
            return LedgerConsumer(
                name: try rows.text(row, 0), position: try rows.integer(row, 1), holder: holder.isEmpty ? nil : holder)
        }
    }

    public func removeConsumer(_ name: String) async throws -> Bool {
        try LedgerLimits.check(consumer: name)
        return try await perform { session in
            try session.run(Self.removeConsumer, [.text(name)]).affected > 0
        }
    }

    public func removeEntries(before date: Int64, evenUnread: Bool) async throws -> LedgerRemoval {
        let (removed, last) = try await perform { session in
            (try Self.removedPosition(session), try session.run(Self.lastPosition).integer(0, 0, as: Int64.self))
        }
        // Searches a limited range at a time, because a statement has a time limit.
        var asked = max(removed, last)
        var start = removed
        while start < last {
            let from = start
            let later = try await perform { session in
                let rows = try session.run(
                    Self.findLater, [.int8(from), .int8(date), .int8(LedgerLimits.removedAtOnce)])
                return rows.count == 0 ? nil : try rows.integer(0, 0, as: Int64.self)
            }
            if let later {
                asked = min(asked, later - 1)
                break
            }
            start += LedgerLimits.removedAtOnce
        }
        let end = asked
        let removal = try await perform { session in
            let removal = LedgerRemoval(
                asked: end, removed: removed, consumers: try Self.consumers(session), evenUnread: evenUnread)
            let rows = try session.run(Self.keepRemoval, [.int8(removal.position)])
            return LedgerRemoval(position: try rows.integer(0, 0), behind: removal.behind)
        }
        start = 0
        while start < removal.position {
            let range = (start, min(start + LedgerLimits.removedAtOnce, removal.position))
            try await perform { session in
                _ = try session.run(Self.deleteSuperseded, [.int8(range.0), .int8(range.1), .int8(removal.position)])
            }
            start = range.1
        }
        return removal
    }
}

extension PostgreSQLTransactionStore: CustomerDirectory {
    private static let findScope = Statement(
        "SELECT id FROM scopes WHERE environment = $1::bytea AND bundle_id = $2::bytea")
    private static let listScopes = Statement(
        "SELECT environment, bundle_id FROM scopes ORDER BY environment, bundle_id")
    private static let listIdentities = Statement(
        """
        SELECT kind, value, customer FROM identities
        WHERE scope = $1::int4 AND (kind, value) > ($2::int4::int2, $3::bytea)
        ORDER BY kind, value LIMIT $4::int4
        """)
    private static let leastIdentities = Statement(
        """
        SELECT DISTINCT ON (i.customer) i.customer, i.kind, i.value
        FROM unnest($2::int8[]) AS given (customer) JOIN identities AS i ON i.customer = given.customer
        WHERE i.scope = $1::int4
        ORDER BY i.customer, i.kind, i.value
        """)

    public func scopes() async throws -> [StoreScope] {
        try await perform { session in
            let rows = try session.run(Self.listScopes)
            return try (0..<rows.count).map { try rows.scope($0, 0) }
        }
    }

    public func customers(
        in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
    ) async throws -> [Customer] {
        try await perform { session in
            let found = try session.run(Self.findScope, [.text(scope.environment.rawValue), .text(scope.bundleId)])
            guard found.count > 0 else { return [] }
            let scopeId = try found.integer(0, 0, as: Int32.self)
            var page = CustomerPage(limit: limit)
            var last = identity
            while !page.isFull {
                let identities = try Self.identities(after: last, scopeId, session)
                guard !identities.isEmpty else { break }
                for identity in identities where !page.isFull {
                    last = identity.identity
                    guard identity.isLeast else { continue }
                    let query = CustomerReader.Query(identities: [identity.identity], scope: scope)
                    for answer in try CustomerReader.answers(to: [query], session) {
                        if let customer = try answer.get() { page.add(customer) }
                    }
                }
            }
            return page.customers
        }
    }

    private static func findReference(_ identities: String) -> Statement {
        Statement(
            """
            SELECT DISTINCT s.environment, s.bundle_id, i.kind, i.value
            FROM (\(identities)) AS i JOIN scopes AS s ON s.id = i.scope
            ORDER BY s.environment, s.bundle_id, i.kind, i.value LIMIT $2::int4
            """)
    }

    /// The original transaction ids of the transactions that satisfy a condition.
    private static func purchases(_ condition: String) -> String {
        """
        SELECT p.scope, p.kind, p.value FROM transactions JOIN identities AS p ON p.id = purchase WHERE \(condition)
        """
    }

    private static let findTransactionId = findReference(purchases("transaction_id = $1::bytea"))
    private static let findWebOrderLineItemId = findReference(
        purchases("\(Schema.hasWebOrderLineItemId) AND \(Schema.webOrderLineItemId) = $1::bytea"))
    private static let findUserId = findReference(
        "SELECT scope, kind, value FROM user_claims WHERE user_id = $1::bytea")

    public func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] {
        let (statement, id) =
            switch reference {
            case .transactionId(let id): (Self.findTransactionId, Array(id.utf8))
            case .webOrderLineItemId(let id): (Self.findWebOrderLineItemId, StoredWebOrderLineItemId.written(id))
            case .userId(let id): (Self.findUserId, Array(id.utf8))
            }
        return try await perform { session in
            let rows = try session.run(
                statement, [.bytes(id), .int4(Int32(CustomerReference.identities(limit)))])
            return try (0..<rows.count).map { row in
                ScopedIdentity(scope: try rows.scope(row, 0), identity: try Self.identity(rows, row, from: 2))
            }
        }
    }

    private struct ListedIdentity {
        let identity: CustomerIdentity
        /// Whether this is the first identity of its customer.
        let isLeast: Bool
    }

    private static func identities(
        after last: CustomerIdentity?, _ scopeId: Int32, _ session: PostgreSQLSession
    ) throws -> [ListedIdentity] {
        let rows = try session.run(
            listIdentities,
            [
                .int4(scopeId), .int4(Int32(last?.kind.rawValue ?? 0)), .text(last?.value ?? ""),
                .int4(Int32(CustomerPage.identitiesAtOnce)),
            ])
        let customers = try (0..<rows.count).map { try rows.integer($0, 2, as: Int64.self) }
        let least = try session.run(leastIdentities, [.int4(scopeId), .int8s(Set(customers).sorted())])
        var first: [Int64: CustomerIdentity] = [:]
        for row in 0..<least.count {
            first[try least.integer(row, 0)] = try Self.identity(least, row, from: 1)
        }
        return try (0..<rows.count).map { row in
            let identity = try Self.identity(rows, row, from: 0)
            return ListedIdentity(identity: identity, isLeast: first[customers[row]] == identity)
        }
    }

    private static func identity(_ rows: ResultRows, _ row: Int, from column: Int) throws -> CustomerIdentity {
        try CustomerIdentity(
            storedKind: Int64(rows.integer(row, column, as: Int16.self)), rows.text(row, column + 1))
    }
}
