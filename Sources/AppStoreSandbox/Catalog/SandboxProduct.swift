public import AppStoreModels
public import ProductCatalog

/// A product that the sandbox sells.
public struct SandboxProduct: Hashable, Sendable {
    /// The product identifier.
    public var id: String
    /// The product type in Apple's words.
    public var type: ProductType
    /// A free (Newsstand) subscription, which never expires; its ``type`` is the nearest modern one, non-renewing.
    public var isFreeSubscription = false
    /// The time between renewals; auto-renewable subscriptions only.
    public var period: SubscriptionPeriod?
    /// The subscription group; auto-renewable subscriptions only.
    public var group: String?
    /// Level of service within the group, 1 is the highest.
    public var level = 1
    /// Whether Family Sharing includes it.
    public var isFamilyShareable = false
    /// In milliunits of the currency; nil if the catalog states none.
    public var price: Int64?
    /// The offers of the product.
    public var offers: [SandboxOffer] = []
    /// Whether it can be bought and renewed.
    public var isForSale = true
    /// The App Store's number for the product, 0 if unknown.
    public var adamId: Int64 = 0

    /// Creates a product.
    public init(
        id: String, type: ProductType, period: SubscriptionPeriod? = nil, group: String? = nil, level: Int = 1,
        price: Int64? = nil, isFamilyShareable: Bool = false, offers: [SandboxOffer] = []
    ) {
        self.id = id
        self.type = type
        self.period = period
        self.group = group
        self.level = level
        self.price = price
        self.isFamilyShareable = isFamilyShareable
        self.offers = offers
    }

    /// The offer of a type; introductory offers need no identifier.
    public func offer(_ type: OfferType, _ identifier: String? = nil) -> SandboxOffer? {
        offers.first { $0.type == type && (identifier == nil || $0.identifier == identifier) }
    }
}

/// An offer of an auto-renewable subscription.
public struct SandboxOffer: Hashable, Sendable {
    /// Introductory, promotional, offer code or win-back.
    public var type: OfferType
    /// The offer identifier, or the reference name of an offer code; introductory offers have none.
    public var identifier: String?
    /// The payment mode.
    public var discountType: OfferDiscountType
    /// The length of one period of the offer.
    public var period: SubscriptionPeriod
    /// The number of periods.
    public var numberOfPeriods: Int
    /// In milliunits of the currency; 0 when free.
    public var price: Int64
    /// The rules of a win-back offer. Without rules, each customer whose subscription in the group has ended is eligible.
    public var winBackRules: WinBackRules

    /// Creates an offer.
    public init(
        type: OfferType, identifier: String? = nil, discountType: OfferDiscountType, period: SubscriptionPeriod,
        numberOfPeriods: Int = 1, price: Int64 = 0, winBackRules: WinBackRules = WinBackRules()
    ) {
        self.type = type
        self.identifier = identifier
        self.discountType = discountType
        self.period = period
        self.numberOfPeriods = numberOfPeriods
        self.price = price
        self.winBackRules = winBackRules
    }

    /// The number of transactions that the offer covers: a pay-as-you-go offer is paid in each period, any other once.
    var transactions: Int { discountType == .payAsYouGo ? numberOfPeriods : 1 }
    /// The number of periods that one transaction covers.
    var periodsPerTransaction: Int { discountType == .payAsYouGo ? 1 : numberOfPeriods }
}
