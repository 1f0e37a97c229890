internal import AppStoreModels
internal import PostgreSQLTransactionStore
internal import Purchases
internal import SQLiteTransactionStore
public import TransactionStore

/// Merges stores into one, for example those of shards that were migrated on several machines.
///
/// The customers of a source are merged like any documents, by the rules of a migration. Of facts of one kind about one
/// transaction the newest is kept, and documents that share an identity belong to one customer. Therefore the order and
/// the grouping of merges do not change the exports, and repeating a merge changes nothing.
///
/// | in a source | in the destination |
/// |---|---|
/// | customers: identities, transactions, renewal infos, app transactions, receipts | merged |
/// | users and carried columns, verified receipts, quarantine, ids of notifications | added, each once |
/// | transactions that the App Store does not know | added, each once with the date of its newest answer |
/// | ledger | the destination appends its own entries for what changed in it, as for any document that comes later |
/// | consumers of the ledger | not merged: their positions apply to the source's ledger only |
/// | positions of migrations | not merged: they belong to inputs of that machine. A migration of the same inputs into the destination reads them again, but verifies no receipt again |
///
/// A source is only read. If something writes to it during the merge, merge it again afterwards.
public struct StoreMerge: Sendable {
    /// What a store must implement to receive a merge. Every engine does.
    public typealias Destination = TransactionStore & MigrationStore & UnknownTransactions

    /// How far a merge has come.
    public struct Progress: Sendable {
        /// The data read so far.
        public let summary: StoreMergeSummary
        /// The number of stores to merge.
        public let stores: Int
        /// The part of the customers that was read, from 0 to 1. Each store counts the same.
        public let share: Double
    }

    private let sources: [StoreURL]
    /// A step has about this many rows. One step is read while another one is written. Tests lower it, so that few rows make
    /// several steps.
    package var rowsPerStep = 20_000

    /// - Parameter sources: each must be a store of this version.
    /// - Throws: `TransactionStoreError` for a path without a store, or with a store of another schema. The message
    ///   names it.
    public init(of sources: [StoreURL]) throws {
        for source in sources { _ = try Self.naming(source) { try source.snapshot() } }
        self.sources = sources
    }

    /// Merges all sources. After an error, the parts that were merged stay, and another run merges the rest.
    ///
    /// - Parameters:
    ///   - destination: the destination, which is not closed. Other programs can use it, and merge into it, at the same
    ///     time.
    ///   - progress: called from time to time, with the counts so far.
    /// - Throws: `TransactionStoreError`; the message names a source that failed. `CancellationError`.
    public func run(
        into destination: any Destination, progress: @Sendable (Progress) -> Void = { _ in }
    ) async throws -> StoreMergeSummary {
        let writer = MergeWriter(destination, rowsPerStep: rowsPerStep)
        do {
            // Before all customers, so that none of an erased identity is written and removed again.
            for source in sources { try await Self.mergeHashes(of: source, to: writer) }
            for source in sources {
                let store = try await Self.naming(source) { try await Self.open(source) }
                do {
                    let total = try await Self.naming(source) { try await store.counts() }.customers
                    let before = writer.summary.customers
                    try await Self.merge(store, named: source, to: writer) { summary in
                        // Another program may add customers after they were counted.
                        let read = min(1, Double(summary.customers - before) / Double(max(1, total)))
                        progress(
                            Progress(
                                summary: summary, stores: sources.count,
                                share: (Double(summary.stores) + read) / Double(sources.count)))
                    }
                    try await store.close()
                } catch {
                    try? await store.close()
                    throw error
                }
                writer.summary.stores += 1
            }
            try await writer.finish()
        } catch {
            await writer.settle()
            throw error
        }
        return writer.summary
    }

    private static func mergeHashes(of source: StoreURL, to writer: MergeWriter) async throws {
        let snapshot = try naming(source) { try source.snapshot() }
        try naming(source) { try snapshot.begin(.leftHashes) }
        while let row = try naming(source, { try snapshot.next() }) { try await writer.add(row.leftHash()) }
    }

