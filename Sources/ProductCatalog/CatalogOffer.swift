public import AppStoreModels

/// An offer of an auto-renewable subscription, as a catalogue states it.
public struct CatalogOffer: Hashable, Sendable {
    /// Introductory, promotional, offer code or win-back.
    public var type: OfferType
    /// The offer's identifier (`offerID`); an introductory offer has none.
    public var identifier: String?
    /// How the offer is paid: free trial, pay as you go, pay up front.
    public var paymentMode: OfferDiscountType?
    /// The length of one period of the offer.
    public var period: SubscriptionPeriod?
    /// How many such periods the offer lasts; 1 where the source says nothing.
    public var numberOfPeriods: Int
    /// The name the developer gave the offer.
    public var referenceName: String?
    /// The price as the source writes it; absent when free.
    public var price: String?
    /// Who is eligible for a win-back offer, when and where; absent where the source does not say.
    public var winBackRules: WinBackRules?

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

    /// What makes two statements speak of one offer: type and identifier, or for an introductory offer how it is paid,
    /// since over the years a product may have had a free trial and a paid introduction.
    struct Identity: Hashable {
        let type: OfferType
        let name: String?
    }

    var identity: Identity { Identity(type: type, name: identifier ?? paymentMode?.rawValue) }

    /// Both statements in one, or `nil` where they contradict each other. Names and prices never do: they are labels.
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
