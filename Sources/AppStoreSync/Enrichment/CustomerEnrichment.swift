public import AppStoreServer
public import Purchases
public import TransactionStore

/// Completes the customers of a store with the App Store Server API.
///
/// A run skips customers that are complete, so another run resumes an interrupted one. The store keeps which purchases the
/// App Store does not know, and they are not queried again for some time. The client's rate budgets set the pace. The run
/// waits while the App Store accepts no requests. It stops at the first query if the App Store rejects the app or
/// its key.
public struct CustomerEnrichment: Sendable {
    /// The counts of a run.
    public struct Counts: Sendable, Hashable {
        /// Processed customers and bare ids, each once.
        public var seen = 0
        /// Processed customers and bare ids that needed a query.
        public var asked = 0
        /// Customers and bare ids whose answer was stored.
        public var completed = 0
        /// Customers for whom the store already had an answer. The App Store does not know their other purchases.
        public var known = 0
        /// Customers and bare ids for which the App Store knows no transaction.
        public var unknown = 0
        /// Not queried: the App Store did not know any of the transactions in an earlier run.
        public var remembered = 0
        /// Failed queries. The next run retries them.
        public var failed = 0
        /// Facts that were new to the store, or newer than the stored ones.
        public var changedFacts = 0
        /// Facts that were not stored, because a hash of the customer was left when the customer was erased.
        public var erasedFacts = 0

        /// All counts are 0.
        public init() {}
    }

    /// A failed query about one customer.
    public struct Failure: Sendable {
        /// The transaction id of the query. It identifies a customer: keep it out of logs.
        public let transactionId: String
        /// The description of the error that ended the query.
        public let reason: String
        /// Whether the network or the App Store failed, and not this query alone.
        var isOutage = false
    }

    /// The customers of one app and environment that a run must query.
    public struct OpenCustomers: Sendable, Hashable {
        /// The app and the environment.
        public let scope: StoreScope
        /// The number of customers with at least one purchase without an answer.
        public internal(set) var customers = 0
        /// The number of purchases without an answer. This is the maximum number of queries, because one answer often
        /// covers several purchases.
        public internal(set) var purchases = 0
        /// Further purchases, which are not queried: the App Store did not know them in an earlier run.
        public internal(set) var rememberedPurchases = 0

        /// No open customers.
        public init(scope: StoreScope) { self.scope = scope }
    }

    /// Callbacks of a run. They are called one after the other, on the task of the run.
    public struct Events {
        /// A customer could not be completed.
        public var onFailure: (Failure) -> Void
        /// The App Store accepts no requests before this time, in milliseconds since 1970-01-01T00:00:00Z; nil when the run
        /// continues.
        public var onHold: (Int64?) -> Void
        /// The counts so far.
        public var onProgress: (Counts) -> Void
        /// A bare transaction id, and the original transaction id of its purchase, whose customer's history the store has; nil
        /// if none of the queried apps knows the id. Not called after a failed query.
        public var onBareId: (String, ScopedIdentity?) -> Void

        /// Callbacks that do nothing, except for the given ones.
        public init(
            onFailure: @escaping (Failure) -> Void = { _ in }, onHold: @escaping (Int64?) -> Void = { _ in },
            onProgress: @escaping (Counts) -> Void = { _ in },
            onBareId: @escaping (String, ScopedIdentity?) -> Void = { _, _ in }
        ) {
            self.onFailure = onFailure
            self.onHold = onHold
            self.onProgress = onProgress
            self.onBareId = onBareId
        }
    }

    /// The outages in a row after which a run waits.
    private static let outagesBeforeWait = 8

    /// Queries at the same time. The rate budget sets the pace; this hides the latency.
    private static let concurrency = 32

    /// How long a purchase that the App Store does not know is not queried again, unless the caller sets another time. Old
    /// purchases stay unknown: they are forged, or of another app or environment. A new one can be known some minutes later.
    public static let defaultUnknownPeriod = Duration.seconds(30 * 86_400)

    /// The parts of a store that a run needs.
    public typealias Store = TransactionStore & UnknownTransactions

