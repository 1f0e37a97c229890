import AppStoreModels

/// Turns the decoded parts of a StoreKit configuration into entries, and checks what JSON decoding cannot.
struct StoreKitEntryBuilder {
    let file: String
    private(set) var entries: [CatalogEntry] = []

    mutating func addProduct(_ product: StoreKitConfiguration.Product, at path: String) throws(CatalogError) {
        let types = ["Consumable": ProductType.consumable, "NonConsumable": .nonConsumable]
        entries.append(try entry(product, at: path, types: types))
    }

    mutating func addNonRenewing(_ product: StoreKitConfiguration.Product, at path: String) throws(CatalogError) {
        entries.append(try entry(product, at: path, types: ["NonRenewingSubscription": .nonRenewingSubscription]))
    }

    mutating func addGroup(_ group: StoreKitConfiguration.Group, at path: String) throws(CatalogError) {
        for (index, subscription) in (group.subscriptions ?? []).enumerated() {
            try addSubscription(subscription, in: group, at: "\(path).subscriptions[\(index)]")
        }
    }

    private mutating func addSubscription(
        _ subscription: StoreKitConfiguration.Subscription, in group: StoreKitConfiguration.Group, at path: String
    ) throws(CatalogError) {
        let types = ["RecurringSubscription": ProductType.autoRenewableSubscription]
        var entry = try entry(subscription.product, at: path, types: types)
        let terms = subscription.terms
        if let own = terms.subscriptionGroupID, let id = group.id, own != id {
            throw error(
                .conflict, "\(path).subscriptionGroupID",
                "\(CatalogText.quoted(own)) is not the id of its group, \(CatalogText.quoted(id))")
        }
        entry.period = try period(
            terms.recurringSubscriptionPeriod, at: "\(path).recurringSubscriptionPeriod")
        entry.subscriptionGroupIdentifier = nonEmpty(group.id ?? terms.subscriptionGroupID)
        entry.subscriptionGroupName = nonEmpty(group.name)
        if let level = terms.groupNumber {
            guard (1...1_000).contains(level) else {
                throw error(.badValue, "\(path).groupNumber", "a level of service must be 1 to 1000")
            }
            entry.level = level
        }
        entry.offers = try offers(terms, at: path)
        entries.append(entry)
    }

    private func entry(
        _ product: StoreKitConfiguration.Product, at path: String, types: [String: ProductType]
    ) throws(CatalogError) -> CatalogEntry {
        let idPath = "\(path).productID"
        guard let id = product.productID else { throw error(.missingValue, idPath, "the product has no productID") }
        try CatalogText.requireProductId(id, at: CatalogSource(file: file, element: idPath))
        guard let word = product.type else { throw error(.missingValue, "\(path).type", "the product has no type") }
        guard let type = types[word] else {
            throw error(
                .unknownProductType, "\(path).type",
                "\(CatalogText.quoted(word)) is not a product type here; use "
                    + types.keys.sorted().joined(separator: ", "))
        }
        var entry = CatalogEntry(
            subject: .productId(id), source: CatalogSource(file: file, element: path))
        entry.type = type
        entry.familyShareable = product.familyShareable
        entry.referenceName = nonEmpty(product.referenceName)
        entry.price = nonEmpty(product.displayPrice)
        if let id = product.internalID, id.utf8.count > 8, id.isDecimal { entry.adamId = Int64(id) }
        return entry
    }

    private func offers(
        _ terms: StoreKitConfiguration.Terms, at path: String
    ) throws(CatalogError) -> [CatalogOffer] {
        var result: [CatalogOffer] = []
        if let only = terms.introductoryOffer {
            result.append(try offer(only, .introductory, at: "\(path).introductoryOffer"))
        }
        let lists: [(String, OfferType, [StoreKitConfiguration.Offer]?)] = [
            ("introductoryOffers", .introductory, terms.introductoryOffers),
            ("adHocOffers", .promotional, terms.adHocOffers),
            ("codeOffers", .offerCode, terms.codeOffers),
            ("winbackOffers", .winBack, terms.winbackOffers),
        ]
        for (name, type, offers) in lists {
            var seen: [String: String] = [:]
            for (index, each) in (offers ?? []).enumerated() {
                let place = "\(path).\(name)[\(index)]"
                let offer = try offer(each, type, at: place)
                if let id = offer.identifier, let first = seen.updateValue(place, forKey: id) {
                    throw CatalogError(
                        .duplicate, at: CatalogSource(file: file, element: place),
                        and: CatalogSource(file: file, element: first),
                        "the offer \(CatalogText.quoted(id)) appears twice")
                }
                // Newer files repeat the single introductory offer in the list.
                if type != .introductory || !result.contains(offer) { result.append(offer) }
            }
        }
        return result
    }

    private func offer(
        _ offer: StoreKitConfiguration.Offer, _ type: OfferType, at path: String
    ) throws(CatalogError) -> CatalogOffer {
        let identifier = type == .introductory ? nil : nonEmpty(offer.offerID)
        if identifier == nil, type != .introductory {
            throw error(.missingValue, "\(path).offerID", "the offer has no offerID")
        }
        guard let word = offer.paymentMode else {
            throw error(.missingValue, "\(path).paymentMode", "the offer has no paymentMode")
        }
        guard let mode = CatalogPaymentMode.discountType(word) else {
            throw error(.badValue, "\(path).paymentMode", CatalogPaymentMode.refusal(word))
        }
        let count = offer.numberOfPeriods ?? 1
        guard (1...1_000).contains(count) else {
            throw error(.badValue, "\(path).numberOfPeriods", "the number of periods must be 1 to 1000")
        }
        return CatalogOffer(
            type: type, identifier: identifier, paymentMode: mode,
            period: try period(offer.subscriptionPeriod, at: "\(path).subscriptionPeriod"), numberOfPeriods: count,
            referenceName: nonEmpty(offer.referenceName), price: nonEmpty(offer.displayPrice))
    }

    private func period(_ text: String?, at path: String) throws(CatalogError) -> SubscriptionPeriod {
        guard let text else { throw error(.missingValue, path, "the period is missing") }
        guard let period = SubscriptionPeriod(iso8601: text) else {
            throw error(.badPeriod, path, "\(CatalogText.quoted(text)) is not a period like P1W, P1M or P1Y")
        }
        return period
    }

    private func nonEmpty(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : $0 }
    }

    func error(_ code: CatalogError.Code, _ element: String, _ message: String) -> CatalogError {
        CatalogError(code, at: CatalogSource(file: file, element: element), message)
    }
}
