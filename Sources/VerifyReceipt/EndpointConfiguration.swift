@_exported public import AppStoreTrust
public import LegacyReceipts
public import ProductCatalog

/// One app whose receipts the endpoint answers for.
public struct AppConfiguration: Sendable {
    /// Attribute 2 of app receipts, `bid` of transaction receipts.
    public var bundleId: String
    /// The app-specific secrets. Several are valid at once, so that one can be replaced without an outage. Apple's primary
    /// secret goes to ``EndpointConfiguration/accountSecrets``.
    public var sharedSecrets: [SharedSecret]
    /// The app's id in the App Store. A production receipt with another id gets 21003, because it belongs to another app.
    /// Receipts with the id 0 or without an id are not checked.
    public var appleId: Int64?
    /// The product catalog. It provides `subscription_group_identifier` if no document contains it.
    public var catalog: ProductCatalog?
    /// How current the app's answers must be; nil for ``EndpointConfiguration/freshness``.
    public var freshness: Freshness?
    /// The order of `latest_receipt_info`; nil for ``EndpointConfiguration/order``.
    public var order: EndpointConfiguration.Order?

    public init(
        bundleId: String, sharedSecrets: [SharedSecret] = [], appleId: Int64? = nil, catalog: ProductCatalog? = nil,
        freshness: Freshness? = nil, order: EndpointConfiguration.Order? = nil
    ) {
        self.order = order
        self.freshness = freshness
        self.bundleId = bundleId
        self.sharedSecrets = sharedSecrets
        self.appleId = appleId
        self.catalog = catalog
    }
}

/// The configuration of the endpoint.
///
/// The default answers as Apple did, as far as the receipt and the store allow, and omits unknown members.
public struct EndpointConfiguration: Sendable {
    /// The handling of genuine receipts of apps that are not in ``EndpointConfiguration/apps``.
    public enum UnknownBundleIds: String, Sendable, CaseIterable {
        /// A normal answer.
        case accepted
        /// 21003, because this endpoint cannot authenticate such a receipt. 21010 would mean that the customer never bought
        /// anything, and 21004 that the secret is wrong.
        case refused
    }

    /// How `receipt-data` is decoded.
    public enum Base64Rule: String, Sendable, CaseIterable {
        /// As Apple's endpoint does: no white space, no URL-safe alphabet, padding required (Reference.md
        /// C3).
        case strict
        /// Also what storage and transport have done to it: white space, line breaks, the URL-safe alphabet, missing
        /// padding, blanks that were plus signs.
        case lenient
    }

    /// The handling of unsigned facts: recorded replies and notifications of version 1.
    public enum RecordedFacts: String, Sendable, CaseIterable {
        /// They only complete signed transactions. A renewal info counts if a signed transaction of its subscription is known.
        case completing
        /// They also appear on their own: the source of the records is trusted like Apple.
        case granting
    }

    /// Which receipts are answered with `latest_receipt_info` and `latest_receipt`.
    public enum LatestTransactions: String, Sendable, CaseIterable {
        /// All with a purchase, and those whose customer has one. Every recorded reply since 2021 does so, also for
        /// receipts with nothing but consumables or non-consumables (Reference.md V3.5 and V11, point 1), and
        /// clients have come to rely on it.
        case always
        /// Those with an auto-renewable subscription, or whose customer has one: Apple's documentation, and the recorded
        /// replies of 2014 to 2019.
        case withSubscriptions
    }

    /// The order of `latest_receipt_info`. Apple promised none and changed it (Reference.md V3.5); clients that
    /// read only the first or only the last entry depend on it.
    public enum Order: String, Sendable, CaseIterable {
        /// The latest `expires_date` first, `purchase_date` for transactions without one; of equal dates the greatest id
        /// first. Recorded replies of 2021 and later.
        case newestFirst = "newest-first"
        /// By transaction id, ascending. Recorded replies until November 2020.
        case oldestFirst = "oldest-first"
    }

    /// The answer while the store cannot be read.
    public enum StoreFailure: String, Sendable, CaseIterable {
        /// 21005 for temporary failures, 21009 if the stored data is unreadable. Clients retry, so no customer loses a
        /// subscription whose renewal is only in the store.
        case unavailable
        /// The receipt alone answers, as with no store.
        case receiptOnly
    }

    /// The answer while neither the store nor the spool accepts receipts. Without a spool, every request gets a normal answer.
    public enum SpoolFailure: String, Sendable, CaseIterable {
        /// 21005: what is answered is remembered. Clients ask again.
        case unavailable
        /// The receipt is answered and not remembered.
        case answer
    }

