public import AppStoreModels

/// What the catalogue answers about one product identifier: the joined facts, the rule that found them and their sources.
public struct CatalogProduct: Sendable {
    /// How the identifier was found.
    public enum Rule: Hashable, Sendable, CustomStringConvertible {
        /// The catalogue names the product itself.
        case exact
        /// The most specific pattern that fits, as written.
        case pattern(String)

        /// `exact`, or `pattern *.monthly`.
        public var description: String {
            switch self {
            case .exact: "exact"
            case .pattern(let text): "pattern \(text)"
            }
        }
    }

    /// The identifier that was asked for.
    public let productId: String
    public let rule: Rule
    private let record: CatalogRecord

    init(productId: String, rule: Rule, record: CatalogRecord) {
        self.productId = productId
        self.rule = rule
        self.record = record
    }

    /// All facts at once.
    public var facts: CatalogEntry { record.facts }

    public var type: ProductType? { record.facts.type }
    /// A Newsstand free subscription: it never expires. Its ``type`` is the nearest of today's types, non-renewing.
    public var isFreeSubscription: Bool { record.facts.freeSubscription ?? false }
    /// The time between renewals of an auto-renewable subscription.
    public var period: SubscriptionPeriod? { record.facts.period }
    /// The term of a non-renewing subscription. Absent means that its end cannot be known.
    public var duration: SubscriptionPeriod? { record.facts.duration }
    /// Whether a non-renewing subscription bought while another of the same product (or entitlement) still runs begins
    /// at that one's end rather than at its own purchase.
    ///
    /// `true` unless the catalogue says otherwise: someone who paid twice for a month has paid for two months, and
    /// counting both from their purchase would take one of them away.
    public var stacks: Bool { record.facts.stacks ?? true }
    public var bonusDuration: SubscriptionPeriod? { record.facts.bonusDuration }
    public var offers: [CatalogOffer] { record.facts.offers }
    public var subscriptionGroupIdentifier: String? { record.facts.subscriptionGroupIdentifier }
    public var subscriptionGroupName: String? { record.facts.subscriptionGroupName }
    /// Level of service within the group, 1 is the highest.
    public var level: Int? { record.facts.level }
    public var isFamilyShareable: Bool? { record.facts.familyShareable }
    public var adamId: Int64? { record.facts.adamId }
    public var referenceName: String? { record.facts.referenceName }
    /// Text, for people.
    public var price: String? { record.facts.price }
    /// The name of what the product unlocks, shared by all products that unlock the same.
    public var entitlement: String? { record.facts.entitlement }

    /// The offer with this type and identifier.
    public func offer(_ type: OfferType, identifier: String) -> CatalogOffer? {
        offers.first { $0.type == type && $0.identifier == identifier }
    }

    /// The win-back offers of the product that have rules.
    /// - Parameter group: the identifier of the product's subscription group, in which eligibility is decided.
    public func winBackOffers(group: String) -> [WinBackOffer] {
        offers.compactMap { offer in
            guard offer.type == .winBack, let identifier = offer.identifier, let rules = offer.winBackRules else {
                return nil
            }
            return WinBackOffer(offerIdentifier: identifier, group: group, productId: productId, rules: rules)
        }
    }

    /// The introductory offers: usually one, several where the product's offer changed over the years.
    public var introductoryOffers: [CatalogOffer] { offers.filter { $0.type == .introductory } }

    /// The place that states `field`, the first one where several agree; `nil` where none does.
    public func source(of field: CatalogField) -> CatalogSource? { record.source(of: field) }

    /// Every place that speaks of the product, in the order of the catalogue's sources.
    public var sources: [CatalogSource] { record.sources }
}
