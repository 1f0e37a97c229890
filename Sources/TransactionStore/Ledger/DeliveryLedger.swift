public import Purchases

/// The ordered list of changes for a program that delivers content. A consumer reads entries from its last position,
/// acts on them, and acknowledges them. An engine appends the entries in the database transaction that stores the
/// facts.
///
/// - A transaction id has at most one entry `purchased`, regardless of the number and the order of the documents that
///   state it.
/// - The ledger contains only signed transactions. A purchase that only recorded documents state gets no entry.
/// - A reader misses nothing: no entry ever appears at or before a position that was read, even if several programs
///   write at once.
/// - Entries stay until ``removeEntries(before:evenUnread:)``. Until then, a new consumer that begins at 0 gets all
///   entries, including those for purchases from before the store had a ledger. Afterwards it gets an error instead of
///   an incomplete list.
///
/// A consumer that is killed between delivery and acknowledgment gets the same entries again. To deliver only once,
/// store the position or the transaction ids in the same transaction as the delivery.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol DeliveryLedger: Sendable {
    /// The entries after a position, in order; empty at the end.
    /// - Parameters:
    ///   - position: 0 for the beginning.
    ///   - limit: 1 to 10,000. Other values are clamped to this range.
    /// - Throws: ``TransactionStoreError`` `entriesRemoved` if entries after the position were removed.
    func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry]

    /// The entries about the transactions of purchases, in order, read by consumers or not. These are the entries that an erasure
    /// of the purchases removes (``CustomerEraser``).
    /// - Parameters:
    ///   - originalTransactionIds: the ids that the transactions are stored under.
    ///   - scope: the app and the environment.
    func entries(ofPurchases originalTransactionIds: [String], in scope: StoreScope) async throws -> [LedgerEntry]

    /// Records that a consumer has processed all entries up to a position. The change is durable when this method
    /// returns. A position before the recorded one changes nothing.
    /// - Parameters:
    ///   - position: the position of the last processed entry.
    ///   - consumer: the name of the consumer, 1 to 256 characters of printable ASCII.
    /// - Throws: ``TransactionStoreError`` `invalidArgument` for an invalid name, or a position after the last entry.
    func acknowledge(_ position: Int64, by consumer: String) async throws

    /// The position that a consumer has acknowledged; 0 if it never did.
    func acknowledgedPosition(of consumer: String) async throws -> Int64

    /// Takes or renews the lease of a consumer, which has at most one holder at a time. The lease is granted if it is
    /// free, has expired, or is held by the caller. It then lasts `milliseconds` from now, and is durable when this
    /// method returns.
    ///
    /// A lease does not restrict the other methods. It is an agreement among the processes that request it.
    /// - Parameters:
    ///   - consumer: the name of the consumer, 1 to 256 characters of printable ASCII.
    ///   - holder: a name that no other process has, 1 to 256 characters of printable ASCII.
    ///   - milliseconds: 1 to ``LedgerLimits/maximumLeaseMilliseconds``.
    /// - Throws: ``TransactionStoreError`` `invalidArgument` for an invalid name or duration.
    func lease(_ consumer: String, to holder: String, for milliseconds: Int64) async throws -> ConsumerLease

    /// Ends the lease of a consumer if this holder has it.
    /// - Parameters:
    ///   - consumer: the name of the consumer.
    ///   - holder: the name that the lease was granted to.
    func endLease(of consumer: String, by holder: String) async throws

    /// All consumers that ever acknowledged a position or had a lease, ordered by name.
    func consumers() async throws -> [LedgerConsumer]

    /// Removes a consumer with its position and its lease. Returns false if there is no such consumer.
    func removeConsumer(_ name: String) async throws -> Bool

    /// Removes the entries that were recorded before a date, up to the position that every consumer has acknowledged.
    /// Later reads that start before ``LedgerRemoval/position`` throw `entriesRemoved`.
    ///
    /// The store keeps the state of each transaction, so no transaction gets a second entry `purchased`.
    /// - Parameters:
    ///   - date: in milliseconds since 1970, by the store's clock (``LedgerEntry/recordedDate``).
    ///   - evenUnread: whether to remove entries that a consumer has not acknowledged. That consumer then gets the
    ///     error.
    func removeEntries(before date: Int64, evenUnread: Bool) async throws -> LedgerRemoval
}

