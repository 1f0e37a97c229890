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
        package let isGroupSigned: Bool
        /// Whether a signed document states the transaction. A row can add a group to it.
        package let isSigned: Bool

        package init(
            productId: String?, subscriptionId: String?, group: String?, isGroupSigned: Bool = true,
            isSigned: Bool = true
        ) {
            self.productId = productId
            self.subscriptionId = subscriptionId
            self.group = group
            self.isGroupSigned = isGroupSigned
            self.isSigned = isSigned
        }

        /// The group that counts for the transaction: that of a signed document about it, or that of its product.
        /// - Parameter known: from ``SubscriptionGroups/ofProducts(_:catalog:)``.
        package func group(_ known: [String: String]) -> String? {
            if isSigned, isGroupSigned, let group { return group }
            return productId.flatMap { known[$0] } ?? group
        }
    }

    /// The group of each product, by the first of these that states one:
    /// 1. a signed document about a transaction of the product,
    /// 2. the catalog,
    /// 3. the same for another product of the same subscription,
    /// 4. an unsigned document about a transaction of the product, or of another product of the same subscription.
    ///
    /// So no wrong row moves a product whose group is known. In the other group, the customer would get a second introductory
    /// offer. If nothing else is known, a row is better than no group: receipts state none, and Apple's replies do.
    /// - Parameters:
    ///   - statements: one for each transaction, in any order.
    ///   - catalog: the groups that the catalog states, by product.
    package static func ofProducts(_ statements: [Statement], catalog: [String: String]) -> [String: String] {
        let signed = statements.filter(\.isSigned)
        var known = catalog.merging(groups(signed.filter(\.isGroupSigned))) { $1 }
        spread(&known, over: signed)
        spread(&known, over: statements)
        known.merge(groups(statements)) { first, _ in first }
        spread(&known, over: statements)
        return known
    }

    /// Adds the groups of products without one. A subscription stays in its group when its product changes, so all of its products
    /// are in that group.
    private static func spread(_ known: inout [String: String], over statements: [Statement]) {
        let isOpen = statements.contains { statement in statement.productId.map { known[$0] == nil } ?? false }
        guard isOpen, !known.isEmpty else { return }
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
