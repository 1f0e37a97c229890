internal import ProductCatalog
internal import Purchases

/// The request, the configuration and the customer that a reply is about. A class, because a customer is large, and each part
/// of the reply needs it.
final class ReplyContext: Sendable {
    let endpoint: VerifyReceiptEndpoint
    let environment: EndpointEnvironment
    /// Milliseconds since 1970-01-01T00:00:00Z.
    let now: Int64
    let excludesOldTransactions: Bool
    let app: ConfiguredApp?
    /// The store's data; nil if the store contributes nothing.
    let known: Customer?
    /// The store's data with the submitted document.
    let customer: Customer?

    init(
        endpoint: VerifyReceiptEndpoint, environment: EndpointEnvironment, now: Int64, excludesOldTransactions: Bool,
        app: ConfiguredApp?, known: Customer?, customer: Customer?
    ) {
        self.endpoint = endpoint
        self.environment = environment
        self.now = now
        self.excludesOldTransactions = excludesOldTransactions
        self.app = app
        self.known = known
        self.customer = customer
    }

    var recordedFacts: EndpointConfiguration.RecordedFacts { endpoint.configuration.recordedFacts }
    var presumed: EndpointConfiguration.PresumedMembers { endpoint.configuration.presumedMembers }
    var catalog: ProductCatalog? { app?.catalog }
}

extension VerifyReceiptEndpoint {
    /// The context of the reply to a submission, with data as current as the app's ``Freshness`` requires.
    ///
    /// - Parameters:
    ///   - facts: the facts of the submission; nil if a store cannot keep it.
    ///   - isTransactionReceipt: whether the submission is a transaction receipt.
    ///   - excludesOldTransactions: `exclude-old-transactions` of the request.
    ///   - app: the configuration of the app; nil for an app without one.
    ///   - exchange: the request.
    /// - Throws: ``Refusal``
    func context(
        of facts: FactSet?, isTransactionReceipt: Bool = false, excludesOldTransactions: Bool = false,
        _ app: ConfiguredApp?, _ exchange: Exchange
    ) async throws -> ReplyContext {
        let known = try await currentKnowledge(of: facts, isTransactionReceipt: isTransactionReceipt, app, exchange)
        return ReplyContext(
            endpoint: self, environment: exchange.environment, now: exchange.now,
            excludesOldTransactions: excludesOldTransactions, app: app, known: known,
            customer: facts.flatMap { known?.adding($0) })
    }
}
