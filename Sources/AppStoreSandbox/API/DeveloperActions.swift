internal import AppStoreModels
internal import AppStoreServer
internal import Foundation

extension SandboxState {
    /// Send Consumption Information: any product type, but no family-shared copies (Reference.md S5.6).
    ///
    /// Apple publishes no number for some of its documented errors (Reference.md S3.1). The answer then has 4000000 and
    /// their name.
    mutating func takeConsumption(_ id: String, _ request: APIRequest) throws -> APIResponse {
        let transaction = try transaction(id)
        guard transaction.sharedFrom == nil else { throw APIRefusal(.familyTransactionNotSupported) }
        try checkIsNotAssigned(transaction)
        let body = try object(request)
        guard body["customerConsented"]?.bool == true else { throw APIRefusal(.invalidCustomerConsented) }
        guard let delivery = body["deliveryStatus"]?.string.map(DeliveryStatus.init(rawValue:)), delivery.isKnown else {
            throw APIRefusal(.invalidDeliveryStatus)
        }
        guard body["sampleContentProvided"]?.bool != nil else { throw APIRefusal(.invalidSampleContentProvided) }
        var preference: RefundPreference?
        if let value = body["refundPreference"], !value.isNull {
            guard let text = value.string, RefundPreference(rawValue: text).isKnown else {
                throw APIRefusal(.generalBadRequest, "Invalid refund preference.")
            }
            preference = RefundPreference(rawValue: text)
        }
        if let value = body["consumptionPercentage"], !value.isNull {
            try check(percentage: value.integer, transaction.payload.type, delivery)
        }
        engine.keepConsumption(id, request.body, preference)
        return APIResponse(status: 202)
    }

    private func check(percentage: Int64?, _ type: ProductType?, _ delivery: DeliveryStatus) throws {
        guard let percentage, (0...100_000).contains(percentage) else {
            throw APIRefusal(.generalBadRequest, "Consumption percentage out of range.")
        }
        guard type != .autoRenewableSubscription else {
            throw APIRefusal(.generalBadRequest, "Consumption percentage auto renewable subscription.")
        }
        guard delivery == .delivered || percentage == 0 else {
            throw APIRefusal(.generalBadRequest, "Undelivered consumption percentage non zero.")
        }
    }

    /// Send Consumption Information V1: consumables and auto-renewable subscriptions.
    mutating func takeConsumptionV1(_ id: String, _ request: APIRequest) throws -> APIResponse {
        let transaction = try transaction(id)
        try checkIsNotAssigned(transaction)
        guard transaction.payload.type == .consumable || transaction.payload.type == .autoRenewableSubscription else {
            throw APIRefusal(.invalidTransactionTypeNotSupported)
        }
        let body = try object(request)
        guard body["customerConsented"]?.bool == true else { throw APIRefusal(.invalidCustomerConsented) }
        guard body["sampleContentProvided"]?.bool != nil else { throw APIRefusal(.invalidSampleContentProvided) }
        try require(body, "consumptionStatus", ConsumptionStatus.self, .invalidConsumptionStatus)
        try require(body, "platform", Platform.self, .invalidPlatform)
        try require(body, "deliveryStatus", DeliveryStatusV1.self, .invalidDeliveryStatus)
        try require(body, "accountTenure", AccountTenure.self, .invalidAccountTenure)
        try require(body, "playTime", PlayTime.self, .invalidPlayTime)
        try require(body, "lifetimeDollarsRefunded", LifetimeDollarsRefunded.self, .invalidLifetimeDollarsRefunded)
        try require(body, "lifetimeDollarsPurchased", LifetimeDollarsPurchased.self, .invalidLifetimeDollarsPurchased)
        try require(body, "userStatus", UserStatus.self, .invalidUserStatus)
        // An empty text means no token. The member is required.
        guard let token = body["appAccountToken"]?.string, token.isEmpty || UUID(uuidString: token) != nil else {
            throw APIRefusal(.invalidAppAccountToken)
        }
        var preference: RefundPreference?
        if let value = body["refundPreference"], !value.isNull {
            guard let number = value.integer, (0...3).contains(number) else {
                throw APIRefusal(.generalBadRequest, "Invalid refund preference.")
            }
            preference = [1: RefundPreference.grantFull, 2: .decline][number]
        }
        engine.keepConsumption(id, request.body, preference)
        return APIResponse(status: 202)
    }

    private func require<Value: OpenEnum>(
        _ body: JSONObject, _ name: String, _ type: Value.Type, _ code: APIErrorCode
    ) throws where Value.RawValue == Int32 {
        guard let number = body[name]?.integer, let raw = Int32(exactly: number), Value(rawValue: raw).isKnown else {
            throw APIRefusal(code)
        }
    }

