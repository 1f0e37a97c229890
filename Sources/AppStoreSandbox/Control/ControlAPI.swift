internal import AppStoreModels
internal import Encodings
internal import Foundation
internal import ProductCatalog
internal import ReceiptForge

extension SandboxState {
    /// Answers a request of the control API, whose path is relative to `/sandbox/v1`.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - clock: the mode of the sandbox's clock.
    ///   - wallClock: the real time, for the age of offer signatures; milliseconds since 1970.
    mutating func control(
        _ request: APIRequest, clock: SandboxClock.Mode, wallClock: Int64
    ) throws -> ControlOutcome {
        let path = request.path
        let body = try ControlRequest(request.body)
        switch (request.method, path.first, path.count) {
        case ("POST", "purchases"?, 1):
            return .transaction(try engine.buy(try body.order(wallClock: wallClock), at: now).id)
        case ("POST", "subscriptions"?, 3): return try changeSubscription(path[1], path[2], body)
        case ("GET", "subscriptions"?, 2): return .subscription(try engine.subscription(path[1]).originalTransactionId)
        case ("POST", "transactions"?, 3): return try changeTransaction(path[1], path[2], body)
        case ("GET", "transactions"?, 2): return .transaction(try engine.transaction(path[1]).id)
        case ("GET", "transactions"?, 3) where path[2] == "receipt":
            let bytes = try SandboxReceipts(engine: engine).transactionReceipt(of: try engine.transaction(path[1]))
            return receipt(bytes)
        case ("GET", "customers"?, 3) where path[2] == "receipt":
            return receipt(try SandboxReceipts(engine: engine).appReceipt(of: try engine.customer(path[1])))
        case ("GET", "customers"?, 2): return try customer(path[1])
        case ("POST", "families"?, 1):
            try engine.makeFamily(try body.texts("members"), at: now)
            return ControlOutcome { _, _ in }
        case ("POST", "families"?, 2) where path[1] == "leave":
            try engine.leaveFamily(try body.text("customer"), at: now)
            return ControlOutcome { _, _ in }
        case ("GET", "products"?, 1): return products()
        case ("POST", "products"?, 3): return try changeProduct(path[1], path[2], body)
        case ("GET", "clock"?, 1): return clockOutcome(nil, clock)
        case ("POST", "clock"?, 1): return clockOutcome(try date(body), clock)
        case ("GET", "notifications"?, 1): return notifications()
        case ("PUT", "notifications"?, 2) where path[1] == "url":
            notificationURL = try Self.url(try body.optionalText("url"))
            return ControlOutcome { writer, state in writer.member("url", state.notificationURL) }
        case ("GET", "faults"?, 1): return showFaults()
        case ("POST", "faults"?, 1):
            faults.add(try body.fault())
            return showFaults()
        case ("DELETE", "faults"?, 1):
            faults.removeAll()
            return showFaults()
        case ("GET", "trust"?, 1): return try trust()
        default:
            throw SandboxError(
                .invalidRequest, "there is no \(request.method) /sandbox/v1/\(path.joined(separator: "/"))")
        }
    }

    private mutating func changeSubscription(_ id: String, _ action: String, _ body: ControlRequest) throws
        -> ControlOutcome
    {
        switch action {
        case "cancel": try engine.cancel(id, at: now)
        case "enable": try engine.enableAutoRenewal(id, at: now)
        case "change": _ = try engine.changePlan(id, to: try body.text("productId"), at: now)
        case "fail-billing": try engine.failBilling(id, at: now)
        case "recover-billing": try engine.recoverBilling(id, at: now)
        case "answer-price-increase":
            try engine.answerPriceIncrease(id, accepted: try body.bool("accepted", default: true), at: now)
        case "add-seats": return .transaction(try engine.addSeats(try body.seats(), to: id, at: now).id)
        case "remove-seats": try engine.removeSeats(try body.seats(), from: id, at: now)
        case "unclaim-seats": try engine.unclaimSeats(try body.texts("claims"), of: id, at: now)
        case "renew":
            let due = try required(
                engine.subscription(id).dueDate, .notPossible, "nothing is due for the subscription \(id.quoted)")
            return .subscription(id, advancesTo: due)
        default:
            throw SandboxError(
                .invalidRequest,
                "\(action.quoted): must be cancel, enable, change, fail-billing, recover-billing, "
                    + "answer-price-increase, renew, add-seats, remove-seats or unclaim-seats")
        }
        return .subscription(id)
    }

