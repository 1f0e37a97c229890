public import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore {
    /// An app and environment with a catalog, and the last look at its terms.
    private struct TermLook {
        let scopeId: Int32
        let scope: StoreScope
        let last: LookDates?
    }

    private struct DueTerm {
        let purchase: RenewalWriter.Purchase
        let transactionId: String
    }

    private static let findTermLooks = Statement(
        """
        SELECT s.id, s.environment, s.bundle_id, l.began_at, l.looked_at
        FROM scopes AS s LEFT JOIN term_looks AS l ON l.scope = s.id ORDER BY s.id
        """)
    private static let keepTermLook = Statement(
        """
        INSERT INTO term_looks (scope, began_at, looked_at) VALUES ($1::int4, $2::int8, $3::int8)
        ON CONFLICT (scope) DO UPDATE SET began_at = excluded.began_at, looked_at = excluded.looked_at
        """)
    private static let findDueTerm = Statement(
        "SELECT FROM term_bases WHERE scope = $1::int4 AND due_at <= $2::int8 LIMIT 1")
    /// Leaves out purchases that are being erased.
    private static let takeDueTerms = Statement(
        """
        SELECT due.purchase, due.transaction_id, i.customer, i.value FROM (
            SELECT purchase, transaction_id FROM term_bases WHERE scope = $1::int4 AND due_at <= $2::int8
            ORDER BY due_at LIMIT $3::int4 FOR UPDATE SKIP LOCKED
        ) AS due LEFT JOIN identities AS i ON i.id = due.purchase
        """)
    private static let lookAtTermsAgain = Statement(
        """
        UPDATE term_bases AS known SET due_at = given.due_at
        FROM unnest($1::int8[], $2::bytea[], $3::int8[]) AS given (purchase, id, due_at)
        WHERE known.purchase = given.purchase AND known.transaction_id = given.id
        """)

    public func recordTermEnds(
        by date: Int64, limit: Int, catalogs: TermCatalogs
    ) async throws -> RecordedEndings {
        try await perform { [schema] session in
            // Read first, because no writer waits for a reader.
            let isDue = try Self.termLooks(catalogs, session).contains { look in
                let next = LookDates(after: look.last, asked: date).date
                if look.last == nil { return true }
                return try session.run(Self.findDueTerm, [.int4(look.scopeId), .int8(next)]).count > 0
            }
            guard isDue else { return RecordedEndings() }
            return try session.transaction {
                try LedgerWriter(session: session, lockClass: schema.lockClass).lock()
                var result = RecordedEndings()
                for look in try Self.termLooks(catalogs, session) {
                    let dates = LookDates(after: look.last, asked: date)
                    try session.run(
                        Self.keepTermLook, [.int4(look.scopeId), .int8(dates.beginning), .int8(dates.date)])
                    let left = LedgerEndings.purchases(limit) - result.purchases
                    try Self.recordEnds(look, at: dates, Int32(left), catalogs, &result, session)
                }
                return result
            }
        }
    }

    private static func termLooks(_ catalogs: TermCatalogs, _ session: PostgreSQLSession) throws -> [TermLook] {
        let rows = try session.run(findTermLooks)
        var looks: [TermLook] = []
        for row in 0..<rows.count {
            let last: LookDates? =
                rows.isNull(row, 3)
                ? nil : LookDates(beginning: try rows.integer(row, 3), date: try rows.integer(row, 4))
            let scope = try rows.scope(row, 1)
            if catalogs.contains(scope) {
                looks.append(TermLook(scopeId: try rows.integer(row, 0), scope: scope, last: last))
            }
        }
        return looks
    }

    private static func recordEnds(
        _ look: TermLook, at dates: LookDates, _ limit: Int32, _ catalogs: TermCatalogs,
        _ result: inout RecordedEndings, _ session: PostgreSQLSession
    ) throws {
        let due = try session.run(takeDueTerms, [.int4(look.scopeId), .int8(dates.date), .int4(limit)])
        guard due.count > 0 else { return }
        result.purchases += due.count
        var next: [(purchase: Int64, id: String, date: Int64)] = []
        var customers: [Int64: [DueTerm]] = [:]
        for row in 0..<due.count {
            let (purchase, id) = (try due.integer(row, 0, as: Int64.self), try due.text(row, 1))
            if due.isNull(row, 2) {
                next.append((purchase: purchase, id: id, date: LedgerEndings.whenChanged))
            } else {
                let term = DueTerm(
                    purchase: .init(id: purchase, scope: look.scopeId, original: try due.text(row, 3)),
                    transactionId: id)
                customers[try due.integer(row, 2, as: Int64.self), default: []].append(term)
            }
        }
        let groups = customers.sorted { $0.key < $1.key }.map(\.value)
        for start in stride(from: 0, to: groups.count, by: CustomerReader.maximumIdentities) {
            let part = Array(groups[start..<min(start + CustomerReader.maximumIdentities, groups.count)])
            for (terms, found) in zip(part, try nextDates(of: part, look, at: dates, catalogs, &result, session)) {
                for term in terms {
                    let date = found[term.transactionId] ?? LedgerEndings.whenChanged
                    next.append((purchase: term.purchase.id, id: term.transactionId, date: date))
                }
            }
        }
        try session.run(
            lookAtTermsAgain,
            [
                .int8s(next.map { $0.purchase }), .byteStrings(next.map { Array($0.id.utf8) }),
                .int8s(next.map { $0.date }),
            ])
    }

    /// Looks at terms, those of each customer together.
    private static func nextDates(
        of customers: [[DueTerm]], _ look: TermLook, at dates: LookDates, _ catalogs: TermCatalogs,
        _ result: inout RecordedEndings, _ session: PostgreSQLSession
    ) throws -> [[String: Int64]] {
        let queries = customers.map { terms in
            let identities = terms.prefix(1).map { CustomerIdentity(.originalTransactionId, $0.purchase.original) }
            return CustomerReader.Query(identities: identities, scope: look.scope)
        }
        var next = customers.map { _ in [String: Int64]() }
        var places: [Int] = []
        var readable: [RenewalWriter.DueTerms] = []
        let answers = try CustomerReader.answers(to: queries, session, onlyPurchases: true)
        for (place, answer) in answers.enumerated() {
            let terms = customers[place]
            switch answer {
            case .success(let customer):
                guard let customer else { continue }
                let purchases = Dictionary(
                    terms.map { ($0.purchase.id, $0.purchase) }, uniquingKeysWith: { first, _ in first })
                places.append(place)
                readable.append(
                    .init(
                        customer: customer, purchases: Array(purchases.values),
                        transactionIds: Array(Set(terms.map(\.transactionId)))))
            case .failure(let error):
                guard error.code == .corrupt else { throw error }
                for term in terms { next[place][term.transactionId] = LedgerEndings.oneDay(after: dates.date) }
                result.unreadable += terms.count
            }
        }
        let ended = try RenewalWriter(session: session).recordTermEnds(of: readable, catalogs, at: dates)
        for (place, ended) in zip(places, ended) {
            next[place] = ended.nextDates
            result.entries += ended.entries.count
        }
        return next
    }
}
