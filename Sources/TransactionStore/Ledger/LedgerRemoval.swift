/// A consumer of the ledger.
public struct LedgerConsumer: Hashable, Sendable {
    /// 1 to 256 characters of printable ASCII.
    public let name: String
    /// The position that it has acknowledged; 0 if there is none.
    public let position: Int64
    /// The holder of its lease; nil if no process has it now.
    public let holder: String?

    /// Creates a consumer. Called by engines.
    /// - Parameters:
    ///   - name: 1 to 256 characters of printable ASCII.
    ///   - position: the position that it has acknowledged, or 0.
    ///   - holder: the holder of its lease, unless the lease has expired.
    public init(name: String, position: Int64, holder: String?) {
        self.name = name
        self.position = position
        self.holder = holder
    }
}

/// The result of ``DeliveryLedger/removeEntries(before:evenUnread:)``.
public struct LedgerRemoval: Hashable, Sendable {
    /// Readers no longer get entries up to this position; 0 if nothing was ever removed.
    public let position: Int64
    /// The consumers that have not acknowledged all entries from before the date, ordered by name. Because of them,
    /// entries were kept. With `evenUnread`, these consumers miss entries instead.
    public let behind: [LedgerConsumer]

    /// Creates a result. Called by engines.
    /// - Parameters:
    ///   - position: readers no longer get entries up to this position.
    ///   - behind: the consumers that have not acknowledged all entries from before the date, ordered by name.
    public init(position: Int64, behind: [LedgerConsumer]) {
        self.position = position
        self.behind = behind
    }

    /// Decides which entries an engine removes.
    /// - Parameters:
    ///   - asked: the position up to which all entries were recorded before the date, or 0.
    ///   - removed: the position up to which entries were removed before, or 0.
    ///   - consumers: all consumers, ordered by name.
    ///   - evenUnread: whether to remove entries that a consumer has not acknowledged.
    public init(asked: Int64, removed: Int64, consumers: [LedgerConsumer], evenUnread: Bool) {
        behind = consumers.filter { $0.position < asked }
        let allowed = evenUnread ? asked : behind.reduce(asked) { min($0, $1.position) }
        position = max(removed, allowed)
    }
}

extension LedgerLimits {
    /// How many positions an engine searches or removes in one database transaction. Writers wait for the end of each.
    public static let removedAtOnce: Int64 = 10_000

    /// Call this after entries were read. It detects entries that were removed during the read.
    ///
    /// - Parameters:
    ///   - position: the position that was read from.
    ///   - removed: the position up to which entries were removed, or 0.
    /// - Throws: ``TransactionStoreError`` `entriesRemoved` if the reader has missed entries.
    public static func check(readFrom position: Int64, removed: Int64) throws {
        guard max(0, position) < removed else { return }
        throw TransactionStoreError(
            .entriesRemoved,
            "The entries up to \(removed) were removed, and this reader has read only those up to \(max(0, position)).")
    }
}
