import AppStoreModels
import TransactionStore

/// Appends to the ledger what became of the transactions of a batch, at the end of the transaction that writes them.
///
/// One advisory lock per schema is taken before and held until the commit. PostgreSQL gives locks back after the commit is
/// visible, so positions become visible in their order and a reader skips none. The next writer's statements see
/// everything that was committed, so that of two who write about one transaction the second one sees what both know.
struct LedgerWriter {
    let session: PostgreSQLSession
    let lockClass: Int32

    /// Scopes have the numbers from 1, the schema has 0.
    private static let lockNumber: Int32 = -1

    private static let lock = Statement(
        name: "lock_ledger", sql: "SELECT pg_advisory_xact_lock($1::int4, $2::int4)::text")
    private static let insert = Statement(
        name: "insert_ledger",
        sql: """
            INSERT INTO ledger (purchase, scope, number, event, transaction_id)
            SELECT purchase, scope, number, event, id
            FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::int2[], $5::bytea[])
                WITH ORDINALITY AS given (purchase, scope, number, event, id, place)
            ORDER BY place
            ON CONFLICT (transaction_id, scope, number) DO NOTHING
            """)
    private static let findHistory = Statement(
        name: "find_ledger_history",
        sql: """
            SELECT given.place::int4, last.number, last.event::int8, last.purchased
            FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY AS given (scope, id, place)
            CROSS JOIN LATERAL (
                SELECT max(number)::int8 AS number, (array_agg(event ORDER BY number DESC))[1] AS event,
                    bool_or(event = 1)::int4 AS purchased
                FROM ledger WHERE transaction_id = given.id AND scope = given.scope
            ) AS last
            WHERE last.number IS NOT NULL
            """)
    private static let findFacts = Statement(
        name: "find_ledger_facts",
        sql: """
            SELECT given.place::int4, t.kind, t.source, t.signed_date, t.payload, t.legacy
            FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS given (purchase, id, place)
            JOIN transactions AS t ON t.purchase = given.purchase AND t.transaction_id = given.id
            """)

    /// A transaction of the batch, whose facts may be several.
    private struct Purchase {
        let purchase: Int64
        let scope: Int32
        let id: Range<Int>
        /// Whether somebody signed one of its facts in the batch.
        let isSigned: Bool
        /// Whether it is signed, and nothing in the batch says that it was cancelled.
        var isPlain: Bool
    }

    /// - Parameters:
    ///   - numbers: by place, the numbers of the identities.
    ///   - scopeIds: by place, the numbers of the scopes.
    func record(_ batch: FactBatch, _ numbers: [Int64], _ scopeIds: [Int32]) throws {
        let purchases = purchases(batch, numbers, scopeIds)
        try session.run(Self.lock, [.int4(lockClass), .int4(Self.lockNumber)])
        // Nearly all of a bulk load are new and end here.
        let plain = purchases.filter(\.isPlain)
        let inserted = try insert(plain.map { Entry($0, number: 0, .purchased) }, batch.octets)
        var open = purchases.filter { !$0.isPlain }
        if inserted < plain.count {
            let histories = try histories(plain, batch.octets)
            open += plain.indices.filter { histories[$0]?.isGranted != true }.map { plain[$0] }
        }
        guard !open.isEmpty else { return }
        var histories = try histories(open, batch.octets)
        // Whatever somebody signed has an entry: what has none, and is not signed here, needs none.
        let kept = open.indices.filter { open[$0].isSigned || histories[$0] != nil }
        (open, histories) = (kept.map { open[$0] }, kept.map { histories[$0] })
        guard !open.isEmpty else { return }
        let known = try transactions(open, batch.octets)
        let due = open.indices.compactMap { index -> Entry? in
            guard let transaction = known[index] else { return nil }
            return DueEntry(after: histories[index], for: transaction).map {
                Entry(open[index], number: $0.number, $0.event)
            }
        }
        _ = try insert(due, batch.octets)
    }