    private mutating func changeTransaction(_ id: String, _ action: String, _ body: ControlRequest) throws
        -> ControlOutcome
    {
        switch action {
        case "refund":
            let percentage = try body.optionalInteger("percentage").map { Int32(clamping: $0) }
            let reason = RevocationReason(rawValue: Int32(clamping: try body.optionalInteger("reason") ?? 0))
            try engine.refund(id, percentage: percentage, reason: reason, at: now)
        case "refund-seats": try engine.refundSeats(try body.seats(), of: id, at: now)
        case "request-refund":
            let reason = ConsumptionRequestReason(rawValue: try body.optionalText("reason") ?? "OTHER")
            guard reason.isKnown else {
                let known = ConsumptionRequestReason.knownValues.map(\.rawValue).joined(separator: ", ")
                throw SandboxError(.invalidRequest, "reason: must be one of \(known)")
            }
            try engine.requestRefund(id, reason: reason, at: now)
        case "decline-refund": try engine.declineRefund(id, at: now)
        case "reverse-refund": try engine.reverseRefund(id, at: now)
        case "finish": engine.finish(try engine.transaction(id).id)
        default:
            throw SandboxError(
                .invalidRequest,
                "\(action.quoted): must be refund, refund-seats, request-refund, decline-refund, reverse-refund or finish"
            )
        }
        return .transaction(id)
    }

    private mutating func changeProduct(_ id: String, _ action: String, _ body: ControlRequest) throws -> ControlOutcome
    {
        switch action {
        case "price":
            let price = try body.integer("price")
            try engine.setPrice(id, price, needsConsent: try body.bool("needsConsent", default: true), at: now)
        case "sale": try engine.setForSale(id, try body.bool("isForSale", default: true), at: now)
        default: throw SandboxError(.invalidRequest, "\(action.quoted): must be price or sale")
        }
        return ControlOutcome { _, _ in }
    }

    /// The new date of the clock: `to` a date, `advance` by milliseconds or by a period at the sandbox's pace, or
    /// `toNextEvent`.
    private func date(_ body: ControlRequest) throws -> Int64 {
        let date = try requestedDate(body)
        try ensure(date <= Self.lastDate, .invalidRequest, "the clock ends at \(Self.lastDate)")
        return date
    }

    /// 2100-01-01: long after the test certificates end, and far from overflow.
    private static let lastDate: Int64 = 4_102_444_800_000

    private func requestedDate(_ body: ControlRequest) throws -> Int64 {
        if let date = try body.optionalInteger("to") {
            try ensure(date >= now, .invalidRequest, "to: the clock does not go back")
            return date
        }
        if body.fields["advance"]?.integer != nil {
            guard let span = try body.optionalInteger("advance"), span >= 0 else {
                throw SandboxError(.invalidRequest, "advance: the clock does not go back")
            }
            return now.addingSaturated(span)
        }
        if let text = try body.optionalText("advance") {
            let period = try required(
                SubscriptionPeriod(iso8601: text), .invalidRequest,
                "advance: must be milliseconds or a period like P1M")
            return configuration.pace.end(of: period, from: now)
        }
        try ensure(body.bool("toNextEvent", default: false), .invalidRequest, "advance, to or toNextEvent: missing")
        return try required(nextDueDate, .notPossible, "nothing is due")
    }

    static func url(_ text: String?) throws -> String? {
        guard let text else { return nil }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.host != nil else {
            throw SandboxError(.invalidRequest, "url: must be http:// or https:// with a host")
        }
        return text
    }

    // MARK: Answers

    func receipt(_ bytes: [UInt8]) -> ControlOutcome {
        let text = Base64.encode(bytes)
        return ControlOutcome { writer, _ in writer.member("receipt-data", text) }
    }

    func customer(_ name: String) throws -> ControlOutcome {
        _ = try engine.customer(name)
        return ControlOutcome { writer, state in
            let customer = try state.engine.customer(name)
            writer.member("customer", name)
            writer.member("appTransactionId", customer.appTransactionId)
            writer.member(
                "signedAppTransactionInfo",
                try state.signer.sign(state.engine.appTransaction(of: customer), at: state.signingDate))
            try writer.objects("purchases", customer.transactionIds) { writer, id in
                try writer.purchase(id, state)
            }
        }
    }

