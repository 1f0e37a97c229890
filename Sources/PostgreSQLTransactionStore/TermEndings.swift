import Purchases
import TransactionStore

extension PostgreSQLSession {
    private struct DueTerm {
        let purchase: RenewalWriter.Purchase
        let transactionId: String
    }

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

    func look(
        at look: TermLook, _ dates: LookDates, limit: Int, _ catalogs: TermCatalogs, _ result: inout RecordedEndings
    ) throws {
        let scopeId = Int32(truncatingIfNeeded: look.scopeId)
        let due = try run(Self.takeDueTerms, [.int4(scopeId), .int8(dates.date), .int4(Int32(limit))])
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
                    purchase: .init(id: purchase, scope: scopeId, original: try due.text(row, 3)),
                    transactionId: id)
                customers[try due.integer(row, 2, as: Int64.self), default: []].append(term)
            }
        }
        let groups = customers.sorted { $0.key < $1.key }.map(\.value)
        for start in stride(from: 0, to: groups.count, by: CustomerReader.maximumIdentities) {
            let part = Array(groups[start..<min(start + CustomerReader.maximumIdentities, groups.count)])
            for (terms, found) in zip(part, try nextDates(of: part, look, at: dates, catalogs, &result)) {
                for term in terms {
                    let date = found[term.transactionId] ?? LedgerEndings.whenChanged
                    next.append((purchase: term.purchase.id, id: term.transactionId, date: date))
                }
            }
        }
        try run(
            Self.lookAtTermsAgain,
            [
                .int8s(next.map { $0.purchase }), .byteStrings(next.map { Array($0.id.utf8) }),
                .int8s(next.map { $0.date }),
            ])
    }

    /// Looks at terms, those of each customer together.
    private func nextDates(
        of customers: [[DueTerm]], _ look: TermLook, at dates: LookDates, _ catalogs: TermCatalogs,
        _ result: inout RecordedEndings
    ) throws -> [[String: Int64]] {
        let queries = customers.map { terms in
            let identities = terms.prefix(1).map { CustomerIdentity(.originalTransactionId, $0.purchase.original) }
            return CustomerReader.Query(identities: identities, scope: look.scope)
        }
        var next = customers.map { _ in [String: Int64]() }
        var places: [Int] = []
        var readable: [RenewalWriter.DueTerms] = []
        let answers = try CustomerReader.answers(to: queries, self, onlyPurchases: true)
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
        let ended = try RenewalWriter(session: self).recordTermEnds(of: readable, catalogs, at: dates)
        for (place, ended) in zip(places, ended) {
            next[place] = ended.nextDates
            result.entries += ended.entries.count
        }
        return next
    }
}
