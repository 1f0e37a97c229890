public import AppStoreModels
public import AppStoreServer
public import Purchases
public import TransactionStore

/// Completes the customers of a store with the App Store Server API.
///
/// Customers that are complete stay as they are, so running it again resumes an interrupted run. The client's rate budgets set
/// the pace. While the App Store accepts no requests, the run waits. If it does not accept the key, the run stops at the first
/// query.
public struct CustomerEnrichment: Sendable {
    /// What a run has done.
    public struct Counts: Sendable, Hashable {
        /// Customers and bare ids that were processed, each once.
        public var seen = 0
        /// Those of them for which the App Store was queried.
        public var asked = 0
        /// An answer of the App Store is in the store.
        public var completed = 0
        /// The store had an answer already. The App Store does not know the customer's other purchases.
        public var known = 0
        /// The App Store does not know any of the transactions.
        public var unknown = 0
        /// The query failed. The next run tries again.
        public var failed = 0
        /// Facts that were new to the store, or newer than what it had.
        public var changedFacts = 0
        /// Facts that were not stored, because a hash of the customer was left when the customer was erased.
        public var erasedFacts = 0

        public init() {}
    }

    /// Why one customer could not be completed.
    public struct Failure: Sendable {
        /// The transaction id of the query. It identifies a customer: keep it out of logs.
        public let transactionId: String
        public let reason: String
    }

    /// The App Store does not accept the key. The run stops, because every further query would be refused too.
    public struct Refused: Error, Sendable, Hashable, CustomStringConvertible {
        public let bundleID: String
        public let environment: Environment
        /// 401 or 403.
        public let httpStatus: Int

        package init(bundleID: String, environment: Environment, httpStatus: Int) {
            self.bundleID = bundleID
            self.environment = environment
            self.httpStatus = httpStatus
        }

        public var description: String {
            "The App Store does not accept the key for \(bundleID) in \(environment.rawValue) (HTTP \(httpStatus))."
        }
    }

    /// What came of a bare transaction id.
    public enum BareId: Sendable, Hashable {
        /// The store has the history of the customer who has the purchase with this original transaction id.
        case purchase(originalTransactionId: String, scope: StoreScope)
        /// No app that was asked knows the id.
        case unknown
    }

    /// The customers of one app and environment that a run has to ask about.
    public struct OpenCustomers: Sendable, Hashable {
        public let scope: StoreScope
        public internal(set) var customers = 0
        /// Purchases without an answer, which is the largest number of queries. One answer often covers several.
        public internal(set) var purchases = 0

        /// Nobody to ask about yet.
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
        /// What came of a bare transaction id. Not called for one whose query failed.
        public var onBareId: (String, BareId) -> Void

        public init(
            onFailure: @escaping (Failure) -> Void = { _ in }, onHold: @escaping (Int64?) -> Void = { _ in },
            onProgress: @escaping (Counts) -> Void = { _ in },
            onBareId: @escaping (String, BareId) -> Void = { _, _ in }
        ) {
            self.onFailure = onFailure
            self.onHold = onHold
            self.onProgress = onProgress
            self.onBareId = onBareId
        }
    }

    /// Queries at the same time. The rate budget sets the pace; this hides the latency.
    private static let concurrency = 32

    private let apps: [App]
    private let store: any TransactionStore
    private let clock: ServerClock
    private let includes: @Sendable (Customer) -> Bool

    /// - Parameters:
    ///   - apps: the apps whose customers are completed, in this order.
    ///   - store: the store of the customers.
    ///   - clock: measures how long the run waits for the App Store.
    ///   - includes: whether to ask about a customer. Those that are complete are left out in any case.
    public init(
        apps: [App], store: any TransactionStore, clock: ServerClock = .system,
        includes: @escaping @Sendable (Customer) -> Bool = { _ in true }
    ) {
        self.apps = apps
        self.store = store
        self.clock = clock
        self.includes = includes
    }

    /// How a customer or a bare id counts.
    private enum Result: Sendable {
        case completed
        case known
        case unknown
        case failed(Failure)
    }

    /// How one attempt at a customer or a bare id ended.
    private enum Step<Item: Sendable>: Sendable {
        case done(Result, changedFacts: Int, erasedFacts: Int = 0, asked: Bool, bareId: (String, BareId)? = nil)
        /// The item continues from here when the App Store accepts requests again.
        case later(Item, until: Int64)
    }

    /// How many queries may be in progress now.
    private struct Pace {
        /// Whether the App Store has accepted a query since the last wait.
        var isProven = false
        var heldUntil: Int64?

        /// One query goes first: the others would end in the same way.
        var width: Int { heldUntil != nil ? 0 : isProven ? CustomerEnrichment.concurrency : 1 }
    }

    /// The customers that have a purchase without an answer of the App Store. It reads all customers, which takes far less time
    /// than asking about them.
    /// - Parameters:
    ///   - directory: the store.
    ///   - scopes: the apps and environments, one result each.
    ///   - includes: as for a run.
    /// - Throws: `TransactionStoreError` or `CancellationError`.
    public static func openCustomers(
        of directory: any CustomerDirectory, in scopes: [StoreScope],
        includes: @Sendable (Customer) -> Bool = { _ in true }
    ) async throws -> [OpenCustomers] {
        var result: [OpenCustomers] = []
        for scope in scopes {
            var open = OpenCustomers(scope: scope)
            try await directory.forEachCustomer(in: scope) { customer in
                try Task.checkCancellation()
                guard includes(customer) else { return }
                let purchases = CustomerQuestions(customer).left.count
                open.customers += purchases == 0 ? 0 : 1
                open.purchases += purchases
            }
            result.append(open)
        }
        return result
    }

