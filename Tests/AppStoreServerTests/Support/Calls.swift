import AppStoreModels
import AppStoreServer

/// One call of every endpoint, with the values that tools/judges/api_requests/record_apple_client.py gives to Apple's client.
enum Calls {
    static let transactionId = "700001234567890"
    static let uuid = "a1b2c3d4-e5f6-4789-8abc-def012345678"
    static let otherUUID = "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f"

    static let historyFilter = TransactionHistoryRequest(
        startDate: 123_455, endDate: 123_456, productIds: ["com.example.1", "com.example.2"],
        productTypes: [.consumable, .autoRenewable], subscriptionGroupIdentifiers: ["sub_group_id", "sub_group_id_2"],
        inAppOwnershipType: .familyShared, sort: .descending)

    static func call(_ endpoint: APIEndpoint, _ client: AppStoreServerAPIClient) async throws {
        if try await purchases(endpoint, client) { return }
        if try await actions(endpoint, client) { return }
        if try await seats(endpoint, client) { return }
        if try await messaging(endpoint, client) { return }
        try await advancedCommerce(endpoint, client)
    }

    private static func purchases(_ endpoint: APIEndpoint, _ client: AppStoreServerAPIClient) async throws -> Bool {
        switch endpoint {
        case .getTransactionHistory:
            _ = try await client.getTransactionHistory(transactionId, revision: "rev+is/on=", filter: historyFilter)
        case .getTransactionHistoryV1: _ = try await client.getTransactionHistory(transactionId, version: .v1)
        case .getTransactionInfo: _ = try await client.getTransactionInfo(transactionId)
        case .getAppTransactionInfo: _ = try await client.getAppTransactionInfo(transactionId)
        case .getAllSubscriptionStatuses:
            _ = try await client.getAllSubscriptionStatuses(transactionId, status: [.active, .billingGracePeriod])
        case .getRefundHistory: _ = try await client.getRefundHistory(transactionId, revision: "rev+is/on=")
        case .getRefundHistoryV1: _ = try await client.getRefundHistoryV1(transactionId)
        case .lookUpOrderId: _ = try await client.lookUpOrderId("W002182")
        default: return false
        }
        return true
    }

    private static func actions(_ endpoint: APIEndpoint, _ client: AppStoreServerAPIClient) async throws -> Bool {
        switch endpoint {
        case .sendConsumptionInformation:
            try await client.sendConsumptionInformation(transactionId, Requests.consumption)
        case .sendConsumptionInformationV1:
            try await client.sendConsumptionInformationV1(transactionId, Requests.consumptionV1)
        case .extendSubscriptionRenewalDate:
            _ = try await client.extendSubscriptionRenewalDate(transactionId, Requests.extend)
        case .extendRenewalDateForAllActiveSubscribers:
            _ = try await client.extendRenewalDateForAllActiveSubscribers(Requests.massExtend)
        case .getStatusOfRenewalDateExtensions:
            _ = try await client.getStatusOfRenewalDateExtensions(productId: "com.example.1", requestIdentifier: uuid)
        case .getNotificationHistory:
            _ = try await client.getNotificationHistory(Requests.notifications, paginationToken: "a+b/c=")
        case .requestTestNotification: _ = try await client.requestTestNotification()
        case .getTestNotificationStatus: _ = try await client.getTestNotificationStatus("8cd2974c-f905-492a-bf9a")
        case .setAppAccountToken:
            try await client.setAppAccountToken(transactionId, UpdateAppAccountTokenRequest(appAccountToken: uuid))
        case .finishTransaction: try await client.finishTransaction(transactionId)
        default: return false
        }
        return true
    }

    private static func seats(_ endpoint: APIEndpoint, _ client: AppStoreServerAPIClient) async throws -> Bool {
        switch endpoint {
        case .getSeatInfo: _ = try await client.getSeatInfo(transactionId)
        case .claimSeat: _ = try await client.claimSeat(transactionId, ClaimSeatRequest(requestIdentifier: otherUUID))
        case .unclaimSeat: try await client.unclaimSeat(transactionId, seatClaimId: uuid)
        case .associateSeat:
            try await client.associateSeat(
                transactionId, seatClaimId: uuid, AssociateSeatRequest(appTransactionId: "704000000000000001"))
        default: return false
        }
        return true
    }

    private static func messaging(_ endpoint: APIEndpoint, _ client: AppStoreServerAPIClient) async throws -> Bool {
        switch endpoint {
        case .uploadImage: try await client.uploadImage(uuid, png: [0x89, 0x50, 0x4E, 0x47], imageSize: .bulletPoint)
        case .deleteImage: try await client.deleteImage(uuid)
        case .getImageList: _ = try await client.getImageList()
        case .uploadMessage: try await client.uploadMessage(uuid, Requests.message)
        case .deleteMessage: try await client.deleteMessage(uuid)
        case .getMessageList: _ = try await client.getMessageList()
        case .configureDefaultMessage:
            try await client.configureDefaultMessage(
                productId: "com.example.1", locale: "en-US", DefaultConfigurationRequest(messageIdentifier: uuid))
        case .deleteDefaultMessage: try await client.deleteDefaultMessage(productId: "com.example.1", locale: "en-US")
        case .getDefaultMessage: _ = try await client.getDefaultMessage(productId: "com.example.1", locale: "en-US")
        case .configureRealtimeURL:
            try await client.configureRealtimeURL(RealtimeUrlRequest(realtimeURL: "https://example.com/retention?a=b"))
        case .deleteRealtimeURL: try await client.deleteRealtimeURL()
        case .getRealtimeURL: _ = try await client.getRealtimeURL()
        case .initiatePerformanceTest:
            _ = try await client.initiatePerformanceTest(PerformanceTestRequest(originalTransactionId: transactionId))
        case .getPerformanceTestResults: _ = try await client.getPerformanceTestResults(uuid)
        default: return false
        }
        return true
    }

    private static func advancedCommerce(_ endpoint: APIEndpoint, _ client: AppStoreServerAPIClient) async throws {
        switch endpoint {
        case .cancelAdvancedCommerceSubscription:
            _ = try await client.cancelAdvancedCommerceSubscription(transactionId, Requests.cancel)
        case .revokeAdvancedCommerceSubscription:
            _ = try await client.revokeAdvancedCommerceSubscription(transactionId, Requests.revoke)
        case .changeAdvancedCommerceSubscriptionMetadata:
            _ = try await client.changeAdvancedCommerceSubscriptionMetadata(transactionId, Requests.changeMetadata)
        case .changeAdvancedCommerceSubscriptionPrice:
            _ = try await client.changeAdvancedCommerceSubscriptionPrice(transactionId, Requests.changePrice)
        case .migrateAdvancedCommerceSubscription:
            _ = try await client.migrateAdvancedCommerceSubscription(transactionId, Requests.migrate)
        case .requestAdvancedCommerceTransactionRefund:
            _ = try await client.requestAdvancedCommerceTransactionRefund(transactionId, Requests.refund)
        default: throw UnknownEndpoint(endpoint: endpoint)
        }
    }

    struct UnknownEndpoint: Error {
        let endpoint: APIEndpoint
    }
}
