internal import AppStoreModels
internal import AppStoreServer
internal import Encodings
internal import Foundation
internal import Purchases

extension SandboxEngine {
    /// Sells a product.
    ///
    /// A one-time purchase sends ONE_TIME_CHARGE. A first subscription in a group sends SUBSCRIBED with INITIAL_BUY, a later
    /// one SUBSCRIBED with RESUBSCRIBE. Another product of the group changes the plan. An offer redeemed during a
    /// subscription sends OFFER_REDEEMED.
    /// - Returns: the transaction of the purchase, or of the current period if the change takes effect at the next renewal.
    /// - Throws: ``SandboxError``; only the time has changed then.
    public mutating func buy(_ order: SandboxOrder, at date: Int64) throws -> SandboxTransaction {
        advance(to: date)
        let product = try productForSale(order.productId)
        if let token = order.appAccountToken, UUID(uuidString: token) == nil {
            throw SandboxError(.invalidRequest, "appAccountToken: not a UUID")
        }
        try ensure((1...10).contains(order.quantity), .invalidRequest, "quantity: must be 1 to 10")
        guard !order.isAssigned || order.appAccountToken == nil && order.seats == nil else {
            throw SandboxError(.invalidRequest, "ownership: an assigned purchase has no token and no seats")
        }
        if let seats = order.seats {
            let isSubscription = product.type == .autoRenewableSubscription
            try ensure(isSubscription, .invalidRequest, "seats: only a subscription has them")
            try SandboxSubscription.Seats.check(seats)
        }
        if product.type == .autoRenewableSubscription {
            try ensure(order.quantity == 1, .invalidRequest, "quantity: a subscription is bought once")
            return try subscribe(order, product)
        }
        switch order.redemption {
        case .automatic, .withoutOffer: break
        default: throw SandboxError(.unknownOffer, "the product \(product.id.quoted) has no offers")
        }
        return try buyOnce(order, product)
    }

    private mutating func buyOnce(_ order: SandboxOrder, _ product: SandboxProduct) throws -> SandboxTransaction {
        let customer = try findOrAddCustomer(order.customer)
        if product.type == .nonConsumable {
            let owned = transactions(of: customer).contains {
                $0.payload.productId == product.id && !$0.isRevoked && $0.sharedFrom == nil
            }
            if owned { throw SandboxError(.alreadyOwned, "the customer has \(product.id.quoted) already") }
            try ensure(order.quantity == 1, .invalidRequest, "quantity: a non-consumable is bought once")
        }
        let transaction = record(
            Charge(
                customer: customer.name, product: product, quantity: order.quantity,
                price: product.price.map { $0.multipliedSaturating(by: Int64(order.quantity)) }, reason: .purchase,
                purchaseDate: now, appAccountToken: order.appAccountToken, isAssigned: order.isAssigned))
        recordEvent(.oneTimeCharge, transaction: transaction.id)
        shareNonConsumable(transaction, product)
        return transaction
    }

    private mutating func subscribe(_ order: SandboxOrder, _ product: SandboxProduct) throws -> SandboxTransaction {
        let known = customers[order.customer]
        let group = product.group ?? product.id
        let current = known?.subscriptions[group].flatMap { subscriptions[$0] }
        if let current, current.sharedFrom != nil, !current.hasEnded {
            throw SandboxError(.alreadyOwned, "the customer has the subscription through the family")
        }
        if current != nil, order.seats != nil || order.isAssigned {
            throw SandboxError(
                .alreadyOwned, "the customer has had a subscription of the group: not with seats or assigned")
        }
        let offer = try redeemedOffer(order, product, customer: known, current: current)
        let customer = try findOrAddCustomer(order.customer)
        if let current, !current.hasEnded, current.sharedFrom == nil {
            return try changeWhileSubscribed(current, product, offer, order)
        }
        guard let current, current.sharedFrom == nil else {
            return beginSubscription(customer, product, group, offer, order)
        }
        let id = current.originalTransactionId
        resubscribe(id, order, lapse: now - current.expiresDate)
        addPeriod(to: id, product, offer: offer, price: product.price, reason: .purchase, from: now)
        recordEvent(.subscribed, .resubscribe, subscription: id)
        shareSubscription(id)
        return try transaction(try subscription(id).transactionId)
    }

