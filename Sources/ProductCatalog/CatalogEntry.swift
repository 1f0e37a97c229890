public import AppStoreModels

/// A fact that a catalogue can state about a product. The raw value is its key in our own catalogue format.
public enum CatalogField: String, CaseIterable, Sendable {
    case type
    case freeSubscription
    case period
    case duration
    case stacks
    case bonusDuration
    case offers
    case subscriptionGroupIdentifier
    case subscriptionGroupName
    case level
    case familyShareable
    case adamId
    case referenceName
    case price
    case entitlement
}

/// What one place in one file says about a product, or about every product whose identifier fits a pattern.
///
/// Absent means that the place does not say.
public struct CatalogEntry: Hashable, Sendable {
    /// What the entry speaks of.
    public enum Subject: Hashable, Sendable {
        /// One product, by its exact identifier.
        case productId(String)
        /// Products by pattern (see ``ProductIdPattern``); the higher priority is asked first.
        case pattern(String, priority: Int)
    }

    public let subject: Subject
    /// Where the entry stands.
    public let source: CatalogSource
    /// The product type in Apple's words. A Newsstand free subscription is a non-renewing one with
    /// ``freeSubscription`` set, the nearest of today's types.
    public var type: ProductType?
    /// `true` for a Newsstand free subscription, which never expires.
    public var freeSubscription: Bool?
    /// The time between renewals of an auto-renewable subscription.
    public var period: SubscriptionPeriod?
    /// The term of a non-renewing subscription, which no receipt and no `.storekit` file holds.
    public var duration: SubscriptionPeriod?
    /// Whether a non-renewing subscription bought while another still runs begins at that one's end.
    public var stacks: Bool?
    /// Extra time given at purchase for sharing contact data (Newsstand).
    public var bonusDuration: SubscriptionPeriod?
    public var offers: [CatalogOffer] = []
    /// Apple's identifier of the subscription group.
    public var subscriptionGroupIdentifier: String?
    /// The group's name, a label: `name` in `.storekit`, the `family` of a feed.
    public var subscriptionGroupName: String?
    /// Level of service within the group, 1 is the highest.
    public var level: Int?
    public var familyShareable: Bool?
    /// The App Store's number for the product (`apple-id` in a feed).
    public var adamId: Int64?
    public var referenceName: String?
    /// The price as the source writes it: text, for people.
    public var price: String?
    /// The name of what the product unlocks, shared by all products that unlock the same.
    public var entitlement: String?

    public init(subject: Subject, source: CatalogSource) {
        self.subject = subject
        self.source = source
    }

    /// Whether the entry says anything about `field`.
    public func states(_ field: CatalogField) -> Bool {
        switch field {
        case .type: type != nil
        case .freeSubscription: freeSubscription != nil
        case .period: period != nil
        case .duration: duration != nil
        case .stacks: stacks != nil
        case .bonusDuration: bonusDuration != nil
        case .offers: !offers.isEmpty
        case .subscriptionGroupIdentifier: subscriptionGroupIdentifier != nil
        case .subscriptionGroupName: subscriptionGroupName != nil
        case .level: level != nil
        case .familyShareable: familyShareable != nil
        case .adamId: adamId != nil
        case .referenceName: referenceName != nil
        case .price: price != nil
        case .entitlement: entitlement != nil
        }
    }
}
