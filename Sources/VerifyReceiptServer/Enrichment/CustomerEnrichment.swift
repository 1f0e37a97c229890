internal import AppStoreServer
public import TransactionStore

/// Completes customers of a store with what the App Store Server API says about them.
///
/// Who was completed before stays as he is, so that an interrupted run is resumed by running it again. The pace is that of
/// the client's rate budgets.
public struct CustomerEnrichment: Sendable {
    /// What a run has done.
    public struct Counts: Sendable, Hashable {
        /// Customers and bare ids that were looked at, each once.
        public var seen = 0
        /// The App Store said something, and it is in the store.
        public var completed = 0
        /// The store had the App Store's word already; all else that it has of the customer is unknown to the App Store.
        public var known = 0
        /// The App Store knows none of the transactions.
        public var unknown = 0
        /// Not asked, or without a good answer; to be tried again.
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

    /// How many customers are asked about at the same time; the rate budget sets the pace, this hides the latency.
    private static let concurrency = 32

    private let apps: [App]
    private let store: any TransactionStore

    /// - Parameters:
    ///   - apps: whose customers are completed, in this order.
    ///   - store: what is completed.
    public init(apps: [App], store: any TransactionStore) {
        self.apps = apps
        self.store = store
    }

    private enum Outcome: Sendable {
        case completed
        case known
        case unknown
        case failed(Failure)
    }

    /// Completes every customer of the apps, in every environment that is asked, of whom the App Store never spoke.
    ///
    /// - Parameters:
    ///   - directory: the same store.
    ///   - onFailure: is told of each customer that could not be completed.
    ///   - onProgress: is told of the counts so far.
    /// - Throws: `TransactionStoreError` or `CancellationError`. What was completed before stays.
    public func completeCustomers(
        of directory: any CustomerDirectory, onFailure: (Failure) -> Void = { _ in },
        onProgress: (Counts) -> Void = { _ in }
    ) async throws -> Counts {
        var counts = Counts()
        for app in apps {
            for reader in app.readers {
                var last: CustomerIdentity?
                while true {
                    let page = try await directory.customers(in: reader.scope, after: last, limit: 256)
                    guard let identity = page.last?.identities.first else { break }
                    last = identity
                    try await run(page.map { CustomerQuestions($0) }, &counts, onFailure, onProgress) {
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
    /// does not file by them. Where one app cannot be asked and no other has the transaction, it counts as failed.
    /// - Throws: `TransactionStoreError` or `CancellationError`. What was completed before stays.
    public func complete(
        ids: [String], onFailure: (Failure) -> Void = { _ in }, onProgress: (Counts) -> Void = { _ in }
    ) async throws -> Counts {
        var counts = Counts()
        try await run(ids, &counts, onFailure, onProgress) { try await complete(id: $0) }
        return counts
    }

    private func run<Item: Sendable>(
        _ items: [Item], _ counts: inout Counts, _ onFailure: (Failure) -> Void, _ onProgress: (Counts) -> Void,
        _ answer: @escaping @Sendable (Item) async throws -> (Outcome, changedFacts: Int)
    ) async throws {
        try await withThrowingTaskGroup(of: (Outcome, changedFacts: Int).self) { group in
            var left = items[...]
            func begin() {
                guard let item = left.popFirst() else { return }
                group.addTask { try await answer(item) }
            }
            for _ in 0..<Self.concurrency { begin() }
            while let (outcome, changedFacts) = try await group.next() {
                counts.seen += 1
                counts.changedFacts += changedFacts
                switch outcome {
                case .completed: counts.completed += 1
                case .known: counts.known += 1
                case .unknown: counts.unknown += 1
                case .failed(let failure):
                    counts.failed += 1
                    onFailure(failure)
                }
                onProgress(counts)
                begin()
            }
        }
    }

    /// Asks until each purchase was spoken of, or the App Store does not know it. The first failure ends it: what one
    /// question met the next would meet too.
    private func complete(
        _ customer: CustomerQuestions, of app: App, _ reader: CustomerHistoryReader
    ) async throws -> (Outcome, changedFacts: Int) {
        var left = customer.questions
        var changed = 0
        var isTold = false
        while let question = left.first {
            left.removeFirst()
            let id = question.transactionId
            switch try await AppStoreWord(about: id, of: app, into: store, { try await reader.history(of: $0) }) {
            case .told(let ids, let facts):
                isTold = true
                changed += facts
                left.removeAll { ids.contains($0.originalTransactionId) }
            case .unknown: break
            case .failed(let failure): return (.failed(failure), changed)
            }
        }
        if isTold { return (.completed, changed) }
        return (customer.questions.isEmpty || customer.isPartlyKnown ? .known : .unknown, changed)
    }

    private func complete(id: String) async throws -> (Outcome, changedFacts: Int) {
        for reader in apps.flatMap(\.readers) {
            let customer = try await store.customer([CustomerIdentity(.originalTransactionId, id)], in: reader.scope)
            if customer?.isKnown(id) == true { return (.known, 0) }
        }
        var failure: Failure?
        for app in apps {
            switch try await AppStoreWord(about: id, of: app, into: store, { try await app.find($0) }) {
            case .told(_, let facts): return (.completed, facts)
            case .unknown: break
            case .failed(let reason): failure = failure ?? reason
            }
        }
        return (failure.map { .failed($0) } ?? .unknown, 0)
    }
}