    private mutating func beginSubscription(
        _ customer: SandboxCustomer, _ product: SandboxProduct, _ group: String, _ offer: SandboxOffer?,
        _ order: SandboxOrder
    ) -> SandboxTransaction {
        let expires = end(of: product, offer, from: now)
        let transaction = record(
            Charge(
                customer: customer.name, product: product, quantity: order.seats ?? 1, hasSeats: order.seats != nil,
                offer: offer, price: offer?.price ?? product.price, reason: .purchase, purchaseDate: now,
                expiresDate: expires, appAccountToken: order.appAccountToken, isAssigned: order.isAssigned))
        var subscription = SandboxSubscription(
            originalTransactionId: transaction.id, customer: customer.name, group: group, sharedFrom: nil,
            transactionId: transaction.id, productId: product.id, autoRenewProductId: product.id, expiresDate: expires,
            start: now)
        subscription.renewalPrice = product.price
        subscription.appAccountToken = order.appAccountToken
        subscription.seats = order.seats.map { .init(renewalQuantity: $0) }
        subscription.countTransaction(under: offer)
        subscriptions[transaction.id] = subscription
        customers[customer.name]?.subscriptions[group] = transaction.id
        recordEvent(.subscribed, .initialBuy, subscription: transaction.id)
        shareSubscription(transaction.id)
        return transaction
    }

    /// A subscription that lapsed for less than 60 days keeps its start date (Reference.md S5.2).
    private mutating func resubscribe(_ id: String, _ order: SandboxOrder, lapse: Int64) {
        let startsAnew = lapse >= configuration.pace.days(60)
        let begin = now
        update(id) { subscription in
            subscription.isAutoRenewOn = true
            subscription.isBillingFailing = false
            subscription.renewals = 0
            subscription.runningOffer = nil
            subscription.appAccountToken = order.appAccountToken ?? subscription.appAccountToken
            if startsAnew { subscription.start = begin }
        }
    }

    /// The offer that an order redeems.
    ///
    /// `PurchaseHistory` decides whether the customer can redeem it. A promotional offer also requires the developer's signature. For
    /// an introductory offer, the developer's signed decision replaces the rule about earlier ones. An offer code has no requirement.
    mutating func redeemedOffer(
        _ order: SandboxOrder, _ product: SandboxProduct, customer: SandboxCustomer?, current: SandboxSubscription?
    ) throws -> SandboxOffer? {
        switch order.redemption {
        case .withoutOffer: return nil
        case .automatic:
            let verdict = introductoryVerdict(customer, product)
            return verdict.eligibility == .eligible ? product.offer(.introductory) : nil
        case .introductory(let proof):
            let isAllowed = try allowsIntroductoryOffer(proof, product, customer)
            let verdict = introductoryVerdict(customer, product)
            return isAllowed && verdict.isEligibleByDecision ? product.offer(.introductory) : nil
        case .promotionalV1(let signature):
            let offer = try offered(product, .promotional, signature.offerIdentifier)
            try requireSubscriber(customer, of: product)
            try checkV1(signature, order)
            return offer
        case .promotionalV2(let identifier, let signature):
            let offer = try offered(product, .promotional, identifier)
            try requireSubscriber(customer, of: product)
            try checkV2(signature, identifier, order, customer)
            return offer
        case .offerCode(let identifier): return try offered(product, .offerCode, identifier)
        case .winBack(let identifier):
            let offer = try offered(product, .winBack, identifier)
            let eligible = current.map { eligibleWinBackOffers(of: $0, with: renewalInfoWithoutOffers(of: $0)) } ?? []
            guard eligible.contains(where: { $0.productId == product.id && $0.offerIdentifier == identifier }) else {
                throw SandboxError(
                    .notEligible,
                    "the win-back offer \(identifier.quoted) is for customers whose subscription has ended and who meet "
                        + "its rules")
            }
            return offer
        }
    }

