public import Purchases

/// The ordered record of what a program that delivers content has to do: a consumer reads it from where it stopped, does what
/// the entries say, and acknowledges. Both engines keep it, in the same database transaction as the facts it follows from.
///
/// - A transaction id is `purchased` at most once, whatever documents speak of it, in whatever order and how often.
/// - It says only what somebody signed: a purchase that stands in recorded documents alone gets no entry.
/// - Who has read up to a position has missed nothing before it: an entry never appears at or before a position that was
///   read, even where several programs write at once.
/// - Entries stay until ``removeEntries(before:evenUnread:)``. Until then, a new consumer that begins at 0 sees everything, what
///   was stored before there was a ledger included. Afterwards it gets an error instead of a part.
///
/// A consumer that acknowledges after it has delivered may be told the same entry again when it was killed in between: it
/// keeps the position, or the transaction ids, in the same transaction as the delivery if it must not deliver twice.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol DeliveryLedger: Sendable {
    /// The entries after a position, in order; empty at the end.
    /// - Parameters:
    ///   - position: 0 for the beginning.
    ///   - limit: how many to give at most, 1 to 10,000; other numbers are moved to the nearer bound.
    /// - Throws: ``TransactionStoreError`` `entriesRemoved` if entries after the position were removed.
    func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry]

    /// Remembers that a consumer is done with everything up to a position; durable when it returns. A position before the
    /// one that is remembered changes nothing.
    /// - Parameters:
    ///   - position: of the last entry that it is done with.
    ///   - consumer: its name, 1 to 256 characters of printable ASCII.
    /// - Throws: ``TransactionStoreError`` `invalidArgument` for another name, or a position that no entry has reached.
    func acknowledge(_ position: Int64, by consumer: String) async throws

    /// The position that a consumer has acknowledged; 0 if it never did.
    func acknowledgedPosition(of consumer: String) async throws -> Int64

    /// Takes or renews the lease of a consumer, which one holder at a time has. Of several callers, one gets it. It is granted if no
    /// one holds it, if it has expired, or if the caller holds it; then it lasts `milliseconds` from now. Durable when it returns.
    ///
    /// A lease restricts no other method: it is an agreement among the processes that ask for it.
    /// - Parameters:
    ///   - consumer: its name, 1 to 256 characters of printable ASCII.
    ///   - holder: a name that no other process has, 1 to 256 characters of printable ASCII.
    ///   - milliseconds: 1 to ``LedgerLimits/maximumLeaseMilliseconds``.
    /// - Throws: ``TransactionStoreError`` `invalidArgument` for other names or another duration.
    func lease(_ consumer: String, to holder: String, for milliseconds: Int64) async throws -> ConsumerLease

    /// Ends the lease of a consumer if this holder has it.
    /// - Parameters:
    ///   - consumer: its name.
    ///   - holder: the name that the lease was granted to.
    func endLease(of consumer: String, by holder: String) async throws

    /// Every consumer that has acknowledged, or had a lease, by name.
    func consumers() async throws -> [LedgerConsumer]

    /// Forgets a consumer: its position and its lease. Returns false if there is no such consumer.
    func removeConsumer(_ name: String) async throws -> Bool

    /// Removes the entries that were recorded before a date, as far as every consumer has acknowledged them. Later reads from before
    /// ``LedgerRemoval/position`` throw `entriesRemoved`.
    ///
    /// The ledger goes on as before: what it has recorded of each transaction stays known, so no purchase is `purchased` twice.
    /// - Parameters:
    ///   - date: in milliseconds since 1970, by the store's clock (``LedgerEntry/recordedDate``).
    ///   - evenUnread: also removes entries that a consumer has not acknowledged. It then gets the error.
    func removeEntries(before date: Int64, evenUnread: Bool) async throws -> LedgerRemoval
}

