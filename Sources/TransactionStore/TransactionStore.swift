public import Purchases

/// Stores purchases between requests. Two engines implement it: SQLite and PostgreSQL. <doc:WriteAnEngine> explains how
/// to write another one. The library `TransactionStoreConformance` contains the rules that every engine must keep.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol TransactionStore: Sendable {
    /// Stores the facts of documents. They are durable when this method returns. Each set is applied completely or not
    /// at all. A set whose notification was processed before changes nothing. Documents may come in any order and more
    /// than once: the newest fact of each kind stays.
    func apply(_ sets: [FactSet]) async throws -> AppliedFacts

    /// Everything known about the customer with any of these identities; nil if no customer has one. If the identities
    /// belong to several customers that no document has joined, the result contains the facts of all of them.
    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer?

    /// Whether a notification was processed before.
    func hasProcessed(notificationUUID: String) async throws -> Bool

    /// The number of rows of each kind. For reports and readiness checks, not for a hot path.
    func counts() async throws -> StoreCounts

    /// Throws if the store cannot be read and written now.
    func checkReadiness() async throws

    /// Finishes running writes and closes the connection. Later calls throw `closed`.
    func close() async throws
}

/// The result of ``TransactionStore/apply(_:)``. Each transaction, renewal info, app transaction and stored receipt
/// counts as one.
public struct AppliedFacts: Hashable, Sendable {
    /// Facts that were new, or newer than the stored ones.
    public var changed = 0
    /// Facts that were already stored, or older.
    public var unchanged = 0
    /// Sets that were skipped because their notification had been processed.
    public var repeatedNotifications = 0
    /// Facts, and the caller's users, that were not stored because the store has a ``LeftHash`` of the customer.
    public var erased = 0
    /// Notifications that were not stored for the same reason. They count as new when they arrive again.
    public var erasedNotifications = 0
    /// Whether customers were merged. Then the customer of the facts can have others too. With some engines, also if a call at
    /// the same time merged customers.
    public var mergesCustomers = false

    /// A result without facts: all numbers are 0.
    public init() {}

    /// Adds the numbers of another call.
    package mutating func add(_ other: AppliedFacts) {
        changed += other.changed
        unchanged += other.unchanged
        repeatedNotifications += other.repeatedNotifications
        erased += other.erased
        erasedNotifications += other.erasedNotifications
        mergesCustomers = mergesCustomers || other.mergesCustomers
    }
}

/// The size of a store. A transaction that several documents state counts once, and so do renewal infos and app
/// transactions. Receipts are the stored ones.
public struct StoreCounts: Hashable, Sendable {
    /// Transactions of all apps and environments. A transaction that is stored under two original transaction ids
    /// counts for each.
    public var transactions: Int64
    /// Subscriptions with renewal information, one for each original transaction id.
    public var renewalInfos: Int64
    /// Customers with an app transaction.
    public var appTransactions: Int64
    /// Groups of identities that documents connect.
    public var customers: Int64
    /// At most two for each customer: the newest app receipt and the newest transaction receipt (iOS 6).
    public var receipts: Int64
    /// Processed notifications whose ids the store still has. ``StoreRetention/removeNotifications(signedBefore:)``
    /// removes old ones.
    public var notifications: Int64
    /// The hashes that erasures left (``LeftHash``).
    public var leftHashes: Int64

    /// Creates the counts of an engine. `leftHashes` is 0 if no erasure left a hash.
    public init(
        transactions: Int64, renewalInfos: Int64, appTransactions: Int64, customers: Int64, receipts: Int64,
        notifications: Int64, leftHashes: Int64 = 0
    ) {
        self.transactions = transactions
        self.renewalInfos = renewalInfos
        self.appTransactions = appTransactions
        self.customers = customers
        self.receipts = receipts
        self.notifications = notifications
        self.leftHashes = leftHashes
    }
}

/// An error of a store.
public struct TransactionStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, for a program to branch on.
    public enum Code: String, Hashable, Sendable {
        /// The store cannot be reached or opened. Try again later.
        case unavailable
        /// The store rejects writes: a read-only file or a full disk, for example. Free space or correct the
        /// permissions. Reads may still work.
        case notWritable
        /// Other calls or another program blocked the store for too long. Try again later.
        case busy
        /// A newer version of this program wrote the store. This program cannot open it: update the program.
        case newerSchema
        /// The address is not an address of a store. Correct it.
        case invalidURL
        /// The call has an argument that no store accepts, such as a negative limit. Correct the call.
        case invalidArgument
        /// Ledger entries that the reader has not read were removed. Read the current state of the purchases in another
        /// way, and then acknowledge the last entry.
        case entriesRemoved
        /// The store contains data that cannot be read. Restore it from a backup, or fill a new one.
        case corrupt
        /// The store was closed before the call. Open it again.
        case closed
        /// The engine reported another error. The message contains the engine's text; see the engine's documentation.
        case engine
    }

    /// The kind of error.
    public let code: Code
    /// A sentence for a person. Contains no secrets and no receipts.
    public let message: String

    /// An error that an engine throws. `message` must not contain secrets or receipts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Two errors are equal if their codes are equal. Messages are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { "\(code.rawValue): \(message)" }

    /// The text of an error for a log. Only store errors are quoted, because they contain no secrets and no receipts.
    package static func text(of error: any Error) -> String { (error as? Self)?.description ?? "\(type(of: error))" }

    /// Whether the same call can succeed later without any change.
    public var isTransient: Bool { code == .unavailable || code == .busy }
}
