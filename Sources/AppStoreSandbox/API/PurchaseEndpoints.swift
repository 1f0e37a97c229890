internal import AppStoreModels
internal import AppStoreServer
internal import Crypto
internal import Encodings
internal import ReceiptForge

/// Which transactions a history shows (Reference.md S2.2).
private struct HistoryFilter {
    var startDate: Int64?
    var endDate: Int64?
    var productIds: Set<String> = []
    var types: Set<ProductType> = []
    var groups: Set<String> = []
    var ownership: InAppOwnershipType?
    var isAscending = true
    var revoked: Bool?
    private static let types: [String: ProductType] = [
        "AUTO_RENEWABLE": .autoRenewableSubscription, "NON_RENEWABLE": .nonRenewingSubscription,
        "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
    ]

    init(_ request: APIRequest) throws {
        startDate = try request.value("startDate").map { try Self.date($0, .invalidStartDate) }
        endDate = try request.value("endDate").map { try Self.date($0, .invalidEndDate) }
        if let startDate, let endDate, startDate >= endDate { throw APIRefusal(.startDateAfterEndDate) }
        productIds = Set(request.values("productId"))
        guard !productIds.contains("") else { throw APIRefusal(.invalidProductId) }
        groups = Set(request.values("subscriptionGroupIdentifier"))
        guard !groups.contains("") else { throw APIRefusal(.invalidSubscriptionGroupIdentifier) }
        types = Set(
            try request.values("productType").map { name in
                guard let type = Self.types[name] else { throw APIRefusal(.invalidProductType) }
                return type
            })
        ownership = try request.value("inAppOwnershipType").map { text in
            let value = InAppOwnershipType(rawValue: text)
            guard value.isKnown else { throw APIRefusal(.invalidInAppOwnershipType) }
            return value
        }
        switch request.value("sort") {
        case nil, "ASCENDING": isAscending = true
        case "DESCENDING": isAscending = false
        default: throw APIRefusal(.invalidSort)
        }
        revoked = try request.value("revoked").map { try Self.bool($0, .invalidRevoked) }
        if let excludes = request.value("excludeRevoked"), try Self.bool(excludes, .invalidExcludeRevoked) {
            revoked = false
        }
    }

    private static func date(_ text: String, _ code: APIErrorCode) throws -> Int64 {
        guard let date = Int64(text), date >= 0 else { throw APIRefusal(code) }
        return date
    }

    /// In any letter case: Apple's own Python client sends `True`.
    private static func bool(_ text: String, _ code: APIErrorCode) throws -> Bool {
        switch text.lowercased() {
        case "true": true
        case "false": false
        default: throw APIRefusal(code)
        }
    }

    func admits(_ transaction: SandboxTransaction) -> Bool {
        let payload = transaction.payload
        let date = payload.purchaseDate ?? 0
        if let startDate, date < startDate { return false }
        if let endDate, date >= endDate { return false }
        if !productIds.isEmpty, !productIds.contains(payload.productId ?? "") { return false }
        if !types.isEmpty, !(payload.type.map { types.contains($0) } ?? false) { return false }
        if !groups.isEmpty, !groups.contains(payload.subscriptionGroupIdentifier ?? "") { return false }
        if let ownership, payload.inAppOwnershipType != ownership { return false }
        return revoked.map { $0 == transaction.isRevoked } ?? true
    }
}

extension SandboxState {
    static let pageSize = 20

    /// Get Transaction History. Version 1 leaves out finished consumables.
    func history(_ id: String, _ request: APIRequest, version: Int) throws -> APIResponse {
        let filter = try HistoryFilter(request)
        let customer = try customer(anyId: id)
        // A client must repeat the parameters with each page (Reference.md S2.2); other parameters have other pages.
        let question = request.query.filter { $0.name != "revision" }.map { "\($0.name)=\($0.value)" }.sorted()
        let context = PageToken.context([customer.name, String(version)] + question)
        let position = try PageToken.position(request.value("revision"), in: context, .invalidRequestRevision)
        var found = engine.transactions(of: customer).filter { transaction in
            if version == 1, transaction.payload.type == .consumable, transaction.isFinished { return false }
            return filter.admits(transaction)
        }
        found.sort { filter.isAscending ? $0.revision < $1.revision : $0.revision > $1.revision }
        if let position {
            found.removeAll { filter.isAscending ? $0.revision <= position : $0.revision >= position }
        }
        let page = found.prefix(Self.pageSize)
        let last = page.last?.revision ?? position ?? (filter.isAscending ? 0 : .max)
        return try .json(
            HistoryResponse {
                $0.revision = PageToken(position: last, context: context).text
                $0.hasMore = found.count > page.count
                $0.bundleId = configuration.bundleId
                $0.appAppleId = configuration.shownAppAppleId
                $0.environment = configuration.environment
                $0.signedTransactions = try page.map { try sign($0) }
            })
    }

