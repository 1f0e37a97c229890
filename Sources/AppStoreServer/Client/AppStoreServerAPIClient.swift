public import AppStoreModels

/// A client of the App Store Server API, the Retention Messaging API and the Advanced Commerce API, for one app and one
/// environment (Reference.md S2).
///
/// Each method calls the endpoint of the same name. A call waits for its rate budget and authenticates with a token
/// that the client renews. It is retried if that is safe (``RetryPolicy``), and ends at once when its task is canceled.
///
///     let key = try InAppPurchaseKey(pem: text, keyID: "ABCDEFGHIJ", issuerID: "99b16628-15e4-4668-972b-eeff55eeff55")
///     let client = try AppStoreServerAPIClient(key: key, bundleID: "com.example.app", environment: .production)
///     for try await page in client.transactionHistory("1000000831360853") {
///         …
///     }
///
/// The client does not verify the JWS in the answers.
///
/// All methods throw ``AppStoreServerAPIError``, or `CancellationError` if the task is canceled.
public struct AppStoreServerAPIClient: Sendable {
    /// The environment of the client.
    public let environment: Environment

    /// Creates the tokens.
    public let tokens: BearerTokenSource

    let pipeline: RequestPipeline

    /// A client with a given transport. Clients for several environments or apps can share one transport.
    /// - Throws: ``APIClientConfigurationError``.
    public init(
        key: InAppPurchaseKey, bundleID: String, environment: Environment,
        configuration: APIClientConfiguration = APIClientConfiguration(), transport: any APITransport
    ) throws {
        self.environment = environment
        tokens = BearerTokenSource(key: key, bundleID: bundleID, clock: configuration.clock)
        pipeline = RequestPipeline(
            baseURL: try Self.baseURL(environment, configuration.baseURL), environment: environment,
            configuration: configuration, tokens: tokens, transport: transport,
            limiter: RateLimiter(
                budgets: configuration.rateBudgets, shared: configuration.sharedBudget, environment: environment,
                clock: configuration.clock, onRateChange: configuration.rateObserver))
    }

    /// Apple's servers (Reference.md S1).
    private static func baseURL(_ environment: Environment, _ given: String?) throws -> String {
        guard let given else {
            switch environment {
            case .production: return "https://api.storekit.apple.com"
            case .sandbox: return "https://api.storekit-sandbox.apple.com"
            default: throw APIClientConfigurationError.noServer(environment.rawValue)
            }
        }
        let url = given.hasSuffix("/") ? String(given.dropLast()) : given
        for scheme in ["https://", "http://"] where url.lowercased().hasPrefix(scheme) {
            let rest = url.dropFirst(scheme.count)
            let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("?#\\\"<>".utf8).contains($0) }
            if isPlain, let first = rest.first, first != "/" { return url }
        }
        throw APIClientConfigurationError.invalidBaseURL
    }
}

#if canImport(AsyncHTTPClient)
    extension AppStoreServerAPIClient {
        /// A client with its own transport, ``AsyncHTTPClientTransport``.
        /// - Throws: ``APIClientConfigurationError``.
        public init(
            key: InAppPurchaseKey, bundleID: String, environment: Environment,
            configuration: APIClientConfiguration = APIClientConfiguration()
        ) throws {
            try self.init(
                key: key, bundleID: bundleID, environment: environment, configuration: configuration,
                transport: AsyncHTTPClientTransport())
        }
    }
#endif

/// The versions of Get Transaction History.
public enum TransactionHistoryVersion: Sendable, Hashable {
    /// With finished consumables.
    case v2
    /// Without finished consumables; deprecated by Apple.
    case v1

    var endpoint: APIEndpoint {
        switch self {
        case .v2: .getTransactionHistory
        case .v1: .getTransactionHistoryV1
        }
    }
}

