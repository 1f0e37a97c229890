public import Purchases

/// Keeps facts on a disk while a ``TransactionStore`` cannot take them.
///
/// Entries leave in the order in which they arrived, but an entry that the store cannot take yet does not block others.
/// An entry is removed after the store has committed it. After a crash in between, the store gets the entry twice,
/// which changes nothing: the newest fact of each kind stays.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol FactSpool: Sendable {
    /// Adds facts. They are durable when this method returns. Facts that the spool already contains are not added
    /// again.
    ///
    /// - Throws: `notWritable` if the spool or its disk is full; `invalidArgument` for the facts of a notification,
    ///   because the App Store sends it again.
    func append(_ set: FactSet) async throws

    /// The oldest entries, except those that were set aside. Returns at least one if there is one.
    ///
    /// - Parameters:
    ///   - after: the id after which to start; 0 for all entries. Ids increase in the order in which entries come.
    ///   - maximumCount: the maximum number of entries.
    ///   - maximumBytes: the maximum total size, unless the first entry alone is larger.
    func oldest(after: Int64, maximumCount: Int, maximumBytes: Int64) async throws -> [SpooledFacts]

    /// Deletes entries that the store has committed.
    func remove(_ ids: [Int64]) async throws

    /// Keeps an entry that the store rejects, without blocking others. The entry waits again after the next start.
    func setAside(_ id: Int64, reason: String) async throws

    /// How full the spool is.
    var state: SpoolState { get }

    /// Throws if the spool cannot take entries now.
    func checkReadiness() async throws

    /// Finishes running writes and lets another program open the spool.
    func close() async throws
}

/// An entry of a ``FactSpool``.
public struct SpooledFacts: Sendable {
    /// Greater than the ids of all earlier entries. ``FactSpool/remove(_:)`` and ``FactSpool/setAside(_:reason:)`` need
    /// it.
    public let id: Int64
    /// The name of the entry in logs: the first 12 hexadecimal digits of a SHA-256. The hash is that of its receipt, or
    /// of its facts without a receipt.
    public let name: String
    /// The facts, or the error if they cannot be read.
    public let facts: Result<FactSet, TransactionStoreError>

    /// Creates an entry. Called by spools.
    /// - Parameters:
    ///   - id: greater than the ids of all earlier entries.
    ///   - name: the first 12 hexadecimal digits of a SHA-256.
    ///   - facts: a failure if the entry is damaged. The caller can then set it aside, so that it does not block
    ///     others.
    public init(id: Int64, name: String, facts: Result<FactSet, TransactionStoreError>) {
        self.id = id
        self.name = name
        self.facts = facts
    }
}

/// How full a ``FactSpool`` is.
public struct SpoolState: Hashable, Sendable {
    /// The number of entries that wait for the store.
    public var entries: Int64
    /// The size of all entries, including those that were set aside.
    public var bytes: Int64
    /// The size at which the spool is full, in bytes.
    public var maximumBytes: Int64
    /// When the oldest waiting entry was added, in milliseconds since 1970-01-01T00:00:00Z; nil if no entry waits.
    public var oldestDate: Int64?
    /// The number of entries that the store rejected.
    public var setAside: Int64

    /// Creates a state without checking it. Called by spools.
    /// - Parameters:
    ///   - entries: the number of entries that wait for the store.
    ///   - bytes: the size of all entries, including those that were set aside.
    ///   - maximumBytes: the size at which the spool is full, in bytes.
    ///   - oldestDate: in milliseconds since 1970-01-01T00:00:00Z; nil if no entry waits.
    ///   - setAside: the number of entries that the store rejected.
    public init(entries: Int64, bytes: Int64, maximumBytes: Int64, oldestDate: Int64?, setAside: Int64) {
        self.entries = entries
        self.bytes = bytes
        self.maximumBytes = maximumBytes
        self.oldestDate = oldestDate
        self.setAside = setAside
    }
}
