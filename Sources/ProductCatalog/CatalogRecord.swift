/// Everything the catalogue knows about one subject: the facts of all sources, and which source gave which fact.
///
/// A class, so that a lookup hands out one reference instead of copying fifteen fields.
final class CatalogRecord: Sendable {
    let facts: CatalogEntry
    /// Indexed by the field's place in `CatalogField.allCases`.
    private let fieldSources: [CatalogSource?]
    let sources: [CatalogSource]

    init(facts: CatalogEntry, contributions: [CatalogEntry]) {
        self.facts = facts
        sources = contributions.map(\.source)
        fieldSources = CatalogField.allCases.map { field in
            contributions.first { $0.states(field) }?.source
        }
    }

    func source(of field: CatalogField) -> CatalogSource? {
        fieldSources[field.index]
    }
}

extension CatalogField {
    var index: Int {
        switch self {
        case .type: 0
        case .freeSubscription: 1
        case .period: 2
        case .duration: 3
        case .stacks: 4
        case .bonusDuration: 5
        case .offers: 6
        case .subscriptionGroupIdentifier: 7
        case .subscriptionGroupName: 8
        case .level: 9
        case .familyShareable: 10
        case .adamId: 11
        case .referenceName: 12
        case .price: 13
        case .entitlement: 14
        }
    }
}

/// Joins what several places say about one subject, in the order of the sources.
///
/// Facts that agree or complete each other are joined; a contradiction is an error that names both places. Labels
/// (reference name, price, group name, an offer's name and price) are not facts about what a product is: the first
/// source wins and the difference is remarked upon. A subscription group identifier that is not all digits was made up
/// by Xcode for local testing and gives way to Apple's.
struct CatalogMerger {
    private(set) var facts: CatalogEntry
    private(set) var contributions: [CatalogEntry]
    private(set) var remarks: [String] = []

    init(_ first: CatalogEntry) {
        facts = first
        contributions = [first]
    }

    mutating func add(_ entry: CatalogEntry) throws(CatalogError) {
        facts.type = try joined(.type, facts.type, entry.type, entry) { $0 == $1 }
        facts.freeSubscription =
            try joined(.freeSubscription, facts.freeSubscription, entry.freeSubscription, entry) { $0 == $1 }
        facts.period = try joinedPeriod(.period, facts.period, entry.period, entry)
        facts.duration = try joinedPeriod(.duration, facts.duration, entry.duration, entry)
        facts.bonusDuration = try joinedPeriod(.bonusDuration, facts.bonusDuration, entry.bonusDuration, entry)
        facts.stacks = try joined(.stacks, facts.stacks, entry.stacks, entry) { $0 == $1 }
        facts.level = try joined(.level, facts.level, entry.level, entry) { $0 == $1 }
        facts.familyShareable =
            try joined(.familyShareable, facts.familyShareable, entry.familyShareable, entry) { $0 == $1 }
        facts.adamId = try joined(.adamId, facts.adamId, entry.adamId, entry) { $0 == $1 }
        facts.entitlement = try joined(.entitlement, facts.entitlement, entry.entitlement, entry) { $0 == $1 }
        try joinGroupIdentifier(entry)
        try joinOffers(entry)
        joinLabel(.subscriptionGroupName, \.subscriptionGroupName, entry)
        joinLabel(.referenceName, \.referenceName, entry)
        joinLabel(.price, \.price, entry)
        contributions.append(entry)
    }

    func record() throws(CatalogError) -> CatalogRecord {
        let record = CatalogRecord(facts: facts, contributions: contributions)
        try facts.requireConsistency(record.source(of:))
        return record
    }

    private func joined<Value>(
        _ field: CatalogField, _ known: Value?, _ new: Value?, _ entry: CatalogEntry, _ agree: (Value, Value) -> Bool
    ) throws(CatalogError) -> Value? {
        guard let known, let new else { return known ?? new }
        guard agree(known, new) else {
            throw contradiction(field, "\(field.rawValue) is \(new) here and \(known) there", entry)
        }
        return known
    }

    private func joinedPeriod(
        _ field: CatalogField, _ known: SubscriptionPeriod?, _ new: SubscriptionPeriod?, _ entry: CatalogEntry
    ) throws(CatalogError) -> SubscriptionPeriod? {
        try joined(field, known, new, entry) { $0.isSameLength(as: $1) }
    }

    private mutating func joinGroupIdentifier(_ entry: CatalogEntry) throws(CatalogError) {
        let field = CatalogField.subscriptionGroupIdentifier
        guard let new = entry.subscriptionGroupIdentifier, let known = facts.subscriptionGroupIdentifier, new != known
        else {
            facts.subscriptionGroupIdentifier = facts.subscriptionGroupIdentifier ?? entry.subscriptionGroupIdentifier
            return
        }
        switch (known.isDecimal, new.isDecimal) {
        case (true, false):
            remark(field, "\(known) instead of the local \(new)", entry)
        case (false, true):
            remark(field, "\(new) instead of the local \(known)", entry)
            facts.subscriptionGroupIdentifier = new
            // The source named for the fact must be the one whose value is kept.
            for index in contributions.indices { contributions[index].subscriptionGroupIdentifier = nil }
        default:
            throw contradiction(field, "\(field.rawValue) is \(new) here and \(known) there", entry)
        }
    }

    private mutating func joinOffers(_ entry: CatalogEntry) throws(CatalogError) {
        let known = facts.offers
        for offer in entry.offers {
            let candidates = known.indices.filter { known[$0].identity == offer.identity }
            if candidates.isEmpty {
                facts.offers.append(offer)
                continue
            }
            var joined = false
            for index in candidates {
                guard let both = facts.offers[index].merged(with: offer) else { continue }
                facts.offers[index] = both
                joined = true
                break
            }
            guard joined else {
                let label = offer.identifier ?? offer.paymentMode?.rawValue ?? "introductory"
                throw contradiction(.offers, "offer \(label) differs in period, number of periods or rules", entry)
            }
        }
    }

    private mutating func joinLabel(
        _ field: CatalogField, _ path: WritableKeyPath<CatalogEntry, String?>, _ entry: CatalogEntry
    ) {
        guard let new = entry[keyPath: path] else { return }
        guard let known = facts[keyPath: path] else {
            facts[keyPath: path] = new
            return
        }
        if known != new { remark(field, "\"\(known)\" instead of \"\(new)\"", entry) }
    }

    private mutating func remark(_ field: CatalogField, _ choice: String, _ entry: CatalogEntry) {
        let known = knownSource(field)
        remarks.append("\(facts.name): \(field.rawValue) \(choice) (\(known); \(entry.source))")
    }

    private func knownSource(_ field: CatalogField) -> CatalogSource {
        contributions.first { $0.states(field) }?.source ?? facts.source
    }

    private func contradiction(_ field: CatalogField, _ reason: String, _ entry: CatalogEntry) -> CatalogError {
        CatalogError(.conflict, at: entry.source, and: knownSource(field), "\(facts.name): \(reason)")
    }
}

extension String {
    /// Whether it is digits only, as the identifiers that App Store Connect gives are.
    var isDecimal: Bool {
        !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
