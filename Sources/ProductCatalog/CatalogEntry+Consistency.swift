import AppStoreModels

extension CatalogEntry {
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