/// Purchases of customers. `anyTransactionId` is a transactionId, originalTransactionId or appTransactionId of the customer;
/// `transactionId` and `originalTransactionId` cannot be an appTransactionId.
extension AppStoreServerAPIClient {
    /// One page of a customer's transactions, at most 20.
    /// - Parameters:
    ///   - anyTransactionId: identifies the customer.
    ///   - revision: the token of the previous page; nil for the first page. Repeat the filter with it.
    ///   - filter: which transactions.
    ///   - version: v1 omits finished consumables.
    public func getTransactionHistory(
        _ anyTransactionId: String, revision: String? = nil,
        filter: TransactionHistoryRequest = TransactionHistoryRequest(), version: TransactionHistoryVersion = .v2
    ) async throws -> HistoryResponse {
        var query = filter.query
        if let revision { query.insert((name: "revision", value: revision), at: 0) }
        return try await pipeline.call(version.endpoint, anyTransactionId, query: query)
    }

    /// All pages of a customer's transactions. A transaction that changes during the listing appears again with its new
    /// data.
    /// - Parameters:
    ///   - anyTransactionId: identifies the customer.
    ///   - revision: the `revision` of the last page of an earlier listing, to get the changes since then. Only useful
    ///     in ascending order.
    ///   - filter: which transactions.
    ///   - version: v1 omits finished consumables.
    public func transactionHistory(
        _ anyTransactionId: String, from revision: String? = nil,
        filter: TransactionHistoryRequest = TransactionHistoryRequest(), version: TransactionHistoryVersion = .v2
    ) -> APIPages<HistoryResponse> {
        pipeline.pages(
            from: revision, version.endpoint,
            load: { try await getTransactionHistory(anyTransactionId, revision: $0, filter: filter, version: version) },
            next: { ($0.revision, $0.hasMore) })
    }

    /// A single transaction.
    public func getTransactionInfo(_ transactionId: String) async throws -> TransactionInfoResponse {
        try await pipeline.call(.getTransactionInfo, transactionId)
    }

    /// The customer's purchase or download of the app itself.
    public func getAppTransactionInfo(_ anyTransactionId: String) async throws -> AppTransactionInfoResponse {
        try await pipeline.call(.getAppTransactionInfo, anyTransactionId)
    }

    /// The status of all of a customer's auto-renewable subscriptions.
    /// - Parameters:
    ///   - anyTransactionId: identifies the customer.
    ///   - status: only subscriptions with one of these states; empty for all.
    public func getAllSubscriptionStatuses(
        _ anyTransactionId: String, status: [SubscriptionStatus] = []
    ) async throws -> StatusResponse {
        let query = status.map { (name: "status", value: String($0.rawValue)) }
        return try await pipeline.call(.getAllSubscriptionStatuses, anyTransactionId, query: query)
    }

    /// One page of a customer's refunds, at most 20. A page may be empty without being the last.
    /// - Parameters:
    ///   - anyTransactionId: identifies the customer.
    ///   - revision: the token of the previous page; nil for the first page.
    public func getRefundHistory(
        _ anyTransactionId: String, revision: String? = nil
    ) async throws -> RefundHistoryResponse {
        let query = revision.map { [(name: "revision", value: $0)] } ?? []
        return try await pipeline.call(.getRefundHistory, anyTransactionId, query: query)
    }

    /// All pages of a customer's refunds.
    /// - Parameters:
    ///   - anyTransactionId: identifies the customer.
    ///   - revision: the `revision` of the last page of an earlier listing, to get the refunds since then.
    public func refundHistory(
        _ anyTransactionId: String, from revision: String? = nil
    ) -> APIPages<RefundHistoryResponse> {
        pipeline.pages(
            from: revision, .getRefundHistory, load: { try await getRefundHistory(anyTransactionId, revision: $0) },
            next: { ($0.revision, $0.hasMore) })
    }

    /// A customer's newest refunds, at most 50, from the endpoint that Apple deprecated.
    public func getRefundHistoryV1(_ originalTransactionId: String) async throws -> RefundLookupResponse {
        try await pipeline.call(.getRefundHistoryV1, originalTransactionId)
    }

