public import Purchases
public import TransactionStore

/// A transaction store in a PostgreSQL database (12 or newer), for several replicas at once.
///
/// When `apply(_:)` returns, its facts are committed. The server's `synchronous_commit` and `fsync` decide whether
/// they survive a crash of the server. Facts are written in transactions of a few thousand, and one set is always in
/// one transaction. Small calls that arrive during a commit share the next transaction.
///
/// Connections open on demand, and open again after the server was away. A store can therefore be created before its
/// server is up. The first connection creates the schema or brings it up to date. An upgrade to version 13 then decodes the
/// stored receipts, page by page, while other programs use the store; see ``Options/fillsInBackground``.
///
/// | condition | error |
/// |---|---|
/// | the server is down, starting, out of connections, or rejects the login | `unavailable`; the store recovers by itself |
/// | the connection is lost during COMMIT | `unavailable`; applying the same sets again is safe |
/// | a standby, a full disk, missing rights | `notWritable` |
/// | other writers hold a lock for longer than ``Options/lockTimeout``, a statement takes longer than ``Options/statementTimeout``, no connection becomes free | `busy` |
/// | the server gives no answer for longer than ``Options/answerTimeout`` | `unavailable`; the connection is closed and opened again |
/// | the schema is newer than this program | `newerSchema` |
/// | the server reports damaged data, or a row cannot be read | `corrupt` |
///
/// The store uses prepared statements and session settings, so a connection pooler must pool by session.
public final class PostgreSQLTransactionStore: TransactionStore, DeliveryLedger, ConsumptionTasks, PurchaseEndings,
    RequestBudgets
{
    /// The settings of a store.
    public struct Options: Sendable {
        /// The database schema that holds the tables. The store creates it if it is missing. `?schema=NAME` in the URL
        /// takes precedence.
        public var schema: String
        /// The maximum number of connections, which is also the number of calls that run at once. `?connections=N` in
        /// the URL takes precedence.
        public var maximumConnections: Int
        /// How long one statement may take, in seconds.
        public var statementTimeout: Double
        /// How long to wait for another writer, in seconds.
        public var lockTimeout: Double
        /// How long to wait for a free connection, in seconds.
        public var connectionTimeout: Double
        /// How long to wait for any answer from the server, in seconds. It applies even if the server does not enforce
        /// its own time limits. The default, nil, is 5 seconds more than ``statementTimeout``.
        ///
        /// This is also the limit for opening a connection: at least 2 seconds, and 5 if this is nil.
        /// `?connect_timeout=N` in the URL takes precedence.
        public var answerTimeout: Double?
        /// Whether the receipts that an upgrade decodes are decoded on a further connection, so that no call waits for it.
        /// Until that is done, some app transactions have no legacy fields. If false, the call that opens the first connection
        /// waits, so that programs that export the store have all fields, unless another program is decoding them.
        public var fillsInBackground: Bool

        /// By default, the store uses at most 8 connections, and a statement fails after 30 seconds, or after 10
        /// seconds of waiting for a lock.
        ///
        /// - Parameters:
        ///   - schema: the schema of the store's tables.
        ///   - maximumConnections: the most connections at once.
        ///   - statementTimeout: seconds.
        ///   - lockTimeout: seconds.
        ///   - connectionTimeout: seconds. How long a call waits for a connection.
        ///   - answerTimeout: seconds; nil for 5 seconds more than `statementTimeout`.
        ///   - fillsInBackground: whether no call waits while an upgrade decodes receipts.
        public init(
            schema: String = "legacy_receipts", maximumConnections: Int = 8, statementTimeout: Double = 30,
            lockTimeout: Double = 10, connectionTimeout: Double = 10, answerTimeout: Double? = nil,
            fillsInBackground: Bool = false
        ) {
            self.answerTimeout = answerTimeout
            self.fillsInBackground = fillsInBackground
            self.schema = schema
            self.maximumConnections = maximumConnections
            self.statementTimeout = statementTimeout
            self.lockTimeout = lockTimeout
            self.connectionTimeout = connectionTimeout
        }
    }

    /// How often a transaction is retried after a conflict with other writers.
    private static let maximumAttempts = 16

    private let address: PostgreSQLAddress
    private let schema: Schema
    private let timeouts: PostgreSQLTimeouts
    private let pool: ConnectionPool
    private let fill: BackgroundFill
    private let queue: WriteQueue
    private let lookUps: CallQueue<CustomerReader.Query, CustomerReader.Answer>

    /// Creates a store without connecting to the server.
    /// - Parameters:
    ///   - url: a connection URI of libpq, `postgresql://user:password@host:5432/database?sslmode=verify-full`
    ///     (PostgreSQL manual, 34.1.1.2), with `schema` and `connections` as further options. Passwords can also come from
    ///     libpq's own sources, `PGPASSWORD` and `~/.pgpass`.
    ///   - options: the settings that the URL does not state.
    /// - Throws: `TransactionStoreError` `invalidURL`; the message does not repeat the URL.
    public init(url: String, options: Options = Options()) throws {
        func milliseconds(_ seconds: Double) -> Int { Int(max(1, min(86_400_000, (seconds * 1000).rounded()))) }
        let timeouts = PostgreSQLTimeouts(
            statement: milliseconds(options.statementTimeout), lock: milliseconds(options.lockTimeout),
            acquire: milliseconds(options.connectionTimeout),
            answer: milliseconds(options.answerTimeout ?? options.statementTimeout + 5))
        // libpq raises smaller values to 2 seconds.
        let connectTimeout = options.answerTimeout.map { Int(max(2, min($0, 3_600).rounded(.up))) } ?? 5
        let address = try PostgreSQLAddress(url, connectTimeout: connectTimeout)
        let schema = try Schema(name: address.schema ?? options.schema, timeouts: timeouts)
        self.address = address
        self.schema = schema
        self.timeouts = timeouts
        let maximum = max(1, address.maximumConnections ?? options.maximumConnections)
        let fill = BackgroundFill(
            schema, PostgreSQLConnection(address, timeouts: timeouts) { try schema.configure($0) })
        self.fill = fill
        let fillsInBackground = options.fillsInBackground
        let pool = ConnectionPool(maximum: maximum, timeouts: timeouts) {
            PostgreSQLConnection(address, timeouts: timeouts) { session in
                guard try schema.prepare(session) else { return }
                if fillsInBackground { fill.start() } else { try schema.fill(session) }
            }
        }
        self.pool = pool
        queue = WriteQueue(factsPerTransaction: WriteLimits.facts) { calls in
            try await Self.write(FactBatch(calls), pool, address)
        }
        lookUps = CallQueue(
            // Leaves one connection for writes.
            maximumPieces: max(1, maximum - 1), maximumWait: .milliseconds(timeouts.acquire),
            maximumWeight: CustomerReader.maximumIdentities, weight: { $0.identities.count },
            // A retry of each call alone would run into the same error, after the same wait.
            failsAll: { [.unavailable, .busy, .closed].contains(($0 as? TransactionStoreError)?.code) },
            { queries in
                try await Self.perform(pool, address) { try CustomerReader.answers(to: queries, $0) }
            })
    }

    /// Creates a store and connects once, so that a wrong address or a newer schema fails at startup.
    public static func open(url: String, options: Options = Options()) async throws -> PostgreSQLTransactionStore {
        let store = try PostgreSQLTransactionStore(url: url, options: options)
        do {
            try await store.perform { _ in }
        } catch {
            try? await store.close()
            throw error
        }
        return store
    }

    /// Stores the facts of documents, each set completely or not at all. They are committed when this method returns.
    /// Small calls at the same time share one commit. A large call takes several transactions, so an error can leave a
    /// part of its sets stored; applying all again is safe.
    /// - Throws: `TransactionStoreError`: `busy` after 16 conflicts with other writers.
    public func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        let slices = WriteLimits.batches(sets)
        guard let first = slices.first else {
            try await pool.checkOpen()
            return AppliedFacts()
        }
        // A bulk load fills whole transactions by itself, and several bulk loads may run at once.
        if WriteLimits.isSmall(sets) { return try await queue.call(sets) }
        var result = AppliedFacts()
        var batch = FactBatch([Array(first)])
        for next in 1...slices.count {
            // Prepares the next batch while this one is being written.
            async let following = next < slices.count ? FactBatch([Array(slices[next])]) : nil
            for applied in try await Self.write(batch, pool, address) { result.add(applied) }
            guard let made = await following else { break }
            batch = made
        }
        return result
    }

    /// Writes the facts and the other parts of a migration step in one transaction.
    func writeStep(_ facts: FactBatch, _ migration: MigrationBatch) async throws -> AppliedFacts {
        try await Self.write(facts, pool, address, and: migration).first ?? AppliedFacts()
    }

    /// Writes a batch in one transaction. The result has one value per call.
    private static func write(
        _ batch: FactBatch, _ pool: ConnectionPool, _ address: PostgreSQLAddress, and migration: MigrationBatch? = nil
    ) async throws -> [AppliedFacts] {
        try await perform(pool, address) { session in
            var exclusive: Set<Int32> = []
            var mayCopyIdentities = true
            for _ in 0..<Self.maximumAttempts {
                let writer = FactWriter(
                    session: session, exclusive: exclusive, mayCopyIdentities: mayCopyIdentities)
                do {
                    return try writer.write(batch, migration)
                } catch WriteObstacle.joining(let scopes) {
                    exclusive.formUnion(scopes)
                } catch WriteObstacle.identityTaken {
                    continue
                } catch let failure as PostgreSQLFailure where failure.isUniqueViolation {
                    mayCopyIdentities = false
                } catch let failure as PostgreSQLFailure where failure.isConflict {
                    continue
                }
            }
            throw TransactionStoreError(
                .busy, "the transaction conflicted with other writers \(Self.maximumAttempts) times")
        }
    }

    /// Everything known about the customer with any of these identities; nil if no customer has one. Calls at the same
    /// time share one round trip.
    /// - Throws: `TransactionStoreError`.
    public func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        let meaningful = identities.filter(\.isMeaningful)
        guard !meaningful.isEmpty else {
            try await pool.checkOpen()
            return nil
        }
        return try await lookUps.call(.init(identities: meaningful, scope: scope)).get()
    }

    private static let touchReadiness = Statement("UPDATE readiness SET checks = (checks + 1) % 1000000")

    /// Writes one row, because only a write proves that the server accepts writes.
    public func checkReadiness() async throws {
        try await perform { session in
            try session.transaction { _ = try session.run(Self.touchReadiness) }
        }
    }

    /// Finishes running calls and closes all connections. Later calls throw `TransactionStoreError` `closed`.
    public func close() async throws {
        await queue.close()
        await lookUps.close()
        await fill.stop()
        await pool.close()
    }

    /// Closes the store, and removes the tables and the schema that it has created, unless something was stored or another
    /// program uses them.
    /// - Throws: `TransactionStoreError` if they cannot be removed.
    package func closeAndRemoveIfEmpty() async throws {
        try await close()
        guard schema.isCreatedHere else { return }
        let schema = schema
        let connection = PostgreSQLConnection(address, timeouts: timeouts) { try schema.configure($0) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await connection.perform { try schema.removeIfEmpty($0) })
        } catch {
            result = .failure(error)
        }
        await connection.close()
        do {
            try result.get()
        } catch let failure as PostgreSQLFailure {
            throw failure.storeError(address.description)
        }
    }

    /// Runs `body` on a connection of the pool, and translates errors to `TransactionStoreError`.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Value
    ) async throws -> Value {
        try await Self.perform(pool, address, body)
    }

    private static func perform<Value: Sendable>(
        _ pool: ConnectionPool, _ address: PostgreSQLAddress,
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Value
    ) async throws -> Value {
        let connection = try await pool.acquire()
        let result: Result<Value, any Error>
        do { result = .success(try await connection.perform(body)) } catch { result = .failure(error) }
        await pool.release(connection)
        switch result {
        case .success(let value): return value
        case .failure(let failure as PostgreSQLFailure): throw failure.storeError(address.description)
        case .failure(let error as TransactionStoreError): throw error
        case .failure: throw TransactionStoreError(.engine, "\(address.description): an unexpected error")
        }
    }
}

extension PostgreSQLTransactionStore: SQLStore {
    package func reading<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await perform { try body($0) }
    }

    package func writing<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await perform { session in try session.transaction { try body(session) } }
    }
}
