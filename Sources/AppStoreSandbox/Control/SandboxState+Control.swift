internal import AppStoreModels
internal import Foundation
internal import ProductCatalog
internal import ReceiptForge

extension SandboxState {
    /// Answers a request of the control API; the path is what follows `/sandbox/v1`.
    ///
    /// - Parameter wallClock: against which the age of offers' signatures is judged; milliseconds since 1970.
    mutating func control(
        _ request: APIRequest, clock: SandboxClock.Mode, wallClock: Int64
    ) throws -> ControlOutcome {
        let path = request.path
        let body = try ControlRequest(request.body)
        switch (request.method, path.first, path.count) {
        case ("POST", "purchases"?, 1):
            let bought = try engine.buy(try body.order(wallClock: wallClock), at: now)
            try collectEvents()
            return .transaction(bought.id)
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
            try collectEvents()
            return ControlOutcome { _, _ in }
        case ("POST", "families"?, 2) where path[1] == "leave":
            try engine.leaveFamily(try body.text("customer"), at: now)
            try collectEvents()
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
        case "add-seats":
            let added = try engine.addSeats(try body.seats(), to: id, at: now)
            try collectEvents()
            return .transaction(added.id)
        case "remove-seats": try engine.removeSeats(try body.seats(), from: id, at: now)
        case "unclaim-seats": try engine.unclaimSeats(try body.texts("claims"), of: id, at: now)
        case "renew":
            guard let due = try engine.subscription(id).dueDate else {
                throw SandboxError(.notPossible, "nothing is due for the subscription \(id.quoted)")
            }
            return .subscription(id, advancesTo: due)
        default:
            throw SandboxError(
                .invalidRequest,
                "\(action.quoted): has to be cancel, enable, change, fail-billing, recover-billing, "
                    + "answer-price-increase, renew, add-seats, remove-seats or unclaim-seats")
        }
        try collectEvents()
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
                throw SandboxError(.invalidRequest, "reason: has to be one of \(known)")
            }
            try engine.requestRefund(id, reason: reason, at: now)
        case "decline-refund": try engine.declineRefund(id, at: now)
        case "reverse-refund": try engine.reverseRefund(id, at: now)
        case "finish": engine.finish(try engine.transaction(id).id)
        default:
            throw SandboxError(
                .invalidRequest,
                "\(action.quoted): has to be refund, refund-seats, request-refund, decline-refund, reverse-refund or finish"
            )
        }
        try collectEvents()
        return .transaction(id)
    }

    private mutating func changeProduct(_ id: String, _ action: String, _ body: ControlRequest) throws -> ControlOutcome
    {
        switch action {
        case "price":
            guard let price = try body.optionalInteger("price") else {
                throw SandboxError(.invalidRequest, "price: missing")
            }
            try engine.setPrice(id, price, needsConsent: try body.bool("needsConsent", default: true), at: now)
        case "sale": try engine.setForSale(id, try body.bool("isForSale", default: true), at: now)
        default: throw SandboxError(.invalidRequest, "\(action.quoted): has to be price or sale")
        }
        try collectEvents()
        return ControlOutcome { _, _ in }
    }

    /// Where the clock is to go: `to` a date, `advance` by milliseconds or by a period of the sandbox's pace, or to what
    /// happens next.
    private func date(_ body: ControlRequest) throws -> Int64 {
        let date = try wantedDate(body)
        guard date <= Self.lastDate else { throw SandboxError(.invalidRequest, "the clock ends at \(Self.lastDate)") }
        return date
    }

    /// 2100-01-01: long after the test certificates, and far from where dates stop being ones.
    private static let lastDate: Int64 = 4_102_444_800_000

    private func wantedDate(_ body: ControlRequest) throws -> Int64 {
        if let date = try body.optionalInteger("to") {
            guard date >= now else { throw SandboxError(.invalidRequest, "to: the clock does not go back") }
            return date
        }
        if body.fields["advance"]?.integer != nil {
            guard let span = try body.optionalInteger("advance"), span >= 0 else {
                throw SandboxError(.invalidRequest, "advance: the clock does not go back")
            }
            return now.advanced(bySaturating: span)
        }
        if let text = try body.optionalText("advance") {
            guard let period = SubscriptionPeriod(iso8601: text) else {
                throw SandboxError(.invalidRequest, "advance: has to be milliseconds or a period like P1M")
            }
            return configuration.pace.end(of: period, from: now)
        }
        guard try body.bool("toNextEvent", default: false) else {
            throw SandboxError(.invalidRequest, "advance, to or toNextEvent: missing")
        }
        guard let next = nextDueDate else { throw SandboxError(.notPossible, "nothing is due") }
        return next
    }

    static func url(_ text: String?) throws -> String? {
        guard let text else { return nil }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.host != nil else {
            throw SandboxError(.invalidRequest, "url: has to be http:// or https:// with a host")
        }
        return text
    }
}
