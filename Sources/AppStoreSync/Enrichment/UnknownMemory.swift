internal import AppStoreServer
internal import Purchases
internal import TransactionStore

/// Which purchases need no query, because the App Store answered recently that it does not know them.
struct UnknownMemory: Sendable {
    private let store: any UnknownTransactions
    private let clock: ServerClock
    /// When the run began, in milliseconds since 1970-01-01T00:00:00Z.
    private let start: Int64
    /// Older answers do not count.
    private let notBefore: Int64

    /// - Parameters:
    ///   - store: stores the transactions that the App Store does not know.
    ///   - clock: the current time.
    ///   - period: how long an answer counts, from its date. Answers given after this call count even if it is zero, so
    ///     that no run queries an id twice.
    init(_ store: any UnknownTransactions, _ clock: ServerClock, period: Duration) {
        self.store = store
        self.clock = clock
        start = clock.now()
        notBefore = start.subtractingSaturated(max(0, Int64(period / .milliseconds(1))))
    }

    /// The data of the store about some ids.
    struct Known: Sendable {
        /// All ids with an answer, however old.
        var all: Set<String> = []
        /// Those whose answer still counts.
        var recent: Set<String> = []
        /// Those whose answer is of this run.
        var ofThisRun: Set<String> = []
    }

    func known(_ ids: [String], in scope: StoreScope) async throws -> Known {
        guard !ids.isEmpty else { return Known() }
        // A later answer was stored before the clock was set back.
        let answers = try await store.unknownTransactions(ids, in: scope)
        let now = clock.now()
        var known = Known()
        for answer in answers {
            known.all.insert(answer.transactionId)
            guard answer.answeredDate >= notBefore, answer.answeredDate <= now else { continue }
            known.recent.insert(answer.transactionId)
            if answer.answeredDate >= start { known.ofThisRun.insert(answer.transactionId) }
        }
        return known
    }

    /// The queries that the customers of one scope need.
    func queries(about customers: [Customer], in scope: StoreScope) async throws -> [CustomerQueries] {
        var queries = customers.map { CustomerQueries($0) }
        let known = try await known(queries.flatMap { $0.left.map(\.originalTransactionId) }, in: scope)
        guard !known.all.isEmpty else { return queries }
        for place in queries.indices { queries[place].leaveOut(known) }
        return queries
    }

    func remember(_ ids: [String], in scopes: [StoreScope]) async throws {
        let date = clock.now()
        try await store.remember(
            scopes.flatMap { scope in
                ids.map { UnknownTransaction(scope: scope, transactionId: $0, answeredDate: date) }
            })
    }

    func forget(_ ids: Set<String>, in scope: StoreScope) async throws {
        guard !ids.isEmpty else { return }
        try await store.forgetUnknownTransactions(ids.sorted(), in: scope)
    }
}
