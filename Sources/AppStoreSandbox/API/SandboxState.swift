internal import AppStoreModels
internal import AppStoreServer
internal import ReceiptForge

/// The App Store, its notifications and its API, without sockets and clocks.
struct SandboxState: Sendable {
    var engine: SandboxEngine
    var log: NotificationLog
    var limits = SandboxRateLimits()
    var faults = SandboxFaults()
    let signer: SandboxSigner
    /// The URL that receives notifications; nil for none.
    var notificationURL: String?
    var sendsV1 = false
    /// The `password` of notifications of version 1.
    var sharedSecret: String?

    var configuration: SandboxConfiguration { engine.configuration }
    /// The sandbox's time.
    var now: Int64 { engine.now }
    /// The `signedDate` of data signed now.
    var signingDate: Int64 { engine.signingDate }

    init(engine: SandboxEngine, authority: TestSignedDataAuthority, retriesNotifications: Bool = true) {
        self.engine = engine
        signer = SandboxSigner(authority: authority)
        log = NotificationLog(pace: engine.configuration.pace, retries: retriesNotifications)
    }

    /// Signs the new events as notifications. Without a URL, they are only in the history.
    mutating func collectEvents() throws {
        for event in engine.takeEvents() {
            var notification = SandboxNotification(
                uuid: event.uuid, type: event.type, subtype: event.subtype, signedDate: event.date,
                customer: event.customer, signedPayload: try signer.sign(event, configuration),
                bodyV1: sendsV1 ? try NotificationV1.json(event, self) : nil)
            let isSendable = notificationURL != nil && (!sendsV1 || notification.bodyV1 != nil)
            // A signing date can be later than a clock that stands still.
            notification.nextAttempt = isSendable ? min(event.date, now) : nil
            log.append(notification)
        }
    }

    /// Answers a request of the App Store Server API.
    /// - Parameters:
    ///   - request: the request.
    ///   - wallClock: the real time for tokens and rate limits; milliseconds since 1970.
    mutating func respond(to request: APIRequest, wallClock: Int64) throws -> APIResponse {
        guard let route = APIRoute(request.method, request.path) else { return .noSuchPath }
        if let key = configuration.key {
            let check = BearerTokenCheck(key: key, bundleId: configuration.bundleId)
            guard check.accepts(request.authorization, now: wallClock) else { return .unauthorized }
        }
        if let next = limits.take(route.endpoint, in: configuration.environment, now: wallClock) {
            var response = APIRefusal(.rateLimitExceeded).response
            response.retryAfter = next
            return response
        }
        do {
            let response = try answer(route, request)
            try collectEvents()
            return response
        } catch let refusal as APIRefusal {
            return refusal.response
        }
    }

    private mutating func answer(_ route: APIRoute, _ request: APIRequest) throws -> APIResponse {
        let (id, last) = (route.parameters.first ?? "", route.parameters.last ?? "")
        // Apple offers seats in the sandbox only.
        let hasSeats = !configuration.isProduction
        switch route.endpoint {
        case .getTransactionHistory: return try history(id, request, version: 2)
        case .getTransactionHistoryV1: return try history(id, request, version: 1)
        case .getTransactionInfo: return try transactionInfo(id)
        case .getAppTransactionInfo: return try appTransactionInfo(id)
        case .getAllSubscriptionStatuses: return try statuses(id, request)
        case .getRefundHistory: return try refundHistory(id, request)
        case .getRefundHistoryV1: return try refundHistoryV1(id)
        case .lookUpOrderId: return try order(id)
        case .sendConsumptionInformation: return try takeConsumption(id, request)
        case .sendConsumptionInformationV1: return try takeConsumptionV1(id, request)
        case .extendSubscriptionRenewalDate: return try extend(id, request)
        case .extendRenewalDateForAllActiveSubscribers: return try extendAll(request)
        case .getStatusOfRenewalDateExtensions: return try extensionStatus(productId: id, request: last)
        case .getNotificationHistory: return try notificationHistory(request)
        case .requestTestNotification: return try requestTest()
        case .getTestNotificationStatus: return try testStatus(id)
        case .setAppAccountToken: return try setAppAccountToken(id, request)
        case .finishTransaction: return try finish(id)
        case .getSeatInfo where hasSeats: return try seatInfo(id)
        case .claimSeat where hasSeats: return try claimSeat(id, request)
        case .unclaimSeat where hasSeats: return try unclaimSeat(id, claim: last)
        case .associateSeat where hasSeats: return try associateSeat(id, claim: last, request)
        default: return .noSuchPath
        }
    }

    // MARK: Helpers for endpoints

    /// Rejects a transaction that an organization or group assigned to the customer (Reference.md S3.1: the error has
    /// no published number).
    func checkIsNotAssigned(_ transaction: SandboxTransaction) throws {
        guard transaction.payload.inAppOwnershipType != .assigned else {
            throw APIRefusal(.generalBadRequest, "Invalid assigned transaction not supported.")
        }
    }

    /// Whether a text can be an identifier of the App Store: 1 to 20 decimal digits.
    static func isId(_ text: String) -> Bool {
        text.utf8.count <= 20 && text.isDecimal
    }

    func customer(anyId id: String) throws -> SandboxCustomer {
        guard Self.isId(id) else { throw APIRefusal(.invalidTransactionId) }
        guard let customer = engine.customer(anyTransactionId: id) else { throw APIRefusal(.transactionIdNotFound) }
        return customer
    }

    /// The transaction with an id, for endpoints that accept no app transaction id.
    func transaction(_ id: String, notFound: APIErrorCode = .transactionIdNotFound) throws -> SandboxTransaction {
        guard Self.isId(id) else { throw APIRefusal(.invalidTransactionId) }
        if let transaction = engine.transactions[id] { return transaction }
        let isAppTransaction = engine.customer(anyTransactionId: id) != nil
        throw APIRefusal(isAppTransaction ? .appTransactionIdNotSupported : notFound)
    }

    func sign(_ transaction: SandboxTransaction) throws -> String {
        try signer.sign(transaction.payload, at: signingDate)
    }

    func object(_ request: APIRequest) throws -> JSONObject {
        guard let object = try? JSONValue.parse(request.body).object else {
            throw APIRefusal(.generalBadRequest, "The body is not a JSON object.")
        }
        return object
    }
}
