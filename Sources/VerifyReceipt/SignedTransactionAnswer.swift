internal import AppStoreModels
internal import Purchases

extension VerifyReceiptRequest {
    /// Whether the text has the form of a JWS in compact serialization (RFC 7515, 7.1): three parts in the URL-safe
    /// alphabet. The first part begins with the base64 of `{"`. The base64 of a receipt never contains a period.
    var isSignedTransaction: Bool {
        guard receiptText.starts(with: "eyJ".utf8) else { return false }
        var stops = 0
        for byte in receiptText {
            if byte == UInt8(ascii: ".") {
                stops += 1
            } else if !byte.isASCIIAlphanumeric, byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_") {
                return false
            }
        }
        return stops == 2
    }
}

extension VerifyReceiptEndpoint {
    /// Answers a StoreKit 2 JWS if that is enabled (``EndpointConfiguration/answersSignedTransactions``).
    func answer(
        signedTransaction request: VerifyReceiptRequest, _ exchange: Exchange
    ) async throws -> VerifyReceiptReply {
        guard configuration.answersSignedTransactions, let verifier = configuration.signedTransactionVerifier else {
            throw Refusal(.signedTransactionNotAnswered, "receipt-data is a JWS.")
        }
        let payload = try await genuineTransaction(request.receiptText, verifier, exchange)
        let app = try configuredApp(payload.bundleId, appleId: nil)
        let password = passwordCheck(request, app)
        try password.check(hasAutoRenewable: payload.isSubscription)
        let fact = TransactionFact(payload, source: .signedTransaction)
        let context = try await context(
            of: Self.facts(fact), excludesOldTransactions: request.excludesOldTransactions, app, exchange)
        let reply = SignedTransactionReply(
            payload: payload, origin: fact.origin, text: request.receiptText, context: context
        ).reply()
        try password.check(hasAutoRenewable: reply.showsSubscriptions)
        exchange.facts.transactionsFromStore = reply.transactionsFromStore
        return VerifyReceiptReply(status: 0, body: reply.body, facts: exchange.facts)
    }

    /// The payload of a genuine JWS of the endpoint's environment; the facts of the exchange name it.
    /// - Throws: ``Refusal``
    func genuineTransaction(
        _ text: ArraySlice<UInt8>, _ verifier: any SignedTransactionVerifying, _ exchange: Exchange
    ) async throws -> JWSTransactionDecodedPayload {
        guard text.count <= configuration.limits.maximumSize else {
            throw Refusal(.receiptTooLarge, "The JWS has \(text.count) bytes.")
        }
        let jws = Array(text)
        exchange.facts.receiptName = Self.name(jws)
        let payload = try await verifiedPayload(jws, verifier, exchange)
        exchange.facts.bundleId = payload.bundleId
        exchange.facts.isConfiguredApp = payload.bundleId.map(hasConfigured) ?? false
        let environment: EndpointEnvironment = payload.environment == .production ? .production : .sandbox
        // Not Xcode, as for receipts.
        if payload.environment == .sandbox, answersSandboxAtProduction(payload.bundleId) {
            exchange.environment = .sandbox
        }
        guard environment == exchange.environment else {
            throw environment == .sandbox
                ? Refusal(.sandboxAtProduction, "A sandbox transaction was sent to production.")
                : Refusal(.productionAtSandbox, "A production transaction was sent to the sandbox.")
        }
        return payload
    }

    private func verifiedPayload(
        _ jws: [UInt8], _ verifier: any SignedTransactionVerifying, _ exchange: Exchange
    ) async throws -> JWSTransactionDecodedPayload {
        let started = ContinuousClock.now
        defer { exchange.facts.verificationNanoseconds = started.duration(to: .now).wholeNanoseconds }
        do {
            return try await verifier.verifiedTransaction(jws, now: exchange.now).payload
        } catch let failure as BackendFailure {
            throw Refusal(failure)
        } catch {
            throw Refusal(.notGenuine, "The JWS is not genuine: \(error)")
        }
    }

    /// Nil if the store has no key to store the transaction under.
    static func facts(_ fact: TransactionFact) -> FactSet? {
        let payload = fact.payload
        guard let environment = payload.environment, environment == .production || environment == .sandbox,
            let bundleId = payload.bundleId, !bundleId.isEmpty
        else { return nil }
        let facts = FactSet(
            scope: StoreScope(environment: environment, bundleId: bundleId),
            transactions: [fact])
        return facts.identities.isEmpty ? nil : facts
    }
}
