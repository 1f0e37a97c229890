public import AppStoreModels
internal import Encodings

/// The known purchases of one customer of one app, as input to the rules about offers and entitlements.
///
/// Offers depend on auto-renewable subscriptions only; entitlements on all types of products. Another family member
/// bought a family-shared subscription, and an organization bought an assigned one. Both give access, but do not count
/// for offers.
public struct PurchaseHistory: Hashable, Sendable {
    /// One transaction, and how far it can be trusted.
    public struct Entry: Hashable, Sendable {
        /// A transaction of one document, or a resolved one (``Customer/transactions``).
        public var transaction: JWSTransactionDecodedPayload
        /// Whether an absent `offerType` means that there was no introductory offer. True for a JWS of the App Store;
        /// false for a legacy receipt without the attributes 1713 and 1719.
        public var statesOffers: Bool
        /// Whether the transaction has a verified signature. For a purchase with a signed transaction, unsigned ones do
        /// not count.
        public var isSigned = true
        /// Whether a signed document states the subscription group, if any does. A row can add it to a receipt.
        package var isGroupSigned = true
        /// The term of a non-renewing subscription; nil for other products, and if the length is unknown.
        public var term: Term?
        /// The type of the product for tables. It differs from the type of ``transaction`` for a subscription without an end. Such a
        /// product has an unknown type here, because its status is unknown.
        package var productType: ProductType?

        /// Creates an entry that counts as signed and has no term. Set ``isSigned`` to false for an unsigned document.
        /// - Parameters:
        ///   - transaction: the transaction.
        ///   - statesOffers: false for a legacy receipt without the attributes 1713 and 1719.
        public init(_ transaction: JWSTransactionDecodedPayload, statesOffers: Bool = true) {
            self.transaction = transaction
            self.statesOffers = statesOffers
            productType = transaction.type
        }
    }

    /// The term of a purchase of a non-renewing subscription, from the customer's purchases and the product catalog.
    public struct Term: Hashable, Sendable {
        /// In milliseconds since 1970-01-01T00:00:00Z.
        public var start: Int64
        /// In milliseconds since 1970-01-01T00:00:00Z; the first moment after the term.
        public var end: Int64

        /// Creates a term without checking it.
        /// - Parameters:
        ///   - start: in milliseconds since 1970-01-01T00:00:00Z.
        ///   - end: the first moment after the term, in milliseconds since 1970-01-01T00:00:00Z.
        public init(start: Int64, end: Int64) {
            self.start = start
            self.end = end
        }
    }

    /// The catalog data of a product that entitlements depend on.
    public struct Product: Hashable, Sendable {
        /// The level of service within the subscription group, 1 is the highest; nil if unknown.
        public var level: Int?
        /// The name of what the product unlocks; products with the same name unlock the same.
        public var entitlement: String?
        /// Whether the product is a free (Newsstand) subscription, which never expires.
        public var isFreeSubscription: Bool

        /// Creates the data of a product. The defaults are those of a product that the catalog does not have.
        /// - Parameters:
        ///   - level: 1 is the highest; nil if unknown.
        ///   - entitlement: the name of what the product unlocks; nil for a product that unlocks only itself.
        ///   - isFreeSubscription: whether the product is a free (Newsstand) subscription, which never expires.
        public init(level: Int? = nil, entitlement: String? = nil, isFreeSubscription: Bool = false) {
            self.level = level
            self.entitlement = entitlement
            self.isFreeSubscription = isFreeSubscription
        }
    }

    /// How complete the history of one subscription is, if less than ``PurchaseHistory/completeThrough``.
    ///
    /// Needed if documents arrived one by one: a notification states one transaction, and nothing shows whether another
    /// one was missed. A period counts as missing only if the known periods show it. Either the first period of the
    /// subscription is absent, or a renewal has no earlier period that it could have renewed.
    public struct Coverage: Hashable, Sendable {
        /// The history contains every period until this date, in milliseconds since 1970-01-01T00:00:00Z; nil if any
        /// may be missing. After a Get Transaction History call, the time of the answer.
        public var wholeThrough: Int64?
        /// Until when it is known whether the subscription was renewed; nil if no document states it.
        public var currentThrough: Int64?

