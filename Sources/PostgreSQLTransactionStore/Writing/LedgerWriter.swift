import AppStoreModels
import Purchases
import TransactionStore

/// Appends the ledger entries of a batch at the end of the transaction that writes its facts.
///
/// The transaction first takes one advisory lock per schema and holds it until the commit. PostgreSQL releases locks
/// after the commit is visible, so positions become visible in order and a reader skips none. The next writer's
/// statements see everything committed before, so of two writers of one transaction id the second sees the facts of
/// both.
struct LedgerWriter {
    let session: PostgreSQLSession

    private static let insert = Statement(
        """
        INSERT INTO ledger (purchase, scope, number, event, transaction_id)
        SELECT purchase, scope, number, event, id
        FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::int2[], $5::bytea[])
            WITH ORDINALITY AS given (purchase, scope, number, event, id, place)
        ORDER BY place
        ON CONFLICT (transaction_id, scope, number) DO NOTHING
        """)
    private static let findHistory = Statement(
        """
        SELECT given.place::int4, last.number, last.event::int8, last.purchased
        FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY AS given (scope, id, place)
        CROSS JOIN LATERAL (
            SELECT max(number)::int8 AS number,
                (array_agg(event ORDER BY number DESC) FILTER (WHERE event <= 4))[1] AS event,
                bool_or(event = 1)::int4 AS purchased
            FROM ledger WHERE transaction_id = given.id AND scope = given.scope
        ) AS last
        WHERE last.event IS NOT NULL
        """)
    /// Finds the purchases that have a transaction of another product than the given one, or with a cancellation.
    private static let findDependent = Statement(
        """
        SELECT given.place::int4
        FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS given (purchase, product, place)
        WHERE EXISTS (
            SELECT FROM transactions AS t
            WHERE t.purchase = given.purchase AND (position(given.product IN t.payload) = 0 OR \(Table.revokes("t"))))
        """)

    /// Finds the transactions of which a server received a cancellation in a notification of version 1.
    private static let findNotifications = Statement(
        """
        SELECT given.place::int4
        FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS given (purchase, id, place)
        JOIN transactions AS t
            ON t.purchase = given.purchase AND t.transaction_id = given.id AND t.kind = \(FactKind.notified.rawValue)
        """)

    /// A transaction of the batch. It may have several facts.
    private struct Purchase {
        let purchase: Int64
        let scope: Int32
        let id: Range<Int>
        /// Whether one of its facts in the batch is signed.
        let isSigned: Bool
        /// Whether it is signed and no fact of the batch states a cancellation that counts.
        var isPlain: Bool
        /// Whether the store may have facts of it in addition to those of the batch.
        var isKnown = true
    }

    /// - Parameters:
    ///   - batch: the written facts.
    ///   - numbers: for each identity, its database id.
    ///   - areNew: for each identity, whether the store has no rows of it except those of the batch.
    ///   - scopeIds: for each scope, its database id.
    func record(_ batch: FactBatch, _ numbers: [Int64], areNew: [Bool], _ scopeIds: [Int32]) throws {
        var purchases = purchases(batch, numbers, areNew, scopeIds)
        let together = try dependentOwners(batch, numbers, areNew)
        for place in try notified(purchases, batch.bytes) { purchases[place].isPlain = false }
        // Nearly all transactions of a bulk load are new and end here.
        let plain = purchases.filter { $0.isPlain && !together.contains($0.purchase) }
        let inserted = try insert(plain.map { Entry($0, number: 0, .purchased) }, batch.bytes)
        var open = purchases.filter { !$0.isPlain || together.contains($0.purchase) }
        if inserted < plain.count {
            let histories = try histories(plain, batch.bytes)
            open += plain.indices.filter { histories[$0]?.isGranted != true }.map { plain[$0] }
        }
        guard !open.isEmpty else { return }
        var histories = try histories(open, batch.bytes)
        // Every signed transaction has an entry. A transaction without an entry that is not signed here needs none, but the others
        // of its purchase may.
        let kept = open.indices.filter {
            open[$0].isSigned || histories[$0] != nil || together.contains(open[$0].purchase)
        }
        (open, histories) = (kept.map { open[$0] }, kept.map { histories[$0] })
        guard !open.isEmpty else { return }
        let owners = Set(open.map(\.purchase)).sorted()
        let subscriptions = Array(zip(owners, try session.subscriptions(owners)))
        var bytes = batch.bytes
        let siblings = siblings(of: open, among: subscriptions, &bytes)
        if !siblings.isEmpty {
            open += siblings
            histories += try self.histories(siblings, bytes)
        }
        var known: [Int64: [String: StoredTransaction]] = [:]
        for (owner, transactions) in subscriptions {
            for transaction in transactions { known[owner, default: [:]][transaction.id] = transaction }
        }
        let due = open.indices.compactMap { index -> Entry? in
            let id = String(decoding: bytes[open[index].id], as: UTF8.self)
            guard let transaction = known[open[index].purchase]?[id] else { return nil }
            return DueEntry(after: histories[index], for: transaction)
                .map { Entry(open[index], number: $0.number, $0.event) }
        }
        _ = try insert(due, bytes)
    }

