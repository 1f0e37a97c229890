import AppStoreModels
import AppStoreServer
import Foundation
import Testing

@Suite struct EndpointTests {
    /// Method and path of Reference.md S2.1, S2.4 and S2.5, with the values of ``Calls``.
    static let expected: [APIEndpoint: String] = [
        .getTransactionHistory: "GET /inApps/v2/history/T", .getTransactionHistoryV1: "GET /inApps/v1/history/T",
        .getTransactionInfo: "GET /inApps/v1/transactions/T",
        .getAppTransactionInfo: "GET /inApps/v1/transactions/appTransactions/T",
        .getAllSubscriptionStatuses: "GET /inApps/v1/subscriptions/T",
        .getRefundHistory: "GET /inApps/v2/refund/lookup/T", .getRefundHistoryV1: "GET /inApps/v1/refund/lookup/T",
        .lookUpOrderId: "GET /inApps/v1/lookup/W002182",
        .sendConsumptionInformation: "PUT /inApps/v2/transactions/consumption/T",
        .sendConsumptionInformationV1: "PUT /inApps/v1/transactions/consumption/T",
        .extendSubscriptionRenewalDate: "PUT /inApps/v1/subscriptions/extend/T",
        .extendRenewalDateForAllActiveSubscribers: "POST /inApps/v1/subscriptions/extend/mass",
        .getStatusOfRenewalDateExtensions: "GET /inApps/v1/subscriptions/extend/mass/com.example.1/U",
        .getNotificationHistory: "POST /inApps/v1/notifications/history",
        .requestTestNotification: "POST /inApps/v1/notifications/test",
        .getTestNotificationStatus: "GET /inApps/v1/notifications/test/8cd2974c-f905-492a-bf9a",
        .setAppAccountToken: "PUT /inApps/v1/transactions/T/appAccountToken",
        .finishTransaction: "POST /inApps/v1/transactions/T/finish",
        .getSeatInfo: "GET /groups/v1/transactions/T/seats", .claimSeat: "POST /groups/v1/transactions/T/seats",
        .unclaimSeat: "DELETE /groups/v1/transactions/T/seats/U",
        .associateSeat: "POST /groups/v1/transactions/T/seats/U/associate",
        .uploadImage: "PUT /inApps/v1/messaging/image/U", .deleteImage: "DELETE /inApps/v1/messaging/image/U",
        .getImageList: "GET /inApps/v1/messaging/image/list", .uploadMessage: "PUT /inApps/v1/messaging/message/U",
        .deleteMessage: "DELETE /inApps/v1/messaging/message/U",
        .getMessageList: "GET /inApps/v1/messaging/message/list",
        .configureDefaultMessage: "PUT /inApps/v1/messaging/default/com.example.1/en-US",
        .deleteDefaultMessage: "DELETE /inApps/v1/messaging/default/com.example.1/en-US",
        .getDefaultMessage: "GET /inApps/v1/messaging/default/com.example.1/en-US",
        .configureRealtimeURL: "PUT /inApps/v1/messaging/realtime/url",
        .deleteRealtimeURL: "DELETE /inApps/v1/messaging/realtime/url",
        .getRealtimeURL: "GET /inApps/v1/messaging/realtime/url",
        .initiatePerformanceTest: "POST /inApps/v1/messaging/performanceTest",
        .getPerformanceTestResults: "GET /inApps/v1/messaging/performanceTest/result/U",
        .cancelAdvancedCommerceSubscription: "POST /advancedCommerce/v1/subscription/cancel/T",
        .revokeAdvancedCommerceSubscription: "POST /advancedCommerce/v1/subscription/revoke/T",
        .changeAdvancedCommerceSubscriptionMetadata: "POST /advancedCommerce/v1/subscription/changeMetadata/T",
        .changeAdvancedCommerceSubscriptionPrice: "POST /advancedCommerce/v1/subscription/changePrice/T",
        .migrateAdvancedCommerceSubscription: "POST /advancedCommerce/v1/subscription/migrate/T",
        .requestAdvancedCommerceTransactionRefund: "POST /advancedCommerce/v1/transaction/requestRefund/T",
    ]

