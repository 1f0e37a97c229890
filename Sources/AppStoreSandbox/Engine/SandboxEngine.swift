internal import AppStoreModels

/// The App Store of one app: what is sold, bought, renewed, refunded and told. A value without clock, sockets or
/// randomness: the time is given to every action, and the same actions give the same outcome.
///
/// Every action first lets the time pass, so that renewals which are due happen before it. What happened is in ``events``,
/// in order, until it is taken.
public struct SandboxEngine: Sendable {
    /// What is played.
    public let configuration: SandboxConfiguration
    /// What is sold.
    public internal(set) var catalog: SandboxCatalog
    /// By name.
    public internal(set) var customers: [String: SandboxCustomer] = [:]
    /// By transaction id.
    public internal(set) var transactions: [String: SandboxTransaction] = [:]
    /// By original transaction id.
    public internal(set) var subscriptions: [String: SandboxSubscription] = [:]
    /// What happened and was not taken yet.
    public internal(set) var events: [SandboxEvent] = []
    /// The time of the last action; it never goes back. Milliseconds since 1970.
    public private(set) var now: Int64

    /// The date of the last signature that says something new.
    private var lastSigned: Int64
    var identifiers: SandboxIdentifiers
    var revision: Int64 = 0
    var families = 0
    /// Transactions whose refund is asked for.
    var openRefunds: Set<String> = []
    var massExtensions: [String: MassExtension] = [:]
    var usedOfferNonces: Set<String> = []

    /// A shop without customers, which opens at `now`, in milliseconds since 1970.
    public init(configuration: SandboxConfiguration, catalog: SandboxCatalog, now: Int64) {
        self.configuration = configuration
        self.catalog = catalog
        self.now = now
        lastSigned = now.advanced(bySaturating: -1)
        identifiers = SandboxIdentifiers(seed: configuration.seed, environment: configuration.environment)
    }

    /// When what is signed now says it was signed; milliseconds since 1970.
    ///
    /// Several things may happen at one time of a clock that stands still. Each gets a later millisecond, so that whoever
    /// compares the dates of two signatures knows which is the newer one.
    public var signingDate: Int64 { max(now, lastSigned) }

    /// Moves ``signingDate`` on, since there is news.
    mutating func stamp() -> Int64 {
        lastSigned = max(now, lastSigned.advanced(bySaturating: 1))
        return lastSigned
    }

    /// Removes and returns what happened since the last time.
    public mutating func takeEvents() -> [SandboxEvent] {
        defer { events = [] }
        return events
    }

    /// Lets the time pass: everything that is due until `date` happens, in its order. A date of the past changes nothing.
    public mutating func advance(to date: Int64) {
        while let due = nextDue(), due.date <= date {
            now = max(now, due.date)
            perform(due.task)
        }
        now = max(now, date)
    }

    /// When something is next due by itself: a renewal, the end of a grace period, the decision of a refund. Milliseconds
    /// since 1970.
    public var nextDueDate: Int64? { nextDue()?.date }

    // MARK: What is due

    enum Task {
        case subscription(String)
        case refund(String)
        case massExtension(String)
    }

    /// The earliest; of several at one time the one with the least id, so that nothing depends on hashing. A shop for
    /// trying things has few customers: all are looked at.
    private func nextDue() -> (date: Int64, task: Task)? {
        var best: (date: Int64, id: String, task: Task)?
        func consider(_ date: Int64?, _ id: String, _ task: Task) {
            guard let date else { return }
            if let known = best, (known.date, known.id) <= (date, id) { return }
            best = (date, id, task)
        }
        for (id, subscription) in subscriptions { consider(subscription.dueDate, id, .subscription(id)) }
        for id in openRefunds { consider(transactions[id]?.refundRequest?.decidedAt, id, .refund(id)) }
        for (id, request) in massExtensions where request.completion == nil {
            consider(request.dueDate, id, .massExtension(id))
        }
        return best.map { ($0.date, $0.task) }
    }

    private mutating func perform(_ task: Task) {
        switch task {
        case .subscription(let id): continueSubscription(id)
        case .refund(let id): decideRefund(id)
        case .massExtension(let id): completeMassExtension(id)
        }
    }
}

extension SandboxSubscription {
    /// When it next changes by itself. A copy follows the purchaser's.
    var dueDate: Int64? {
        guard sharedFrom == nil else { return nil }
        switch phase {
        case .active: return expiresDate
        case .gracePeriod(let until): return min(until, retryEnds ?? until)
        case .billingRetry: return retryEnds
        case .expired, .revoked: return nil
        }
    }
}