    /// The database ids of the original transaction ids whose transactions `UpgradeRule` and `CopyRule` must examine together:
    /// those of a purchase of the batch that, in the batch or in the store, has a neighbor of another product or a
    /// cancellation.
    private func dependentOwners(
        _ batch: FactBatch, _ numbers: [Int64], _ areNew: [Bool]
    ) throws -> Set<Int64> {
        var products: [Int: Range<Int>] = [:]
        var result: Set<Int64> = []
        for row in batch.transactions where row.revokes { result.insert(numbers[row.owner]) }
        for row in batch.transactions where !row.product.isEmpty {
            if let known = products[row.owner] {
                if !batch.bytes[known].elementsEqual(batch.bytes[row.product]) { result.insert(numbers[row.owner]) }
            } else {
                products[row.owner] = row.product
            }
        }
        let asked = products.keys.filter { !areNew[$0] && !result.contains(numbers[$0]) }.sorted()
        guard !asked.isEmpty else { return result }
        let rows = try session.run(
            Self.findDependent,
            [.int8s(asked.map { numbers[$0] }), .slices(asked.compactMap { products[$0] }, of: batch.bytes)])
        for (_, place) in try rows.places(among: asked.count) { result.insert(numbers[asked[place]]) }
        return result
    }

    /// The transactions of some subscriptions that are not in the batch.
    private func siblings(
        of open: [Purchase], among subscriptions: [(Int64, [StoredTransaction])], _ bytes: inout [UInt8]
    ) -> [Purchase] {
        guard !subscriptions.isEmpty else { return [] }
        var written: [Int64: (scope: Int32, ids: Set<String>)] = [:]
        for purchase in open {
            let id = String(decoding: bytes[purchase.id], as: UTF8.self)
            written[purchase.purchase, default: (purchase.scope, [])].ids.insert(id)
        }
        var result: [Purchase] = []
        for (owner, transactions) in subscriptions {
            guard let known = written[owner] else { continue }
            for transaction in transactions.reversed() where !known.ids.contains(transaction.id) {
                let start = bytes.count
                bytes.append(contentsOf: transaction.id.utf8)
                result.append(
                    Purchase(
                        purchase: owner, scope: known.scope, id: start..<bytes.count, isSigned: true, isPlain: false))
            }
        }
        return result
    }

    /// The places of the transactions with a notified cancellation in the store.
    private func notified(_ purchases: [Purchase], _ bytes: [UInt8]) throws -> [Int] {
        let known = purchases.indices.filter { purchases[$0].isPlain && purchases[$0].isKnown }
        guard !known.isEmpty else { return [] }
        let rows = try session.run(
            Self.findNotifications,
            [.int8s(known.map { purchases[$0].purchase }), .slices(known.map { purchases[$0].id }, of: bytes)])
        return try rows.places(among: known.count).map { known[$0.place] }
    }

    /// The transactions of the batch. The facts of one transaction are adjacent.
    private func purchases(
        _ batch: FactBatch, _ numbers: [Int64], _ areNew: [Bool], _ scopeIds: [Int32]
    ) -> [Purchase] {
        var result: [Purchase] = []
        result.reserveCapacity(batch.transactions.count)
        var previous: FactBatch.Row?
        for row in batch.transactions {
            let kind = FactKind(rawValue: Int(row.kind))
            let isSigned = kind?.isSigned == true
            if let previous, previous.owner == row.owner,
                batch.bytes[previous.id].elementsEqual(batch.bytes[row.id])
            {
                // Unsigned facts come last.
                if isSigned ? !row.isPlainPurchase : kind == .notified {
                    result[result.count - 1].isPlain = false
                }
            } else {
                let scope = scopeIds[batch.identities[row.owner].scope]
                result.append(
                    Purchase(
                        purchase: numbers[row.owner], scope: scope, id: row.id, isSigned: isSigned,
                        isPlain: row.isPlainPurchase, isKnown: !areNew[row.owner]))
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

    /// Returns the number of appended entries.
    private func insert(_ entries: [Entry], _ bytes: [UInt8]) throws -> Int {
        guard !entries.isEmpty else { return 0 }
        return try session.run(
            Self.insert,
            [
                .int8s(entries.map(\.purchase)), .int4s(entries.map(\.scope)), .int4s(entries.map(\.number)),
                .int2s(entries.map(\.event)), .slices(entries.map(\.id), of: bytes),
            ]
        ).affected
    }

    /// For each purchase, its history; nil if the ledger has no entry.
    private func histories(_ purchases: [Purchase], _ bytes: [UInt8]) throws -> [LedgerHistory?] {
        var result = [LedgerHistory?](repeating: nil, count: purchases.count)
        let rows = try session.run(
            Self.findHistory, [.int4s(purchases.map(\.scope)), .slices(purchases.map(\.id), of: bytes)])
        for (row, place) in try rows.places(among: result.count) {
            result[place] = try LedgerHistory(
                number: rows.integer(row, 1), event: rows.integer(row, 2),
                wasPurchased: rows.integer(row, 3, as: Int32.self) != 0)
        }
        return result
    }
}

extension StoredTransaction {
    fileprivate var id: String { payload.transactionId ?? "" }
}
