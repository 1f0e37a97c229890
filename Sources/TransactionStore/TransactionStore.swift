public import Purchases

/// What remembers purchases between requests. Two engines implement it, SQLite and PostgreSQL. <doc:WriteAnEngine> says how to
/// write another one; the library `TransactionStoreConformance` has the rules that all of them keep.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol TransactionStore: Sendable {
    /// Takes in what documents state; durable when it returns. Each set is applied whole or not at all, and sets whose
    /// notification was processed before change nothing. Documents may come in any order and repeatedly: the newest fact
    /// of each kind stands.
    func apply(_ sets: [FactSet]) async throws -> AppliedFacts

    /// Everything known about the customer with any of these identities; nil if nobody has one. Where they belong to
    /// several customers that no document has joined, the facts of all of them.
    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer?

    /// Whether a notification was taken in before.
    func hasProcessed(notificationUUID: String) async throws -> Bool

    /// How many rows there are of each kind; for reports and readiness, not for a hot path.
    func counts() async throws -> StoreCounts

    /// Whether the store can answer and be written to now.
    func checkReadiness() async throws

    /// Finishes what is being written and closes the connection. Calls afterwards throw `closed`.
    func close() async throws
}

/// What ``TransactionStore/apply(_:)`` changed. Transactions, renewal infos, app transactions and kept receipts count one
/// each.
public struct AppliedFacts: Hashable, Sendable {
    /// Facts that were new, or newer than what was known.
    public var changed = 0
    /// Facts that were known already, or older.
    public var unchanged = 0
    /// Sets left out because their notification had been processed.
    public var repeatedNotifications = 0

    public init() {}
}

/// The size of a store. A transaction of which several documents speak counts once, and so do renewal infos and app
/// transactions; receipts are those that are kept.
public struct StoreCounts: Hashable, Sendable {
    public var transactions: Int64
    public var renewalInfos: Int64
    public var appTransactions: Int64
    public var customers: Int64
    public var receipts: Int64
    public var notifications: Int64

    public init(
        transactions: Int64, renewalInfos: Int64, appTransactions: Int64, customers: Int64, receipts: Int64,
        notifications: Int64
    ) {
        self.transactions = transactions
        self.renewalInfos = renewalInfos
        self.appTransactions = appTransactions
        self.customers = customers
        self.receipts = receipts
        self.notifications = notifications
    }
}

/// Why a store could not do what it was asked.
public struct TransactionStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found wrong, for a program to branch on.
    public enum Code: String, Hashable, Sendable {
        /// The store cannot be reached or opened. Try again later.
        case unavailable
        /// The store refuses to be written to: a read-only file, a full disk. Make room or correct the permissions;
        /// reads may still work.
        case notWritable
        /// Other calls or another program held the store for too long. Try again later.
        case busy
        /// A newer version of this program wrote the store. Update this program; it does not open the store before
        /// that.
        case newerSchema
        /// The address is not that of a store. Correct it.
        case invalidURL
        /// The call has an argument that no store can take, such as a negative limit. Correct the call.
        case invalidArgument
        /// The store holds something that cannot be read as what it should be. Restore it from a backup, or fill a new
        /// one.
        case corrupt
        /// The store was closed before the call. Open it again.
        case closed
        /// The engine reported another error; the message has its words. Look it up in the engine's documentation.
        case engine
    }

    /// What was found wrong.
    public let code: Code
    /// A sentence for a person; holds no secrets and no receipts.
    public let message: String

    /// An error for an engine to throw; `message` must hold no secrets and no receipts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Two errors are equal when their codes are, wherever and in whatever words they were found.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { "\(code.rawValue): \(message)" }

    /// Whether the same call can succeed later without a change to anything.
    public var isTransient: Bool { code == .unavailable || code == .busy }
}
