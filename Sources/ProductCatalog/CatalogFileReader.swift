import AppStoreModels
public import Foundation

/// Reads our own catalog format, in YAML or JSON.
///
/// It can contain facts that Apple's formats lack: the terms of non-renewing subscriptions, deleted products, shared
/// entitlements, and rules for groups of identifiers. Every key except `version` is optional.
///
/// ```yaml
/// version: 1
/// groups:                              # subscription groups, by a label used in this file
///   premium:
///     identifier: "20456789"           # Apple's subscriptionGroupIdentifier
///     name: Premium
/// products:                            # by product identifier
///   com.example.premium.yearly:
///     type: auto-renewable             # see below
///     period: P1Y                      # auto-renewable: time between renewals (P7D, P1W, P1M, P1Y …)
///     group: premium                   # a label of groups
///     level: 1                         # level of service, 1 is the highest
///     bonusDuration: P1M               # Newsstand: extra time for shared contact data
///     familyShareable: true
///     adamId: 1234567890
///     referenceName: Premium, one year
///     price: "39.99"                   # text, for people
///     entitlement: premium             # what it unlocks; several products may share a name
///     offers:
///       - type: introductory           # introductory, promotional, offerCode, winBack
///         paymentMode: free            # free, payAsYouGo, payUpFront
///         period: P1W
///         numberOfPeriods: 1           # 1 if left out
///       - type: promotional
///         id: winter                   # required except for introductory
///         paymentMode: payUpFront
///         period: P3M
///         referenceName: Winter sale
///         price: "4.99"
///       - type: winBack
///         id: come-back
///         paymentMode: free
///         period: P1M
///         paidMonths: 3                # win-back only, all from here: most recent consecutive months paid, at least
///         monthsSince:                 # months since the last subscription ended
///           minimum: 2
///           maximum: 24                # no bound if left out
///         monthsBetweenOffers: 6       # months since this offer was last redeemed; no wait if left out
///         waitScope: offer             # offer (if left out): this offer; group: any win-back offer of the group
///         startDate: 2026-03-01        # first day, US Pacific time
///         endDate: 2026-03-31          # last day
///         storefronts: [USA, CAN]      # ISO 3166-1 alpha-3; all if left out
///         priority: high               # high or normal (if left out)
///   com.example.season:
///     type: non-renewing
///     duration: P3M                    # non-renewing: the term
///     stacks: true                     # true if left out: bought again while running, it begins at the end
/// patterns:                            # same keys as a product, by pattern, in quotes: * any run, ? one byte
///   "com.example.*.monthly":
///     type: auto-renewable
///     period: P1M
///     priority: 1                      # higher is tried first; 0 if left out
/// ```
///
/// `type` is one of `auto-renewable`, `non-renewing`, `consumable`, `non-consumable`, `free-subscription` (Newsstand),
/// or one of Apple's current names (`Auto-Renewable Subscription` …).
///
/// The reader rejects unknown keys, values of a wrong type, invalid periods, duplicates, unknown groups, anchors,
/// aliases, tags, and more than ``CatalogLimits/fileBytes`` bytes. The error names the file and the line. JSON strings
/// must not contain surrogate escapes (`\ud83d\ude00`); write the characters themselves.
public enum CatalogFileReader {
    /// The supported version of the format.
    public static let formatVersion: Int64 = 1

    /// The entries of one file in order: first products, then patterns.
    ///
    /// - Parameters:
    ///   - data: The file's bytes, UTF-8.
    ///   - file: The file's name for errors and sources.
    /// - Throws: ``CatalogError``.
    public static func entries(_ data: Data, file: String) throws(CatalogError) -> [CatalogEntry] {
        let root = try CatalogDocument.parse(data, file: file)
        var top = try CatalogMapping(root, file: file, element: "")
        let whole = CatalogSource(file: file, line: root.line)
        guard let version = try top.takeInteger("version", in: 0...Int64.max) else {
            throw CatalogError(.missingValue, at: whole, "the catalog must begin with version: \(formatVersion)")
        }
        guard version == formatVersion else {
            throw CatalogError(
                .unsupportedVersion, at: whole,
                "version \(version) is not supported; this reader supports \(formatVersion)")
        }
        let groups = try groups(&top)
        let products = try section(&top, "products", groups: groups, isPattern: false)
        let patterns = try section(&top, "patterns", groups: groups, isPattern: true)
        try top.requireAllTaken()
        let entries = products + patterns
        try CatalogText.requireUnique(entries)
        return entries
    }

