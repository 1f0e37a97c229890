internal import AppStoreModels

extension SandboxEngine {
    /// The customer with a name.
    /// - Throws: ``SandboxError``, `unknownCustomer`.
    public func customer(_ name: String) throws -> SandboxCustomer {
        guard let customer = customers[name] else {
            throw SandboxError(.unknownCustomer, "there is no customer \(name.quoted)")
        }
        return customer
    }

    /// The transaction with an id.
    /// - Throws: ``SandboxError``, `unknownTransaction`.
    public func transaction(_ id: String) throws -> SandboxTransaction {
        guard let transaction = transactions[id] else {
            throw SandboxError(.unknownTransaction, "there is no transaction \(id.quoted)")
        }
        return transaction
    }

    /// The subscription with an original transaction id.
    /// - Throws: ``SandboxError``, `unknownSubscription`.
    public func subscription(_ id: String) throws -> SandboxSubscription {
        guard let subscription = subscriptions[id] else {
            throw SandboxError(.unknownSubscription, "there is no subscription \(id.quoted)")
        }
        return subscription
    }

    /// The product with an identifier, for sale or not.
    /// - Throws: ``SandboxError``, `unknownProduct`.
    public func product(_ id: String) throws -> SandboxProduct {
        guard let product = catalog[id] else {
            throw SandboxError(.unknownProduct, "there is no product \(id.quoted)")
        }
        return product
    }

    /// The customer whom any id means that the App Store Server API takes: a transaction id, an original transaction id,
    /// an app transaction id.
    public func customer(anyTransactionId id: String) -> SandboxCustomer? {
        if let transaction = transactions[id] { return customers[transaction.customer] }
        return customers.values.first { $0.appTransactionId == id }
    }

    /// A customer's transactions in the order of purchase.
    public func transactions(of customer: SandboxCustomer) -> [SandboxTransaction] {
        customer.transactionIds.compactMap { transactions[$0] }
    }

    /// A customer's subscriptions by original transaction id, copies of the family's included.
    public func subscriptions(of customer: SandboxCustomer) -> [SandboxSubscription] {
        customer.transactionIds.compactMap { subscriptions[$0] }
    }

    /// The download of the app by a customer.
    func appTransaction(of customer: SandboxCustomer) -> AppTransaction {
        let isProduction = configuration.environment == .production
        let (date, version) = download(of: customer)
        return AppTransaction(
            receiptType: configuration.environment, appAppleId: isProduction ? configuration.appAppleId : nil,
            bundleId: configuration.bundleId, originalPurchaseDate: date, originalApplicationVersion: version,
            appTransactionId: customer.appTransactionId, originalPlatform: .iOS)
    }

    /// When a customer downloaded the app, and which version, as receipts and app transactions state it. In the sandbox,
    /// Apple states 2013-08-01 07:00 UTC and 1.0 for everybody (Reference.md V3.2).
    func download(of customer: SandboxCustomer) -> (date: Int64, version: String) {
        configuration.environment == .production
            ? (customer.downloadDate, configuration.bundleVersion) : (1_375_340_400_000, "1.0")
    }

    /// Someone who downloads the app, or who has done so already.
    mutating func arrive(_ name: String) throws -> SandboxCustomer {
        if let known = customers[name] { return known }
        guard (1...128).contains(name.utf8.count) else {
            throw SandboxError(.invalidRequest, "customer: a name has to have 1 to 128 bytes")
        }
        let customer = SandboxCustomer(
            name: name, appTransactionId: identifiers.appTransactionId(), downloadDate: now)
        customers[name] = customer
        return customer
    }

    /// Changes a transaction and counts the change.
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
    /// What somebody wrote, short and on one line, for a message.
    var quoted: String {
        let shown = unicodeScalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }.joined()
        return "\"\(shown)\(unicodeScalars.count > 80 ? "…" : "")\""
    }
}