    private let apps: [App]
    private let store: any Store
    private let memory: UnknownMemory
    private let clock: ServerClock
    private let includes: @Sendable (Customer) -> Bool

    /// - Parameters:
    ///   - apps: the apps whose customers are completed, in this order.
    ///   - store: the store of the customers.
    ///   - unknownPeriod: how long a purchase that the App Store does not know is not queried again; zero to query each once
    ///     more. It ends with this call.
    ///   - clock: dates the answers, and measures how long the run waits for the App Store.
    ///   - includes: whether to query a customer. Complete customers are always skipped.
    public init(
        apps: [App], store: any Store, unknownPeriod: Duration = defaultUnknownPeriod, clock: ServerClock = .system,
        includes: @escaping @Sendable (Customer) -> Bool = { _ in true }
    ) {
        self.apps = apps
        self.store = store
        memory = UnknownMemory(store, clock, period: unknownPeriod)
        self.clock = clock
        self.includes = includes
    }

    /// How a customer or a bare id counts.
    private enum Result: Sendable {
        case completed
        case known
        case unknown
        case remembered
        case failed(Failure)
    }

    /// The result of one attempt at a customer or a bare id.
    private enum Step<Item: Sendable>: Sendable {
        /// The result is nil for an id that the run has counted before.
        case done(
            Result?, changedFacts: Int, erasedFacts: Int = 0, asked: Bool, bareId: (String, ScopedIdentity?)? = nil)
        /// The rest of the item, to continue when the App Store accepts requests again.
        case later(Item, until: Int64)
    }

    /// Limits how many queries may be in progress.
    private struct Pace {
        /// Whether the App Store has answered a query since the last wait.
        var isProven = false
        var heldUntil: Int64?
        /// The outages in a row since the last wait.
        var outages = 0
        /// The waits for the end of an outage since the last answer.
        var outageWaits = OutageWaits()

        mutating func answered() {
            (isProven, outages) = (true, 0)
            outageWaits.end()
        }

        /// Waits after an outage where no query was answered before, and after several in a row.
        /// - Throws: ``AppStoreUnreachable``
        mutating func failed(_ failure: Failure, now: Int64) throws {
            outages += 1
            guard heldUntil == nil, !isProven || outages >= CustomerEnrichment.outagesBeforeWait else { return }
            heldUntil = try outageWaits.next(after: failure.reason, now: now)
        }

        /// One query goes first: the others would end in the same way.
        var width: Int { heldUntil != nil ? 0 : isProven ? CustomerEnrichment.concurrency : 1 }
    }

    /// The customers that have a purchase without an answer of the App Store. Reads all customers, which takes far less time
    /// than the queries.
    /// - Parameters:
    ///   - directory: the store.
    ///   - scopes: the apps and environments, one result each.
    ///   - unknownPeriod: as for a run.
    ///   - clock: as for a run.
    ///   - includes: as for a run.
    /// - Throws: `TransactionStoreError` or `CancellationError`.
    public static func openCustomers(
        of directory: any CustomerDirectory & UnknownTransactions, in scopes: [StoreScope],
        unknownPeriod: Duration = defaultUnknownPeriod, clock: ServerClock = .system,
        includes: @Sendable (Customer) -> Bool = { _ in true }
    ) async throws -> [OpenCustomers] {
        let memory = UnknownMemory(directory, clock, period: unknownPeriod)
        var result: [OpenCustomers] = []
        for scope in scopes {
            var open = OpenCustomers(scope: scope)
            try await directory.forEachPage(in: scope, pageSize: 256) { page in
                try Task.checkCancellation()
                for queries in try await memory.queries(about: page.filter(includes), in: scope) {
                    open.customers += queries.left.isEmpty ? 0 : 1
                    open.purchases += queries.left.count
                    open.rememberedPurchases += queries.leftOut
                }
            }
            result.append(open)
        }
        return result
    }

