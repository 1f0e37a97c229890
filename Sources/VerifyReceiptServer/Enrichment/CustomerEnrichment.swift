internal import AppStoreModels
public import AppStoreServer
public import TransactionStore

/// Completes customers of a store with what the App Store Server API says about them.
///
/// Who was completed before stays as he is, so that an interrupted run is resumed by running it again. The pace is that of
/// the client's rate budgets.
public struct CustomerEnrichment: Sendable {
    /// What a run has done.
    public struct Counts: Sendable, Hashable {
        /// Customers and bare ids that were looked at.
        public var seen = 0
        /// The App Store said something, and it is in the store.
        public var completed = 0
        /// The store had the App Store's word already.
        public var known = 0
        /// The App Store knows no such transaction.
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

    private let reader: CustomerHistoryReader
    private let fallback: CustomerHistoryReader?
    private let store: any TransactionStore

    /// - Parameters:
    ///   - reader: asks one environment for one app.
    ///   - fallback: asks another environment about what the first does not know; only for bare ids, since a customer of the
    ///     store has an environment.
    ///   - store: what is completed.
    public init(reader: CustomerHistoryReader, fallback: CustomerHistoryReader? = nil, store: any TransactionStore) {
        self.reader = reader
        self.fallback = fallback
        self.store = store
    }

    private enum Outcome: Sendable {
        case completed(facts: Int)
        case known
        case unknown
        case failed(Failure)
    }

    /// Completes every customer of the app in the reader's environment of whom the App Store never spoke.
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
        let scope = StoreScope(environment: reader.client.environment, bundleId: reader.bundleID)
        var counts = Counts()
        var last: CustomerIdentity?
        while true {
            let page = try await directory.customers(in: scope, after: last, limit: 256)
            guard let identity = page.last?.identities.first else { return counts }
            last = identity
            let questions = page.map { customer -> String? in
                customer.isCompleted ? nil : customer.transactions.lazy.compactMap(\.payload.transactionId).first
            }
            try await run(questions, among: [reader], &counts, onFailure, onProgress)
        }
    }

    /// Asks about transaction ids of which nothing else is known.
    public func complete(
        ids: [String], onFailure: (Failure) -> Void = { _ in }, onProgress: (Counts) -> Void = { _ in }
    ) async throws -> Counts {
        var counts = Counts()
        let readers = fallback.map { [reader, $0] } ?? [reader]
        try await run(ids, among: readers, &counts, onFailure, onProgress)
        return counts
    }

    private func run(
        _ questions: [String?], among readers: [CustomerHistoryReader], _ counts: inout Counts,
        _ onFailure: (Failure) -> Void, _ onProgress: (Counts) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            var left = questions[...]
            func begin() {
                guard let question = left.popFirst() else { return }
                group.addTask { try await answer(question, among: readers) }
            }
            for _ in 0..<Self.concurrency { begin() }
            while let outcome = try await group.next() {
                counts.seen += 1
                switch outcome {
                case .completed(let facts):
                    counts.completed += 1
                    counts.changedFacts += facts
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

    /// - Throws: `TransactionStoreError` or `CancellationError`; what the App Store does is an outcome.
    private func answer(_ question: String?, among readers: [CustomerHistoryReader]) async throws -> Outcome {
        guard let id = question else { return .known }
        for reader in readers {
            let history: CustomerHistory
            do {
                history = try await reader.history(of: id)
            } catch let error as AppStoreServerAPIError where error.isUnknownTransaction {
                continue
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                return .failed(Failure(transactionId: id, reason: "\(error)"))
            }
            let facts = FactSet(
                scope: StoreScope(environment: history.environment, bundleId: reader.bundleID),
                source: .appStoreServerAPI, transactions: history.transactions, renewalInfos: history.renewalInfos)
            guard !facts.identities.isEmpty else { continue }
            return .completed(facts: try await store.apply([facts]).changed)
        }
        return .unknown
    }
}

extension Customer {
    /// Whether the App Store Server API has spoken of every subscription and every other purchase.
    fileprivate var isCompleted: Bool {
        var spoken: Set<String> = []
        var all: Set<String> = []
        for transaction in transactions {
            let id = transaction.payload.originalTransactionId ?? transaction.payload.transactionId ?? ""
            all.insert(id)
            if transaction.origins.contains(where: { $0.source == .appStoreServerAPI }) { spoken.insert(id) }
        }
        return spoken == all
    }
}
