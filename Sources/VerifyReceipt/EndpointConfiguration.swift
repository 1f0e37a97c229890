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
    /// The app's id in the App Store. A production receipt of the bundle id that states another one is refused with 21003:
    /// it is not a receipt of this app. Receipts that state 0 or nothing are not judged by it.
    public var appleId: Int64?
    /// What the products are: gives `subscription_group_identifier` where no document does.
    public var catalog: ProductCatalog?
    /// How current the app's answers have to be; nil for ``EndpointConfiguration/freshness``.
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

/// How the endpoint answers.
///
/// The default answers as Apple did as far as a receipt and the store can tell, and leaves out what nobody stated.
public struct EndpointConfiguration: Sendable {
    /// What becomes of genuine receipts of apps that are not among ``EndpointConfiguration/apps``.
    public enum UnknownBundleIds: String, Sendable, CaseIterable {
        /// Answered as Apple does, which knows every app.
        case accepted
        /// Refused with 21003: to this endpoint such a receipt cannot be authenticated. 21010 would tell a client that
        /// the customer never bought anything, and 21004 that only the secret is wrong.
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

    /// What becomes of facts that nobody signed: kept replies and notifications of version 1.
    public enum RecordedFacts: String, Sendable, CaseIterable {
        /// They only fill gaps of transactions that a signature stands behind; renewal infos count where such a
        /// transaction of the subscription is known.
        case completing
        /// They are shown on their own too: whoever wrote the records is trusted like Apple.
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

    /// What is answered while the store cannot be read.
    public enum StoreFailure: String, Sendable, CaseIterable {
        /// 21005 for what may pass, 21009 where the stored data cannot be read. Clients ask again, and nobody loses a
        /// subscription that only the store knows to have been renewed.
        case unavailable
        /// The receipt alone answers, as with no store.
        case receiptOnly
    }

    /// What is answered while neither the store nor the spool takes receipts. Without a spool everything is answered.
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
        /// `in_app_ownership_type: "PURCHASED"` where nobody states an ownership, in every transaction. Family Sharing of
        /// in-app purchases began with the attribute in late 2020, so for older receipts the presumption is safe.
        /// The PyPI package `storekit-python` refuses replies without it.
        public var ownershipType = false
        /// `is_in_intro_offer_period: "false"` in auto-renewable subscriptions where nobody states it.
        public var introductoryOfferPeriod = false
        /// `latest_receipt_info` and `pending_renewal_info` as empty lists where the reply would leave the keys out. No
        /// transaction and no `latest_receipt` appears because of it. The PyPI package `itunes-iap` raises an error when it
        /// is asked for a list that is not there.
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
    /// Whose signatures count.
    public var trust: TrustPolicy
    public var limits: DecodingLimits
    /// How much memory genuine receipts may take that were submitted lately and are not judged again, in bytes; 0 to judge
    /// each anew.
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
    /// Whether a StoreKit 2 JWS in `receipt-data` is answered in the shape of an app receipt. An extension: Apple's
    /// endpoint gives 21002.
    public var answersSignedTransactions: Bool
    /// What checks those JWS. Without it they get 21002.
    public var signedTransactionVerifier: (any SignedTransactionVerifying)?
    /// How current answers have to be, for apps without a rule of their own.
    public var freshness: Freshness
    /// What asks the App Store where ``Freshness/Source/appStore`` is configured.
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