    /// Get Transaction Info.
    func transactionInfo(_ id: String) throws -> APIResponse {
        try .json(TransactionInfoResponse { $0.signedTransactionInfo = try sign(try transaction(id)) })
    }

    /// Get App Transaction Info.
    func appTransactionInfo(_ id: String) throws -> APIResponse {
        let payload = engine.appTransaction(of: try customer(anyId: id))
        return try .json(
            AppTransactionInfoResponse { $0.signedAppTransactionInfo = try signer.sign(payload, at: signingDate) })
    }

    /// Get All Subscription Statuses.
    func statuses(_ id: String, _ request: APIRequest) throws -> APIResponse {
        let wanted = try request.values("status").map { text in
            guard let value = Int32(text), SubscriptionStatus(rawValue: value).isKnown else {
                throw APIRefusal(.invalidStatus)
            }
            return SubscriptionStatus(rawValue: value)
        }
        var groups: [String: [LastTransactionsItem]] = [:]
        for subscription in engine.subscriptions(of: try customer(anyId: id)) {
            guard wanted.isEmpty || wanted.contains(subscription.status),
                let last = engine.transactions[subscription.transactionId]
            else { continue }
            let item = try LastTransactionsItem {
                $0.status = subscription.status
                $0.originalTransactionId = subscription.originalTransactionId
                $0.signedTransactionInfo = try sign(last)
                $0.signedRenewalInfo = try signer.sign(engine.renewalInfo(of: subscription), at: signingDate)
            }
            groups[subscription.group, default: []].append(item)
        }
        let items = groups.keys.sorted().map { group in
            SubscriptionGroupIdentifierItem {
                $0.subscriptionGroupIdentifier = group
                $0.lastTransactions = groups[group]
            }
        }
        return try .json(
            StatusResponse {
                $0.environment = configuration.environment
                $0.bundleId = configuration.bundleId
                $0.appAppleId = configuration.shownAppAppleId
                $0.data = items
            })
    }
}

/// An opaque text that states where a page ends.
struct PageToken {
    let position: Int64
    /// A digest of the request that the page belongs to.
    let context: String

    init(position: Int64, context: String) {
        self.position = position
        self.context = context
    }

    init?(_ text: String) {
        guard text.utf8.count <= 256, let bytes = Base64.decodeURL(text) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let position = Int64(parts[0]), position >= 0 else { return nil }
        self.init(position: position, context: String(parts[1]))
    }

    var text: String { Base64.encodeURL(Array("\(position):\(context)".utf8)) }

    /// The position in a request with a token; nil without one. A token of another request is rejected.
    static func position(_ text: String?, in context: String, _ code: APIErrorCode) throws -> Int64? {
        guard let text else { return nil }
        guard let token = PageToken(text), token.context == context else { throw APIRefusal(code) }
        return token.position
    }

    /// A short digest of a request.
    static func context(_ parts: [String]) -> String {
        let digest = SHA256.hash(data: Array(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8))
        return Base64.encodeURL(Array(digest.prefix(9)))
    }
}

extension SandboxState {
    /// A customer's refunds in order. A revoked family copy is no refund.
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
        let position = try PageToken.position(request.value("revision"), in: context, .invalidRequestRevision) ?? 0
        let found = refunds(of: customer).filter { $0.number > position }
        let page = found.prefix(Self.pageSize)
        return try .json(
            RefundHistoryResponse {
                $0.signedTransactions = try page.map { try sign($0.transaction) }
                $0.revision = PageToken(position: page.last?.number ?? position, context: context).text
                $0.hasMore = found.count > page.count
            })
    }

    /// Get Refund History V1: the newest 50.
    func refundHistoryV1(_ id: String) throws -> APIResponse {
        guard Self.isId(id) else { throw APIRefusal(.invalidOriginalTransactionId) }
        guard let original = engine.transactions[id] else { throw APIRefusal(.originalTransactionIdNotFound) }
        let found = refunds(of: try engine.customer(original.customer)).suffix(50)
        return try .json(RefundLookupResponse { $0.signedTransactions = try found.map { try sign($0.transaction) } })
    }

    /// Look Up Order ID. Apple has it in production only; the sandbox answers in both environments, for tests.
    func order(_ id: String) throws -> APIResponse {
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw APIRefusal(.generalBadRequest)
        }
        let found = engine.transactions.values.filter { $0.orderId == id }
        guard !found.isEmpty else { return try .json(OrderLookupResponse { $0.status = .invalid }) }
        return try .json(
            OrderLookupResponse {
                $0.status = .valid
                $0.signedTransactions = try found.map { try sign($0) }
            })
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
