internal import AppStoreModels
internal import AppStoreServer

extension SandboxState {
    /// Extend a Subscription Renewal Date. A request identifier that came before gets the same answer and changes nothing.
    mutating func extend(_ id: String, _ request: APIRequest) throws -> APIResponse {
        guard Self.isId(id) else { throw APIRefusal(.invalidOriginalTransactionId) }
        let body = try object(request)
        let terms = try extensionTerms(body)
        guard let subscription = engine.subscriptions[id] else { throw APIRefusal(.originalTransactionIdNotFound) }
        let repeated = subscription.extensions.first { $0.requestIdentifier == terms.identifier }
        if repeated == nil {
            switch engine.refusalToExtend(subscription) {
            case .ineligible?: throw APIRefusal(.subscriptionExtensionIneligible)
            case .maximumReached?: throw APIRefusal(.subscriptionMaxExtension)
            case .familyShared?: throw APIRefusal(.familySharedSubscriptionExtensionIneligible)
            case nil: engine.extend(id, byDays: terms.days, requestIdentifier: terms.identifier)
            }
        }
        let extended = engine.subscriptions[id]
        let last = engine.transactions[extended?.transactionId ?? ""]?.payload
        return try .json(
            ExtendRenewalDateResponse(
                originalTransactionId: id, webOrderLineItemId: last?.webOrderLineItemId, success: true,
                effectiveDate: repeated?.effectiveDate ?? extended?.expiresDate))
    }

    private func extensionTerms(_ body: JSONObject) throws -> (days: Int32, reason: Int32, identifier: String) {
        guard let days = body["extendByDays"]?.integer, (1...90).contains(days) else {
            throw APIRefusal(.invalidExtendByDays)
        }
        guard let reason = body["extendReasonCode"]?.integer, (0...3).contains(reason) else {
            throw APIRefusal(.invalidExtendReasonCode)
        }
        guard let identifier = body["requestIdentifier"]?.string, (1...128).contains(identifier.utf8.count) else {
            throw APIRefusal(.invalidRequestIdentifier)
        }
        return (Int32(days), Int32(reason), identifier)
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers.
    mutating func extendAll(_ request: APIRequest) throws -> APIResponse {
        let body = try object(request)
        let terms = try extensionTerms(body)
        guard let productId = body["productId"]?.string, engine.catalog[productId]?.period != nil else {
            throw APIRefusal(.invalidProductId)
        }
        var storefronts: [String]?
        if let list = body["storefrontCountryCodes"], !list.isNull {
            guard let codes = list.array, !codes.isEmpty else {
                throw APIRefusal(.invalidEmptyStorefrontCountryCodeList)
            }
            storefronts = try codes.map { code in
                guard let text = code.string, text.utf8.count == 3,
                    text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
                else { throw APIRefusal(.invalidStorefrontCountryCode) }
                return text
            }
        }
        engine.beginMassExtension(
            MassExtendRenewalDateRequest(
                extendByDays: terms.days, extendReasonCode: ExtendReasonCode(rawValue: terms.reason),
                requestIdentifier: terms.identifier, productId: productId, storefrontCountryCodes: storefronts))
        return try .json(MassExtendRenewalDateResponse(requestIdentifier: terms.identifier))
    }

    /// Get Status of Subscription Renewal Date Extensions.
    func extensionStatus(productId: String, request identifier: String) throws -> APIResponse {
        guard engine.catalog[productId] != nil else { throw APIRefusal(.invalidProductId) }
        guard (1...128).contains(identifier.utf8.count) else { throw APIRefusal(.invalidRequestIdentifier) }
        guard let known = engine.massExtensions[identifier], known.request.productId == productId else {
            throw APIRefusal(.statusRequestNotFound)
        }
        let completion = known.completion
        return try .json(
            MassExtendRenewalDateStatusResponse(
                requestIdentifier: identifier, complete: completion != nil, completeDate: completion?.date,
                succeededCount: completion?.succeeded, failedCount: completion?.failed))
    }
}