    /// The facts of one transaction stand side by side.
    private func purchases(_ batch: FactBatch, _ numbers: [Int64], _ scopeIds: [Int32]) -> [Purchase] {
        var result: [Purchase] = []
        result.reserveCapacity(batch.transactions.count)
        var previous: FactBatch.Row?
        for row in batch.transactions {
            let isSigned = row.kind != Int16(FactKind.recorded.rawValue)
            if let previous, previous.owner == row.owner,
                batch.octets[previous.id].elementsEqual(batch.octets[row.id])
            {
                // What nobody signed comes last and does not undo a plain purchase.
                if isSigned, !row.isPlainPurchase { result[result.count - 1].isPlain = false }
            } else {
                let scope = scopeIds[batch.identities[row.owner].scope]
                result.append(
                    Purchase(
                        purchase: numbers[row.owner], scope: scope, id: row.id, isSigned: isSigned,
                        isPlain: row.isPlainPurchase))
            }
            previous = row
        }
        return result
    }

    // MARK: The database

    private struct Entry {
        let purchase: Int64
        let scope: Int32
        let number: Int32
        let event: Int16
        let id: Range<Int>

        init(_ purchase: Purchase, number: Int64, _ event: LedgerEntry.Event) {
            self.purchase = purchase.purchase
            scope = purchase.scope
            self.number = Int32(clamping: number)
            self.event = Int16(truncatingIfNeeded: event.rawValue)
            id = purchase.id
        }
    }

    private func ids(_ ranges: [Range<Int>], _ octets: [UInt8]) -> Parameter {
        var elements = BinaryBuffer(capacity: ranges.count * 24)
        for range in ranges { elements.field(octets[range]) }
        return .encoded(
            elementType: TypeID.bytea, arrayType: TypeID.byteaArray, count: ranges.count, elements: elements.bytes)
    }

    /// How many were appended.
    private func insert(_ entries: [Entry], _ octets: [UInt8]) throws -> Int {
        guard !entries.isEmpty else { return 0 }
        return try session.run(
            Self.insert,
            [
                .int8s(entries.map(\.purchase)), .int4s(entries.map(\.scope)), .int4s(entries.map(\.number)),
                .int2s(entries.map(\.event)), ids(entries.map(\.id), octets),
            ]
        ).affected
    }

    /// By place; nil where the ledger has no entry.
    private func histories(_ purchases: [Purchase], _ octets: [UInt8]) throws -> [LedgerHistory?] {
        var result = [LedgerHistory?](repeating: nil, count: purchases.count)
        let rows = try session.run(
            Self.findHistory, [.int4s(purchases.map(\.scope)), ids(purchases.map(\.id), octets)])
        for row in 0..<rows.count {
            let place = Int(try rows.integer(row, 0, as: Int32.self)) - 1
            guard result.indices.contains(place) else { continue }
            result[place] = try LedgerHistory(
                number: rows.integer(row, 1), event: rows.integer(row, 2),
                wasPurchased: rows.integer(row, 3, as: Int32.self) != 0)
        }
        return result
    }

    /// By place, all that is known about each.
    private func transactions(_ purchases: [Purchase], _ octets: [UInt8]) throws -> [StoredTransaction?] {
        let rows = try session.run(
            Self.findFacts, [.int8s(purchases.map(\.purchase)), ids(purchases.map(\.id), octets)])
        return try StoredFacts.transactions(rows, count: purchases.count)
    }
}

/// Rows of the table `transactions` on their way to being one transaction.
enum StoredFacts {
    /// Of whom a transaction is does not matter for what becomes of it.
    private static let anyScope = StoreScope(environment: .production, bundleId: "")

    /// By place: the rows are place (from 1), kind, source, signing date, payload, legacy fields.
    static func transactions(_ rows: ResultRows, count: Int) throws -> [StoredTransaction?] {
        var assemblers: [Int: CustomerAssembler] = [:]
        for row in 0..<rows.count {
            let place = Int(try rows.integer(row, 0, as: Int32.self)) - 1
            try add(row, of: rows, from: 1, to: &assemblers[place, default: CustomerAssembler(scope: anyScope)])
        }
        return (0..<count).map { assemblers[$0]?.joinedTransactions().first }
    }

    /// Adds kind, source, signing date, payload and legacy fields from the columns that begin at `column`.
    static func add(
        _ row: Int, of rows: ResultRows, from column: Int, to assembler: inout CustomerAssembler
    ) throws {
        let head = CustomerAssembler.Row(
            kind: Int64(try rows.integer(row, column, as: Int16.self)),
            source: Int64(try rows.integer(row, column + 1, as: Int16.self)),
            signedDate: try rows.integer(row, column + 2))
        try rows.withOctets(row, column + 3) { payload in
            try rows.withOctets(row, column + 4) { legacy in
                try assembler.addTransaction(head, payload: payload, legacy: legacy)
            }
        }
    }
}
