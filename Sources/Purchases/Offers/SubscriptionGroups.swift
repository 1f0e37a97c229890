/// The subscription groups of products, for the history and for replies.
package enum SubscriptionGroups {
    /// The statement of the documents about one transaction of an auto-renewable subscription.
    package struct Statement: Hashable, Sendable {
        package let productId: String?
        /// The original transaction id, else the transaction id.
        package let subscriptionId: String?
        /// `subscriptionGroupIdentifier`
        package let group: String?
        /// Whether a signed document states the group.
        package let isSigned: Bool

        package init(productId: String?, subscriptionId: String?, group: String?, isSigned: Bool = true) {
            self.productId = productId
            self.subscriptionId = subscriptionId
            self.group = group
            self.isSigned = isSigned
        }
    }

    /// The group of each product, by the first of these that states one: a signed transaction of the product, another
    /// transaction of it, the catalog, another product of the same subscription.
    /// - Parameters:
    ///   - statements: one for each transaction, in any order.
    ///   - catalog: the groups that the catalog states, by product.
    package static func ofProducts(_ statements: [Statement], catalog: [String: String]) -> [String: String] {
        let stated = groups(statements.filter(\.isSigned))
        let recorded = groups(statements.filter { !$0.isSigned })
        var known = catalog.merging(recorded) { $1 }.merging(stated) { $1 }
        let isOpen = statements.contains { statement in statement.productId.map { known[$0] == nil } ?? false }
        guard isOpen, !known.isEmpty else { return known }
        // A subscription stays in its group when its product changes, so all of its products are in that group.
        var products: [String: Set<String>] = [:]
        var ids: [String: Set<String>] = [:]
        for statement in statements {
            guard let id = statement.subscriptionId, let product = statement.productId else { continue }
            products[id, default: []].insert(product)
            ids[product, default: []].insert(id)
        }
        var queue = ids.keys.filter { known[$0] != nil }.sorted()
        var place = 0
        while place < queue.count {
            let product = queue[place]
            place += 1
            for id in (ids[product] ?? []).sorted() {
                for other in (products.removeValue(forKey: id) ?? []).sorted() where known[other] == nil {
                    known[other] = known[product]
                    queue.append(other)
                }
            }
        }
        return known
    }

    /// The groups that transactions state, by product.
    private static func groups(_ statements: [Statement]) -> [String: String] {
        var groups: [String: String] = [:]
        for statement in statements {
            guard let product = statement.productId, let group = statement.group else { continue }
            // A product belongs to one group forever (App Store Connect Help, subscription groups). Of several, which only
            // a wrong document can state, take one that does not depend on the order of the documents.
            groups[product] = min(groups[product] ?? group, group)
        }
        return groups
    }
}