    func products() -> ControlOutcome {
        ControlOutcome { writer, state in
            writer.objects("products", state.engine.catalog.products.values.sorted(by: { $0.id < $1.id })) {
                writer, product in
                writer.member("productId", product.id)
                writer.member("type", product.type)
                writer.member("period", product.period?.iso8601)
                writer.member("subscriptionGroupIdentifier", product.group)
                writer.member("price", product.price)
                writer.member("isForSale", product.isForSale)
                writer.member("offers", product.offers.map { $0.identifier ?? "introductory" })
            }
        }
    }

    func clockOutcome(_ date: Int64?, _ mode: SandboxClock.Mode) -> ControlOutcome {
        ControlOutcome(advancesTo: date) { writer, state in
            writer.member("clock", mode.rawValue)
            writer.member("nextEvent", state.nextDueDate)
        }
    }

    func notifications() -> ControlOutcome {
        ControlOutcome { writer, state in
            writer.member("url", state.notificationURL)
            writer.objects("notifications", state.log.notifications) { writer, notification in
                writer.member("notificationUUID", notification.uuid)
                writer.member("notificationType", notification.type)
                writer.member("subtype", notification.subtype)
                writer.member("signedDate", notification.signedDate)
                writer.member("customer", notification.customer)
                writer.member("sendAttemptResults", notification.attempts.compactMap(\.sendAttemptResult?.rawValue))
                writer.member("nextAttempt", notification.nextAttempt)
                writer.member("signedPayload", notification.signedPayload)
            }
        }
    }

    func showFaults() -> ControlOutcome {
        ControlOutcome { writer, state in
            writer.objects("faults", state.faults.entries) { writer, entry in
                writer.member("kind", entry.fault.kind.rawValue)
                writer.member("path", entry.fault.path)
                writer.member("left", entry.left)
                writer.member("met", entry.met)
                writer.member("hanging", entry.hanging)
            }
        }
    }

    func trust() throws -> ControlOutcome {
        let roots = try SandboxRoots()
        return ControlOutcome { writer, _ in
            writer.member("signedDataRoot", roots.signedData)
            writer.member("receiptRoot", roots.receipts)
            writer.member("transactionReceiptIntermediate", roots.transactionReceiptIntermediate)
        }
    }
}

/// The result of a control request. The answer is written after the clock has advanced.
struct ControlOutcome {
    /// A date to which the clock advances first.
    var advancesTo: Int64?
    /// Writes the answer from the state afterwards.
    var answer: (SandboxState) throws -> APIResponse

    init(advancesTo: Int64? = nil, _ write: @escaping (inout JSONWriter, SandboxState) throws -> Void) {
        self.advancesTo = advancesTo
        answer = { state in
            let body = try JSONWriter.object(reservingCapacity: 4_096) { writer in
                // The newest signature can be later than a clock that stands still.
                writer.member("now", state.signingDate)
                try write(&writer, state)
            }
            return APIResponse(status: 200, body: body)
        }
    }

    /// The answer is a transaction, and its subscription if it has one.
    static func transaction(_ id: String) -> ControlOutcome {
        ControlOutcome { writer, state in try writer.purchase(id, state) }
    }

    /// The answer is a subscription with its latest transaction.
    static func subscription(_ id: String, advancesTo: Int64? = nil) -> ControlOutcome {
        ControlOutcome(advancesTo: advancesTo) { writer, state in
            try writer.purchase(try state.engine.subscription(id).transactionId, state)
        }
    }
}

extension SandboxError {
    /// The answer of the control API.
    var response: APIResponse {
        let body = JSONWriter.object {
            $0.member("error", code.rawValue)
            $0.member("message", message)
        }
        let status =
            switch code {
            case .invalidRequest, .invalidCatalog: 400
            case .unknownProduct, .unknownCustomer, .unknownTransaction, .unknownSubscription, .unknownOffer: 404
            case .alreadyOwned, .notPossible, .notEligible, .invalidSignature: 409
            }
        return APIResponse(status: status, body: body)
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
