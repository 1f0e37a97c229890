import AppStoreModels
import AppStoreServer
import Foundation
import TestTraits
import Testing

/// Apple's Python client as an independent check of the requests of our client.
@Suite(.computing, .enabled(if: PythonCheck.python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
struct AppleClientTests {
    /// Not in Apple's client: one is deprecated, the seat endpoints are newer than it, the others have models only.
    private static let absent: Set<APIEndpoint> = [
        .getRefundHistoryV1, .cancelAdvancedCommerceSubscription, .revokeAdvancedCommerceSubscription,
        .changeAdvancedCommerceSubscriptionMetadata, .changeAdvancedCommerceSubscriptionPrice,
        .migrateAdvancedCommerceSubscription, .requestAdvancedCommerceTransactionRefund,
        .getSeatInfo, .claimSeat, .unclaimSeat, .associateSeat,
    ]

    @Test("Method, path, query, content type and body of every call are those of Apple's client")
    func requests() async throws {
        let (status, output) = try PythonCheck.run("api_requests/record_apple_client.py")
        try #require(status == 0, "\(output)")
        var checked: Set<APIEndpoint> = []
        for line in output.split(separator: "\n") {
            var apples = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: any Sendable])
            // The order of the parameters is nowhere specified.
            apples["query"] = (apples["query"] as? [[String]])?.sorted {
                $0.joined(separator: "=") < $1.joined(separator: "=")
            }
            let endpoint = try #require(APIEndpoint(rawValue: apples["endpoint"] as? String ?? ""))
            let transport = ScriptedTransport([.json("{}")])
            try await Calls.call(endpoint, try Sample.client(transport))
            let ours = try recorded(try #require(transport.requests.first), endpoint)
            #expect(ours == apples as NSDictionary, "\(endpoint)")
            checked.insert(endpoint)
        }
        #expect(checked == Set(APIEndpoint.allCases).subtracting(Self.absent))
    }

    /// Our request in the form that the recorder gives to Apple's.
    private func recorded(_ request: APITransportRequest, _ endpoint: APIEndpoint) throws -> NSDictionary {
        var query: [[String]] = []
        for pair in request.query.split(separator: "&") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            query.append(parts.map { String($0).removingPercentEncoding ?? "?" })
        }
        let contentType = request.header("Content-Type")
        let body = request.body.map { Data($0) }
        var value: Any = NSNull()
        if let body, contentType == "application/json" {
            value = try JSONSerialization.jsonObject(with: body)
        } else if let body {
            value = body.base64EncodedString()
        }
        return [
            "endpoint": endpoint.rawValue, "method": request.method, "path": request.path,
            "query": query.sorted { $0.joined(separator: "=") < $1.joined(separator: "=") },
            "contentType": contentType ?? NSNull(), "accept": request.header("Accept") ?? NSNull(),
            "scheme": request.header("Authorization")?.split(separator: " ").first.map(String.init) ?? "",
            "body": value,
        ]
    }
}