    /// The win-back offers in the group of a subscription for which its customer is eligible, the best first.
    func eligibleWinBackOffers(
        of subscription: SandboxSubscription, with info: JWSRenewalInfoDecodedPayload
    ) -> [WinBackOffer] {
        guard subscription.hasEnded, subscription.sharedFrom == nil, let customer = customers[subscription.customer]
        else {
            return []
        }
        let offers = catalog.products(inGroup: subscription.group).flatMap { product in
            product.offers.filter { $0.type == .winBack }.compactMap { offer in
                offer.identifier.map {
                    WinBackOffer(
                        offerIdentifier: $0, group: subscription.group, productId: product.id, rules: offer.winBackRules
                    )
                }
            }
        }
        guard !offers.isEmpty else { return [] }
        return history(of: customer, [info]).eligibleWinBackOffers(offers, at: now)
    }

    /// Whether a customer can redeem the introductory offer of a product; nil for a new customer.
    private func introductoryVerdict(_ customer: SandboxCustomer?, _ product: SandboxProduct) -> OfferVerdict {
        history(of: customer).introductoryEligibility(group: product.group ?? product.id, at: now)
    }

    private func history(of customer: SandboxCustomer?) -> PurchaseHistory {
        let infos = customer.map { subscriptions(of: $0).map { renewalInfoWithoutOffers(of: $0) } } ?? []
        return history(of: customer, infos)
    }

    /// The purchases of a customer. The sandbox knows all of them, and which periods were paid.
    func history(of customer: SandboxCustomer?, _ infos: [JWSRenewalInfoDecodedPayload]) -> PurchaseHistory {
        let transactions = customer.map { self.transactions(of: $0) } ?? []
        var signed = infos
        for place in signed.indices { signed[place].signedDate = now }
        var history = PurchaseHistory(
            entries: transactions.map { PurchaseHistory.Entry($0.payload) }, renewalInfos: signed,
            completeThrough: now, countsUnpricedPeriodsAsPaid: true,
            monthLength: configuration.pace.monthLength(at: now))
        for id in Set(transactions.compactMap(\.payload.productId)) {
            guard let product = catalog[id] else { continue }
            // A subscription without a group has a group of its own.
            history.groups[id] = product.group ?? id
            history.products[id] = PurchaseHistory.Product(level: product.level)
        }
        return history
    }

    private func offered(_ product: SandboxProduct, _ type: OfferType, _ identifier: String) throws -> SandboxOffer {
        try required(
            product.offer(type, identifier), .unknownOffer,
            "the product \(product.id.quoted) has no offer \(identifier.quoted)")
    }

    private func requireSubscriber(_ customer: SandboxCustomer?, of product: SandboxProduct) throws {
        guard case .redeemable = history(of: customer).promotionalRequest(group: product.group ?? product.id, at: now)
        else {
            throw SandboxError(
                .notEligible, "a promotional offer is for a customer who bought a subscription of its group")
        }
    }

    private func key() throws -> SandboxKey {
        try required(
            configuration.key, .invalidSignature,
            "the sandbox has no In-App Purchase key to verify the offer; start it with one")
    }

    // MARK: Signatures

    /// 24 hours (Reference.md S6.1).
    private static let signatureLifetime = Int64.millisecondsPerDay