    private struct Group {
        let identifier: String?
        let name: String?
    }

    private static func groups(_ top: inout CatalogMapping) throws(CatalogError) -> [String: Group] {
        guard let member = top.take("groups") else { return [:] }
        var mapping = try CatalogMapping(member.node, file: top.file, element: "groups")
        var result: [String: Group] = [:]
        for label in mapping.keys {
            guard let member = mapping.take(label) else { continue }
            var group = try CatalogMapping(member.node, file: top.file, element: "groups.\(label)")
            result[label] = Group(
                identifier: try group.takeString("identifier"), name: try group.takeString("name"))
            try group.requireAllTaken()
        }
        return result
    }

    private static func section(
        _ top: inout CatalogMapping, _ name: String, groups: [String: Group], isPattern: Bool
    ) throws(CatalogError) -> [CatalogEntry] {
        guard let member = top.take(name) else { return [] }
        var mapping = try CatalogMapping(member.node, file: top.file, element: name)
        var entries: [CatalogEntry] = []
        for key in mapping.keys {
            guard let member = mapping.take(key) else { continue }
            let source = CatalogSource(file: top.file, line: member.line, element: "\(name).\(key)")
            if isPattern {
                _ = try CatalogText.pattern(key, at: source)
            } else {
                try CatalogText.requireProductId(key, at: source)
            }
            var facts = try CatalogMapping(member.node, file: top.file, element: "\(name).\(key)")
            let priority = isPattern ? try facts.takeInteger("priority", in: -1_000...1_000) ?? 0 : 0
            let subject: CatalogEntry.Subject =
                isPattern ? .pattern(key, priority: Int(priority)) : .productId(key)
            entries.append(try entry(&facts, subject: subject, source: source, groups: groups))
        }
        return entries
    }

    private static func entry(
        _ facts: inout CatalogMapping, subject: CatalogEntry.Subject, source: CatalogSource, groups: [String: Group]
    ) throws(CatalogError) -> CatalogEntry {
        var entry = CatalogEntry(subject: subject, source: source)
        if let type = try facts.takeText("type") {
            guard let known = types[type.text] else {
                throw CatalogError(
                    .unknownProductType, at: type.place,
                    "\(CatalogText.quoted(type.text)) is not a product type; use auto-renewable, non-renewing, "
                        + "consumable, non-consumable or free-subscription")
            }
            entry.type = known
            if type.text == freeSubscription { entry.freeSubscription = true }
        }
        entry.period = try facts.takePeriod("period")
        entry.duration = try facts.takePeriod("duration")
        entry.bonusDuration = try facts.takePeriod("bonusDuration")
        entry.stacks = try facts.takeBool("stacks")
        if let label = try facts.takeText("group") {
            guard let group = groups[label.text] else {
                throw CatalogError(
                    .badValue, at: label.place, "the group \(CatalogText.quoted(label.text)) is not listed under groups"
                )
            }
            entry.subscriptionGroupIdentifier = group.identifier
            entry.subscriptionGroupName = group.name
        }
        entry.level = try facts.takeInteger("level", in: 1...1_000).map { Int($0) }
        entry.familyShareable = try facts.takeBool("familyShareable")
        entry.adamId = try facts.takeInteger("adamId", in: 1...Int64.max)
        entry.referenceName = try facts.takeString("referenceName")
        entry.price = try facts.takeString("price")
        entry.entitlement = try facts.takeString("entitlement")
        entry.offers = try offers(&facts)
        try facts.requireAllTaken()
        try entry.requireConsistency { entry.states($0) ? source : nil }
        return entry
    }

