internal import AppStoreModels
internal import AppStoreServer

extension SandboxState {
    /// In the order of the refunds. What the family lost is no refund.
    private func refunds(of customer: SandboxCustomer) -> [(number: Int64, transaction: SandboxTransaction)] {
        let found = engine.transactions(of: customer).compactMap { transaction in
            transaction.refundRevision.map { (number: $0, transaction: transaction) }
        }
        return found.sorted { $0.number < $1.number }
    }

    /// Get Refund History: ascending by revocation date.
    func refundHistory(_ id: String, _ request: APIRequest) throws -> APIResponse {
        let customer = try customer(anyId: id)
        let context = PageToken.context(["refunds", customer.name])
        var position: Int64 = 0
        if let text = request.value("revision") {
            guard let token = PageToken(text), token.context == context else {
                throw APIRefusal(.invalidRequestRevision)
            }
            position = token.position
        }
        let found = refunds(of: customer).filter { $0.number > position }
        let page = found.prefix(Self.pageSize)
        return try .json(
            RefundHistoryResponse(
                signedTransactions: try page.map { try sign($0.transaction) },
                revision: PageToken(position: page.last?.number ?? position, context: context).text,
                hasMore: found.count > page.count))
    }

    /// Get Refund History V1: the newest 50.
    func refundHistoryV1(_ id: String) throws -> APIResponse {
        guard Self.isId(id) else { throw APIRefusal(.invalidOriginalTransactionId) }
        guard let original = engine.transactions[id] else { throw APIRefusal(.originalTransactionIdNotFound) }
        let found = refunds(of: try engine.customer(original.customer)).suffix(50)
        return try .json(RefundLookupResponse(signedTransactions: try found.map { try sign($0.transaction) }))
    }

    /// Look Up Order ID. Apple has it in production only; here it answers in the sandbox too, to be tried.
    func order(_ id: String) throws -> APIResponse {
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw APIRefusal(.generalBadRequest)
        }
        let found = engine.transactions.values.filter { $0.orderId == id }
        guard !found.isEmpty else { return try .json(OrderLookupResponse(status: .invalid)) }
        return try .json(
            OrderLookupResponse(status: .valid, signedTransactions: try found.map { try sign($0) }))
    }

    /// Finish Transaction.
    mutating func finish(_ id: String) throws -> APIResponse {
        engine.finish(try transaction(id).id)
        return .empty
    }

    /// Set App Account Token.
    mutating func setAppAccountToken(_ id: String, _ request: APIRequest) throws -> APIResponse {
        let transaction = try transaction(id, notFound: .originalTransactionIdNotFound)
        guard transaction.originalId == id else { throw APIRefusal(.transactionIdIsNotOriginalTransactionId) }
        guard transaction.sharedFrom == nil else { throw APIRefusal(.familyTransactionNotSupported) }
        try checkIsNotAssigned(transaction)
        guard let text = try object(request)["appAccountToken"]?.string, let token = UUIDText(text) else {
            throw APIRefusal(.invalidAppAccountTokenUUID)
        }
        engine.setAppAccountToken(id, token.text)
        return .empty
    }
}
