import Purchases
import TransactionStore

/// Appends the entries of `RenewalEntries`, after all other entries of a batch, and those of `EndedEntries` and
/// `EndedTerms`. Runs under the lock of ``LedgerWriter``.
struct RenewalWriter {
    let session: PostgreSQLSession

    /// The kind of renewal information that the App Store signed.
    static let signed = Int16(FactKind.signedTransaction.rawValue)

    private static let findRenewalInfos = Statement(
        """
        SELECT given.place::int4, r.kind, r.source, r.signed_date, r.payload
        FROM unnest($1::int8[]) WITH ORDINALITY AS given (purchase, place)
        JOIN renewal_infos AS r ON r.purchase = given.purchase AND r.kind = \(FactKind.signedTransaction.rawValue)
        """)
    private static let findEvents = Statement(
        """
        SELECT given.place::int4, l.transaction_id, l.event
        FROM unnest($1::int8[], $2::int4[]) WITH ORDINALITY AS given (purchase, scope, place)
        CROSS JOIN LATERAL (
            SELECT DISTINCT t.transaction_id FROM transactions AS t WHERE t.purchase = given.purchase
        ) AS known
        JOIN ledger AS l ON l.transaction_id = known.transaction_id AND l.scope = given.scope
        ORDER BY given.place, l.transaction_id, l.number
        """)
    private static let append = Statement(
        """
        INSERT INTO ledger (purchase, scope, number, event, transaction_id)
        SELECT last.purchase, given.scope,
            (last.number + row_number() OVER (PARTITION BY given.scope, given.id ORDER BY given.place))::int4,
            given.event, given.id
        FROM unnest($1::int4[], $2::bytea[], $3::int2[])
            WITH ORDINALITY AS given (scope, id, event, place)
        CROSS JOIN LATERAL (
            SELECT max(number) AS number, min(purchase) AS purchase
            FROM ledger WHERE transaction_id = given.id AND scope = given.scope
        ) AS last
        WHERE last.number IS NOT NULL
        ORDER BY given.place
        """)

    /// An original transaction id.
    struct Purchase {
        let id: Int64
        let scope: Int32
        let original: String
        var notified: [NotifiedEvent] = []
    }

    func record(_ batch: FactBatch, _ owners: FactWriter.Owners, _ scopeIds: [Int32]) throws {
        let purchases = purchases(batch, owners, scopeIds)
        guard !purchases.isEmpty else { return }
        let customers = try customers(of: purchases, needsRenewalInfo: true)
        let asked = purchases.indices.filter { customers[$0] != nil || !purchases[$0].notified.isEmpty }
        guard !asked.isEmpty else { return }
        let histories = try histories(of: asked.map { purchases[$0] })
        var due: [(scope: Int32, entry: RenewalEntries.Entry)] = []
        for (index, place) in asked.enumerated() {
            let purchase = purchases[place]
            let entries = RenewalEntries(
                of: purchase.original, in: customers[place], notified: purchase.notified,
                history: histories[index] ?? [:]
            ).entries
            due += entries.map { (scope: purchase.scope, entry: $0) }
        }
        try append(due)
    }

    /// Appends the entries that are due because time has passed. The result is nil for a purchase that cannot be read.
    func recordEndings(of purchases: [Purchase], at dates: LookDates) throws -> [EndedEntries?] {
        let ended = try endings(of: purchases, at: dates)
        var due: [(scope: Int32, entry: RenewalEntries.Entry)] = []
        for (purchase, ended) in zip(purchases, ended) {
            due += (ended?.entries ?? []).map { (scope: purchase.scope, entry: $0) }
        }
        try append(due)
        return ended
    }

    private func endings(of purchases: [Purchase], at dates: LookDates) throws -> [EndedEntries?] {
        do {
            let customers = try customers(of: purchases, needsRenewalInfo: false)
            let histories = try histories(of: purchases)
            return purchases.indices.map { place in
                customers[place].map {
                    EndedEntries(of: purchases[place].original, in: $0, at: dates, history: histories[place] ?? [:])
                }
            }
        } catch let error as TransactionStoreError where error.code == .corrupt {
            // The others are readable.
            return try purchases.count > 1 ? purchases.flatMap { try endings(of: [$0], at: dates) } : [nil]
        }
    }

    /// The transactions of one customer whose date has come, and the purchases that they belong to.
    struct DueTerms {
        let customer: Customer
        let purchases: [Purchase]
        let transactionIds: [String]
    }

    /// Appends the entries of terms that have ended.
    func recordTermEnds(of due: [DueTerms], _ catalogs: TermCatalogs, at dates: LookDates) throws -> [EndedTerms] {
        let known = try histories(of: due.flatMap(\.purchases))
        var place = 0
        var ended: [EndedTerms] = []
        var entries: [(scope: Int32, entry: RenewalEntries.Entry)] = []
        for terms in due {
            var history: [String: [LedgerEntry.Event]] = [:]
            for _ in terms.purchases {
                history.merge(known[place] ?? [:]) { first, _ in first }
                place += 1
            }
            let new = EndedTerms(
                of: terms.transactionIds, in: terms.customer, catalogs: catalogs, at: dates, history: history)
            if let scope = terms.purchases.first?.scope { entries += new.entries.map { (scope: scope, entry: $0) } }
            ended.append(new)
        }
        try append(entries)
        return ended
    }