/// One entry of a ``DeliveryLedger``.
public struct LedgerEntry: Sendable {
    /// The stored event of a transaction. ``LedgerEntry/change`` is more specific, because it also depends on the
    /// transaction. Databases contain the raw values: never change one.
    public enum Event: Int64, Hashable, Sendable, CaseIterable {
        /// The purchase was found: deliver its content. Each transaction id has this event only once.
        case purchased = 1
        /// Refunded, or Family Sharing ended (``LedgerEntry/change`` says which): revoke the content if it was
        /// delivered. A legacy receipt does not state
        /// whether a cancellation was an upgrade. If a later document shows that it was, an entry `upgraded` follows.
        case revoked = 2
        /// The customer upgraded to another product of the group, which has its own transaction. Either a document
        /// states this, or the other product began during this period.
        case upgraded = 3
        /// A revocation was undone (REFUND_REVERSED): deliver the content again.
        case reinstated = 4
        /// The term of this non-renewing subscription may have moved, because an earlier purchase of the customer was
        /// found, revoked or reinstated. Compute the term again (`Customer.nonRenewingTerms`). ``TermChanges``
        /// determines when an entry is due.
        case termMoved = 5
        /// The App Store ended a seat claim of this subscription (UNCLAIM_SEATS): revoke the access of the person with
        /// ``LedgerEntry/seatClaimId``. The subscription stays.
        case seatUnclaimed = 6
        /// The renewal failed, and access continues during the billing grace period (DID_FAIL_TO_RENEW with
        /// GRACE_PERIOD). This event and the following ones come from notifications, in the order of arrival. Except
        /// for consumption requests, they also come from renewal information of other signed documents.
        /// ``RenewalEntries`` determines when an entry is due.
        case gracePeriodEntered = 7
        /// The renewal failed without a grace period (DID_FAIL_TO_RENEW).
        case billingFailed = 8
        /// The billing grace period ended without a renewal (GRACE_PERIOD_EXPIRED).
        case gracePeriodExpired = 9
        /// A renewal that had failed succeeded (DID_RENEW with BILLING_RECOVERY). The transaction is that of the new
        /// period. Or a document shows that a period or a term that had ended by time continues.
        case billingRecovered = 10
        /// The subscription expired (EXPIRED).
        case expired = 11
        /// The customer must agree to a price increase (PRICE_INCREASE with PENDING).
        case priceIncreasePending = 12
        /// The customer agreed to a price increase, or it needs no consent (PRICE_INCREASE with ACCEPTED).
        case priceIncreaseAccepted = 13
        /// The App Store requests consumption information for a refund (CONSUMPTION_REQUEST). Answer within 12 hours.
        case consumptionRequested = 14
        /// The subscription expired, as far as the store knows: its period is over, and no document states what became
        /// of it. Only ``PurchaseEndings`` adds this event. A later document that shows that the period continues, or that
        /// billing is retried, gets an entry too. Or the term of a non-renewing subscription is over, by a catalog.
        case endedByTime = 15

        /// Whether the event changes whether the transaction is granted. Documents about the transaction cause these
        /// events.
        public var isState: Bool { rawValue <= Self.reinstated.rawValue }

        /// Whether the customer has the content after the event, which is a state.
        package var isGrant: Bool { self == .purchased || self == .reinstated }

        /// The event that decides the state of the transaction (``LedgerEntry/State``) after this event.
        ///
        /// A notification about billing or expiry does not change the state of a purchase that is revoked or upgraded.
        /// A late notification must not look like a reason to restore access.
        /// - Parameter last: the event that decided the state before; nil if there is none.
        public func decidingEvent(after last: Self?) -> Self? {
            switch self {
            case .purchased, .revoked, .upgraded, .reinstated: self
            case .gracePeriodEntered, .billingFailed, .gracePeriodExpired, .billingRecovered, .expired, .endedByTime:
                last == .revoked || last == .upgraded ? last : self
            case .termMoved, .seatUnclaimed, .priceIncreasePending, .priceIncreaseAccepted, .consumptionRequested: last
            }
        }
    }