    /// Members of a reply that current clients demand although nothing is known that could fill them. Apple's endpoint has
    /// sent them for years; an old receipt does not hold them. All are off by default, since they state more than a
    /// signed document does.
    public struct PresumedMembers: Sendable, Hashable {
        /// `in_app_ownership_type: "PURCHASED"` in each transaction without a known ownership. Family Sharing of in-app
        /// purchases began with the attribute in late 2020, so the default is safe for older receipts. The PyPI package
        /// `storekit-python` rejects replies without it.
        public var ownershipType = false
        /// `is_in_intro_offer_period: "false"` in auto-renewable subscriptions without a known value.
        public var introductoryOfferPeriod = false
        /// `latest_receipt_info` and `pending_renewal_info` as empty lists where the reply would omit the keys. It adds no
        /// transaction and no `latest_receipt`. The PyPI package `itunes-iap` raises an error for a missing list.
        public var lists = false

        /// Nothing is presumed.
        public init() {}

        /// Everything that the clients of Reference.md C1 need.
        public static let all: PresumedMembers = {
            var all = PresumedMembers()
            all.ownershipType = true
            all.introductoryOfferPeriod = true
            all.lists = true
            return all
        }()
    }

    public var apps: [AppConfiguration]
    /// Account-wide secrets ("primary shared secret"), valid for every app.
    public var accountSecrets: [SharedSecret]
    public var unknownBundleIds: UnknownBundleIds
    public var base64: Base64Rule
    /// The trust anchors for receipts.
    public var trust: TrustPolicy
    public var limits: DecodingLimits
    /// The size of the cache of genuine receipts, in bytes; 0 to verify each receipt again.
    public var receiptCacheBytes = 32 << 20
    /// Whether each verified receipt is applied to the store before it is answered.
    public var learnsFromReceipts: Bool
    /// How long an answer waits for that, before the spool takes the receipt. Comparing has more time than a client.
    package var learningLimit = Duration.milliseconds(250)
    public var recordedFacts: RecordedFacts
    public var latestTransactions: LatestTransactions
    /// The order of `latest_receipt_info`, for apps without an order of their own.
    public var order: Order
    public var whenStoreFails: StoreFailure
    public var whenSpoolIsFull = SpoolFailure.unavailable
    public var presumedMembers: PresumedMembers
    /// Whether a StoreKit 2 JWS in `receipt-data` gets a reply in the form for app receipts. This is an extension: Apple's
    /// endpoint answers 21002.
    public var answersSignedTransactions: Bool
    /// The verifier of these JWS. Without it, they get 21002.
    public var signedTransactionVerifier: (any SignedTransactionVerifying)?
    /// How current answers must be, for apps without a rule of their own.
    public var freshness: Freshness
    /// Queries the App Store for apps with ``Freshness/Source/appStore``.
    public var customerRefresher: (any CustomerRefreshing)?

    public init(
        apps: [AppConfiguration] = [], accountSecrets: [SharedSecret] = [],
        unknownBundleIds: UnknownBundleIds = .accepted, base64: Base64Rule = .strict, trust: TrustPolicy = .apple,
        limits: DecodingLimits = .standard, learnsFromReceipts: Bool = true, recordedFacts: RecordedFacts = .completing,
        latestTransactions: LatestTransactions = .always, order: Order = .newestFirst,
        whenStoreFails: StoreFailure = .unavailable, presumedMembers: PresumedMembers = PresumedMembers(),
        answersSignedTransactions: Bool = false, signedTransactionVerifier: (any SignedTransactionVerifying)? = nil,
        freshness: Freshness = Freshness(), customerRefresher: (any CustomerRefreshing)? = nil
    ) {
        self.freshness = freshness
        self.customerRefresher = customerRefresher
        self.apps = apps
        self.accountSecrets = accountSecrets
        self.unknownBundleIds = unknownBundleIds
        self.base64 = base64
        self.trust = trust
        self.limits = limits
        self.learnsFromReceipts = learnsFromReceipts
        self.recordedFacts = recordedFacts
        self.latestTransactions = latestTransactions
        self.order = order
        self.whenStoreFails = whenStoreFails
        self.presumedMembers = presumedMembers
        self.answersSignedTransactions = answersSignedTransactions
        self.signedTransactionVerifier = signedTransactionVerifier
    }
}
