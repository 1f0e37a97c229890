public import AppStoreModels

/// A fact that a catalog can state about a product. The raw value is its key in our catalog format.
public enum CatalogField: String, CaseIterable, Sendable {
    /// The product type in Apple's terms.
    case type
    /// Whether it is a Newsstand free subscription, which never expires.
    case freeSubscription
    /// The time between renewals of an auto-renewable subscription.
    case period
    /// The term of a non-renewing subscription.
    case duration
    /// Whether a non-renewing subscription begins at the end of the running one if it is bought early.
    case stacks
    /// Extra time that a customer gets for sharing contact data (Newsstand).
    case bonusDuration
    /// The introductory, promotional, win-back and offer code offers.
    case offers
    /// Apple's identifier of the subscription group.
    case subscriptionGroupIdentifier
    /// The group's name, which is a label.
    case subscriptionGroupName
    /// The level of service within the group; 1 is the highest.
    case level
    /// Whether Family Sharing is turned on for the product.
    case familyShareable
    /// The App Store's number for the product.
    case adamId
    /// The name in App Store Connect, which customers do not see.
    case referenceName
    /// The price as the source writes it, for display only.
    case price
    /// The name of the entitlement that the product unlocks.
    case entitlement
}

/// The facts that one place in one file states about a product, or about all products that match a pattern.
///
/// A nil property means that the place does not state it.
public struct CatalogEntry: Hashable, Sendable {
    /// The product or products that the entry describes.
    public enum Subject: Hashable, Sendable {
        /// One product, by its exact identifier.
        case productId(String)
        /// Products by pattern (see ``ProductIdPattern``). A pattern with a higher priority is tried first.
        case pattern(String, priority: Int)
    }

    /// The product or products that the facts are about.
    public let subject: Subject
    /// The place of the entry.
    public let source: CatalogSource
    /// The product type in Apple's terms. A Newsstand free subscription is a non-renewing subscription with
    /// ``freeSubscription`` set, because that is the closest current type.
    public var type: ProductType?
    /// `true` for a Newsstand free subscription, which never expires.
    public var freeSubscription: Bool?
    /// The time between renewals of an auto-renewable subscription.
    public var period: SubscriptionPeriod?
    /// The term of a non-renewing subscription. Receipts and `.storekit` files do not contain it.
    public var duration: SubscriptionPeriod?
    /// Whether a non-renewing subscription begins at the end of the running one if it is bought early.
    public var stacks: Bool?
    /// Extra time that a customer gets for sharing contact data (Newsstand).
    public var bonusDuration: SubscriptionPeriod?
    /// The offers; empty if the place states none.
    public var offers: [CatalogOffer] = []
    /// Apple's identifier of the subscription group.
    public var subscriptionGroupIdentifier: String?
    /// The group's name, which is a label: `name` in `.storekit`, `family` in a feed.
    public var subscriptionGroupName: String?
    /// The level of service within the group; 1 is the highest.
    public var level: Int?
    /// Whether Family Sharing is turned on for the product.
    public var familyShareable: Bool?
    /// The App Store's number for the product (`apple-id` in a feed).
    public var adamId: Int64?
    /// The name in App Store Connect, which customers do not see.
    public var referenceName: String?
    /// The price as the source writes it, for display only.
    public var price: String?
    /// The name of the entitlement that the product unlocks. Products with the same name unlock the same thing.
    public var entitlement: String?

    /// An entry that states nothing yet.
    public init(subject: Subject, source: CatalogSource) {
        self.subject = subject
        self.source = source
    }

    /// Whether the entry states `field`.
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

    /// Throws ``CatalogError/Code/conflict`` for facts that contradict each other, from one source or several.
    func requireConsistency(_ source: (CatalogField) -> CatalogSource?) throws(CatalogError) {
        if states(.period), states(.duration) {
            throw conflict("has both a renewal period and a non-renewing duration", .duration, .period, source)
        }
        if freeSubscription == true, type != .nonRenewingSubscription {
            throw conflict("is a free subscription, which conflicts with its type", .freeSubscription, .type, source)
        }
        guard let type else { return }
        let forbidden: [CatalogField]
        switch type {
        case .autoRenewableSubscription: forbidden = [.duration, .stacks]
        case .nonRenewingSubscription:
            forbidden = Self.renewingFields + (freeSubscription == true ? [.duration, .stacks] : [])
        default: forbidden = Self.renewingFields + [.duration, .stacks]
        }
        for field in forbidden where states(field) {
            let kind = freeSubscription == true ? "Newsstand free subscription" : type.rawValue
            throw conflict("is of type \(kind), which has no \(field.rawValue)", field, .type, source)
        }
    }

    private static let renewingFields: [CatalogField] = [
        .period, .bonusDuration, .offers, .subscriptionGroupIdentifier, .subscriptionGroupName, .level,
    ]

    private func conflict(
        _ reason: String, _ field: CatalogField, _ other: CatalogField, _ source: (CatalogField) -> CatalogSource?
    ) -> CatalogError {
        let place = source(field) ?? self.source
        let otherPlace = source(other)
        return CatalogError(.conflict, at: place, and: otherPlace == place ? nil : otherPlace, "\(name) \(reason)")
    }

    /// The product identifier or the pattern, for messages.
    var name: String {
        switch subject {
        case .productId(let id): id
        case .pattern(let pattern, _): "pattern \(pattern)"
        }
    }
}