        /// Creates a coverage. Without a date, any period may be missing, or the last one may have been renewed:
        /// ``PurchaseHistory/completeThrough`` does not apply.
        /// - Parameters:
        ///   - wholeThrough: in milliseconds since 1970-01-01T00:00:00Z.
        ///   - currentThrough: in milliseconds since 1970-01-01T00:00:00Z.
        public init(wholeThrough: Int64? = nil, currentThrough: Int64? = nil) {
            self.wholeThrough = wholeThrough
            self.currentThrough = currentThrough
        }
    }

    /// How long a month lasts where a rule counts months.
    public enum MonthLength: Hashable, Sendable {
        /// Calendar months in US Pacific time, which the App Store uses: one month after January 31 is the last day of
        /// February.
        case calendar
        /// A fixed number of milliseconds, as in the sandbox, where a month lasts minutes; at least 1.
        case fixed(milliseconds: Int64)

        func adding(months: Int64, to date: Int64) -> Int64 {
            guard case .fixed(let length) = self else { return PacificTime.adding(months: months, to: date) }
            let (span, isSpanOverflowing) = max(1, length).multipliedReportingOverflow(by: months)
            let (end, isOverflowing) = date.addingReportingOverflow(span)
            return isSpanOverflowing || isOverflowing ? .max : end
        }

        func wholeMonths(from start: Int64, to end: Int64) -> Int64 {
            guard case .fixed(let length) = self else { return PacificTime.wholeMonths(from: start, to: end) }
            return max(0, end.subtractingSaturated(start)) / max(1, length)
        }
    }

    /// In any order. Of several with the same transaction id, the one signed last counts.
    public var entries: [Entry]
    /// Of several for one subscription, the one signed last counts. One without `signedDate`, or signed before a period
    /// began, does not state how that period ended.
    public var renewalInfos: [JWSRenewalInfoDecodedPayload]
    /// `subscriptionGroupIdentifier` by product, for transactions that do not state one (legacy receipts). Not needed
    /// for a product with a signed transaction that states its group. It comes before the group in an unsigned document.
    public var groups: [String: String]
    /// The catalog data, by product.
    public var products: [String: Product] = [:]
    /// The history contains everything that the App Store knows until this date, in milliseconds since
    /// 1970-01-01T00:00:00Z; nil if unknown. After a Get Transaction History call, the time of the answer. What
    /// happened to a subscription later is unknown, and so are verdicts that depend on it.
    public var completeThrough: Int64?
    /// By original transaction id; ``completeThrough`` applies to a subscription without an entry.
    public var coverage: [String: Coverage]
    /// Whether a period without a price and without an offer counts as paid. Legacy receipts and early JWS state no
    /// prices; unless this is set, such a period is neither paid nor free.
    public var countsUnpricedPeriodsAsPaid: Bool
    /// How long a month lasts where a rule counts months.
    public var monthLength: MonthLength

    /// Creates a history without catalog data (``products``).
    /// - Parameters:
    ///   - entries: in any order.
    ///   - renewalInfos: in any order.
    ///   - groups: `subscriptionGroupIdentifier` by product; empty if all transactions state their group.
    ///   - completeThrough: in milliseconds since 1970-01-01T00:00:00Z. Nil makes verdicts unknown that depend on what
    ///     happened later.
    ///   - coverage: by original transaction id; empty if ``completeThrough`` applies to all subscriptions.
    ///   - countsUnpricedPeriodsAsPaid: whether a period without a price and without an offer counts as paid.
    ///   - monthLength: the default is calendar months in US Pacific time. Use a fixed length for the sandbox.
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

    /// A history of transactions that the App Store signed as JWS.
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