    /// The purchases of an order, by the order ID on the customer's invoice. Production only.
    public func lookUpOrderId(_ orderId: String) async throws -> OrderLookupResponse {
        try await pipeline.call(.lookUpOrderId, orderId)
    }
}

extension TransactionHistoryRequest {
    /// The query parameters (Reference.md S2.2), lists as repeated parameters.
    fileprivate var query: [(name: String, value: String)] {
        var query: [(name: String, value: String)] = []
        func add(_ name: String, _ values: [String]?) {
            for value in values ?? [] { query.append((name: name, value: value)) }
        }
        add("startDate", startDate.map { [String($0)] })
        add("endDate", endDate.map { [String($0)] })
        add("productId", productIds)
        add("productType", productTypes?.map(\.rawValue))
        add("subscriptionGroupIdentifier", subscriptionGroupIdentifiers)
        add("inAppOwnershipType", inAppOwnershipType.map { [$0.rawValue] })
        add("sort", sort.map { [$0.rawValue] })
        add("revoked", revoked.map { [$0 ? "true" : "false"] })
        add("excludeRevoked", excludeRevoked.map { [$0 ? "true" : "false"] })
        return query
    }
}

/// Actions of the developer.
extension AppStoreServerAPIClient {
    /// Answers a CONSUMPTION_REQUEST. Apple expects the answer within 12 hours. Apple rejects it for a transaction with
    /// the ownership `ASSIGNED` (`InvalidAssignedTransactionNotSupportedError`, whose number is not published).
    public func sendConsumptionInformation(
        _ transactionId: String, _ request: ConsumptionRequest
    ) async throws {
        try await sendConsumptionInformation(transactionId, request) { _ in }
    }

    /// Answers a CONSUMPTION_REQUEST unless `check` throws.
    /// - Parameters:
    ///   - transactionId: the transaction that the request is about.
    ///   - request: the answer.
    ///   - check: runs right before each time that the request is sent, because the rate limits and retries can take
    ///     long. It gets the failure of the attempt before.
    /// - Throws: what `check` throws too.
    package func sendConsumptionInformation(
        _ transactionId: String, _ request: ConsumptionRequest, check: AttemptCheck
    ) async throws {
        try await pipeline.perform(.sendConsumptionInformation, transactionId, body: request, check: check)
    }

    /// Answers a CONSUMPTION_REQUEST in the form that Apple deprecated, and that Advanced Commerce transactions still
    /// need. Apple rejects it for a transaction with the ownership `ASSIGNED`.
    public func sendConsumptionInformationV1(
        _ transactionId: String, _ request: ConsumptionRequestV1
    ) async throws {
        try await pipeline.perform(.sendConsumptionInformationV1, transactionId, body: request)
    }

    /// Extends the renewal date of one subscription.
    public func extendSubscriptionRenewalDate(
        _ originalTransactionId: String, _ request: ExtendRenewalDateRequest
    ) async throws -> ExtendRenewalDateResponse {
        try await pipeline.call(.extendSubscriptionRenewalDate, originalTransactionId, body: request)
    }

    /// Extends the renewal dates of all active subscribers of a product. Apple takes hours to days to complete it.
    public func extendRenewalDateForAllActiveSubscribers(
        _ request: MassExtendRenewalDateRequest
    ) async throws -> MassExtendRenewalDateResponse {
        try await pipeline.call(.extendRenewalDateForAllActiveSubscribers, body: request)
    }

    /// The progress of the extension for all active subscribers.
    public func getStatusOfRenewalDateExtensions(
        productId: String, requestIdentifier: String
    ) async throws -> MassExtendRenewalDateStatusResponse {
        try await pipeline.call(.getStatusOfRenewalDateExtensions, productId, requestIdentifier)
    }

