internal import AppStoreModels
internal import AppStoreServer
internal import Foundation

extension SandboxState {
    /// Send Consumption Information: any product type, not for the family's copies (Reference.md S5.6).
    ///
    /// Some of Apple's documented errors have no published number (Reference.md S3.1); they are answered with 4000000 and
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
        // An empty text stands for no token; the member may not be missing.
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
}
