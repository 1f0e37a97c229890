import AppStoreModels

/// One `in_app_purchase` of a feed while the parser reads it.
struct MetadataFeedProduct {
    /// The elements that are read. The raw value is the element's name, for messages.
    enum Field: String {
        case productId = "product_id"
        case referenceName = "reference_name"
        case type
        case duration
        case freeTrial = "free_trial_duration"
        case bonus = "bonus_duration"
        case adamId = "read_only_value"

        /// The field of an element with this parent; nil if the element is ignored.
        init?(_ element: String, in parent: String?, _ attributes: [String: String]) {
            guard let field = Field(rawValue: element) else { return nil }
            switch field {
            case .adamId:
                guard parent == "read_only_info", attributes["key"] == "apple-id" else { return nil }
            default:
                guard parent == "in_app_purchase" else { return nil }
            }
            self = field
        }
    }

    private struct Value {
        let text: String
        let line: Int
    }

    private let file: String
    private let line: Int
    private let family: String?
    private var values: [Field: Value] = [:]

    init(file: String, line: Int, family: String?) {
        self.file = file
        self.line = line
        self.family = family
    }

    mutating func set(_ field: Field, to text: String, line: Int) throws(CatalogError) {
        let trimmed = Self.trimmed(text)
        // An empty element states nothing.
        guard !trimmed.isEmpty else { return }
        if let first = values.updateValue(Value(text: trimmed, line: line), forKey: field) {
            throw CatalogError(
                .duplicate, at: place(field, line), and: place(field, first.line),
                "\(field.rawValue) appears twice in one product")
        }
    }

    private static func trimmed(_ text: String) -> String {
        let end = text.lastIndex { !$0.isWhitespace }
        guard let end else { return "" }
        return String(text[...end].drop(while: \.isWhitespace))
    }

    func entry() throws(CatalogError) -> CatalogEntry {
        let whole = CatalogSource(file: file, line: line, element: "in_app_purchase")
        guard let id = values[.productId] else {
            throw CatalogError(.missingValue, at: whole, "the product has no product_id")
        }
        try CatalogText.requireProductId(id.text, at: place(.productId, id.line))
        guard let word = values[.type] else {
            throw CatalogError(.missingValue, at: whole, "\(id.text) has no type")
        }
        var entry = CatalogEntry(
            subject: .productId(id.text),
            source: CatalogSource(file: file, line: line, element: "in_app_purchase \(id.text)"))
        try setType(&entry, word)
        try setPeriods(&entry)
        entry.referenceName = values[.referenceName]?.text
        if entry.type == .autoRenewableSubscription { entry.subscriptionGroupName = family }
        if let id = values[.adamId] {
            guard id.text.isDecimal, let number = Int64(id.text), number > 0 else {
                throw CatalogError(
                    .badValue, at: place(.adamId, id.line), "\(CatalogText.quoted(id.text)) is not an apple-id")
            }
            entry.adamId = number
        }
        let source = entry.source
        try entry.requireConsistency { entry.states($0) ? source : nil }
        return entry
    }

    private func setType(_ entry: inout CatalogEntry, _ word: Value) throws(CatalogError) {
        switch word.text {
        case "consumable": entry.type = .consumable
        case "non-consumable": entry.type = .nonConsumable
        case "auto-renewable": entry.type = .autoRenewableSubscription
        case "subscription": entry.type = .nonRenewingSubscription
        case "free-subscription":
            entry.type = .nonRenewingSubscription
            entry.freeSubscription = true
        default:
            throw CatalogError(
                .unknownProductType, at: place(.type, word.line),
                "\(CatalogText.quoted(word.text)) is not a product type; use consumable, non-consumable, "
                    + "auto-renewable, free-subscription or subscription")
        }
    }

    private func setPeriods(_ entry: inout CatalogEntry) throws(CatalogError) {
        let duration = try period(.duration)
        if entry.type == .nonRenewingSubscription {
            entry.duration = duration
        } else {
            entry.period = duration
        }
        entry.bonusDuration = try period(.bonus)
        if let trial = try period(.freeTrial) {
            entry.offers = [CatalogOffer(type: .introductory, paymentMode: .freeTrial, period: trial)]
        }
    }

    private func period(_ field: Field) throws(CatalogError) -> SubscriptionPeriod? {
        guard let value = values[field] else { return nil }
        guard let period = SubscriptionPeriod(words: value.text) else {
            throw CatalogError(
                .badPeriod, at: place(field, value.line),
                "\(CatalogText.quoted(value.text)) is not a period like 7 Days, 1 Month or 1 Year")
        }
        return period
    }

    private func place(_ field: Field, _ line: Int) -> CatalogSource {
        CatalogSource(file: file, line: line, element: "in_app_purchase > \(field.rawValue)")
    }
}
