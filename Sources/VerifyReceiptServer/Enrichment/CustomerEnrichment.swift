public import AppStoreModels
public import AppStoreServer
internal import Purchases
public import TransactionStore

/// Completes customers of a store with what the App Store Server API says about them.
///
/// Who was completed before stays as he is, so that an interrupted run is resumed by running it again. The pace is that of
/// the client's rate budgets. Where the App Store takes no requests for a while, the run waits and loses no customer; where
/// it does not accept the key, the run stops at the first question.
public struct CustomerEnrichment: Sendable {
    /// What a run has done.
    public struct Counts: Sendable, Hashable {
        /// Customers and bare ids that were looked at, each once.
        public var seen = 0
        /// Those of them that the App Store was asked about.
        public var asked = 0
        /// The App Store said something, and it is in the store.
        public var completed = 0
        /// The store had the App Store's word already; all else that it has of the customer is unknown to the App Store.
        public var known = 0
        /// The App Store knows none of the transactions.
        public var unknown = 0
        /// Without a good answer; to be tried again.
        public var failed = 0
        /// Facts that were new to the store, or newer than what it had.
        public var changedFacts = 0

        public init() {}
    }

    /// Why one customer could not be completed.
    public struct Failure: Sendable {
        /// What was asked about. An id, not a secret, but of a customer: not for logs.
        public let transactionId: String
        public let reason: String
    }

    /// The App Store does not accept the key: the run stops, since it would refuse every further question.
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

    /// What a run tells while it goes on. Each is called on the task of the run, one after the other.
    public struct Events {
        /// A customer could not be completed.
        public var onFailure: (Failure) -> Void
        /// The App Store takes no requests before this time, in milliseconds since 1970-01-01T00:00:00Z; nil: it does again.
        public var onHold: (Int64?) -> Void
        /// The counts so far.
        public var onProgress: (Counts) -> Void

        public init(
            onFailure: @escaping (Failure) -> Void = { _ in }, onHold: @escaping (Int64?) -> Void = { _ in },
            onProgress: @escaping (Counts) -> Void = { _ in }
        ) {
            self.onFailure = onFailure
            self.onHold = onHold
            self.onProgress = onProgress
        }
    }

    /// How many customers are asked about at the same time; the rate budget sets the pace, this hides the latency.
    private static let concurrency = 32

    private let apps: [App]
    private let store: any TransactionStore
    private let clock: ServerClock

    /// - Parameters:
    ///   - apps: whose customers are completed, in this order.
    ///   - store: what is completed.
    ///   - clock: for the time until which the App Store takes no requests.
    public init(apps: [App], store: any TransactionStore, clock: ServerClock = .system) {
        self.apps = apps
        self.store = store
        self.clock = clock
    }

    private enum Outcome: Sendable {
        case completed
        case known
        case unknown
        case failed(Failure)
    }

    /// What one attempt at a customer or a bare id has led to.
    private enum Step<Item: Sendable>: Sendable {
        case done(Outcome, changedFacts: Int, asked: Bool)
        /// The item goes on from here when the App Store takes requests again.
        case later(Item, until: Int64)
    }

    /// How many questions may be asked now.
    private struct Pace {
        /// Whether the App Store has accepted a question since the last time that it took none.
        var isProven = false
        var heldUntil: Int64?

        /// One goes first: what it meets, the others would meet too.
        var width: Int { heldUntil != nil ? 0 : isProven ? CustomerEnrichment.concurrency : 1 }
    }

    /// How many customers of the apps have something that the App Store has not spoken of, in every environment that is
    /// asked. It reads them all, which takes far less time than asking about them.
    /// - Throws: `TransactionStoreError` or `CancellationError`.
    public func countOpenCustomers(of directory: any CustomerDirectory) async throws -> Int {
        var count = 0
        for app in apps {
            for reader in app.readers {
                try await directory.forEachCustomer(in: reader.scope) { customer in
                    try Task.checkCancellation()
                    if !CustomerQuestions(customer).left.isEmpty { count += 1 }
                }
            }
        }
        return count
    }

    /// Completes every customer of the apps, in every environment that is asked, of whom the App Store never spoke.
    ///
    /// - Parameters:
    ///   - directory: the same store.
    ///   - events: what is told meanwhile.
    /// - Throws: ``Refused``, `TransactionStoreError` or `CancellationError`. What was completed before stays.
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
                    try await run(page.map { CustomerQuestions($0) }, &counts, &pace, events) {
                        try await complete($0, of: app, reader)
                    }
                }
            }
        }
        return counts
    }

    /// Looks for transaction ids of which nothing else is known, in every app until one has it.
    ///
    /// An original transaction id of which the App Store has spoken is not asked about again; other ids are, since a store
    /// does not file by them.
    /// - Throws: ``Refused``, `TransactionStoreError` or `CancellationError`. What was completed before stays.
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
                case .done(let outcome, let changedFacts, let asked):
                    counts.seen += 1
                    counts.changedFacts += changedFacts
                    if asked {
                        counts.asked += 1
                        pace.isProven = true
                    }
                    switch outcome {
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

    /// The longest sleep: a machine that was suspended notices the time that has passed.
    private static let longestSleep: Int64 = 10_000
    /// The least wait, in milliseconds, where the App Store names a time of the past.
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

    /// Asks until each purchase was spoken of, or the App Store does not know it. The first failure ends it: what one
    /// question met the next would meet too.
    private func complete(
        _ customer: CustomerQuestions, of app: App, _ reader: CustomerHistoryReader
    ) async throws -> Step<CustomerQuestions> {
        var customer = customer
        let asked = !customer.left.isEmpty
        while let question = customer.left.first {
            let word = try await AppStoreWord(
                about: question.transactionId, of: app, into: store, now: clock.now()
            ) { try await reader.history(of: $0) }
            switch word {
            case .told(let ids, let facts):
                customer.isTold = true
                customer.changedFacts += facts
                customer.left.removeFirst()
                customer.left.removeAll { ids.contains($0.originalTransactionId) }
            case .unknown: customer.left.removeFirst()
            case .limited(let until): return .later(customer, until: until)
            case .refused(let refused): throw refused
            case .failed(let failure):
                return .done(.failed(failure), changedFacts: customer.changedFacts, asked: asked)
            }
        }
        let outcome: Outcome = customer.isTold ? .completed : !asked || customer.isPartlyKnown ? .known : .unknown
        return .done(outcome, changedFacts: customer.changedFacts, asked: asked)
    }

    private func complete(id: String) async throws -> Step<String> {
        for reader in apps.flatMap(\.readers) {
            let customer = try await store.customer([CustomerIdentity(.originalTransactionId, id)], in: reader.scope)
            if customer?.isKnown(id) == true { return .done(.known, changedFacts: 0, asked: false) }
        }
        var failure: Failure?
        for app in apps {
            switch try await AppStoreWord(about: id, of: app, into: store, now: clock.now(), { try await app.find($0) })
            {
            case .told(_, let facts): return .done(.completed, changedFacts: facts, asked: true)
            case .unknown: break
            case .limited(let until): return .later(id, until: until)
            case .refused(let refused): throw refused
            case .failed(let reason): failure = failure ?? reason
            }
        }
        return .done(failure.map { .failed($0) } ?? .unknown, changedFacts: 0, asked: true)
    }
}
