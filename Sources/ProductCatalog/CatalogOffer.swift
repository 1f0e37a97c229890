public import AppStoreModels

/// An offer of an auto-renewable subscription, as a catalog states it.
public struct CatalogOffer: Hashable, Sendable {
    /// Introductory, promotional, offer code or win-back.
    public var type: OfferType
    /// The offer's identifier (`offerID`); an introductory offer has none.
    public var identifier: String?
    /// How the customer pays for the offer: free trial, pay as you go or pay up front.
    public var paymentMode: OfferDiscountType?
    /// The length of one period of the offer.
    public var period: SubscriptionPeriod?
    /// The number of periods; 1 if the source does not state it.
    public var numberOfPeriods: Int
    /// The name the developer gave the offer.
    public var referenceName: String?
    /// The price as the source writes it; nil if the offer is free.
    public var price: String?
    /// The customers, dates and storefronts of a win-back offer; nil if the source states no rules.
    public var winBackRules: WinBackRules?

    /// An offer with the given facts. Nil stands for a fact that the source does not state.
    public init(
        type: OfferType, identifier: String? = nil, paymentMode: OfferDiscountType? = nil,
        period: SubscriptionPeriod? = nil, numberOfPeriods: Int = 1, referenceName: String? = nil, price: String? = nil,
        winBackRules: WinBackRules? = nil
    ) {
        self.type = type
        self.identifier = identifier
        self.paymentMode = paymentMode
        self.period = period
        self.numberOfPeriods = numberOfPeriods
        self.referenceName = referenceName
        self.price = price
        self.winBackRules = winBackRules
    }

    /// Identifies one offer across sources: type and identifier. The payment mode identifies introductory offers,
    /// because a product may have had both a free trial and a paid introduction over the years.
    struct Identity: Hashable {
        let type: OfferType
        let name: String?
    }

    var identity: Identity { Identity(type: type, name: identifier ?? paymentMode?.rawValue) }

    /// Both entries combined; nil if they contradict each other. Names and prices are labels and never contradict.
    func merged(with other: CatalogOffer) -> CatalogOffer? {
        guard identity == other.identity, numberOfPeriods == other.numberOfPeriods else { return nil }
        if let period, let otherPeriod = other.period, !period.isSameLength(as: otherPeriod) { return nil }
        if let paymentMode, let otherMode = other.paymentMode, paymentMode != otherMode { return nil }
        if let winBackRules, let otherRules = other.winBackRules, winBackRules != otherRules { return nil }
        var result = self
        result.period = period ?? other.period
        result.paymentMode = paymentMode ?? other.paymentMode
        result.referenceName = referenceName ?? other.referenceName
        result.price = price ?? other.price
        result.winBackRules = winBackRules ?? other.winBackRules
        return result
    }
}

extension ProductCatalog {
    /// The win-back offers with rules, of all products that have a subscription group in the catalog, in the order of the
    /// product ids.
    package var winBackOffers: [WinBackOffer] {
        productIds.compactMap { product($0) }.flatMap { product in
            product.subscriptionGroupIdentifier.map { product.winBackOffers(group: $0) } ?? []
        }
    }

    /// The identifiers of the subscription groups in which a product has an introductory offer.
    package var introductoryOfferGroups: Set<String> {
        let products = productIds.compactMap { product($0) }.filter { !$0.introductoryOffers.isEmpty }
        return Set(products.compactMap(\.subscriptionGroupIdentifier))
    }
}
