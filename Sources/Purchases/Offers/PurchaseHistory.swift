public import AppStoreModels

/// What is known of the purchases of one customer of one app: the rules about offers and entitlements use it.
///
/// Offers depend on auto-renewable subscriptions only; entitlements on all types of products. A subscription that a family
/// member shares is that member's purchase: it gives access, and says nothing about offers.
public struct PurchaseHistory: Sendable {
    /// One transaction, and what may be concluded from it.
    public struct Entry: Hashable, Sendable {
        public var transaction: JWSTransactionDecodedPayload
        /// Whether an absent `offerType` means that there was no introductory offer. So it is in what the App Store signs
        /// as JWS; a legacy receipt without the attributes 1713 and 1719 leaves it open.
        public var statesOffers: Bool
        /// Whether a verified signature stands behind the transaction. For a purchase with a signed transaction, unsigned
        /// ones decide nothing.
        public var isSigned = true
        /// The term of a non-renewing subscription; nil for other products, and if the length is unknown.
        public var term: Term?

        public init(_ transaction: JWSTransactionDecodedPayload, statesOffers: Bool = true) {
            self.transaction = transaction
            self.statesOffers = statesOffers
        }
    }

    /// The term of a purchase of a non-renewing subscription, as the customer's purchases and the product catalog give it.
    public struct Term: Hashable, Sendable {
        /// In milliseconds since 1970-01-01T00:00:00Z.
        public var start: Int64
        /// In milliseconds since 1970-01-01T00:00:00Z; not part of the term.
        public var end: Int64

        public init(start: Int64, end: Int64) {
            self.start = start
            self.end = end
        }
    }

    /// What the catalog states about a product, as far as entitlements depend on it.
    public struct Product: Hashable, Sendable {
        /// The level of service within the subscription group, 1 is the highest; nil if it is not known.
        public var level: Int?
        /// The name of what the product unlocks; products with the same name unlock the same.
        public var entitlement: String?
        /// Whether the product is a free (Newsstand) subscription, which never expires.
        public var isFreeSubscription: Bool

        public init(level: Int? = nil, entitlement: String? = nil, isFreeSubscription: Bool = false) {
            self.level = level
            self.entitlement = entitlement
            self.isFreeSubscription = isFreeSubscription
        }
    }

    /// What is known of one subscription, where that is less than ``PurchaseHistory/completeThrough`` says of the whole.
    ///
    /// So it is where documents came one by one: a notification speaks of one transaction, and nothing tells whether
    /// another one was missed. Periods are only taken to be missing where what is there shows it: the first one of a
    /// subscription is not there, or a renewal has nothing before it that it could have renewed.
    public struct Coverage: Hashable, Sendable {
        /// Until when every period is there, in milliseconds since 1970-01-01T00:00:00Z; nil if any may be missing. After an
        /// answer of Get Transaction History it is the time of the answer.
        public var wholeThrough: Int64?
        /// Until when it is known whether the subscription was renewed; nil if nobody can say.
        public var currentThrough: Int64?

        public init(wholeThrough: Int64? = nil, currentThrough: Int64? = nil) {
            self.wholeThrough = wholeThrough
            self.currentThrough = currentThrough
        }
    }

    /// How long a month lasts where a rule counts months.
    public enum MonthLength: Hashable, Sendable {
        /// Calendar months in US Pacific time, by which the App Store counts periods: 31 January and one month is the last
        /// day of February.
        case calendar
        /// So many milliseconds, as in the sandbox, where a month lasts minutes; at least 1.
        case fixed(milliseconds: Int64)

        func adding(months: Int64, to date: Int64) -> Int64 {
            guard case .fixed(let length) = self else { return PacificTime.adding(months: months, to: date) }
            let (span, isSpanOverflowing) = max(1, length).multipliedReportingOverflow(by: months)
            let (end, isOverflowing) = date.addingReportingOverflow(span)
            return isSpanOverflowing || isOverflowing ? .max : end
        }

        func wholeMonths(from start: Int64, to end: Int64) -> Int64 {
            guard case .fixed(let length) = self else { return PacificTime.wholeMonths(from: start, to: end) }
            return max(0, end - start) / max(1, length)
        }
    }

    /// In any order; of several with the same transaction id the one signed last counts.
    public var entries: [Entry]
    /// The one of a subscription that was signed last counts. One without `signedDate`, or signed before the period in
    /// question began, says nothing about how that period ended.
    public var renewalInfos: [JWSRenewalInfoDecodedPayload]
    /// `subscriptionGroupIdentifier` by product, for transactions that do not state one (legacy receipts). A product that
    /// has its group in one of the transactions needs no entry.
    public var groups: [String: String]
    /// What the catalog states, by product.
    public var products: [String: Product] = [:]
    /// Until when the history has everything that the App Store knows, in milliseconds since 1970-01-01T00:00:00Z; nil if
    /// nobody can say. After an answer of Get Transaction History it is the time of the answer. What a subscription did
    /// after this time is unknown, and verdicts that hang on it are.
    public var completeThrough: Int64?
    /// By original transaction id; a subscription without an entry is known as ``completeThrough`` says.
    public var coverage: [String: Coverage]
    /// Whether a period without a price, and without an offer, counts as paid. Nothing is guessed unless this is set: legacy
    /// receipts and early JWS have no prices.
    public var countsUnpricedPeriodsAsPaid: Bool
    /// How long a month lasts where a rule counts months.
    public var monthLength: MonthLength

    public init(
        entries: [Entry], renewalInfos: [JWSRenewalInfoDecodedPayload] = [], groups: [String: String] = [:],
        completeThrough: Int64? = nil, coverage: [String: Coverage] = [:], countsUnpricedPeriodsAsPaid: Bool = false,
        monthLength: MonthLength = .calendar
    ) {
        self.entries = entries
        self.renewalInfos = renewalInfos
        self.groups = groups
        self.completeThrough = completeThrough
        self.coverage = coverage
        self.countsUnpricedPeriodsAsPaid = countsUnpricedPeriodsAsPaid
        self.monthLength = monthLength
    }

    /// A history of transactions as the App Store signs them.
    public init(
        transactions: [JWSTransactionDecodedPayload], renewalInfos: [JWSRenewalInfoDecodedPayload] = [],
        completeThrough: Int64? = nil
    ) {
        self.init(
            entries: transactions.map { Entry($0) }, renewalInfos: renewalInfos, completeThrough: completeThrough)
    }

    /// The subscription groups that occur, ascending.
    public var subscriptionGroups: [String] { SubscriptionTimeline.all(of: self).compactMap(\.group) }
}
