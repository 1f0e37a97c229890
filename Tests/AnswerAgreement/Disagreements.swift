package import AppStoreModels
package import Purchases

/// Compares the answers about one customer with each other. Tests of several targets use it, so it imports no test framework: the
/// functions return a sentence for each difference, and none if the answers agree.
package enum Disagreements {
    /// The reasons of cancellations in a validation.
    private static let refundReasons: Set = ["Customer", "Customer.TechnicalIssues", "Unknown"]

    /// A client that reads a reply grants what the entitlements say. A reply states no term, so only a revocation ends the access to
    /// what does not renew. Consumables give no lasting access.
    /// - Parameters:
    ///   - reply: the JSON of a reply with a status that grants something.
    ///   - history: the purchases that count for the reply.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    ///   - isComplete: whether the reply lists all purchases. The reply to an iOS 6 receipt lists only one.
    ///   - hidden: purchases that a reply does not show as they are, such as ``purchasesBesideOthers(_:)``.
    @inline(never)
    package static func grants(
        of reply: JSONObject, _ history: PurchaseHistory, at now: Int64, isComplete: Bool = true,
        hidden: Set<ReplyPurchases.Key> = []
    ) -> [String] {
        guard let listed = ReplyPurchases(reply, at: now) else {
            return ["the purchases of the reply are not readable"]
        }
        let entitlements = history.entitlements(at: now)
        var subscribed: Set<ReplyPurchases.Key> = []
        for standing in entitlements.flatMap(\.subscriptions) {
            for product in standing.products {
                subscribed.insert(
                    ReplyPurchases.Key(
                        productId: product.productId, originalTransactionId: standing.originalTransactionId))
            }
        }
        let owned = Set(
            entitlements.filter { $0.subscriptions.isEmpty && $0.status != .revoked }.compactMap(\.productId))
        let consumables = consumables(history)
        let granted = listed.keys.filter {
            listed[$0]?.isGranted == true && !consumables.contains($0.productId ?? "")
        }
        var found: [String] = []
        for key in granted where !hidden.contains(key) {
            guard !subscribed.contains(key), !owned.contains(key.productId ?? "") else { continue }
            found.append("only the reply grants \(key)")
        }
        guard isComplete else { return found }
        for key in subscribed where !hidden.contains(key) && !granted.contains(key) {
            found.append("the reply does not grant \(key)")
        }
        for product in owned where !granted.contains(where: { $0.productId == product }) {
            found.append("the reply does not grant \(product)")
        }
        return found
    }

    /// The subscriptions with a period and a later period of another product beside it, though it was not upgraded: the customer
    /// bought the other product after a refund, and then the App Store reversed the refund. Replies and receipts do not state a
    /// reversal, so the later period seems to be an upgrade of the earlier one.
    /// - Returns: their products.
    package static func purchasesBesideOthers(
        _ transactions: [JWSTransactionDecodedPayload]
    ) -> Set<ReplyPurchases.Key> {
        let periods = transactions.filter { $0.expiresDate != nil }
        let current = periods.filter { $0.isUpgraded != true && $0.revocationDate == nil }
        let subscriptions = current.filter { period in
            periods.contains {
                $0.originalTransactionId == period.originalTransactionId && $0.productId != period.productId
                    && $0.purchaseDate ?? 0 > period.purchaseDate ?? 0 && $0.purchaseDate ?? 0 < period.expiresDate ?? 0
            }
        }.map(\.originalTransactionId)
        return Set(
            periods.filter { subscriptions.contains($0.originalTransactionId) }.map {
                ReplyPurchases.Key(productId: $0.productId, originalTransactionId: $0.originalTransactionId)
            })
    }

    /// The plugin gets the same access as the entitlements, until they end, and the same refunds, upgrades and billing problems.
    /// - Parameters:
    ///   - collection: the purchases of a validation.
    ///   - history: the purchases that count for the validation.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    @inline(never)
    package static func validation(
        _ collection: [JSONObject], _ history: PurchaseHistory, at now: Int64
    ) -> [String] {
        let entitlements = history.entitlements(at: now)
        let standings = PurchaseHistory.subscriptions(of: entitlements).map(\.standing)
        // The end of access that never ends is .max.
        var ends: [String: Int64] = [:]
        for product in standings.flatMap(\.products) {
            ends[product.productId] = max(product.accessEnds, ends[product.productId] ?? .min)
        }
        let others = entitlements.filter { $0.subscriptions.isEmpty }
        for entitlement in others where entitlement.hasAccess {
            if let product = entitlement.productId { ends[product] = entitlement.accessEnds ?? .max }
        }
        let payloads = Dictionary(
            history.entries.map { ($0.transaction.transactionId ?? "", $0.transaction) },
            uniquingKeysWith: { first, _ in first })
        let consumables = consumables(history)
        var found: [String] = []
        func check(_ isEqual: Bool, _ product: String, _ what: String) {
            if !isEqual { found.append("\(product): \(what)") }
        }
        var listed: Set<String> = []
        for row in collection {
            guard let product = row["id"]?.string, !consumables.contains(product) else { continue }
            listed.insert(product)
            let (end, reason) = (ends[product], row["cancelationReason"]?.string)
            check((row["isExpired"]?.bool == false) == (end != nil), product, "the access")
            if let end { check((row["expiryDate"]?.integer ?? .max) == end, product, "the end of the access") }
            guard let id = row["transactionId"]?.string else { continue }
            let isUpgraded = payloads[id]?.isUpgraded == true
            check((reason == "System.Replaced") == isUpgraded, product, "the upgrade")
            let isRefund = reason.map(refundReasons.contains) ?? false
            if let standing = standings.first(where: { $0.transactionId == id && $0.productId == product }) {
                let isRetried = standing.status == .billingRetry || standing.status == .billingGracePeriod
                check((row["isBillingRetryPeriod"]?.bool == true) == isRetried, product, "billing")
                // The reason of a period that expired can be the customer's cancellation.
                if standing.status == .revoked, !isUpgraded { check(isRefund, product, "the refund") }
                if end == nil {
                    check(row["expiryDate"]?.integer == standing.accessEnds, product, "the end of the period")
                }
            } else if let entitlement = others.first(where: { $0.transactionId == id && $0.productId == product }) {
                check(isRefund == (entitlement.status == .revoked), product, "the refund")
            }
        }
        for product in ends.keys where !listed.contains(product) { check(false, product, "it is not listed") }
        return found
    }

    private static func consumables(_ history: PurchaseHistory) -> Set<String> {
        Set(history.entries.filter { $0.transaction.type == .consumable }.compactMap(\.transaction.productId))
    }
}
