package import AppStoreModels
package import ProductCatalog
package import Purchases
package import TransactionStore

/// An open request for consumption information, with the stored data about the purchase and its customer.
package struct ConsumptionCase: Sendable {
    /// Sums of prices by currency, in milliunits: 10.99 is 10990.
    package typealias Amounts = LifetimeAmounts.Amounts

    package let task: ConsumptionTask
    /// The transaction that the customer wants a refund for; nil if the store no longer has it.
    package let transaction: JWSTransactionDecodedPayload?
    /// Whether the consumer of the ledger has acknowledged the purchase; nil without a consumer or an entry.
    package let isDelivered: Bool?
    /// The total price of the customer's purchases in the app, without purchases that a family member shares or an organization
    /// assigned.
    package let lifetimePurchased: Amounts
    /// The refunded part of ``lifetimePurchased``.
    package let lifetimeRefunded: Amounts
    /// The number of the customer's refunded purchases.
    package let refunds: Int

    /// - Parameters:
    ///   - task: the open request.
    ///   - customer: the owner of the transaction.
    ///   - catalog: the catalog of the app: types that documents do not state.
    ///   - acknowledged: the position that the consumer has acknowledged; nil without a consumer.
    package init(_ task: ConsumptionTask, of customer: Customer?, catalog: ProductCatalog?, acknowledged: Int64?) {
        self.task = task
        transaction = customer?.payloadsWithTypes(from: catalog).first { $0.transactionId == task.transactionId }
        isDelivered = acknowledged.flatMap { acknowledged in task.purchasedPosition.map { $0 <= acknowledged } }
        let amounts = customer?.lifetimeAmounts(catalog: catalog) ?? LifetimeAmounts([])
        (lifetimePurchased, lifetimeRefunded, refunds) = (amounts.purchased, amounts.refunded, amounts.refunds)
    }

    /// Whether the deadline for the answer has passed.
    package func isMissed(at date: Int64) -> Bool { task.deadline <= date }

    /// The elapsed part of the period at the time of the request, in percent; nil without an expiry.
    package var elapsedPercentage: Int64? {
        transaction?.elapsedPercentage(at: task.requestedDate)
    }

    /// The open cases of a store, the soonest deadline first.
    ///
    /// - Parameters:
    ///   - store: the store with the requests, the customers and the ledger.
    ///   - scope: the app and the environment; nil for all.
    ///   - consumer: the consumer of the ledger that delivers the content; nil for none.
    ///   - catalog: the catalog of an app; nil if it has none.
    ///   - date: leaves out requests whose deadline is at or before this time, in milliseconds since 1970; nil for all.
    ///     Missed requests stay in the store until they are dismissed, so there can be many.
    /// - Throws: `TransactionStoreError`; ``ConsumptionProblem`` if the ledger has no such consumer.
    package static func all(
        in store: any TransactionStore & ConsumptionTasks & DeliveryLedger, scope: StoreScope? = nil, consumer: String?,
        catalog: @Sendable (StoreScope) -> ProductCatalog?, openAt date: Int64? = nil
    ) async throws -> [ConsumptionCase] {
        var acknowledged: Int64?
        if let consumer {
            guard let known = try await store.consumers().first(where: { $0.name == consumer }) else {
                throw ConsumptionProblem(message: "The ledger has no consumer \(Printable.text(consumer)).")
            }
            acknowledged = known.position
        }
        let tasks: [ConsumptionTask]
        if let date {
            tasks = try await store.answerableConsumptionTasks(at: date)
        } else {
            tasks = try await store.allOpenConsumptionTasks()
        }
        var cases: [ConsumptionCase] = []
        for task in tasks where scope == nil || task.scope == scope {
            let identity = CustomerIdentity(.originalTransactionId, task.originalTransactionId)
            let customer: Customer?
            do {
                customer = try await store.customer([identity], in: task.scope)
            } catch let error as TransactionStoreError where error.code == .corrupt {
                // One customer who cannot be read must not keep the answers to others from being sent.
                customer = nil
            }
            cases.append(
                ConsumptionCase(task, of: customer, catalog: catalog(task.scope), acknowledged: acknowledged))
        }
        return cases
    }
}
