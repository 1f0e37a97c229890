package import AppStoreModels

/// The App Store of one app: products, customers, purchases, renewals and refunds. A value type without clock, sockets or
/// randomness: each action takes the time as a parameter, and the same actions give the same result.
///
/// Each action first advances the time, so renewals that are due happen before it. ``events`` lists all events in order until
/// ``takeEvents()`` removes them.
public struct SandboxEngine: Sendable {
    /// The simulated app and environment.
    public let configuration: SandboxConfiguration
    /// The products.
    public internal(set) var catalog: SandboxCatalog
    /// By name.
    public internal(set) var customers: [String: SandboxCustomer] = [:]
    /// By transaction id.
    public internal(set) var transactions: [String: SandboxTransaction] = [:]
    /// By original transaction id.
    public internal(set) var subscriptions: [String: SandboxSubscription] = [:]
    /// The events since the last call of ``takeEvents()``.
    public internal(set) var events: [SandboxEvent] = []
    /// The time of the last action; it never goes back. Milliseconds since 1970.
    public private(set) var now: Int64

    /// The date of the newest signature over changed data.
    private var lastSigned: Int64
    var identifiers: SandboxIdentifiers
    var revision: Int64 = 0
    var families = 0
    /// Transactions with an open refund request.
    var openRefunds: Set<String> = []
    var massExtensions: [String: MassExtension] = [:]
    var usedOfferNonces: Set<String> = []

    /// Creates an App Store without customers. It starts at `now`, in milliseconds since 1970-01-01T00:00:00Z.
    public init(configuration: SandboxConfiguration, catalog: SandboxCatalog, now: Int64) {
        self.configuration = configuration
        self.catalog = catalog
        self.now = now
        lastSigned = now.addingSaturated(-1)
        identifiers = SandboxIdentifiers(seed: configuration.seed, environment: configuration.environment)
    }

    /// The `signedDate` of data signed now; milliseconds since 1970.
    ///
    /// Several events can happen while the clock stands still. Each gets a later millisecond, so a client can order the
    /// signatures by their dates.
    public var signingDate: Int64 { max(now, lastSigned) }

    /// Advances ``signingDate`` after a change.
    mutating func stamp() -> Int64 {
        lastSigned = max(now, lastSigned.addingSaturated(1))
        return lastSigned
    }

    /// Removes and returns the events since the last call.
    public mutating func takeEvents() -> [SandboxEvent] {
        defer { events = [] }
        return events
    }

    /// Advances the time to `date` and performs everything that is due until then, in order. A date in the past changes
    /// nothing.
    public mutating func advance(to date: Int64) {
        while let due = nextDue(), due.date <= date {
            now = max(now, due.date)
            perform(due.task)
        }
        now = max(now, date)
    }

    /// The date of the next scheduled event, such as a renewal, the end of a grace period or the decision of a refund.
    /// Milliseconds since 1970.
    public var nextDueDate: Int64? { nextDue()?.date }

    // MARK: Scheduled events

    enum Task {
        case subscription(String)
        case refund(String)
        case massExtension(String)
    }

    /// The earliest scheduled event, and of several at one time the one with the lowest id. So the result does not
    /// depend on the order of a dictionary. A linear search is fast enough for the few customers of a sandbox.
    private func nextDue() -> (date: Int64, task: Task)? {
        var best: (date: Int64, id: String, task: Task)?
        func consider(_ date: Int64?, _ id: String, _ task: Task) {
            guard let date else { return }
            if let known = best, (known.date, known.id) <= (date, id) { return }
            best = (date, id, task)
        }
        for (id, subscription) in subscriptions { consider(subscription.dueDate, id, .subscription(id)) }
        for id in openRefunds { consider(transactions[id]?.refundRequest?.decidedAt, id, .refund(id)) }
        for (id, request) in massExtensions where request.completion == nil {
            consider(request.dueDate, id, .massExtension(id))
        }
        return best.map { ($0.date, $0.task) }
    }

    private mutating func perform(_ task: Task) {
        switch task {
        case .subscription(let id): continueSubscription(id)
        case .refund(let id): decideRefund(id)
        case .massExtension(let id): completeMassExtension(id)
        }
    }
}

extension SandboxSubscription {
    /// The date of the next scheduled change. A family member's copy has none, because it follows the purchaser's
    /// subscription.
    var dueDate: Int64? {
        guard sharedFrom == nil else { return nil }
        switch phase {
        case .active: return expiresDate
        case .gracePeriod(let until): return min(until, retryEnds ?? until)
        case .billingRetry: return retryEnds
        case .expired, .revoked: return nil
        }
    }
}

extension SandboxEngine {
    /// The customer with a name.
    /// - Throws: ``SandboxError``, `unknownCustomer`.
    public func customer(_ name: String) throws -> SandboxCustomer {
        try required(customers[name], .unknownCustomer, "there is no customer \(name.quoted)")
    }

