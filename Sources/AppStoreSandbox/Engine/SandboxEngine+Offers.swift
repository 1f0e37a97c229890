internal import AppStoreModels
internal import AppStoreServer

extension SandboxEngine {
    /// The offer that an order redeems.
    ///
    /// An introductory offer is for customers who never had one in the group; a promotional offer for those who have or had
    /// a subscription, with the developer's signature; an offer code for each customer; a win-back offer for those who are
    /// eligible by its rules.
    mutating func redeemedOffer(
        _ order: SandboxOrder, _ product: SandboxProduct, customer: SandboxCustomer?, current: SandboxSubscription?
    ) throws -> SandboxOffer? {
        let isSubscribed = current.map { !$0.hasEnded } ?? false
        switch order.redemption {
        case .withoutOffer: return nil
        case .automatic:
            return isSubscribed || isIntroduced(customer, product) ? nil : product.offer(.introductory)
        case .introductory(let proof):
            let isAllowed = try allowsIntroductoryOffer(proof, product, customer)
            return isAllowed && !isSubscribed ? product.offer(.introductory) : nil
        case .promotionalV1(let signature):
            let offer = try offered(product, .promotional, signature.offerIdentifier)
            try requireSubscriber(customer)
            try checkV1(signature, order)
            return offer
        case .promotionalV2(let identifier, let signature):
            let offer = try offered(product, .promotional, identifier)
            try requireSubscriber(customer)
            try checkV2(signature, identifier, order, customer)
            return offer
        case .offerCode(let identifier): return try offered(product, .offerCode, identifier)
        case .winBack(let identifier):
            let offer = try offered(product, .winBack, identifier)
            let eligible = current.map { eligibleWinBackOffers(of: $0, with: nextRenewal(of: $0)) } ?? []
            guard eligible.contains(where: { $0.productId == product.id && $0.offerIdentifier == identifier }) else {
                throw SandboxError(
                    .notEligible,
                    "the win-back offer \(identifier.quoted) is for customers whose subscription has ended and who meet "
                        + "its rules")
            }
            return offer
        }
    }