    /// Extend a Subscription Renewal Date. A repeated request identifier returns the same answer and changes nothing.
    mutating func extend(_ id: String, _ request: APIRequest) throws -> APIResponse {
        guard Self.isId(id) else { throw APIRefusal(.invalidOriginalTransactionId) }
        let body = try object(request)
        let terms = try extensionTerms(body)
        guard let subscription = engine.subscriptions[id] else { throw APIRefusal(.originalTransactionIdNotFound) }
        let repeated = subscription.extensions.first { $0.requestIdentifier == terms.identifier }
        if repeated == nil {
            if let refusal = engine.refusalToExtend(subscription) { throw APIRefusal(refusal) }
            engine.extend(id, byDays: terms.days, requestIdentifier: terms.identifier)
        }
        let extended = engine.subscriptions[id]
        let last = engine.transactions[extended?.transactionId ?? ""]?.payload
        return try .json(
            ExtendRenewalDateResponse {
                $0.originalTransactionId = id
                $0.webOrderLineItemId = last?.webOrderLineItemId
                $0.success = true
                $0.effectiveDate = repeated?.effectiveDate ?? extended?.expiresDate
            })
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
        return try .json(MassExtendRenewalDateResponse { $0.requestIdentifier = terms.identifier })
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
            MassExtendRenewalDateStatusResponse {
                $0.requestIdentifier = identifier
                $0.complete = completion != nil
                $0.completeDate = completion?.date
                $0.succeededCount = completion?.succeeded
                $0.failedCount = completion?.failed
            })
    }
}

/// The seat endpoints (Reference.md S2.1). Apple offers them in the sandbox only. Apple publishes no number for their
/// errors, so the answer has 4000000 and the name.
extension SandboxState {
    /// Get Seat Info.
    func seatInfo(_ id: String) throws -> APIResponse {
        let (subscription, seats) = try seats(id)
        let total = engine.seatCount(of: subscription)
        return try .json(
            GetSeatInfoResponse {
                $0.totalSeatCount = Int32(clamping: total)
                $0.availableSeatCount = Int32(clamping: max(0, total - seats.claims.count))
                $0.assignedSeatClaimIds = seats.claims.map(\.id)
            })
    }

    /// Claim Seat.
    mutating func claimSeat(_ id: String, _ request: APIRequest) throws -> APIResponse {
        let (subscription, _) = try seats(id)
        let body = try object(request)
        guard let identifier = body["requestIdentifier"]?.string, let uuid = UUIDText(identifier) else {
            throw APIRefusal(.invalidRequestIdentifier)
        }
        let app = try body["appTransactionId"].flatMap { $0.isNull ? nil : try appTransactionId($0) }
        let claim = engine.claimSeat(
            of: subscription.originalTransactionId, requestIdentifier: uuid.text, appTransactionId: app)
        guard let claim else { throw APIRefusal(.generalBadRequest, "No available seats.") }
        return try .json(ClaimSeatResponse { $0.seatClaimId = claim })
    }

    /// Unclaim Seat.
    mutating func unclaimSeat(_ id: String, claim: String) throws -> APIResponse {
        try changeClaim(id, claim) { $0.remove(at: $1) }
    }

    /// Associate Seat.
    mutating func associateSeat(_ id: String, claim: String, _ request: APIRequest) throws -> APIResponse {
        let app = try appTransactionId(try object(request)["appTransactionId"])
        return try changeClaim(id, claim) { $0[$1].appTransactionId = app }
    }

    private mutating func changeClaim(
        _ id: String, _ claim: String, _ change: (inout [SandboxSubscription.Seats.Claim], Int) -> Void
    ) throws -> APIResponse {
        let (subscription, known) = try seats(id)
        var seats = known
        guard let place = seats.claims.firstIndex(where: { $0.id == claim.lowercased() }) else {
            throw APIRefusal(.generalBadRequest, "Seat claim id not found.")
        }
        change(&seats.claims, place)
        engine.update(subscription.originalTransactionId) { $0.seats = seats }
        return .empty
    }

    private func seats(_ id: String) throws -> (SandboxSubscription, SandboxSubscription.Seats) {
        let transaction = try transaction(id)
        guard let subscription = engine.subscriptions[transaction.originalId], let seats = subscription.seats,
            !subscription.hasEnded
        else { throw APIRefusal(.generalBadRequest, "The transaction is of no active subscription with seats.") }
        return (subscription, seats)
    }

    private func appTransactionId(_ value: JSONValue?) throws -> String {
        guard let id = value?.string, engine.customer(anyTransactionId: id)?.appTransactionId == id else {
            throw APIRefusal(.generalBadRequest, "App transaction id not found.")
        }
        return id
    }
}