    /// The bare ids that a run would look up, in the same order: all except those that no app knew recently.
    /// - Parameters:
    ///   - ids: the ids.
    ///   - store: the store.
    ///   - scopes: the apps and environments of the run.
    ///   - unknownPeriod: as for a run.
    ///   - clock: as for a run.
    /// - Throws: `TransactionStoreError`.
    public static func openIds(
        _ ids: [String], of store: any UnknownTransactions, in scopes: [StoreScope],
        unknownPeriod: Duration = defaultUnknownPeriod, clock: ServerClock = .system
    ) async throws -> [String] {
        let memory = UnknownMemory(store, clock, period: unknownPeriod)
        var unknown = Set(scopes.isEmpty ? [] : ids)
        for scope in scopes { unknown.formIntersection(try await memory.known(Array(unknown), in: scope).recent) }
        return ids.filter { !unknown.contains($0) }
    }

    /// Completes each customer of the apps that has a purchase without an answer of the App Store, in all environments.
    ///
    /// - Parameters:
    ///   - directory: the same store.
    ///   - events: called during the run.
    /// - Throws: ``AppStoreRefusal``, ``AppStoreUnreachable``, `TransactionStoreError` or `CancellationError`. Completed
    ///   customers stay complete.
    public func completeCustomers(of directory: any CustomerDirectory, events: Events = Events()) async throws -> Counts
    {
        var counts = Counts()
        for app in apps {
            for reader in app.readers {
                var pace = Pace()
                try await directory.forEachPage(in: reader.scope, pageSize: 256) { page in
                    let queries = try await memory.queries(about: page.filter(includes), in: reader.scope)
                    try await run(queries, &counts, &pace, events) { try await complete($0, of: app, reader) }
                }
            }
        }
        return counts
    }

    /// Looks up bare transaction ids, in one app after the other until one has it.
    ///
    /// An original transaction id with an answer in the store is skipped. Other ids are always queried, because a store cannot
    /// look them up. An id that an app did not know recently is not looked up in this app again.
    /// - Throws: ``AppStoreRefusal``, ``AppStoreUnreachable``, `TransactionStoreError` or `CancellationError`. Completed
    ///   customers stay complete.
    public func complete(ids: [String], events: Events = Events()) async throws -> Counts {
        var counts = Counts()
        var pace = Pace()
        try await run(ids, &counts, &pace, events) { try await complete(id: $0) }
        return counts
    }

    private func run<Item: Sendable>(
        _ items: [Item], _ counts: inout Counts, _ pace: inout Pace, _ events: Events,
        _ attempt: @escaping @Sendable (Item) async throws -> Step<Item>
    ) async throws {
        try await withThrowingTaskGroup(of: Step<Item>.self) { group in
            var left = items[...]
            var again: [Item] = []
            var running = 0
            while true {
                if let until = pace.heldUntil, running == 0 {
                    // The next page waits.
                    guard !again.isEmpty || !left.isEmpty else { return }
                    try await clock.hold(until: until, events.onHold)
                    pace = Pace(outageWaits: pace.outageWaits)
                }
                while running < pace.width, let item = again.popLast() ?? left.popFirst() {
                    group.addTask { try await attempt(item) }
                    running += 1
                }
                guard running > 0, let step = try await group.next() else { return }
                running -= 1
                switch step {
                case .later(let item, let until):
                    again.append(item)
                    pace.heldUntil = max(pace.heldUntil ?? .min, until)
                case .done(let result, let changedFacts, let erasedFacts, let asked, let bareId):
                    if let (id, found) = bareId { events.onBareId(id, found) }
                    guard let result else { continue }
                    var outage: Failure?
                    counts.seen += 1
                    counts.changedFacts += changedFacts
                    counts.erasedFacts += erasedFacts
                    if asked { counts.asked += 1 }
                    switch result {
                    case .completed: counts.completed += 1
                    case .known: counts.known += 1
                    case .unknown: counts.unknown += 1
                    case .remembered: counts.remembered += 1
                    case .failed(let failure):
                        counts.failed += 1
                        events.onFailure(failure)
                        if failure.isOutage { outage = failure }
                    }
                    events.onProgress(counts)
                    if let outage {
                        try pace.failed(outage, now: clock.now())
                    } else if asked {
                        pace.answered()
                    }
                }
            }
        }
    }

