internal import AppStoreModels

/// What the control API has done, and how to say it once the time has passed that it asked for.
struct ControlOutcome {
    /// A date to which the clock is put forward first.
    var advancesTo: Int64?
    /// Writes the answer from the state afterwards.
    var answer: (SandboxState) throws -> APIResponse

    init(advancesTo: Int64? = nil, _ write: @escaping (inout JSONWriter, SandboxState) throws -> Void) {
        self.advancesTo = advancesTo
        answer = { state in
            var writer = JSONWriter(reservingCapacity: 4_096)
            writer.beginObject()
            // What was signed last may be ahead of a clock that stands still.
            writer.member("now", state.signingDate)
            try write(&writer, state)
            writer.endObject()
            return APIResponse(status: 200, body: writer.finish())
        }
    }

    /// The answer is a transaction, and its subscription if it has one.
    static func transaction(_ id: String, advancesTo: Int64? = nil) -> ControlOutcome {
        ControlOutcome(advancesTo: advancesTo) { writer, state in try writer.purchase(id, state) }
    }

    /// The answer is a subscription with its latest transaction.
    static func subscription(_ id: String, advancesTo: Int64? = nil) -> ControlOutcome {
        ControlOutcome(advancesTo: advancesTo) { writer, state in
            try writer.purchase(try state.engine.subscription(id).transactionId, state)
        }
    }
}

extension SandboxError {
    /// The error as the control API says it.
    var response: APIResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("error", code.rawValue)
        writer.member("message", message)
        writer.endObject()
        let status =
            switch code {
            case .invalidRequest, .invalidCatalog: 400
            case .unknownProduct, .unknownCustomer, .unknownTransaction, .unknownSubscription, .unknownOffer: 404
            case .alreadyOwned, .notPossible, .notEligible, .invalidSignature: 409
            }
        return APIResponse(status: status, body: writer.finish())
    }
}

extension JSONWriter {
    /// A transaction as plain JSON and as JWS, and the state of its subscription.
    mutating func purchase(_ id: String, _ state: SandboxState) throws {
        let transaction = try state.engine.transaction(id)
        member("transactionId", transaction.id)
        member("originalTransactionId", transaction.originalId)
        member("customer", transaction.customer)
        member("orderId", transaction.orderId)
        member("isFinished", transaction.isFinished)
        member("transaction", transaction.payload)
        member("signedTransactionInfo", try state.sign(transaction))
        if let information = transaction.consumptionInformation {
            key("consumptionInformation")
            raw(information)
        }
        guard let subscription = state.engine.subscriptions[transaction.originalId] else { return }
        let info = state.engine.renewalInfo(of: subscription)
        member("status", subscription.status.rawValue)
        member("renewalInfo", info)
        member("signedRenewalInfo", try state.signer.sign(info, at: state.signingDate))
        member("nextEvent", subscription.dueDate)
    }
}
