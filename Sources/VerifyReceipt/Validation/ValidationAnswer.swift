internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases

// The validator protocol of cordova-plugin-purchase. Documents are verified, stored and refreshed as for verifyReceipt. A request
// has no password, so an app answers only if it is configured so.

extension VerifyReceiptEndpoint {
    /// Whether an app answers validations (``AppConfiguration/answersValidations``).
    public var answersValidations: Bool { configuration.apps.contains(where: \.answersValidations) }

    /// The answer to a request of cordova-plugin-purchase. Every failure is an answer with `ok: false`.
    ///
    /// - Parameters:
    ///   - body: the request's body. Only the size of the receipt is limited here.
    ///   - environment: the endpoint that received the request.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func validate(_ body: [UInt8], at environment: EndpointEnvironment, now: Int64) async -> ValidationReply {
        let exchange = Exchange(environment: environment, now: now)
        do {
            return try await validation(body, exchange)
        } catch let failure as ValidationFailure {
            return failure.reply(exchange.facts)
        } catch let refusal as Refusal {
            return ValidationFailure(refusal).reply(exchange.facts)
        } catch {
            let reason = "Unexpected failure: \(type(of: error))."
            return ValidationFailure(.internalFailure, "Unexpected failure.", reason: reason).reply(exchange.facts)
        }
    }

    /// The answer when there is no room for the request.
    public static let validationUnavailable = ValidationFailure(
        .temporary, StatusTable.row(.queueFull).meaning + ".",
        reason: "The server is too busy for the request. Send it again."
    ).reply()

    private func validation(_ body: [UInt8], _ exchange: Exchange) async throws -> ValidationReply {
        let request = try ValidateRequest.read(body)
        switch request.document {
        case .receipt(let text):
            let submission = try genuineSubmission(text, exchange)
            let app = try validatedApp(submission.receipt.payload.bundleId, request)
            _ = try configuredApp(of: submission.receipt.payload, exchange)
            switch submission.receipt.payload {
            case .app(let receipt): return try await validation(receipt, submission, request, app, exchange)
            case .transaction(let receipt): return try await validation(receipt, submission, request, app, exchange)
            }
        case .signedTransaction(let text):
            guard let verifier = configuration.signedTransactionVerifier else {
                throw Refusal(.signedTransactionNotAnswered, "The server has no verifier for JWS.")
            }
            let payload = try await genuineTransaction(text, verifier, exchange)
            let app = try validatedApp(payload.bundleId, request)
            return try await validation(payload, request, app, exchange)
        }
    }

    /// The app of a genuine document, if it answers validations and the request is about it.
    /// - Throws: ``ValidationFailure``
    private func validatedApp(_ bundleId: String?, _ request: ValidateRequest) throws -> ConfiguredApp {
        guard let bundleId, let app = configured(bundleId), app.answersValidations else {
            throw ValidationFailure(.off, "Validation is not enabled for this app.")
        }
        guard request.type != .application || request.id == bundleId else {
            throw ValidationFailure(.invalidProductId, "The id is not the bundle id of the receipt.")
        }
        return app
    }

    private func validation(
        _ receipt: AppReceipt, _ submission: Submission, _ request: ValidateRequest, _ app: ConfiguredApp,
        _ exchange: Exchange
    ) async throws -> ValidationReply {
        let context = try await context(of: submission.facts, app, exchange)
        let reply = AppReceiptReply(receipt, submission, context)
        let alone = submission.entry.factsWithoutStore
        return try answer(request, receipt.bundleId, reply.latest, context, alone: alone, exchange) { writer in
            writer.member("type", ValidateRequest.receiptType)
            reply.writeReceiptMembers(to: &writer)
        }
    }

    private func validation(
        _ receipt: TransactionReceipt, _ submission: Submission, _ request: ValidateRequest, _ app: ConfiguredApp,
        _ exchange: Exchange
    ) async throws -> ValidationReply {
        let context = try await context(of: submission.facts, isTransactionReceipt: true, app, exchange)
        let latest = LatestTransactions([TransactionEntry(receipt)], context)
        let alone = submission.entry.factsWithoutStore
        return try answer(request, receipt.bundleId, latest, context, alone: alone, exchange) { writer in
            writer.member("type", ValidateRequest.receiptType)
            writer.purchaseInfoMembers(receipt)
        }
    }

    private func validation(
        _ payload: JWSTransactionDecodedPayload, _ request: ValidateRequest, _ app: ConfiguredApp, _ exchange: Exchange
    ) async throws -> ValidationReply {
        let fact = TransactionFact(payload, source: .signedTransaction)
        let facts = Self.facts(fact)
        let context = try await context(of: facts, app, exchange)
        let latest = LatestTransactions([TransactionEntry(StoredTransaction(payload, origin: fact.origin))], context)
        return try answer(request, payload.bundleId, latest, context, alone: facts, exchange) { writer in
            writer.member("type", ValidateRequest.signedTransactionType)
            writer.member("transactionId", payload.transactionId)
            writer.member("originalTransactionId", payload.originalTransactionId)
            writer.member("bundleId", payload.bundleId)
            writer.member("productId", payload.productId)
            writer.member("environment", payload.environment?.rawValue)
        }
    }

    /// The answer with the purchases: those of the customer, or of the document alone if the store contributes nothing. The
    /// closure writes the members of `transaction`.
    /// - Throws: ``ValidationFailure``
    private func answer(
        _ request: ValidateRequest, _ bundleId: String?, _ latest: LatestTransactions, _ context: ReplyContext,
        alone: FactSet?, _ exchange: Exchange, transaction: (inout JSONWriter) -> Void
    ) throws -> ValidationReply {
        exchange.facts.transactionsFromStore = latest.storeOnlyCount
        let customer = context.customer == nil ? alone.flatMap { Customer(resolving: [$0]) } : nil
        let purchases = ValidatedPurchases(latest, context, alone: customer)
        let warning = exchange.fallbackWarning
        let usesLatestReceipt = warning == nil && (exchange.facts.source ?? .receipt) != .receipt
        if request.id != bundleId, var failure = purchases.failure(of: request) {
            // The unread data may have the purchase or its renewal.
            if let warning { throw ValidationFailure(.temporary, warning, reason: "\(failure.reason) \(warning)") }
            failure.usesLatestReceipt = usesLatestReceipt
            throw failure
        }
        let body = JSONWriter.object(reservingCapacity: 4_096) { writer in
            writer.member("ok", true)
            writer.object("data") { writer in
                writer.member("id", request.id)
                writer.member("latest_receipt", usesLatestReceipt)
                writer.object("transaction", transaction)
                purchases.write(to: &writer)
                writer.key("date")
                writer.iso8601(exchange.now)
                writer.member("warning", warning)
            }
        }
        return ValidationReply(httpStatus: 200, code: 0, body: body, facts: exchange.facts)
    }
}

extension ValidatedPurchases {
    /// The failure of a request about a product; nil if the product was bought and its subscription is not over.
    fileprivate func failure(of request: ValidateRequest) -> ValidationFailure? {
        guard contains(request.id) else {
            return ValidationFailure(.invalidProductId, "The customer has no purchase of this product.")
        }
        guard request.type == .paidSubscription, isOver(request.id) else { return nil }
        return ValidationFailure(.subscriptionExpired, "The subscription is over.")
    }
}

extension Exchange {
    /// The data that the answer lacks because a source could not be used; nil if no data is missing.
    fileprivate var fallbackWarning: String? {
        if facts.storeFailed, facts.source == .receipt {
            return "The store could not be read: only the submitted document was used."
        }
        return facts.appStoreFailed
            ? "The App Store could not be queried: the purchases are as they were last known." : nil
    }
}