    /// The transaction with an id.
    /// - Throws: ``SandboxError``, `unknownTransaction`.
    public func transaction(_ id: String) throws -> SandboxTransaction {
        try required(transactions[id], .unknownTransaction, "there is no transaction \(id.quoted)")
    }

    /// The subscription with an original transaction id.
    /// - Throws: ``SandboxError``, `unknownSubscription`.
    public func subscription(_ id: String) throws -> SandboxSubscription {
        try required(subscriptions[id], .unknownSubscription, "there is no subscription \(id.quoted)")
    }

    /// The product with an identifier, for sale or not.
    /// - Throws: ``SandboxError``, `unknownProduct`.
    public func product(_ id: String) throws -> SandboxProduct {
        try required(catalog[id], .unknownProduct, "there is no product \(id.quoted)")
    }

    /// The product with an identifier, which must be for sale.
    func productForSale(_ id: String) throws -> SandboxProduct {
        let product = try product(id)
        try ensure(product.isForSale, .unknownProduct, "the product \(id.quoted) is not for sale")
        return product
    }

    /// The customer with a transaction id, original transaction id or app transaction id: the App Store Server API accepts
    /// each of them.
    public func customer(anyTransactionId id: String) -> SandboxCustomer? {
        if let transaction = transactions[id] { return customers[transaction.customer] }
        return customers.values.first { $0.appTransactionId == id }
    }

    /// A customer's transactions in the order of purchase.
    public func transactions(of customer: SandboxCustomer) -> [SandboxTransaction] {
        customer.transactionIds.compactMap { transactions[$0] }
    }

    /// A customer's subscriptions by original transaction id, including the copies from Family Sharing.
    public func subscriptions(of customer: SandboxCustomer) -> [SandboxSubscription] {
        customer.transactionIds.compactMap { subscriptions[$0] }
    }

    /// The download of the app by a customer.
    func appTransaction(of customer: SandboxCustomer) -> AppTransaction {
        let (date, version) = download(of: customer)
        return AppTransaction {
            $0.receiptType = configuration.environment
            $0.appAppleId = configuration.shownAppAppleId
            $0.bundleId = configuration.bundleId
            $0.originalPurchaseDate = date
            $0.originalApplicationVersion = version
            $0.appTransactionId = customer.appTransactionId
            $0.originalPlatform = .iOS
        }
    }

    /// The date and version of a customer's first download, as receipts and app transactions state them. In the sandbox,
    /// Apple states 2013-08-01 07:00 UTC and 1.0 for every customer (Reference.md V3.2).
    func download(of customer: SandboxCustomer) -> (date: Int64, version: String) {
        configuration.isProduction
            ? (customer.downloadDate, configuration.bundleVersion) : (1_375_340_400_000, "1.0")
    }

    /// Returns the customer with a name, and creates one that downloads the app now if there is none.
    mutating func findOrAddCustomer(_ name: String) throws -> SandboxCustomer {
        if let known = customers[name] { return known }
        try ensure((1...128).contains(name.utf8.count), .invalidRequest, "customer: a name must have 1 to 128 bytes")
        let customer = SandboxCustomer(
            name: name, appTransactionId: identifiers.appTransactionId(), downloadDate: now)
        customers[name] = customer
        return customer
    }

    /// Changes a transaction and gives it the next revision.
    mutating func change(_ id: String, _ change: (inout SandboxTransaction) -> Void) {
        guard var transaction = transactions[id] else { return }
        change(&transaction)
        revision += 1
        transaction.revision = revision
        _ = stamp()
        transactions[id] = transaction
    }

    /// Changes a subscription.
    mutating func update(_ id: String, _ change: (inout SandboxSubscription) -> Void) {
        guard var subscription = subscriptions[id] else { return }
        change(&subscription)
        subscriptions[id] = subscription
    }
}

extension String {
    /// The text for a message: at most 80 characters, on one line.
    var quoted: String {
        let shown = unicodeScalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }.joined()
        return "\"\(shown)\(unicodeScalars.count > 80 ? "…" : "")\""
    }
}

extension SandboxEngine {
    /// The properties of a new transaction.
    struct Charge {
        var customer: String
        var product: SandboxProduct
        var quantity: Int32 = 1
        var hasSeats = false
        var offer: SandboxOffer?
        var price: Int64?
        var reason: TransactionReason
        var purchaseDate: Int64
        var expiresDate: Int64?
        var appAccountToken: String?
        var sharedFrom: String?
        var isAssigned = false
    }

