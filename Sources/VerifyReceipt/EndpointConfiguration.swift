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
    /// The product catalog. It provides `subscription_group_identifier` if no document contains it. For the ledger of a
    /// server's store it states when terms of non-renewing subscriptions end. Answers to consumption requests use its types.
    public var catalog: ProductCatalog?
    /// How current the app's answers must be; nil for ``EndpointConfiguration/freshness``.
    public var freshness: Freshness?
    /// The order of `latest_receipt_info`; nil for ``EndpointConfiguration/order``.
    public var order: EndpointConfiguration.Order?
    /// How production handles the app's sandbox purchases; nil for ``EndpointConfiguration/sandboxAtProduction``.
    public var sandboxAtProduction: EndpointConfiguration.SandboxAtProduction?
    /// Whether ``VerifyReceiptEndpoint/validate(_:at:now:)`` answers for the app. Its requests have no shared secret, so a
    /// receipt is enough to read the purchases of its customer.
    public var answersValidations = false

    /// An app without further settings. It keeps the configuration's defaults for `freshness` and `order`.
    ///
    /// - Parameters:
    ///   - bundleId: the app.
    ///   - sharedSecrets: the app-specific secrets. If there are no account-wide secrets either, every password is
    ///     accepted, and also a missing one.
    ///   - appleId: nil to accept receipts with any id in attribute 1.
    ///   - catalog: the app's products; nil for none.
    ///   - freshness: nil for ``EndpointConfiguration/freshness``.
    ///   - order: nil for ``EndpointConfiguration/order``.
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
    /// How the endpoint handles genuine receipts of apps that are not in ``EndpointConfiguration/apps``.
    public enum UnknownBundleIds: String, Sendable, CaseIterable {
        /// A normal answer.
        case accepted
        /// 21003, because this endpoint cannot authenticate such a receipt. 21010 would mean that the customer never bought
        /// anything, and 21004 that the secret is wrong.
        case refused
    }

    /// How the endpoint decodes `receipt-data`.
    public enum Base64Rule: String, Sendable, CaseIterable {
        /// As Apple's endpoint does: no white space, no URL-safe alphabet, padding required (Reference.md
        /// C3).
        case strict
        /// Also accepts the effects of storage and transport: white space, line breaks, the URL-safe alphabet, missing
        /// padding, and spaces that were plus signs.
        case lenient
    }

    /// How the endpoint uses unsigned facts: recorded replies and notifications of version 1.
    public enum RecordedFacts: String, Sendable, CaseIterable {
        /// They only complete signed transactions. A renewal info counts if a signed transaction of its subscription is
        /// known.
        case completing
        /// They also count on their own: the source of the records is trusted like Apple.
        case granting
    }

    /// Which receipts get `latest_receipt_info` and `latest_receipt` in the reply.
    public enum LatestTransactions: String, Sendable, CaseIterable {
        /// All receipts with a purchase, and receipts whose customer has one. Every recorded reply since 2021 does so,
        /// even for receipts with only consumables or non-consumables (Reference.md V3.5 and V11, point 1), and clients
        /// rely on it.
        case always
        /// Receipts with an auto-renewable subscription, or whose customer has one. This follows Apple's documentation
        /// and the recorded replies of 2014 to 2019.
        case withSubscriptions = "with-subscriptions"
    }

    /// The order of `latest_receipt_info`. Apple never guaranteed an order and has changed it (Reference.md V3.5).
    /// Clients that read only the first or only the last entry depend on it.
    public enum Order: String, Sendable, CaseIterable {
        /// By `expires_date`, latest first; `purchase_date` for transactions without one. For equal dates the greatest
        /// id comes first. This is the order of recorded replies since 2021.
        case newestFirst = "newest-first"
        /// By transaction id, ascending. This is the order of recorded replies until November 2020.
        case oldestFirst = "oldest-first"
    }

    /// How the production endpoint handles genuine sandbox purchases of the apps in ``EndpointConfiguration/apps``.
    public enum SandboxAtProduction: String, Sendable, CaseIterable {
        /// 21007, as Apple's endpoint. The client sends the receipt to the sandbox endpoint.
        case refused
        /// The sandbox endpoint's answer, with `environment` `Sandbox`, for clients that fall back to Apple's real sandbox.
        /// A client that does not read `environment` then grants access for purchases that cost nothing.
        case answered
    }

    /// The answer of the endpoint while the store cannot be read.
    public enum StoreFailure: String, Sendable, CaseIterable {
        /// 21005 for temporary failures, 21009 if the stored data is unreadable. Clients retry, so no customer loses a
        /// subscription whose renewal is only in the store.
        case unavailable
        /// An answer from the receipt alone, as without a store.
        case receiptOnly = "receipt-only"
    }

    /// The answer of the endpoint while neither the store nor the spool accepts receipts. Without a spool, every request
    /// gets a normal answer.
    public enum SpoolFailure: String, Sendable, CaseIterable {
        /// 21005, so that every answered receipt is stored. Clients retry.
        case unavailable
        /// A normal answer. The receipt is not stored.
        case answer
    }

    /// Members of a reply that current clients require, although no document states their values. Apple's endpoint has
    /// sent them for years, but an old receipt does not contain them. All are off by default, because they state more
    /// than a signed document does.
    public struct PresumedMembers: Sendable, Hashable {
        /// `in_app_ownership_type: "PURCHASED"` in each transaction without a known ownership. Family Sharing of in-app
        /// purchases was introduced together with the attribute in late 2020, so the value is correct for older
        /// receipts. The PyPI package `storekit-python` rejects replies without it.
        public var ownershipType = false
        /// `is_in_intro_offer_period: "false"` in auto-renewable subscriptions without a known value.
        public var introductoryOfferPeriod = false
        /// `latest_receipt_info` and `pending_renewal_info` as empty lists where the reply would omit the keys. It adds
        /// no transaction and no `latest_receipt`. The PyPI package `itunes-iap` raises an error if a list is missing.
        public var lists = false

        /// All options off.
        public init() {}

        /// All options that the clients of Reference.md C1 need.
        public static let all: PresumedMembers = {
            var all = PresumedMembers()
            all.ownershipType = true
            all.introductoryOfferPeriod = true
            all.lists = true
            return all
        }()
    }

    /// Members of `latest_receipt_info` that Apple's endpoint does not have. They need a store; all are off by default.
    public struct AdditionalMembers: Sendable, Hashable {
        /// `term_start_date` and `term_end_date`, each with its `_ms` and `_pst` form, in non-renewing subscriptions
        /// whose length the app's catalog states. The terms are those of the `ledger` and of the entitlements, computed
        /// over all purchases of the customer in the store.
        public var terms = false
        /// `seats`, the seats of the period, in transactions of multiseat subscriptions. It is the sum of `quantity` of
        /// the transactions of the period, less the refunded seats.
        public var seats = false

        /// Nothing is added.
        public init() {}
    }

    /// The apps with their own settings. Other apps are handled as ``unknownBundleIds`` states.
    public var apps: [AppConfiguration]
    /// Account-wide secrets ("primary shared secret"), valid for every app.
    public var accountSecrets: [SharedSecret] = []
    /// The answer to genuine receipts of other apps. By default, they are accepted.
    public var unknownBundleIds = UnknownBundleIds.accepted
    /// How `receipt-data` is decoded. By default, white space and the URL-safe alphabet get 21002, as from Apple.
    public var base64 = Base64Rule.strict
    /// The trust anchors for receipts.
    public var trust: TrustPolicy
    /// The limits for decoding receipts. A receipt beyond a limit is rejected.
    public var limits = DecodingLimits.standard
    /// The size of the cache of genuine receipts, in bytes; 0 to verify every receipt.
    public var receiptCacheBytes = 32 << 20
    /// Whether each verified receipt is applied to the store before it is answered.
    public var learnsFromReceipts = true
    /// How long an answer waits for that before the spool takes the receipt. `compare` sets a
    /// longer limit, because no client waits.
    package var learningLimit = Duration.milliseconds(250)
    /// How unsigned facts in the store count. By default, they only complete signed transactions.
    public var recordedFacts = RecordedFacts.completing
    /// Which replies have `latest_receipt_info`. By default, all that have a purchase.
    public var latestTransactions = LatestTransactions.always
    /// The order of `latest_receipt_info` for apps without their own order.
    public var order = Order.newestFirst
    /// How production handles sandbox purchases of configured apps without their own setting.
    public var sandboxAtProduction = SandboxAtProduction.refused
    /// The answer while the store cannot be read. By default, an error on which clients retry.
    public var whenStoreFails = StoreFailure.unavailable
    /// The answer while neither the store nor the spool accepts receipts. By default, an error on which clients retry.
    public var whenSpoolIsFull = SpoolFailure.unavailable
    /// Members without a signed source that some clients require. By default, none.
    public var presumedMembers = PresumedMembers()
    /// Members that Apple's endpoint does not have. By default, none.
    public var additionalMembers = AdditionalMembers()
    /// Whether a StoreKit 2 JWS in `receipt-data` gets a reply in the form for app receipts. This is an extension: Apple's
    /// endpoint answers 21002.
    public var answersSignedTransactions = false
    /// The verifier of these JWS. Without it, they get 21002.
    public var signedTransactionVerifier: (any SignedTransactionVerifying)?
    /// How current answers must be, for apps without their own setting.
    public var freshness = Freshness()
    /// Queries the App Store for apps with ``Freshness/Source/appStore``.
    public var customerRefresher: (any CustomerRefreshing)?

    /// A configuration with the defaults, which answer as Apple did. Without apps, receipts of every app are accepted
    /// and no request needs a shared secret.
    public init(apps: [AppConfiguration] = [], trust: TrustPolicy = .apple) {
        self.apps = apps
        self.trust = trust
    }

    /// The product catalog of an app. Of several entries for one app, the first with a catalog counts.
    package func catalog(ofApp bundleId: String) -> ProductCatalog? {
        apps.lazy.filter { $0.bundleId == bundleId }.compactMap(\.catalog).first
    }
}