    private func append(_ due: [(scope: Int32, entry: RenewalEntries.Entry)]) throws {
        guard !due.isEmpty else { return }
        try session.run(
            Self.append,
            [
                .int4s(due.map { $0.scope }), .texts(due.map(\.entry.transactionId)),
                .int2s(due.map { Int16(truncatingIfNeeded: $0.entry.event.rawValue) }),
            ])
    }

    /// By place, the transactions and the signed renewal information of purchases.
    /// - Parameters:
    ///   - purchases: the purchases.
    ///   - needsRenewalInfo: whether purchases without renewal information are left out.
    private func customers(of purchases: [Purchase], needsRenewalInfo: Bool) throws -> [Int: Customer] {
        var assemblers: [Int: CustomerAssembler] = [:]
        let infos = try session.run(Self.findRenewalInfos, [.int8s(purchases.map(\.id))])
        for (row, place) in try infos.places(among: purchases.count) {
            let head = try infos.head(row, 1)
            try infos.withBytes(row, 4) {
                try assemblers[place, default: CustomerAssembler(scope: .placeholder)].addRenewalInfo(head, payload: $0)
            }
        }
        let wanted = purchases.indices.filter { !needsRenewalInfo || assemblers[$0] != nil }
        guard !wanted.isEmpty else { return [:] }
        var known: [Int: CustomerAssembler] = [:]
        for (index, place) in wanted.enumerated() { known[index] = assemblers[place] }
        try StoredFacts.addTransactions(of: wanted.map { purchases[$0].id }, session, to: &known)
        var customers: [Int: Customer] = [:]
        for (index, place) in wanted.enumerated() {
            var assembler = known[index] ?? CustomerAssembler(scope: .placeholder)
            try assembler.addIdentity(
                kind: Int64(CustomerIdentity.Kind.originalTransactionId.rawValue), value: purchases[place].original)
            customers[place] = assembler.customer()
        }
        return customers
    }

    /// The purchases whose renewal the batch can have changed: those of notifications in the order of the documents,
    /// those with signed renewal information, and known ones with a period.
    private func purchases(_ batch: FactBatch, _ owners: FactWriter.Owners, _ scopeIds: [Int32]) -> [Purchase] {
        struct Key: Hashable {
            let scope: ScopeKey
            let original: [UInt8]
        }
        var order: [Key] = []
        var notified: [Key: [NotifiedEvent]] = [:]
        for set in batch.sets.lazy.map(\.set) {
            guard let event = NotifiedEvent(of: set) else { continue }
            let key = Key(scope: ScopeKey(scope: set.scope), original: Array(event.originalTransactionId.utf8))
            if notified[key] == nil { order.append(key) }
            notified[key, default: []].append(event)
        }
        var places: [Int] = []
        var events: [Int: [NotifiedEvent]] = [:]
        if !order.isEmpty {
            var owned: [Key: Int] = [:]
            let kind = Int16(truncatingIfNeeded: CustomerIdentity.Kind.originalTransactionId.rawValue)
            for (place, identity) in batch.identities.enumerated() where identity.kind == kind {
                let key = Key(
                    scope: ScopeKey(scope: batch.scopes[identity.scope]), original: Array(batch.bytes[identity.value]))
                if notified[key] != nil { owned[key] = place }
            }
            for key in order {
                guard let place = owned[key] else { continue }
                places.append(place)
                events[place] = notified[key]
            }
        }
        places += batch.renewalInfos.filter { $0.kind == Self.signed }.map(\.owner)
        places += batch.transactions.filter { $0.isPeriod && !owners.isNewIdentity[$0.owner] }.map(\.owner)
        var seen: Set<Int> = []
        return places.filter { seen.insert($0).inserted }.map { place in
            let identity = batch.identities[place]
            return Purchase(
                id: owners.identities[place], scope: scopeIds[identity.scope],
                original: String(decoding: batch.bytes[identity.value], as: UTF8.self), notified: events[place] ?? [])
        }
    }

    /// For each place, the events in the ledger by transaction id.
    private func histories(of purchases: [Purchase]) throws -> [Int: [String: [LedgerEntry.Event]]] {
        let rows = try session.run(
            Self.findEvents, [.int8s(purchases.map(\.id)), .int4s(purchases.map(\.scope))])
        var histories: [Int: [String: [LedgerEntry.Event]]] = [:]
        for (row, place) in try rows.places(among: purchases.count) {
            guard let event = LedgerEntry.Event(rawValue: Int64(try rows.integer(row, 2, as: Int16.self))) else {
                continue
            }
            histories[place, default: [:]][try rows.text(row, 1), default: []].append(event)
        }
        return histories
    }
}