    /// Greater than the positions of all earlier entries. There may be gaps.
    public let position: Int64
    /// The stored event. ``change`` names the change.
    public let event: Event
    /// The earlier event that decided the state of the transaction (``Event/decidingEvent(after:)``); nil for its first
    /// entry.
    public let eventBefore: Event?
    /// The app and the environment of the transaction.
    public let scope: StoreScope
    /// Several entries can have the same id, but only one of them is `purchased`.
    public let transactionId: String
    /// The transaction at the time of reading. It may include facts that were stored after the entry.
    public let transaction: StoredTransaction
    /// The seat claim that the App Store ended, a UUID in lower case; only with ``Event/seatUnclaimed``. An app and
    /// environment has at most one entry per claim.
    public let seatClaimId: String?
    /// The purchases before this one until the entry, the oldest first. These are the original transaction ids of granted
    /// non-renewing subscriptions of the customer. With a catalog they give the former term
    /// (`Customer.nonRenewingTerm(of:after:_:)`). Nil without ``Event/termMoved``, for more than 100 purchases, if one of
    /// them was erased, and for entries of schema versions before 13 (SQLite) or 14 (PostgreSQL).
    public let earlierPurchasesBefore: [String]?
    /// When the entry was written, in milliseconds since 1970, by the store's clock. Entries from before schema version
    /// 6 have the time of the migration to that version.
    public let recordedDate: Int64

    /// Creates an entry. Called by engines.
    /// - Parameters:
    ///   - position: greater than the positions of all earlier entries.
    ///   - event: what happened to the transaction.
    ///   - eventBefore: the result of ``Event/decidingEvent(after:)`` over all earlier entries of the transaction, even
    ///     if they were removed since.
    ///   - scope: the app and the environment of the transaction.
    ///   - transactionId: the id of the transaction.
    ///   - transaction: the transaction that ``CustomerAssembler`` builds from the rows that the engine has now.
    ///   - seatClaimId: the claim that ended; only with ``Event/seatUnclaimed``.
    ///   - earlierPurchasesBefore: the result of ``EarlierPurchases/decode(_:)``; only with ``Event/termMoved``.
    ///   - recordedDate: when the entry was written, in milliseconds since 1970.
    public init(
        position: Int64, event: Event, eventBefore: Event?, scope: StoreScope, transactionId: String,
        transaction: StoredTransaction,
        seatClaimId: String? = nil, earlierPurchasesBefore: [String]? = nil, recordedDate: Int64
    ) {
        self.earlierPurchasesBefore = earlierPurchasesBefore
        self.recordedDate = recordedDate
        self.seatClaimId = seatClaimId
        self.position = position
        self.event = event
        self.eventBefore = eventBefore
        self.scope = scope
        self.transactionId = transactionId
        self.transaction = transaction
    }
}

extension LedgerEntry.Event {
    /// SQL for the raw value of ``LedgerEntry/eventBefore`` of the row `l` of the table `ledger`; 0 if there is none.
    /// It follows ``decidingEvent(after:)``: the last state (1 to 4) decides, or a later event about billing or expiry
    /// (7 to 11, 15). After `revoked` (2) or `upgraded` (3), such an event does not count.
    /// - Parameter scope: the column with the app and the environment.
    package static func sqlOfEventBefore(scope: String) -> String {
        """
        COALESCE((
            SELECT b.event FROM ledger AS b
            WHERE b.\(scope) = l.\(scope) AND b.transaction_id = l.transaction_id AND b.number < l.number
                AND (b.event <= 4 OR b.event IN (7, 8, 9, 10, 11, 15) AND (
                    SELECT d.event FROM ledger AS d
                    WHERE d.\(scope) = b.\(scope) AND d.transaction_id = b.transaction_id
                        AND d.number < b.number AND d.event <= 4
                    ORDER BY d.number DESC LIMIT 1) NOT IN (2, 3))
            ORDER BY b.number DESC LIMIT 1), 0)
        """
    }
}

/// The limits of the arguments of a ``DeliveryLedger``, which are the same for all engines.
public enum LedgerLimits {
    /// The number of entries to read for `limit`: 1 to 10,000.
    public static func entries(_ limit: Int) -> Int { max(1, min(limit, 10_000)) }

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for an invalid consumer name.
    public static func check(consumer: String) throws {
        guard !consumer.isEmpty, CustomerIdentity.isPlain(consumer) else {
            throw TransactionStoreError(
                .invalidArgument,
                "The name of a consumer has 1 to \(CustomerIdentity.maximumLength) characters of printable ASCII.")
        }
    }

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for a position that is negative or after `last`, the position of
    ///   the last entry (0 if there is none).
    public static func check(position: Int64, last: Int64) throws {
        guard (0...last).contains(position) else {
            throw TransactionStoreError(
                .invalidArgument, "The position \(position) cannot be acknowledged: the last entry has \(last).")
        }
    }
}

/// All protocols that an engine implements.
public typealias CompleteTransactionStore = TransactionStore & DeliveryLedger & CustomerDirectory & MigrationStore
    & CustomerEraser & StoreRetention & ConsumptionTasks & UnknownTransactions
    & RequestBudgets & PurchaseEndings
