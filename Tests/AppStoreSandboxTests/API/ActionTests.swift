import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Testing

struct ActionTests {
    @Test("Consumption information gets 202 and decides the requested refund")
    func consumption() async throws {
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            let bought = try await sandbox.buy(Sold.coins)
            try await sandbox.post("transactions/\(bought)/request-refund", "{\"reason\": \"LEGAL\"}")
            var request = ConsumptionRequest(
                customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false,
                consumptionPercentage: 100_000, refundPreference: .decline)
            try await client.sendConsumptionInformation(bought, request)
            try await sandbox.post("clock", "{\"advance\": 5000}")
            #expect(try await sandbox.notifications() == ["ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND_DECLINED"])
            request.customerConsented = false
            #expect(
                await apiError { try await client.sendConsumptionInformation(bought, request) }?.code
                    == .invalidCustomerConsented)
            request.customerConsented = true
            request.deliveryStatus = DeliveryStatus(rawValue: "LOST")
            #expect(
                await apiError { try await client.sendConsumptionInformation(bought, request) }?.code
                    == .invalidDeliveryStatus)
        }
    }

    @Test("Consumption information of version 1 is for consumables and subscriptions")
    func consumptionV1() async throws {
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            let coins = try await sandbox.buy(Sold.coins)
            let unlock = try await sandbox.buy(Sold.unlock)
            var request = ConsumptionRequestV1(
                customerConsented: true, sampleContentProvided: true, deliveryStatus: .delivered)
            try await client.sendConsumptionInformationV1(coins, request)
            #expect(
                await apiError { try await client.sendConsumptionInformationV1(unlock, request) }?.code
                    == .invalidTransactionTypeNotSupported)
            request.playTime = PlayTime(rawValue: 99)
            #expect(
                await apiError { try await client.sendConsumptionInformationV1(coins, request) }?.code
                    == .invalidPlayTime)
        }
    }

    @Test(
        "A renewal date is extended at most twice in 365 days, the same request once; the notification is RENEWAL_EXTENDED"
    )
    func extending() async throws {
        let setup = RunningSandbox.Setup(change: { $0.sandbox.pace = .accelerated(by: 1) })
        try await RunningSandbox.run(setup) { sandbox in
            let checking = try Checking()
            let client = try sandbox.client()
            let bought = try await sandbox.buy(Sold.basic)
            let before = try await checking.transaction(
                try await client.getTransactionInfo(bought).signedTransactionInfo)
            @Sendable func extend(_ days: Int32, _ identifier: String) async throws -> ExtendRenewalDateResponse {
                try await client.extendSubscriptionRenewalDate(
                    bought,
                    ExtendRenewalDateRequest(
                        extendByDays: days, extendReasonCode: .customerSatisfaction, requestIdentifier: identifier))
            }
            let first = try await extend(10, "one")
            #expect(first.success == true && first.webOrderLineItemId == before.webOrderLineItemId)
            #expect(first.effectiveDate == before.expiresDate.map { $0 + 10 * 86_400_000 })
            #expect(try await extend(10, "one").effectiveDate == first.effectiveDate)
            _ = try await extend(5, "two")
            #expect(await apiError { _ = try await extend(5, "three") }?.code == .subscriptionMaxExtension)
            #expect(await apiError { _ = try await extend(91, "four") }?.code == .invalidExtendByDays)
            #expect(
                try await sandbox.notifications() == ["SUBSCRIBED/INITIAL_BUY", "RENEWAL_EXTENDED", "RENEWAL_EXTENDED"])
            try await sandbox.post("subscriptions/\(bought)/cancel")
            try await sandbox.post("subscriptions/\(bought)/renew")
            #expect(await apiError { _ = try await extend(5, "five") }?.code == .subscriptionExtensionIneligible)
            #expect(
                await apiError {
                    _ = try await client.extendSubscriptionRenewalDate(
                        "1",
                        ExtendRenewalDateRequest(extendByDays: 1, extendReasonCode: .other, requestIdentifier: "six"))
                }?.code == .originalTransactionIdNotFound)
        }
    }

    @Test("All subscribers are extended an hour of the pace later: RENEWAL_EXTENSION with SUMMARY and FAILURE")
    func massExtension() async throws {
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            _ = try await sandbox.buy(Sold.basic, by: "ada")
            try await sandbox.post("purchases", "{\"customer\": \"bob\", \"productId\": \"\(Sold.basic)\"}")
            let request = MassExtendRenewalDateRequest(
                extendByDays: 3, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "outage",
                productId: Sold.basic)
            #expect(try await client.extendRenewalDateForAllActiveSubscribers(request).requestIdentifier == "outage")
            @Sendable func status() async throws -> MassExtendRenewalDateStatusResponse {
                try await client.getStatusOfRenewalDateExtensions(
                    productId: Sold.basic, requestIdentifier: "outage")
            }
            #expect(try await status().complete == false)
            try await sandbox.post("clock", "{\"advance\": 417}")
            let done = try await status()
            #expect(done.complete == true && done.succeededCount == 1 && done.failedCount == 1)
            #expect(
                Set(try await sandbox.notifications().suffix(2)) == [
                    "RENEWAL_EXTENSION/FAILURE", "RENEWAL_EXTENSION/SUMMARY",
                ])
            #expect(
                await apiError {
                    _ = try await client.getStatusOfRenewalDateExtensions(
                        productId: Sold.basic, requestIdentifier: "other")
                }?.code == .statusRequestNotFound)
        }
    }

    @Test("An account token is set on the current period and on those to come")
    func accountToken() async throws {
        try await RunningSandbox.run { sandbox in
            let checking = try Checking()
            let client = try sandbox.client()
            let bought = try await sandbox.buy(Sold.basic)
            let token = "a1b2c3d4-e5f6-4789-8abc-def012345678"
            try await client.setAppAccountToken(bought, UpdateAppAccountTokenRequest(appAccountToken: token))
            let renewed = try await sandbox.post("subscriptions/\(bought)/renew")
            let id = try #require(renewed["transactionId"]?.string)
            for each in [bought, id] {
                let jws = try await client.getTransactionInfo(each).signedTransactionInfo
                #expect(try await checking.transaction(jws).appAccountToken == token)
            }
            let request = UpdateAppAccountTokenRequest(appAccountToken: token)
            #expect(
                await apiError { try await client.setAppAccountToken(id, request) }?.code
                    == .transactionIdIsNotOriginalTransactionId)
            let wrong = UpdateAppAccountTokenRequest(appAccountToken: "me")
            #expect(
                await apiError { try await client.setAppAccountToken(bought, wrong) }?.code
                    == .invalidAppAccountTokenUUID)
        }
    }
}
