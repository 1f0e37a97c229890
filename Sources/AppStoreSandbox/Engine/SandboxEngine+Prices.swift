internal import AppStoreModels

extension SandboxEngine {
    /// Sets the price of a product. New customers pay it at once; subscribers who pay less are told (PRICE_INCREASE) and
    /// pay it from their next renewal on: with consent PENDING until they answer, without it ACCEPTED.
    /// The price is in milliunits of the currency.
    /// - Throws: ``SandboxError``.
    public mutating func setPrice(_ productId: String, _ price: Int64, needsConsent: Bool, at date: Int64) throws {
        advance(to: date)
        _ = try product(productId)
        guard (0...1_000_000_000_000).contains(price) else {
            throw SandboxError(.invalidRequest, "price: has to be 0 to 1000000000000 milliunits")
        }
        for id in subscriptions.keys.sorted() {
            guard let subscription = subscriptions[id], subscription.sharedFrom == nil, !subscription.hasEnded,
                subscription.isAutoRenewOn, subscription.autoRenewProductId == productId,
                let current = regularPrice(of: subscription)
            else { continue }
            guard price > current else {
                // A lower price is everybody's from the next renewal on.
                update(id) {
                    $0.renewalPrice = $0.productId == productId ? price : $0.renewalPrice
                    $0.priceIncrease = nil
                }
                continue
            }
            let status: PriceIncreaseStatus = needsConsent ? .pending : .consentedOrNotified
            update(id) { $0.priceIncrease = .init(price: price, status: status) }
            tell(.priceIncrease, needsConsent ? .pending : .accepted, subscription: id)
        }
        catalog[productId]?.price = price
    }

    /// A subscriber answers a price increase: consent gives PRICE_INCREASE with ACCEPTED; refusal switches renewal off.
    /// - Throws: ``SandboxError``.
    public mutating func answerPriceIncrease(_ id: String, accepted: Bool, at date: Int64) throws {
        advance(to: date)
        guard try ownSubscription(id).priceIncrease?.status == .pending else {
            throw SandboxError(.notPossible, "no price increase of \(id.quoted) awaits consent")
        }
        if accepted {
            update(id) { $0.priceIncrease?.status = .consentedOrNotified }
            tell(.priceIncrease, .accepted, subscription: id)
        } else {
            switchOff(id)
        }
    }

    /// Takes a product off sale or puts it back. Subscriptions to a product that is not for sale end at their next
    /// renewal: EXPIRED with PRODUCT_NOT_FOR_SALE.
    /// - Throws: ``SandboxError``.
    public mutating func setForSale(_ productId: String, _ isForSale: Bool, at date: Int64) throws {
        advance(to: date)
        _ = try product(productId)
        catalog[productId]?.isForSale = isForSale
    }
}