    /// Adds a transaction. Without `originalId`, it is the first one of its purchase.
    mutating func record(_ charge: Charge, originalId: String? = nil, originalDate: Int64? = nil) -> SandboxTransaction
    {
        let id = identifiers.transactionId()
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id
        payload.originalTransactionId = originalId ?? id
        payload.bundleId = configuration.bundleId
        payload.productId = charge.product.id
        payload.purchaseDate = charge.purchaseDate
        payload.originalPurchaseDate = originalDate ?? charge.purchaseDate
        payload.quantity = charge.quantity
        payload.type = charge.product.type
        payload.inAppOwnershipType =
            charge.sharedFrom != nil ? .familyShared : charge.isAssigned ? .assigned : .purchased
        payload.environment = configuration.environment
        payload.storefront = configuration.storefront
        payload.storefrontId = configuration.storefrontId
        payload.transactionReason = charge.reason
        payload.appTransactionId = customers[charge.customer]?.appTransactionId
        // The account token is the purchaser's (Reference.md S5.1).
        if charge.sharedFrom == nil { payload.appAccountToken = charge.appAccountToken }
        if charge.hasSeats {
            payload.multiSeatInfo = TransactionMultiSeatInfo {
                $0.invitationManagement = .developer
                $0.priceTiers = priceTiers(charge.price, seats: charge.quantity)
            }
        }
        if let price = charge.price, !charge.isAssigned {
            payload.price = price
            payload.currency = configuration.currency
        }
        if charge.product.type == .autoRenewableSubscription {
            payload.expiresDate = charge.expiresDate
            payload.subscriptionGroupIdentifier = charge.product.group
            payload.webOrderLineItemId = identifiers.webOrderLineItemId()
        }
        if let offer = charge.offer {
            payload.offerType = offer.type
            payload.offerIdentifier = offer.identifier
            payload.offerDiscountType = offer.discountType
            payload.offerPeriod = offer.period.iso8601
        }
        revision += 1
        let transaction = SandboxTransaction(
            payload: payload, customer: charge.customer, orderId: identifiers.orderId(), revision: revision,
            sharedFrom: charge.sharedFrom)
        transactions[id] = transaction
        customers[charge.customer]?.transactionIds.append(id)
        return transaction
    }

    /// All seats of a purchase in one tier; nil without a price.
    private func priceTiers(_ price: Int64?, seats: Int32) -> [SeatPriceTier]? {
        guard let price else { return nil }
        let tier = SeatPriceTier {
            $0.price = price
            $0.quantity = seats
        }
        return [tier]
    }

    /// The end of a period of a product, with or without an offer.
    func end(of product: SandboxProduct, _ offer: SandboxOffer?, from start: Int64) -> Int64 {
        if let offer {
            return configuration.pace.end(of: offer.period, times: offer.periodsPerTransaction, from: start)
        }
        return product.period.map { configuration.pace.end(of: $0, from: start) } ?? start
    }

    /// Begins the next period of a subscription.
    mutating func addPeriod(
        to id: String, _ product: SandboxProduct, offer: SandboxOffer?, price: Int64?, reason: TransactionReason,
        from start: Int64
    ) {
        guard let subscription = subscriptions[id] else { return }
        let expires = end(of: product, offer, from: start)
        let transaction = record(
            Charge(
                customer: subscription.customer, product: product, quantity: subscription.seats?.renewalQuantity ?? 1,
                hasSeats: subscription.seats != nil, offer: offer, price: offer?.price ?? price, reason: reason,
                purchaseDate: start, expiresDate: expires, appAccountToken: subscription.appAccountToken,
                isAssigned: transactions[id]?.payload.inAppOwnershipType == .assigned),
            originalId: id, originalDate: transactions[id]?.payload.originalPurchaseDate)
        update(id) { subscription in
            subscription.transactionId = transaction.id
            subscription.productId = product.id
            subscription.autoRenewProductId = product.id
            subscription.phase = .active
            subscription.expiresDate = expires
            subscription.retryEnds = nil
            subscription.priceIncrease = nil
            // The regular price applies after an offer.
            subscription.renewalPrice = price
            subscription.countTransaction(under: offer)
        }
    }
}

extension SandboxSubscription {
    /// Counts a transaction paid under an offer, and ends the offer after its last transaction.
    mutating func countTransaction(under offer: SandboxOffer?) {
        guard let offer else {
            runningOffer = nil
            return
        }
        let remaining = runningOffer?.offer == offer ? (runningOffer?.remaining ?? 0) - 1 : offer.transactions - 1
        runningOffer = remaining > 0 ? RunningOffer(offer: offer, remaining: remaining) : nil
    }
}