/// Apple's Python models as an independent check of our JSON.
@Suite(.enabled(if: PythonCheck.python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
struct AppleModelTests {
    private func model(_ name: String, _ value: some Encodable) throws -> [String: any Sendable] {
        ["model": name, "value": try PythonCheck.json(value)]
    }

    private func agree(_ lines: [[String: any Sendable]]) throws {
        let (status, output) = try PythonCheck.run("api_requests/compare_models.py", lines)
        #expect(status == 0 && output.contains("agree: \(lines.count); disagree: 0"), "\(output)")
    }

    @Test("Apple's models read our responses, every member, and write the same")
    func responses() throws {
        try agree([
            model("HistoryResponse", Responses.history), model("TransactionInfoResponse", Responses.transaction),
            model("AppTransactionInfoResponse", Responses.appTransaction),
            model("RefundHistoryResponse", Responses.refunds), model("OrderLookupResponse", Responses.order),
            model("StatusResponse", Responses.statuses), model("ExtendRenewalDateResponse", Responses.extended),
            model("MassExtendRenewalDateResponse", Responses.massExtended),
            model("MassExtendRenewalDateStatusResponse", Responses.massStatus),
            model("NotificationHistoryResponse", Responses.notifications),
            model("SendTestNotificationResponse", Responses.testSent),
            model("CheckTestNotificationResponse", Responses.testChecked),
            model("GetImageListResponse", Responses.images), model("GetMessageListResponse", Responses.messages),
            model("DefaultConfigurationResponse", Responses.defaultMessage),
            model("RealtimeUrlResponse", Responses.realtimeURL),
            model("PerformanceTestResponse", Responses.performanceTest),
            model("PerformanceTestResultResponse", Responses.performanceResult),
            model("DecodedRealtimeRequestBody", Responses.realtimeRequest),
            model("AdvancedCommerceSubscriptionCancelResponse", Responses.advancedCommerce),
        ])
    }

    @Test("Apple's models read our requests, every member, and write the same")
    func requests() throws {
        try agree([
            model("ConsumptionRequest", Requests.consumption), model("ConsumptionRequestV1", Requests.consumptionV1),
            model("ExtendRenewalDateRequest", Requests.extend),
            model("MassExtendRenewalDateRequest", Requests.massExtend),
            model("NotificationHistoryRequest", Requests.notifications),
            model("UploadMessageRequestBody", Requests.message),
            model("RealtimeResponseBody", Requests.realtimeResponse),
            model("AdvancedCommerceOneTimeChargeCreateRequest", Requests.oneTimeCharge),
            model("AdvancedCommerceSubscriptionCreateRequest", Requests.create),
            model("AdvancedCommerceSubscriptionModifyInAppRequest", Requests.modify),
            model("AdvancedCommerceSubscriptionReactivateInAppRequest", Requests.reactivate),
            model("AdvancedCommerceSubscriptionCancelRequest", Requests.cancel),
            model("AdvancedCommerceSubscriptionRevokeRequest", Requests.revoke),
            model("AdvancedCommerceRequestRefundRequest", Requests.refund),
            model("AdvancedCommerceSubscriptionPriceChangeRequest", Requests.changePrice),
            model("AdvancedCommerceSubscriptionChangeMetadataRequest", Requests.changeMetadata),
            model("AdvancedCommerceSubscriptionMigrateRequest", Requests.migrate),
        ])
    }

    @Test("Our enumerations have exactly Apple's values")
    func enumerations() throws {
        func values<Value: OpenEnum>(_ type: Value.Type, _ name: String? = nil) -> [String: any Sendable] {
            ["enumeration": name ?? "\(type)", "values": type.knownValues.map(\.rawValue)]
        }
        try agree([
            values(OrderLookupStatus.self), values(ExtendReasonCode.self), values(SendAttemptResult.self),
            values(DeliveryStatus.self), values(RefundPreference.self), values(ConsumptionStatus.self),
            values(Platform.self), values(DeliveryStatusV1.self), values(UserStatus.self),
            values(RefundPreferenceV1.self), values(AccountTenure.self), values(PlayTime.self),
            values(LifetimeDollarsPurchased.self), values(LifetimeDollarsRefunded.self), values(HeaderPosition.self),
            values(ImageState.self), values(ImageSize.self), values(MessageState.self),
            values(PerformanceTestStatus.self), values(AdvancedCommerceEffective.self),
            values(AdvancedCommerceReason.self),
            values(TransactionHistoryProductType.self, "TransactionHistoryRequest.ProductType"),
            values(TransactionHistoryOrder.self, "TransactionHistoryRequest.Order"),
        ])
    }

    @Test("Our error codes have exactly Apple's numbers and names, and the same are retryable")
    func errorCodes() throws {
        let codes = APIErrorCode.knownValues.map { [$0.rawValue, $0.name ?? ""] as [any Sendable] }
        let retryable = APIErrorCode.knownValues.filter(\.isRetryable).map(\.rawValue)
        try agree([["errorCodes": codes, "retryable": retryable]])
    }

    @Test("The check detects a wrong, missing or extra member, and a missing enumeration value")
    func refusal() throws {
        let lines: [[String: any Sendable]] = [
            ["model": "TransactionInfoResponse", "value": ["signedTransactionInfo": 1] as [String: any Sendable]],
            ["model": "TransactionInfoResponse", "value": [String: String]()],
            ["model": "TransactionInfoResponse", "value": ["signedTransactionInfo": "a", "x": "y"]],
            ["enumeration": "PlayTime", "values": [0, 1, 2, 3, 4, 5, 6]],
            ["errorCodes": [[any Sendable]](), "retryable": [Int]()],
        ]
        let (status, output) = try PythonCheck.run("api_requests/compare_models.py", lines)
        #expect(status == 1 && output.contains("agree: 0; disagree: 5"), "\(output)")
    }
}