    /// Completes each customer of the apps that has a purchase without an answer of the App Store, in all environments.
    ///
    /// - Parameters:
    ///   - directory: the same store.
    ///   - events: called during the run.
    /// - Throws: ``Refused``, `TransactionStoreError` or `CancellationError`. Completed customers stay complete.
    public func completeCustomers(of directory: any CustomerDirectory, events: Events = Events()) async throws -> Counts
    {
        var counts = Counts()
        for app in apps {
            for reader in app.readers {
                var pace = Pace()
                var last: CustomerIdentity?
                while true {
                    let page = try await directory.customers(in: reader.scope, after: last, limit: 256)
                    guard let identity = page.last?.identities.first else { break }
                    last = identity
                    try await run(page.filter(includes).map { CustomerQuestions($0) }, &counts, &pace, events) {
                        try await complete($0, of: app, reader)
                    }
                }
            }
        }
        return counts
    }

    /// Looks up bare transaction ids, in one app after the other until one has it.
    ///
    /// An original transaction id with an answer in the store is skipped. Other ids are always queried, because a store cannot
    /// look them up.
    /// - Throws: ``Refused``, `TransactionStoreError` or `CancellationError`. Completed customers stay complete.
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
                    try await hold(until, events)
                    pace = Pace()
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
                    counts.seen += 1
                    counts.changedFacts += changedFacts
                    counts.erasedFacts += erasedFacts
                    if asked {
                        counts.asked += 1
                        pace.isProven = true
                    }
                    switch result {
                    case .completed: counts.completed += 1
                    case .known: counts.known += 1
                    case .unknown: counts.unknown += 1
                    case .failed(let failure):
                        counts.failed += 1
                        events.onFailure(failure)
                    }
                    events.onProgress(counts)
                }
            }
        }
    }

    /// The longest sleep, in milliseconds. A machine that was suspended notices the time that has passed.
    private static let longestSleep: Int64 = 10_000
    /// The shortest wait, in milliseconds, if the App Store states a time in the past.
    private static let leastHold: Int64 = 1_000

    private func hold(_ until: Int64, _ events: Events) async throws {
        let end = max(until, clock.now() + Self.leastHold)
        events.onHold(end)
        while true {
            let left = end - clock.now()
            guard left > 0 else { break }
            try await clock.sleep(.milliseconds(min(left, Self.longestSleep)))
        }
        events.onHold(nil)
    }

    /// Queries until each purchase has an answer, or the App Store does not know it. Stops at the first failure: the next
    /// query would fail in the same way.
    private func complete(
        _ customer: CustomerQuestions, of app: App, _ reader: CustomerHistoryReader
    ) async throws -> Step<CustomerQuestions> {
        var customer = customer
        let asked = !customer.left.isEmpty
        while let question = customer.left.first {
            let outcome = try await EnrichmentOutcome(
                about: question.transactionId, of: app, into: store, now: clock.now()
            ) { try await reader.history(of: $0) }
            switch outcome {
            case .stored(let answer):
                customer.hasAnswer = true
                customer.changedFacts += answer.changedFacts
                customer.erasedFacts += answer.erasedFacts
                customer.left.removeFirst()
                customer.left.removeAll { answer.purchases.contains($0.originalTransactionId) }
            case .unknown: customer.left.removeFirst()
            case .limited(let until): return .later(customer, until: until)
            case .refused(let refused): throw refused
            case .failed(let failure):
                return .done(
                    .failed(failure), changedFacts: customer.changedFacts, erasedFacts: customer.erasedFacts,
                    asked: asked)
            }
        }
        let result: Result = customer.hasAnswer ? .completed : !asked || customer.isPartlyKnown ? .known : .unknown
        return .done(
            result, changedFacts: customer.changedFacts, erasedFacts: customer.erasedFacts, asked: asked)
    }

    private func complete(id: String) async throws -> Step<String> {
        for reader in apps.flatMap(\.readers) {
            let customer = try await store.customer([CustomerIdentity(.originalTransactionId, id)], in: reader.scope)
            if customer?.isKnown(id) == true {
                return .done(
                    .known, changedFacts: 0, asked: false,
                    bareId: (id, .purchase(originalTransactionId: id, scope: reader.scope)))
            }
        }
        var failure: Failure?
        for app in apps {
            let outcome = try await EnrichmentOutcome(about: id, of: app, into: store, now: clock.now()) {
                try await app.find($0)
            }
            switch outcome {
            case .stored(let answer):
                return .done(
                    .completed, changedFacts: answer.changedFacts, erasedFacts: answer.erasedFacts, asked: true,
                    bareId: answer.purchase.map {
                        (id, .purchase(originalTransactionId: $0, scope: answer.scope))
                    })
            case .unknown: break
            case .limited(let until): return .later(id, until: until)
            case .refused(let refused): throw refused
            case .failed(let reason): failure = failure ?? reason
            }
        }
        if let failure { return .done(.failed(failure), changedFacts: 0, asked: true) }
        return .done(.unknown, changedFacts: 0, asked: true, bareId: (id, .unknown))
    }
}