extension SandboxEngine {
    /// Adds an event about a subscription.
    mutating func recordEvent(
        _ type: NotificationTypeV2, _ subtype: Subtype? = nil, subscription id: String, transaction: String? = nil,
        reason: ConsumptionRequestReason? = nil
    ) {
        guard let subscription = subscriptions[id] else { return }
        let date = stamp()
        events.append(
            SandboxEvent(
                uuid: identifiers.uuid(), type: type, subtype: subtype, date: date, customer: subscription.customer,
                transaction: transactions[transaction ?? subscription.transactionId]?.payload,
                renewalInfo: renewalInfo(of: subscription), status: subscription.status,
                consumptionRequestReason: reason))
    }

    /// Adds an event about a transaction, with the renewal information if the transaction belongs to a subscription.
    mutating func recordEvent(
        _ type: NotificationTypeV2, _ subtype: Subtype? = nil, transaction id: String,
        reason: ConsumptionRequestReason? = nil
    ) {
        guard let transaction = transactions[id] else { return }
        if subscriptions[transaction.originalId] != nil {
            return recordEvent(type, subtype, subscription: transaction.originalId, transaction: id, reason: reason)
        }
        let date = stamp()
        events.append(
            SandboxEvent(
                uuid: identifiers.uuid(), type: type, subtype: subtype, date: date, customer: transaction.customer,
                transaction: transaction.payload, consumptionRequestReason: reason))
    }

    /// Adds the event of a test notification: TEST.
    /// - Returns: the identifier of the notification.
    mutating func recordTestEvent() -> String {
        let uuid = identifiers.uuid()
        let date = stamp()
        events.append(SandboxEvent(uuid: uuid, type: .test, subtype: nil, date: date))
        return uuid
    }

    /// The renewal information of a subscription, without `signedDate` (Reference.md S5.2).
    package func renewalInfo(of subscription: SandboxSubscription) -> JWSRenewalInfoDecodedPayload {
        var info = renewalInfoWithoutOffers(of: subscription)
        let offers = eligibleWinBackOffers(of: subscription, with: info).map(\.offerIdentifier)
        // Several products can have an offer with the same identifier.
        let unique = offers.enumerated().filter { !offers[..<$0.offset].contains($0.element) }.map(\.element)
        if !unique.isEmpty { info.eligibleWinBackOfferIds = unique }
        return info
    }

    /// ``renewalInfo(of:)`` without the win-back offers, whose eligibility depends on it.
    func renewalInfoWithoutOffers(of subscription: SandboxSubscription) -> JWSRenewalInfoDecodedPayload {
        var info = JWSRenewalInfoDecodedPayload()
        info.originalTransactionId = subscription.originalTransactionId
        info.autoRenewProductId = subscription.autoRenewProductId
        info.productId = subscription.productId
        info.autoRenewStatus = subscription.isAutoRenewOn ? .on : .off
        info.environment = configuration.environment
        info.recentSubscriptionStartDate = subscription.start
        info.renewalDate = subscription.expiresDate
        info.appTransactionId = customers[subscription.customer]?.appTransactionId
        info.appAccountToken = subscription.appAccountToken
        info.priceIncreaseStatus = subscription.priceIncrease?.status
        if let seats = subscription.seats {
            info.renewalQuantity = seats.renewalQuantity
            info.multiSeatInfo = RenewalMultiSeatInfo {
                $0.renewalPriceTiers = priceTiers(nextPrice(of: subscription), seats: seats.renewalQuantity)
            }
        }
        if let price = nextPrice(of: subscription) {
            info.renewalPrice = price
            info.currency = configuration.currency
        }
        if let next = subscription.runningOffer?.offer {
            info.offerType = next.type
            info.offerIdentifier = next.identifier
            info.offerDiscountType = next.discountType
            info.offerPeriod = next.period.iso8601
        }
        switch subscription.phase {
        case .active: info.isInBillingRetryPeriod = false
        case .gracePeriod(let until):
            info.isInBillingRetryPeriod = true
            info.expirationIntent = .billingError
            info.gracePeriodExpiresDate = until
        case .billingRetry:
            info.isInBillingRetryPeriod = true
            info.expirationIntent = .billingError
        case .expired(let intent):
            info.isInBillingRetryPeriod = false
            info.expirationIntent = intent
        case .revoked:
            info.isInBillingRetryPeriod = false
            // A refund ends renewal as a cancellation does; Apple documents no intent for it.
            info.expirationIntent = .cancelled
        }
        return info
    }

    /// The price of the next renewal: the offer's price, or the regular price without an offer.
    func nextPrice(of subscription: SandboxSubscription) -> Int64? {
        subscription.runningOffer?.offer.price ?? regularPrice(of: subscription)
    }

    /// The price after an increase, else the customer's current price, else the catalog's price.
    func regularPrice(of subscription: SandboxSubscription) -> Int64? {
        if let increase = subscription.priceIncrease { return increase.price }
        if subscription.autoRenewProductId == subscription.productId, let price = subscription.renewalPrice {
            return price
        }
        return catalog[subscription.autoRenewProductId]?.price
    }
}