/// One entry of a ``DeliveryLedger``.
public struct LedgerEntry: Sendable {
    /// What a transaction came to be. The numbers stand in databases: never change one.
    public enum Event: Int64, Hashable, Sendable, CaseIterable {
        /// The purchase became known: deliver its content. The first time for this transaction id, and the only one.
        case purchased = 1
        /// Refunded, or family sharing ended: take the content back if it was delivered. A legacy receipt does not say
        /// whether a cancellation was an upgrade; a later document that does, or that shows the other product's beginning,
        /// gives an entry `upgraded`.
        case revoked = 2
        /// The customer went over to another product of the group, which has a transaction of its own. A document states it,
        /// or the other product began while this period was running.
        case upgraded = 3
        /// A revocation was undone (REFUND_REVERSED): give back what was delivered.
        case reinstated = 4
        /// The term of this non-renewing subscription can have moved: another purchase of the customer that comes before it
        /// became known, or was revoked or reinstated. Compute the term again (`Customer.nonRenewingTerms`).
        /// ``TermChanges`` determines when an entry is due.
        case termMoved = 5
        /// The App Store ended the claim of a seat of this subscription (UNCLAIM_SEATS): revoke the access of the
        /// person who has ``LedgerEntry/seatClaimId``. The subscription stays.
        case seatUnclaimed = 6
        /// The renewal failed, and the App Store asks to keep access during the billing grace period (DID_FAIL_TO_RENEW with
        /// GRACE_PERIOD). This event and the following ones are what a notification states, each notification once, in the order of
        /// arrival: a late one gives a late entry.
        case gracePeriodEntered = 7
        /// The renewal failed without a grace period (DID_FAIL_TO_RENEW).
        case billingFailed = 8
        /// The billing grace period ended without a renewal (GRACE_PERIOD_EXPIRED).
        case gracePeriodExpired = 9
        /// A renewal that had failed succeeded (DID_RENEW with BILLING_RECOVERY). The transaction is that of the new period.
        case billingRecovered = 10
        /// The subscription expired (EXPIRED).
        case expired = 11
        /// The customer has to agree to a price increase (PRICE_INCREASE with PENDING).
        case priceIncreasePending = 12
        /// The customer agreed to a price increase, or it needs no consent (PRICE_INCREASE with ACCEPTED).
        case priceIncreaseAccepted = 13
        /// The App Store asks for consumption information about a refund request (CONSUMPTION_REQUEST). Answer within 12 hours.
        case consumptionRequested = 14

        /// The word for it in JSON.
        public var name: String {
            switch self {
            case .purchased: "purchased"
            case .revoked: "revoked"
            case .upgraded: "upgraded"
            case .reinstated: "reinstated"
            case .termMoved: "termMoved"
            case .seatUnclaimed: "seatUnclaimed"
            case .gracePeriodEntered: "gracePeriodEntered"
            case .billingFailed: "billingFailed"
            case .gracePeriodExpired: "gracePeriodExpired"
            case .billingRecovered: "billingRecovered"
            case .expired: "expired"
            case .priceIncreasePending: "priceIncreasePending"
            case .priceIncreaseAccepted: "priceIncreaseAccepted"
            case .consumptionRequested: "consumptionRequested"
            }
        }

        /// Whether the event changes what became of the transaction. The others leave it granted or not granted.
        public var isState: Bool { rawValue <= Self.reinstated.rawValue }
    }

    /// Greater than that of every entry before it. Numbers may be left out.
    public let position: Int64
    public let event: Event
    /// What the transaction was before the entry: the last event of it that is a state (``Event/isState``); nil if it had none.
    public let stateBefore: Event?
    public let scope: StoreScope
    public let transactionId: String
    /// The transaction as the store knows it when the entry is read, which may be more than when it was written.
    public let transaction: StoredTransaction
    /// The claim that the App Store ended, a UUID in lower case; only with ``Event/seatUnclaimed``. An id is in one entry of
    /// its app and environment.
    public let seatClaimId: String?
    /// When the entry was written, in milliseconds since 1970 by the store's clock. An entry that is older than this member has the time
    /// of the upgrade of the store.
    public let recordedDate: Int64

    /// What the transaction is after the entry. An event that is no state leaves it as it was.
    public var stateAfter: Event? { event.isState ? event : stateBefore }

    /// An entry for an engine to give.
    /// - Parameters:
    ///   - position: greater than that of every entry before it.
    ///   - event: what the transaction came to be.
    ///   - stateBefore: the last event before this entry that is a state, also if its entry was removed since.
    ///   - scope: the app and the environment of the transaction.
    ///   - transactionId: the id of the transaction.
    ///   - transaction: the transaction as ``CustomerAssembler`` makes it of what the engine knows now.
    ///   - seatClaimId: the claim that ended, of an entry ``Event/seatUnclaimed``.
    ///   - recordedDate: when the entry was written, in milliseconds since 1970.
    public init(
        position: Int64, event: Event, stateBefore: Event?, scope: StoreScope, transactionId: String,
        transaction: StoredTransaction,
        seatClaimId: String? = nil, recordedDate: Int64
    ) {
        self.recordedDate = recordedDate
        self.seatClaimId = seatClaimId
        self.position = position
        self.event = event
        self.stateBefore = stateBefore
        self.scope = scope
        self.transactionId = transactionId
        self.transaction = transaction
    }
}

/// The bounds of the arguments of a ``DeliveryLedger``, which are the same for all engines.
public enum LedgerLimits {
    /// How many entries `limit` asks for: 1 to 10,000.
    public static func entries(_ limit: Int) -> Int { max(1, min(limit, 10_000)) }

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for a name that no consumer can have.
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

/// What every engine is.
public typealias CompleteTransactionStore = TransactionStore & DeliveryLedger & CustomerDirectory & MigrationStore
    & CustomerEraser & StoreRetention & ConsumptionTasks
