public import AppStoreModels

/// The catalog's facts about one product identifier, with the rule that matched and the sources.
public struct CatalogProduct: Sendable {
    /// The rule that matched the identifier.
    public enum Rule: Hashable, Sendable, CustomStringConvertible {
        /// The catalog has an entry for the product itself.
        case exact
        /// The most specific pattern that matches, as written.
        case pattern(String)

        /// For example `exact` or `pattern *.monthly`.
        public var description: String {
            switch self {
            case .exact: "exact"
            case .pattern(let text): "pattern \(text)"
            }
        }
    }

    /// The requested product identifier.
    public let productId: String
    /// An entry for the product itself takes precedence over patterns. Facts of a pattern do not complete such an
    /// entry.
    public let rule: Rule
    private let record: CatalogRecord

    init(productId: String, rule: Rule, record: CatalogRecord) {
        self.productId = productId
        self.rule = rule
        self.record = record
    }

    /// All facts at once.
    public var facts: CatalogEntry { record.facts }

    /// The product type in Apple's terms; nil if the catalog does not state it.
    public var type: ProductType? { record.facts.type }
    /// Whether this is a Newsstand free subscription, which never expires. Its ``type`` is the closest current type,
    /// non-renewing.
    public var isFreeSubscription: Bool { record.facts.freeSubscription ?? false }
    /// The time between renewals of an auto-renewable subscription.
    public var period: SubscriptionPeriod? { record.facts.period }
    /// The term of a non-renewing subscription. If it is nil, its end is unknown.
    public var duration: SubscriptionPeriod? { record.facts.duration }
    /// Whether a non-renewing subscription begins at the end of the running one if it is bought early. The running
    /// one has the same product or entitlement.
    ///
    /// `true` unless the catalog states otherwise. A customer who paid twice for a month has paid for two months;
    /// counting both from their purchase dates would lose one.
    public var stacks: Bool { record.facts.stacks ?? true }
    /// Extra time that a customer gets for sharing contact data (Newsstand); nil if the catalog does not state it.
    public var bonusDuration: SubscriptionPeriod? { record.facts.bonusDuration }
    /// All offers of the product: introductory, promotional, offer codes and win-back. Empty if the catalog states
    /// none.
    public var offers: [CatalogOffer] { record.facts.offers }
    /// Apple's identifier of the subscription group; nil if the catalog does not state it.
    public var subscriptionGroupIdentifier: String? { record.facts.subscriptionGroupIdentifier }
    /// The group's name, which is a label only; nil if the catalog does not state it.
    public var subscriptionGroupName: String? { record.facts.subscriptionGroupName }
    /// The level of service within the group; 1 is the highest.
    public var level: Int? { record.facts.level }
    /// Whether Family Sharing is turned on for the product; nil if the catalog does not state it.
    public var isFamilyShareable: Bool? { record.facts.familyShareable }
    /// The App Store's number for the product (`apple-id` in a feed); nil if the catalog does not state it.
    public var adamId: Int64? { record.facts.adamId }
    /// The name in App Store Connect, which customers do not see; nil if the catalog does not state it.
    public var referenceName: String? { record.facts.referenceName }
    /// The price as text, for display only.
    public var price: String? { record.facts.price }
    /// The name of the entitlement that the product unlocks. Products with the same name unlock the same thing.
    public var entitlement: String? { record.facts.entitlement }

    /// The offer with this type and identifier.
    public func offer(_ type: OfferType, identifier: String) -> CatalogOffer? {
        offers.first { $0.type == type && $0.identifier == identifier }
    }

    /// The win-back offers of the product that have rules.
    /// - Parameter group: the identifier of the product's subscription group, which determines eligibility.
    public func winBackOffers(group: String) -> [WinBackOffer] {
        offers.compactMap { offer in
            guard offer.type == .winBack, let identifier = offer.identifier, let rules = offer.winBackRules else {
                return nil
            }
            return WinBackOffer(offerIdentifier: identifier, group: group, productId: productId, rules: rules)
        }
    }

    /// The introductory offers. Usually there is one; there are several if the product's offer changed over the years.
    public var introductoryOffers: [CatalogOffer] { offers.filter { $0.type == .introductory } }

    /// The place that states `field`; the first one if several agree; nil if none does.
    public func source(of field: CatalogField) -> CatalogSource? { record.source(of: field) }

    /// Every place that describes the product, in the order of the catalog's sources.
    public var sources: [CatalogSource] { record.sources }
}