    @Test(
        "Every endpoint has the method, the path and the header fields of Reference.md S2",
        arguments: APIEndpoint.allCases)
    func methodAndPath(endpoint: APIEndpoint) async throws {
        let transport = ScriptedTransport([.json("{}")])
        try await Calls.call(endpoint, try Sample.client(transport))
        let request = try #require(transport.requests.first)
        let path = request.path.replacingOccurrences(of: Calls.transactionId, with: "T")
            .replacingOccurrences(of: Calls.uuid, with: "U")
        #expect("\(request.method) \(path)" == Self.expected[endpoint])
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("User-Agent") == "legacy-receipts")
        let token = try #require(request.header("Authorization"))
        #expect(token.hasPrefix("Bearer "))
        #expect(throws: Never.self) { try SigningKey.shared.open(String(token.dropFirst(7))) }
        let contentType = endpoint == .uploadImage ? "image/png" : request.body == nil ? nil : "application/json"
        #expect(request.header("Content-Type") == contentType)
        #expect(request.headers.count == (contentType == nil ? 3 : 4))
        #expect(request.timeout == .seconds(30))
    }

    @Test("Filters are repeated parameters, and every character that is not unreserved is encoded")
    func query() async throws {
        let transport = ScriptedTransport([.json("{}")])
        let client = try Sample.client(transport)
        _ = try await client.getTransactionHistory(
            "1", revision: "a+b/c=&ä",
            filter: TransactionHistoryRequest(
                startDate: 1, endDate: 2, productIds: ["p 1", "p2"], productTypes: [.nonConsumable],
                subscriptionGroupIdentifiers: ["g"], inAppOwnershipType: .purchased, sort: .descending, revoked: true,
                excludeRevoked: false))
        #expect(
            transport.requests.first?.query
                == "revision=a%2Bb%2Fc%3D%26%C3%A4&startDate=1&endDate=2&productId=p%201&productId=p2"
                + "&productType=NON_CONSUMABLE&subscriptionGroupIdentifier=g&inAppOwnershipType=PURCHASED"
                + "&sort=DESCENDING&revoked=true&excludeRevoked=false")
        _ = try await client.getAllSubscriptionStatuses("1", status: [.active, .billingGracePeriod])
        #expect(transport.requests.last?.query == "status=1&status=4")
    }

    @Test("A path parameter cannot name another place", arguments: ["", ".", ".."])
    func emptyPath(parameter: String) async throws {
        let transport = ScriptedTransport([])
        let client = try Sample.client(transport)
        let error = try #require(try await apiError { try await client.getTransactionInfo(parameter) })
        #expect(error.reason == .invalidRequest && error.attempts == 0)
        #expect(transport.requests.isEmpty)
    }

    @Test("Every character of a path parameter that is not unreserved is encoded")
    func encodedPath() async throws {
        let transport = ScriptedTransport([.json("{}")])
        let client = try Sample.client(transport)
        _ = try await client.getDefaultMessage(productId: "../a b?c#d%2F\r\n", locale: "é+~_-.9")
        #expect(
            transport.requests.first?.url
                == "https://api.test/inApps/v1/messaging/default/..%2Fa%20b%3Fc%23d%252F%0D%0A/%C3%A9%2B~_-.9")
    }

    @Test("Of the characters of ASCII, letters, digits and - . _ ~ alone are sent as they are")
    func encodedASCII() async throws {
        let transport = ScriptedTransport([.json("{}")])
        let client = try Sample.client(transport)
        let characters = (UInt8(0)...0x7F).map { Character(UnicodeScalar($0)) }
        _ = try await client.getDefaultMessage(productId: String(characters), locale: "e")
        let expected = characters.map { character in
            if character.isLetter || character.isNumber || "-._~".contains(character) { return String(character) }
            let hex = String(character.asciiValue ?? 0, radix: 16, uppercase: true)
            return "%" + String(repeating: "0", count: 2 - hex.count) + hex
        }
        #expect(
            transport.requests.first?.url
                == "https://api.test/inApps/v1/messaging/default/\(expected.joined())/e")
    }

    @Test("Order of the path of the extension status: product, then request")
    func extensionStatus() async throws {
        let transport = ScriptedTransport([.json("{}")])
        let client = try Sample.client(transport)
        _ = try await client.getStatusOfRenewalDateExtensions(productId: "p", requestIdentifier: "r")
        #expect(transport.requests.first?.path == "/inApps/v1/subscriptions/extend/mass/p/r")
    }

    @Test("A base URL may have a path, and a slash at its end does no harm")
    func baseURL() async throws {
        let transport = ScriptedTransport([.json("{}")])
        let client = try Sample.client(transport, baseURL: "http://127.0.0.1:8080/store/")
        _ = try await client.getTransactionInfo("1")
        #expect(transport.requests.first?.url == "http://127.0.0.1:8080/store/inApps/v1/transactions/1")
    }

    @Test("Apple's answers are returned: one response of each kind")
    func responses() async throws {
        func client(_ value: some Encodable) throws -> AppStoreServerAPIClient {
            let body = [UInt8](try JSONEncoder().encode(value))
            return try Sample.client(ScriptedTransport([APITransportResponse(status: 200, body: body)]))
        }
        #expect(try await client(Responses.history).getTransactionHistory("1") == Responses.history)
        #expect(try await client(Responses.statuses).getAllSubscriptionStatuses("1") == Responses.statuses)
        #expect(try await client(Responses.refunds).getRefundHistory("1") == Responses.refunds)
        #expect(try await client(Responses.order).lookUpOrderId("1") == Responses.order)
        #expect(
            try await client(Responses.extended).extendSubscriptionRenewalDate("1", Requests.extend)
                == Responses.extended)
        #expect(
            try await client(Responses.notifications).getNotificationHistory(Requests.notifications)
                == Responses.notifications)
        #expect(try await client(Responses.testChecked).getTestNotificationStatus("1") == Responses.testChecked)
        #expect(
            try await client(Responses.performanceResult).getPerformanceTestResults("1") == Responses.performanceResult)
        #expect(
            try await client(Responses.advancedCommerce).cancelAdvancedCommerceSubscription("1", Requests.cancel)
                == Responses.advancedCommerce)
    }

    @Test("An answer without content is success where none is expected", arguments: [200, 202, 204])
    func noContent(status: Int) async throws {
        let client = try Sample.client(ScriptedTransport([APITransportResponse(status: status, body: [])]))
        try await client.sendConsumptionInformation("1", Requests.consumption)
        try await client.finishTransaction("1")
    }
}