    /// Queries until each purchase has an answer or is unknown to the App Store. Stops at the first failure, because the
    /// next query would fail in the same way.
    private func complete(
        _ customer: CustomerQueries, of app: App, _ reader: CustomerHistoryReader
    ) async throws -> Step<CustomerQueries> {
        var customer = customer
        let asked = !customer.left.isEmpty
        func done(_ result: Result) -> Step<CustomerQueries> {
            .done(result, changedFacts: customer.changedFacts, erasedFacts: customer.erasedFacts, asked: asked)
        }
        while let query = customer.left.first {
            let outcome = try await EnrichmentOutcome(
                about: query.transactionId, of: app, into: store, clock: clock
            ) { try await reader.history(of: $0) }
            switch outcome {
            case .stored(let answer):
                customer.hasAnswer = true
                customer.changedFacts += answer.changedFacts
                customer.erasedFacts += answer.erasedFacts
                customer.left.removeFirst()
                customer.left.removeAll { answer.purchases.contains($0.originalTransactionId) }
                try await memory.forget(customer.onceUnknown.intersection(answer.purchases), in: reader.scope)
                // An answer without the purchase: the next one would not have it either.
                if !answer.purchases.contains(query.originalTransactionId) {
                    try await memory.remember([query.originalTransactionId], in: [reader.scope])
                }
            case .unknown:
                try await memory.remember([query.originalTransactionId], in: [reader.scope])
                customer.left.removeFirst()
            case .limited(let until): return .later(customer, until: until)
            case .refused(let refused): throw refused
            case .failed(let failure): return done(.failed(failure))
            }
        }
        if customer.hasAnswer { return done(.completed) }
        if customer.isPartlyKnown { return done(.known) }
        if asked { return done(.unknown) }
        return done(customer.leftOut > 0 ? .remembered : .known)
    }

    private func complete(id: String) async throws -> Step<String> {
        for reader in apps.flatMap(\.readers) {
            let identity = CustomerIdentity(.originalTransactionId, id)
            let customer = try await store.customer([identity], in: reader.scope)
            if customer?.hasAppStoreAnswer(about: id) == true {
                return .done(
                    .known, changedFacts: 0, asked: false,
                    bareId: (id, ScopedIdentity(scope: reader.scope, identity: identity)))
            }
        }
        var failure: Failure?
        var (isAsked, isRepeated) = (false, false)
        for app in apps {
            var (onceUnknown, unknown) = (false, true)
            for reader in app.readers {
                let known = try await memory.known([id], in: reader.scope)
                onceUnknown = onceUnknown || !known.all.isEmpty
                unknown = unknown && !known.recent.isEmpty
                isRepeated = isRepeated || !known.ofThisRun.isEmpty
            }
            if unknown { continue }
            isAsked = true
            let outcome = try await EnrichmentOutcome(about: id, of: app, into: store, clock: clock) {
                try await app.find($0)
            }
            switch outcome {
            case .stored(let answer):
                if onceUnknown { for reader in app.readers { try await memory.forget([id], in: reader.scope) } }
                return .done(
                    .completed, changedFacts: answer.changedFacts, erasedFacts: answer.erasedFacts, asked: true,
                    bareId: answer.purchase.map { purchase -> (String, ScopedIdentity?) in
                        (id, ScopedIdentity(scope: answer.scope, identity: .init(.originalTransactionId, purchase)))
                    })
            case .unknown: try await memory.remember([id], in: app.readers.map(\.scope))
            case .limited(let until): return .later(id, until: until)
            case .refused(let refused): throw refused
            case .failed(let reason): failure = failure ?? reason
            }
        }
        if let failure { return .done(.failed(failure), changedFacts: 0, asked: true) }
        let result: Result? = isAsked ? .unknown : isRepeated ? nil : .remembered
        return .done(result, changedFacts: 0, asked: isAsked, bareId: (id, nil))
    }
}