    /// The win-back offers of a subscription's group that its customer may have now, the best first, as
    /// `PurchaseHistory` decides it. The sandbox knows the whole history, and which periods were paid.
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
        var signed = info
        signed.signedDate = now
        let history = PurchaseHistory(
            entries: transactions(of: customer).map { PurchaseHistory.Entry($0.payload) }, renewalInfos: [signed],
            completeThrough: now, countsUnpricedPeriodsAsPaid: true,
            monthLength: configuration.pace.monthLength(at: now))
        return history.eligibleWinBackOffers(offers, at: now)
    }

    private func isIntroduced(_ customer: SandboxCustomer?, _ product: SandboxProduct) -> Bool {
        product.group.map { customer?.introducedGroups.contains($0) ?? false } ?? true
    }

    private func offered(_ product: SandboxProduct, _ type: OfferType, _ identifier: String) throws -> SandboxOffer {
        guard let offer = product.offer(type, identifier) else {
            throw SandboxError(.unknownOffer, "the product \(product.id.quoted) has no such offer \(identifier.quoted)")
        }
        return offer
    }

    private func requireSubscriber(_ customer: SandboxCustomer?) throws {
        guard let customer, subscriptions(of: customer).contains(where: { $0.sharedFrom == nil }) else {
            throw SandboxError(.notEligible, "a promotional offer is for a customer who has or had a subscription")
        }
    }

    private func key() throws -> SandboxKey {
        guard let key = configuration.key else {
            throw SandboxError(.invalidSignature, "the sandbox knows no In-App Purchase key to check the offer with")
        }
        return key
    }

    // MARK: Signatures

    /// 24 hours (Reference.md S6.1).
    private static let signatureLifetime: Int64 = 86_400_000

    /// The older form: seven fields joined by U+2063, signed in DER (Reference.md S6.1). A nonce is good once.
    private mutating func checkV1(_ proof: PromotionalOfferSignatureV1, _ order: SandboxOrder) throws {
        let key = try key()
        guard proof.keyId == key.keyID else { throw SandboxError(.invalidSignature, "keyId: another key") }
        guard proof.productId == order.productId else {
            throw SandboxError(.invalidSignature, "productId: another product")
        }
        let token = order.appAccountToken?.lowercased() ?? ""
        guard (proof.appAccountToken ?? "") == token else {
            throw SandboxError(.invalidSignature, "appAccountToken: not that of the purchase, in lower case")
        }
        let fields = [
            configuration.bundleId, key.keyID, proof.productId, proof.offerIdentifier, token, proof.nonce,
            String(proof.timestamp),
        ]
        guard let signature = SandboxBase64.decode(proof.encodedSignature),
            key.isValid(der: signature, over: Array(fields.joined(separator: "\u{2063}").utf8))
        else { throw SandboxError(.invalidSignature, "encodedSignature: not the key's over these fields") }
        let age = (order.wallClock ?? now).advanced(bySaturating: 0 - max(proof.timestamp, 0))
        guard proof.timestamp >= 0, abs(age) <= Self.signatureLifetime else {
            throw SandboxError(.invalidSignature, "timestamp: more than 24 hours away")
        }
        try spend(proof.nonce)
    }

    /// The JWS form (Reference.md S6.2).
    private mutating func checkV2(
        _ token: String, _ identifier: String, _ order: SandboxOrder, _ customer: SandboxCustomer?
    ) throws {
        let claims = try claims(token, audience: "promotional-offer")
        guard claims["productId"]?.string == order.productId else {
            throw SandboxError(.invalidSignature, "productId: another product")
        }
        guard claims["offerIdentifier"]?.string == identifier else {
            throw SandboxError(.invalidSignature, "offerIdentifier: another offer")
        }
        try requireOwn(claims["transactionId"]?.string, customer, isRequired: false)
        try spend(claims["nonce"]?.string ?? "")
    }

    private mutating func allowsIntroductoryOffer(
        _ token: String, _ product: SandboxProduct, _ customer: SandboxCustomer?
    ) throws -> Bool {
        let claims = try claims(token, audience: "introductory-offer-eligibility")
        guard claims["productId"]?.string == product.id else {
            throw SandboxError(.invalidSignature, "productId: another product")
        }
        guard let isAllowed = claims["allowIntroductoryOffer"]?.bool else {
            throw SandboxError(.invalidSignature, "allowIntroductoryOffer: missing")
        }
        try requireOwn(claims["transactionId"]?.string, customer, isRequired: true)
        try spend(claims["nonce"]?.string ?? "")
        return isAllowed
    }

    private func claims(_ token: String, audience: String) throws -> JSONObject {
        let key = try key()
        guard let claims = key.claims(of: token) else {
            throw SandboxError(.invalidSignature, "the JWS is not signed by the key \(key.keyID.quoted) with ES256")
        }
        for (name, value) in [("iss", key.issuerID), ("bid", configuration.bundleId), ("aud", audience)]
        where claims[name]?.string != value {
            throw SandboxError(.invalidSignature, "\(name): has to be \(value.quoted)")
        }
        guard claims["iat"]?.integer != nil else { throw SandboxError(.invalidSignature, "iat: missing") }
        return claims
    }

    private func requireOwn(_ id: String?, _ customer: SandboxCustomer?, isRequired: Bool) throws {
        guard let id else {
            if isRequired { throw SandboxError(.invalidSignature, "transactionId: missing") }
            return
        }
        guard let customer, self.customer(anyTransactionId: id)?.name == customer.name else {
            throw SandboxError(.invalidSignature, "transactionId: not the customer's")
        }
    }

    private mutating func spend(_ nonce: String) throws {
        guard !nonce.isEmpty else { throw SandboxError(.invalidSignature, "nonce: missing") }
        guard usedOfferNonces.insert(nonce.lowercased()).inserted else {
            throw SandboxError(.invalidSignature, "nonce: used before")
        }
    }
}