    /// The snapshot is older than the customers that are read after it, so their facts include those of its receipts
    /// and notifications. The receipts and notifications are written last: after an interruption, none of them is known
    /// without its facts.
    ///
    /// The snapshot ends here, because an engine that closes a store waits for open readers.
    private static func merge(
        _ store: any CompleteTransactionStore, named source: StoreURL, to writer: MergeWriter,
        _ progress: (StoreMergeSummary) -> Void
    ) async throws {
        let snapshot = try naming(source) { try source.snapshot() }
        for scope in try await naming(source, { try await store.scopes() }) {
            var last: CustomerIdentity?
            repeat {
                let page = try await naming(source) { [last] in
                    try await store.customers(in: scope, after: last, limit: 200)
                }
                for customer in page { try await writer.add(customer) }
                last = page.last?.identities.first
                progress(writer.summary)
            } while last != nil
        }
        var key: [UInt8]?
        repeat {
            let page = try await naming(source) { [key] in try await store.quarantine(after: key, limit: 200) }
            for record in page { try await writer.add(record) }
            key = page.last?.key
            progress(writer.summary)
        } while key != nil
        for table in StoredTable.allCases where table != .leftHashes {
            try naming(source) { try snapshot.begin(table) }
            var rows = 0
            while let row = try naming(source, { try snapshot.next() }) {
                rows += 1
                if rows.isMultiple(of: 200) { progress(writer.summary) }
                switch table {
                case .userClaims: try await writer.add(naming(source) { try row.userClaim() })
                case .verifiedReceipts: try await writer.add(naming(source) { try row.verifiedReceipt() })
                case .notifications: try await writer.add(notification: naming(source) { try row.notification() })
                case .unknownTransactions:
                    try await writer.add(naming(source) { try row.unknownTransaction() })
                case .leftHashes: break
                }
            }
            progress(writer.summary)
        }
    }

    private static func open(_ source: StoreURL) async throws -> any CompleteTransactionStore {
        switch source {
        case .sqlite(let path): try SQLiteTransactionStore.open(path: path)
        case .postgreSQL(let url): try await PostgreSQLTransactionStore.open(url: url)
        }
    }

    // MARK: Names of sources

    private static func naming<Value>(_ source: StoreURL, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as TransactionStoreError { throw named(error, source) }
    }

    private static func naming<Value: Sendable>(
        _ source: StoreURL, _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch let error as TransactionStoreError { throw named(error, source) }
    }

    private static func named(_ error: TransactionStoreError, _ source: StoreURL) -> TransactionStoreError {
        let name =
            switch source {
            case .sqlite: "\(source)"
            case .postgreSQL(let url): (try? PostgreSQLQuery.server(of: url)) ?? "\(source)"
            }
        guard !error.message.hasPrefix(name) else { return error }
        return TransactionStoreError(error.code, "\(name): \(error.message)")
    }
}

/// Collects the data of sources into steps, and writes one step while the next one is read.
private final class MergeWriter {
    var summary = StoreMergeSummary()
    private let destination: any StoreMerge.Destination
    private var step = MigrationStep()
    private var unknown: [UnknownTransaction] = []
    private var rows = 0
    /// The bytes of receipts, quarantine lines and notifications in the step.
    private var bytes = 0
    private var running: Task<AppliedFacts, any Error>?

    private let rowsPerStep: Int
    private static let bytesPerStep = 8 << 20

    init(_ destination: any StoreMerge.Destination, rowsPerStep: Int) {
        self.destination = destination
        self.rowsPerStep = rowsPerStep
    }

    func add(_ customer: Customer) async throws {
        let sets = customer.factSets
        step.facts += sets
        try await added(
            \.customers,
            rows: sets.reduce(0) { $0 + $1.identities.count + $1.transactions.count + $1.renewalInfos.count },
            bytes: sets.reduce(0) { $0 + ($1.receipt?.bytes.count ?? 0) })
    }

    func add(_ record: QuarantinedRecord) async throws {
        step.quarantined.append(record)
        try await added(\.quarantined, bytes: record.line.count)
    }

    func add(_ claim: UserClaim) async throws {
        step.users.append(claim)
        try await added(\.userClaims, bytes: claim.userId.utf8.count + claim.carried.utf8.count)
    }