    /// The older form: seven fields joined by U+2063, signed in DER (Reference.md S6.1). Each nonce is accepted once.
    private mutating func checkV1(_ proof: PromotionalOfferSignatureV1, _ order: SandboxOrder) throws {
        let key = try key()
        guard proof.keyId == key.keyID else {
            throw SandboxError(.invalidSignature, "keyId: expected \(key.keyID.quoted), found \(proof.keyId.quoted)")
        }
        try ensure(proof.productId == order.productId, .invalidSignature, "productId: not the product of the purchase")
        let token = order.appAccountToken?.lowercased() ?? ""
        guard (proof.appAccountToken ?? "") == token else {
            throw SandboxError(.invalidSignature, "appAccountToken: not the token of the purchase in lower case")
        }
        let fields = [
            configuration.bundleId, key.keyID, proof.productId, proof.offerIdentifier, token, proof.nonce,
            String(proof.timestamp),
        ]
        guard let signature = try? Base64.decodeStrictly(Array(proof.encodedSignature.utf8).span),
            key.isValid(der: signature, over: Array(fields.joined(separator: "\u{2063}").utf8))
        else { throw SandboxError(.invalidSignature, "encodedSignature: does not match these fields and the key") }
        let age = (order.wallClock ?? now).addingSaturated(0 - max(proof.timestamp, 0))
        guard proof.timestamp >= 0, abs(age) <= Self.signatureLifetime else {
            throw SandboxError(.invalidSignature, "timestamp: more than 24 hours before or after the purchase")
        }
        try spend(proof.nonce)
    }

    /// The JWS form (Reference.md S6.2).
    private mutating func checkV2(
        _ token: String, _ identifier: String, _ order: SandboxOrder, _ customer: SandboxCustomer?
    ) throws {
        let claims = try claims(token, audience: "promotional-offer")
        try ensure(claims["productId"]?.string == order.productId, .invalidSignature, "productId: another product")
        guard claims["offerIdentifier"]?.string == identifier else {
            throw SandboxError(.invalidSignature, "offerIdentifier: not the offer of the purchase")
        }
        try requireOwn(claims["transactionId"]?.string, customer, isRequired: false)
        try spend(claims["nonce"]?.string ?? "")
    }

    private mutating func allowsIntroductoryOffer(
        _ token: String, _ product: SandboxProduct, _ customer: SandboxCustomer?
    ) throws -> Bool {
        let claims = try claims(token, audience: "introductory-offer-eligibility")
        try ensure(claims["productId"]?.string == product.id, .invalidSignature, "productId: another product")
        let isAllowed = try required(
            claims["allowIntroductoryOffer"]?.bool, .invalidSignature, "allowIntroductoryOffer: missing")
        try requireOwn(claims["transactionId"]?.string, customer, isRequired: true)
        try spend(claims["nonce"]?.string ?? "")
        return isAllowed
    }

    private func claims(_ token: String, audience: String) throws -> JSONObject {
        let key = try key()
        let claims = try required(
            key.claims(of: token), .invalidSignature, "the JWS is not signed with ES256 by the key \(key.keyID.quoted)")
        for (name, value) in [("iss", key.issuerID), ("bid", configuration.bundleId), ("aud", audience)]
        where claims[name]?.string != value {
            throw SandboxError(.invalidSignature, "\(name): must be \(value.quoted)")
        }
        try ensure(claims["iat"]?.integer != nil, .invalidSignature, "iat: missing")
        return claims
    }

    private func requireOwn(_ id: String?, _ customer: SandboxCustomer?, isRequired: Bool) throws {
        guard let id else {
            if isRequired { throw SandboxError(.invalidSignature, "transactionId: missing") }
            return
        }
        guard let customer, self.customer(anyTransactionId: id)?.name == customer.name else {
            throw SandboxError(.invalidSignature, "transactionId: not a transaction of the customer")
        }
    }

    private mutating func spend(_ nonce: String) throws {
        try ensure(!nonce.isEmpty, .invalidSignature, "nonce: missing")
        try ensure(usedOfferNonces.insert(nonce.lowercased()).inserted, .invalidSignature, "nonce: used before")
    }
}