    /// Sets the app account token of a purchase that was made outside the app, or without a token. Apple rejects it for
    /// a transaction with the ownership `ASSIGNED`.
    public func setAppAccountToken(
        _ originalTransactionId: String, _ request: UpdateAppAccountTokenRequest
    ) async throws {
        try await pipeline.perform(.setAppAccountToken, originalTransactionId, body: request)
    }

    /// Finishes a transaction, as the app would do.
    public func finishTransaction(_ transactionId: String) async throws {
        try await pipeline.perform(.finishTransaction, transactionId)
    }

    // MARK: Notifications that were sent

    /// One page of the notifications that Apple tried to send, at most 20.
    /// - Parameters:
    ///   - request: which notifications; unchanged from page to page.
    ///   - paginationToken: the token of the previous page; nil for the first page.
    public func getNotificationHistory(
        _ request: NotificationHistoryRequest, paginationToken: String? = nil
    ) async throws -> NotificationHistoryResponse {
        let query = paginationToken.map { [(name: "paginationToken", value: $0)] } ?? []
        return try await pipeline.call(.getNotificationHistory, query: query, body: request)
    }

    /// All pages of the notifications that Apple tried to send. If a token expires (4000017), start over.
    public func notificationHistory(_ request: NotificationHistoryRequest) -> APIPages<NotificationHistoryResponse> {
        pipeline.pages(
            from: nil, .getNotificationHistory,
            load: { try await getNotificationHistory(request, paginationToken: $0) },
            next: { ($0.paginationToken, $0.hasMore) })
    }

    /// Requests a test notification from Apple.
    public func requestTestNotification() async throws -> SendTestNotificationResponse {
        try await pipeline.call(.requestTestNotification)
    }

    /// The result of a test notification. Error 4040008 can also mean that there is no result yet.
    public func getTestNotificationStatus(
        _ testNotificationToken: String
    ) async throws -> CheckTestNotificationResponse {
        try await pipeline.call(.getTestNotificationStatus, testNotificationToken)
    }
}

/// The seats of a multiseat subscription whose invitations the developer manages (App Store Server API 1.23; Reference.md
/// S2.1). Apple offers these endpoints in the sandbox only so far.
///
/// `transactionId` names a transaction of the purchaser, whose `multiSeatInfo.invitationManagement` is
/// `DEVELOPER`. The members of such a group get no transactions: the developer's server records who
/// has access. Apple publishes no numbers for the errors `NoAvailableSeatsError`, `SeatClaimIdNotFoundError` and
/// `AppTransactionIdNotFoundError`; ``AppStoreServerAPIError`` contains the number and the text that Apple sends.
extension AppStoreServerAPIClient {
    /// The number of seats, the number that can be claimed, and the claims.
    public func getSeatInfo(_ transactionId: String) async throws -> GetSeatInfoResponse {
        try await pipeline.call(.getSeatInfo, transactionId)
    }

    /// Claims a seat for one person. Save `requestIdentifier` before the call and use it again in a retry: Apple then
    /// returns the first claim instead of a second one.
    ///
    /// Apple answers with `NoAvailableSeatsError` if all seats are claimed, and with `AppTransactionIdNotFoundError` if
    /// the app download is unknown.
    public func claimSeat(_ transactionId: String, _ request: ClaimSeatRequest) async throws -> ClaimSeatResponse {
        try await pipeline.call(.claimSeat, transactionId, body: request)
    }

    /// Ends a claim. Apple answers with `SeatClaimIdNotFoundError` if the subscription has no such claim.
    public func unclaimSeat(_ transactionId: String, seatClaimId: String) async throws {
        try await pipeline.perform(.unclaimSeat, transactionId, seatClaimId)
    }

    /// Assigns a claimed seat to an app download, if the claim was made without one. Apple answers with
    /// `SeatClaimIdNotFoundError` or `AppTransactionIdNotFoundError` if one of them is unknown.
    public func associateSeat(
        _ transactionId: String, seatClaimId: String, _ request: AssociateSeatRequest
    ) async throws {
        try await pipeline.perform(.associateSeat, transactionId, seatClaimId, body: request)
    }
}