    func add(_ receipt: VerifiedReceipt) async throws {
        step.receipts.append(receipt)
        try await added(\.verifiedReceipts, rows: 1 + receipt.identities.count)
    }

    func add(_ hash: LeftHash) async throws {
        step.leftHashes.append(hash)
        try await added(\.leftHashes)
    }

    func add(notification set: FactSet) async throws {
        step.facts.append(set)
        try await added(\.notifications, bytes: set.notification?.body.count ?? 0)
    }

    func add(_ transaction: UnknownTransaction) async throws {
        unknown.append(transaction)
        try await added(\.unknownTransactions)
    }

    private func added(
        _ count: WritableKeyPath<StoreMergeSummary, Int>, rows: Int = 1, bytes: Int = 0
    ) async throws {
        summary[keyPath: count] += 1
        self.rows += rows
        self.bytes += bytes
        if self.rows >= rowsPerStep || self.bytes >= Self.bytesPerStep { try await write() }
    }

    /// Starts writing the step, after the previous one is durable.
    private func write() async throws {
        try await wait()
        try Task.checkCancellation()
        guard rows > 0 else { return }
        // Not canceled with the merge, because a step is short.
        running = Task { [destination, step, unknown] in
            if !unknown.isEmpty { try await destination.remember(unknown) }
            return try await destination.apply(step)
        }
        step = MigrationStep()
        unknown = []
        (rows, bytes) = (0, 0)
    }

    private func wait() async throws {
        guard let task = running else { return }
        running = nil
        let applied = try await task.value
        summary.changed += applied.changed
        summary.unchanged += applied.unchanged
        summary.erased += applied.erased + applied.erasedNotifications
    }

    /// Writes the rest.
    func finish() async throws {
        try await write()
        try await wait()
        if summary.changed > 0 { try? await destination.migrationEnded() }
    }

    /// Waits for the step in progress and ignores its errors.
    func settle() async { _ = try? await wait() }
}

/// The counts of a merge.
public struct StoreMergeSummary: Sendable, Equatable {
    /// Sources that were merged completely.
    public internal(set) var stores = 0
    /// Customers of the sources. One customer may be in several sources.
    public internal(set) var customers = 0
    /// User ids at purchases, with their carried columns, of the sources.
    public internal(set) var userClaims = 0
    /// Receipts that a migration into a source verified.
    public internal(set) var verifiedReceipts = 0
    /// Lines in the quarantines of the sources.
    public internal(set) var quarantined = 0
    /// Notifications that the sources processed.
    public internal(set) var notifications = 0
    /// Transactions that the App Store did not know when a source was completed.
    public internal(set) var unknownTransactions = 0
    /// Hashes that erasures left in the sources.
    public internal(set) var leftHashes = 0
    /// Facts that were new to the destination, or newer than its own.
    public internal(set) var changed = 0
    /// Facts that the destination already had, in the same or a newer state.
    public internal(set) var unchanged = 0
    /// Facts, users and notifications that were not stored because a hash of their customer was left.
    public internal(set) var erased = 0

    /// The names and numbers, in the order in which they are shown.
    public var counts: [(name: String, count: Int)] {
        [
            ("stores", stores), ("customers", customers), ("userClaims", userClaims),
            ("verifiedReceipts", verifiedReceipts), ("quarantined", quarantined), ("notifications", notifications),
            ("unknownTransactions", unknownTransactions), ("leftHashes", leftHashes), ("factsChanged", changed),
            ("factsUnchanged", unchanged), ("erased", erased),
        ]
    }

    /// ``counts`` as an object, with a line feed.
    public var json: [UInt8] {
        JSONWriter.object(reservingCapacity: 256, endsLine: true) { writer in
            writer.members(counts)
        }
    }
}

extension StoreURL {
    /// A snapshot of the store.
    /// - Throws: `TransactionStoreError`.
    func snapshot() throws -> any StoreSnapshot {
        switch self {
        case .sqlite(let path): try SQLiteStoreSnapshot(path: path)
        case .postgreSQL(let url): try PostgreSQLStoreSnapshot(url: url)
        }
    }
}
