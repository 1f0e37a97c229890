/// A consumer that the ledger keeps.
public struct LedgerConsumer: Hashable, Sendable {
    /// 1 to 256 characters of printable ASCII.
    public let name: String
    /// The position that it has acknowledged; 0 if it never did.
    public let position: Int64
    /// The holder of its lease; nil if no process has it now.
    public let holder: String?

    /// A consumer for an engine to give.
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
    /// No reader gets an entry up to this position any more; 0 if nothing was ever removed.
    public let position: Int64
    /// The consumers that have not acknowledged all entries of the date, by name. They kept entries, or, with `evenUnread`, miss some.
    public let behind: [LedgerConsumer]

    /// A result for an engine to give.
    /// - Parameters:
    ///   - position: no reader gets an entry up to this position any more.
    ///   - behind: the consumers that have not acknowledged all entries of the date, by name.
    public init(position: Int64, behind: [LedgerConsumer]) {
        self.position = position
        self.behind = behind
    }

    /// Which entries to remove, for an engine.
    /// - Parameters:
    ///   - asked: the position up to which all entries were recorded before the date, or 0.
    ///   - removed: the position up to which entries were removed before, or 0.
    ///   - consumers: every consumer, by name.
    ///   - evenUnread: whether to remove entries that a consumer has not acknowledged.
    public init(asked: Int64, removed: Int64, consumers: [LedgerConsumer], evenUnread: Bool) {
        behind = consumers.filter { $0.position < asked }
        let allowed = evenUnread ? asked : behind.reduce(asked) { min($0, $1.position) }
        position = max(removed, allowed)
    }
}

extension LedgerLimits {
    /// How many positions an engine searches or removes in one database transaction, so that writers do not wait for long.
    public static let removedAtOnce: Int64 = 10_000

    /// To be called after entries were read: entries that are removed while they are read are not missed silently.
    ///
    /// - Parameters:
    ///   - position: the position that was read from.
    ///   - removed: the position up to which entries were removed, or 0.
    /// - Throws: ``TransactionStoreError`` `entriesRemoved` if the reader has missed entries.
    public static func check(readFrom position: Int64, removed: Int64) throws {
        guard max(0, position) < removed else { return }
        throw TransactionStoreError(
            .entriesRemoved,
            "The entries up to \(removed) were removed, and this reader has read those up to \(max(0, position)).")
    }
}
