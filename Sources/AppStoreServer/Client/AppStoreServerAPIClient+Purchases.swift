public import AppStoreModels

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

/// What customers bought. `anyTransactionId` is a transactionId, originalTransactionId or appTransactionId of the customer;
/// `transactionId` and `originalTransactionId` are not an appTransactionId.
extension AppStoreServerAPIClient {
    /// One page of a customer's transactions, at most 20.
    /// - Parameters:
    ///   - anyTransactionId: names the customer.
    ///   - revision: the token of the page before; nil for the first page. Repeat the filter with it.
    ///   - filter: which transactions.
    ///   - version: v1 leaves out consumables that were finished.
    public func getTransactionHistory(
        _ anyTransactionId: String, revision: String? = nil,
        filter: TransactionHistoryRequest = TransactionHistoryRequest(), version: TransactionHistoryVersion = .v2
    ) async throws -> HistoryResponse {
        var query = filter.query
        if let revision { query.insert((name: "revision", value: revision), at: 0) }
        return try await pipeline.call(version.endpoint, anyTransactionId, query: query)
    }

    /// All pages of a customer's transactions. A transaction that changes meanwhile comes again with its new data.
    /// - Parameters:
    ///   - anyTransactionId: names the customer.
    ///   - revision: where to begin: the `revision` of the last page read before, for what changed since then; only good
    ///     for the ascending order.
    ///   - filter: which transactions.
    ///   - version: v1 leaves out consumables that were finished.
    public func transactionHistory(
        _ anyTransactionId: String, from revision: String? = nil,
        filter: TransactionHistoryRequest = TransactionHistoryRequest(), version: TransactionHistoryVersion = .v2
    ) -> APIPages<HistoryResponse> {
        APIPages(startingAt: revision) { token in
            let page = try await getTransactionHistory(
                anyTransactionId, revision: token, filter: filter, version: version)
            let next = try pipeline.nextToken(
                page.revision, after: token, hasMore: page.hasMore, version.endpoint)
            return .init(page: page, next: next)
        }
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
    ///   - anyTransactionId: names the customer.
    ///   - status: only subscriptions with one of these; empty for all.
    public func getAllSubscriptionStatuses(
        _ anyTransactionId: String, status: [SubscriptionStatus] = []
    ) async throws -> StatusResponse {
        let query = status.map { (name: "status", value: String($0.rawValue)) }
        return try await pipeline.call(.getAllSubscriptionStatuses, anyTransactionId, query: query)
    }

    /// One page of a customer's refunds, at most 20. A page may be empty and yet not be the last.
    /// - Parameters:
    ///   - anyTransactionId: names the customer.
    ///   - revision: the token of the page before; nil for the first page.
    public func getRefundHistory(
        _ anyTransactionId: String, revision: String? = nil
    ) async throws -> RefundHistoryResponse {
        let query = revision.map { [(name: "revision", value: $0)] } ?? []
        return try await pipeline.call(.getRefundHistory, anyTransactionId, query: query)
    }

    /// All pages of a customer's refunds.
    /// - Parameters:
    ///   - anyTransactionId: names the customer.
    ///   - revision: where to begin: the `revision` of the last page read before, for the refunds since then.
    public func refundHistory(
        _ anyTransactionId: String, from revision: String? = nil
    ) -> APIPages<RefundHistoryResponse> {
        APIPages(startingAt: revision) { token in
            let page = try await getRefundHistory(anyTransactionId, revision: token)
            let next = try pipeline.nextToken(page.revision, after: token, hasMore: page.hasMore, .getRefundHistory)
            return .init(page: page, next: next)
        }
    }

    /// A customer's newest refunds, at most 50, by the endpoint that Apple deprecated.
    public func getRefundHistoryV1(_ originalTransactionId: String) async throws -> RefundLookupResponse {
        try await pipeline.call(.getRefundHistoryV1, originalTransactionId)
    }

    /// The purchases of an order, by the order ID on the customer's invoice. Apple has it in production only.
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