    private static let freeSubscription = "free-subscription"

    private static let types: [String: ProductType] = [
        "auto-renewable": .autoRenewableSubscription,
        "non-renewing": .nonRenewingSubscription,
        "consumable": .consumable,
        "non-consumable": .nonConsumable,
        freeSubscription: .nonRenewingSubscription,
        ProductType.autoRenewableSubscription.rawValue: .autoRenewableSubscription,
        ProductType.nonRenewingSubscription.rawValue: .nonRenewingSubscription,
        ProductType.consumable.rawValue: .consumable,
        ProductType.nonConsumable.rawValue: .nonConsumable,
    ]

    private static let offerTypes: [String: OfferType] = [
        "introductory": .introductory, "promotional": .promotional, "offerCode": .offerCode, "winBack": .winBack,
    ]

    private static func offers(_ facts: inout CatalogMapping) throws(CatalogError) -> [CatalogOffer] {
        guard let member = facts.take("offers") else { return [] }
        let place = facts.place("offers", line: member.line)
        guard case .sequence(let nodes) = member.node.value else {
            throw CatalogError(.wrongType, at: place, "offers must be a list")
        }
        var offers: [CatalogOffer] = []
        var seen: [CatalogOffer.Identity: CatalogSource] = [:]
        for (index, node) in nodes.enumerated() {
            let element = "\(facts.element).offers[\(index)]"
            var mapping = try CatalogMapping(node, file: facts.file, element: element)
            let offer = try offer(&mapping)
            let place = CatalogSource(file: facts.file, line: node.line, element: element)
            if let first = seen.updateValue(place, forKey: offer.identity) {
                throw CatalogError(.duplicate, at: place, and: first, "the offer appears twice")
            }
            offers.append(offer)
        }
        return offers
    }

    private static func offer(_ mapping: inout CatalogMapping) throws(CatalogError) -> CatalogOffer {
        let place = CatalogSource(file: mapping.file, line: mapping.line, element: mapping.element)
        guard let type = try mapping.takeText("type") else {
            throw CatalogError(.missingValue, at: place, "an offer must have a type")
        }
        guard let known = offerTypes[type.text] else {
            throw CatalogError(
                .badValue, at: type.place,
                "\(CatalogText.quoted(type.text)) is not an offer type; use introductory, promotional, offerCode "
                    + "and winBack")
        }
        var offer = CatalogOffer(type: known)
        offer.identifier = try mapping.takeString("id")
        guard (offer.identifier == nil) == (known == .introductory) else {
            throw CatalogError(
                offer.identifier == nil ? .missingValue : .badValue, at: place,
                "an introductory offer has no id, every other offer must have one")
        }
        if let mode = try mapping.takeText("paymentMode") {
            guard let known = CatalogPaymentMode.discountType(mode.text) else {
                throw CatalogError(.badValue, at: mode.place, CatalogPaymentMode.refusal(mode.text))
            }
            offer.paymentMode = known
        }
        offer.period = try mapping.takePeriod("period")
        offer.numberOfPeriods = Int(try mapping.takeInteger("numberOfPeriods", in: 1...1_000) ?? 1)
        offer.referenceName = try mapping.takeString("referenceName")
        offer.price = try mapping.takeString("price")
        if known == .winBack { offer.winBackRules = try mapping.takeWinBackRules() }
        try mapping.requireAllTaken()
        return offer
    }
}

/// StoreKit's names of payment modes. `.storekit` files and our format use them.
enum CatalogPaymentMode {
    static func discountType(_ word: String) -> OfferDiscountType? {
        switch word {
        case "free": .freeTrial
        case "payAsYouGo": .payAsYouGo
        case "payUpFront": .payUpFront
        default: nil
        }
    }

    static func refusal(_ word: String) -> String {
        "\(CatalogText.quoted(word)) is not a payment mode; use free, payAsYouGo or payUpFront"
    }
}
