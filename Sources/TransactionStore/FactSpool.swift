public import Purchases

/// Keeps what documents state while a ``TransactionStore`` cannot take it, on a disk, until the store can.
///
/// Entries leave in the order in which they came, but one that the store cannot take yet holds no other up. An entry is removed after the store has committed it, so that a crash in
/// between makes the store take it twice, which changes nothing: the newest fact of each kind stands.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol FactSpool: Sendable {
    /// Adds facts; durable when it returns. Facts that the spool holds already are not added again.
    ///
    /// - Throws: `notWritable` if the spool or its disk is full; `invalidArgument` for the facts of a notification, which
    ///   the App Store sends again.
    func append(_ set: FactSet) async throws

    /// The entries that came first, without those that were set aside. At least one if there is one.
    ///
    /// - Parameters:
    ///   - after: only entries whose id is greater; 0 for all. Ids rise in the order in which entries come.
    ///   - maximumCount: how many entries at the most.
    ///   - maximumBytes: of all entries together, unless the first alone is larger.
    func oldest(after: Int64, maximumCount: Int, maximumBytes: Int64) async throws -> [SpooledFacts]

    /// Forgets entries that the store has taken.
    func remove(_ ids: [Int64]) async throws

    /// Keeps an entry that the store refuses, and lets it block no other one. It waits again after the next start.
    func setAside(_ id: Int64, reason: String) async throws

    /// How full the spool is.
    var state: SpoolState { get }

    /// Whether the spool takes entries now.
    func checkReadiness() async throws

    /// Finishes what is being written and lets another program open the spool.
    func close() async throws
}

/// An entry of a ``FactSpool``.
public struct SpooledFacts: Sendable {
    public let id: Int64
    /// What logs call it: the first 12 hexadecimal digits of the SHA-256 of its receipt or, without one, of its facts.
    public let name: String
    /// The facts, or why they cannot be read.
    public let facts: Result<FactSet, TransactionStoreError>

    public init(id: Int64, name: String, facts: Result<FactSet, TransactionStoreError>) {
        self.id = id
        self.name = name
        self.facts = facts
    }
}

/// How full a ``FactSpool`` is.
public struct SpoolState: Hashable, Sendable {
    /// Entries that wait for the store.
    public var entries: Int64
    /// Bytes of all entries, those that were set aside included.
    public var bytes: Int64
    /// The bytes at which the spool is full.
    public var maximumBytes: Int64
    /// When the oldest entry that waits was added, in milliseconds since 1970-01-01T00:00:00Z; nil if none waits.
    public var oldestDate: Int64?
    /// Entries that the store refused.
    public var setAside: Int64

    public init(entries: Int64, bytes: Int64, maximumBytes: Int64, oldestDate: Int64?, setAside: Int64) {
        self.entries = entries
        self.bytes = bytes
        self.maximumBytes = maximumBytes
        self.oldestDate = oldestDate
        self.setAside = setAside
    }
}
