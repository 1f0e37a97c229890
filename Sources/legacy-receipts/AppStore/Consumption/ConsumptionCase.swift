import AppStoreModels
import Purchases
import TransactionStore

/// An open request for consumption information, with what the store has about the purchase and its customer.
struct ConsumptionCase {
    /// Sums of prices by currency, in milliunits: 10.99 is 10990.
    typealias Amounts = [String: Int64]

    let task: ConsumptionTask
    /// The transaction that the customer wants a refund for; nil if the store no longer has it.
    let transaction: JWSTransactionDecodedPayload?
    /// Whether the consumer of the ledger has acknowledged the purchase; nil if no consumer was named, or without an entry.
    let isDelivered: Bool?
    /// What the customer's purchases in the app cost. Purchases that others share with the customer are left out.
    let lifetimePurchased: Amounts
    /// The refunded part of it.
    let lifetimeRefunded: Amounts
    /// How many purchases of the customer were refunded.
    let refunds: Int

    /// - Parameters:
    ///   - customer: the owner of the transaction.
    ///   - acknowledged: the position that the consumer has acknowledged; nil if none was named.
    init(_ task: ConsumptionTask, of customer: Customer?, acknowledged: Int64?) {
        self.task = task
        let payloads = customer?.transactions.map(\.payload) ?? []
        transaction = payloads.first { $0.transactionId == task.transactionId }
        isDelivered = acknowledged.flatMap { acknowledged in task.purchasedPosition.map { $0 <= acknowledged } }
        var (purchased, refunded, refunds): (Amounts, Amounts, Int) = ([:], [:], 0)
        for payload in payloads where payload.inAppOwnershipType != .familyShared {
            let isRefunded =
                payload.revocationDate != nil && payload.isUpgraded != true && payload.revocationType != .familyRevoke
            if isRefunded { refunds += 1 }
            guard let price = payload.price, price > 0, let currency = payload.currency else { continue }
            // The price of a transaction with seats is that of one seat.
            let seats = payload.multiSeatInfo == nil ? 1 : Int64(max(1, payload.quantity ?? 1))
            let amount = Self.product(price, seats)
            purchased[currency] = Self.sum(purchased[currency] ?? 0, amount)
            guard isRefunded else { continue }
            // Milliunits of a percent; absent for a full refund.
            let percentage = max(0, min(Int64(payload.revocationPercentage ?? 100_000), 100_000))
            let part = percentage == 100_000 ? amount : Self.product(amount, percentage) / 100_000
            refunded[currency] = Self.sum(refunded[currency] ?? 0, part)
        }
        (lifetimePurchased, lifetimeRefunded, self.refunds) = (purchased, refunded, refunds)
    }

    private static func product(_ left: Int64, _ right: Int64) -> Int64 {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : value
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (value, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : value
    }

    /// Whether the App Store no longer waits for the answer.
    func isMissed(at date: Int64) -> Bool { task.deadline <= date }

    /// The elapsed part of the period at the time of the request, in percent; nil without an expiry.
    var elapsedPercentage: Int64? {
        guard let start = transaction?.purchaseDate, let end = transaction?.expiresDate, end > start else { return nil }
        let elapsed = Double(task.requestedDate) - Double(start)
        return Int64(max(0, min(100, elapsed / (Double(end) - Double(start)) * 100)).rounded(.down))
    }

    /// The open cases of a store, the soonest deadline first.
    ///
    /// - Parameters:
    ///   - scope: the app and the environment; nil for all.
    ///   - consumer: the consumer of the ledger that delivers the content.
    /// - Throws: `TransactionStoreError`; `CommandFailure` if the ledger has no such consumer.
    static func all(
        in store: any CompleteTransactionStore, scope: StoreScope? = nil, consumer: String?
    ) async throws -> [ConsumptionCase] {
        var acknowledged: Int64?
        if let consumer {
            guard let known = try await store.consumers().first(where: { $0.name == consumer }) else {
                throw CommandFailure("The ledger has no consumer \(Printable.text(consumer)).")
            }
            acknowledged = known.position
        }
        var cases: [ConsumptionCase] = []
        var last: ConsumptionTask?
        while true {
            let page = try await store.openConsumptionTasks(after: last, limit: 1_000)
            guard let end = page.last else { return cases }
            last = end
            for task in page where scope == nil || task.scope == scope {
                let identity = CustomerIdentity(.originalTransactionId, task.originalTransactionId)
                let customer = try await store.customer([identity], in: task.scope)
                cases.append(ConsumptionCase(task, of: customer, acknowledged: acknowledged))
            }
        }
    }
}

/// The cases of `app-store consumption pending` as text and JSON.
enum ConsumptionCaseText {
    /// The members of one case. Names are Apple's where Apple has one.
    static func json(_ one: ConsumptionCase, _ rules: ConsumptionRules?, at date: Int64) -> JSONValue {
        var members: [JSONObject.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(.init(key: name, value: value)) }
        }
        let (task, transaction) = (one.task, one.transaction)
        add("state", .string(one.isMissed(at: date) ? "missed" : "open"))
        add("notificationUUID", .string(task.notificationUUID))
        add("environment", .string(task.scope.environment.rawValue))
        add("bundleId", .string(task.scope.bundleId))
        add("transactionId", .string(task.transactionId))
        add("originalTransactionId", .string(task.originalTransactionId))
        add("requestedDate", .integer(task.requestedDate))
        add("deadline", .integer(task.deadline))
        add("consumptionRequestReason", task.reason.map { .string($0) })
        add("productId", transaction?.productId.map { .string($0) })
        add("type", (transaction?.type).map { .string($0.rawValue) })
        add("inAppOwnershipType", (transaction?.inAppOwnershipType).map { .string($0.rawValue) })
        add("appAccountToken", transaction?.appAccountToken.map { .string($0) })
        add("purchaseDate", transaction?.purchaseDate.map { .integer($0) })
        add("expiresDate", transaction?.expiresDate.map { .integer($0) })
        add("revocationDate", transaction?.revocationDate.map { .integer($0) })
        add("price", transaction?.price.map { .integer($0) })
        add("currency", transaction?.currency.map { .string($0) })
        add("isDelivered", one.isDelivered.map { .bool($0) })
        add("elapsedPercentage", one.elapsedPercentage.map { .integer($0) })
        add("lifetimePurchased", amounts(one.lifetimePurchased))
        add("lifetimeRefunded", amounts(one.lifetimeRefunded))
        add("refunds", .integer(Int64(one.refunds)))
        if let (place, rule) = rules?.rule(for: one) {
            add("rule", .integer(Int64(place)))
            add("deliveryStatus", .string(rule.deliveryStatus.rawValue))
            add("refundPreference", rule.refundPreference.map { .string($0.rawValue) })
        }
        return .object(JSONObject(members: members))
    }

    private static func amounts(_ amounts: ConsumptionCase.Amounts) -> JSONValue {
        .object(
            JSONObject(
                members: amounts.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: .integer($0.value)) }))
    }

    /// One line for each case.
    static func text(_ cases: [ConsumptionCase], _ rules: ConsumptionRules?, at date: Int64) -> String {
        guard !cases.isEmpty else { return "No open consumption requests." }
        let header =
            [
                "state", "deadline", "transactionId", "productId", "type", "reason", "delivered", "elapsed",
                "purchased",
                "refunded", "notificationUUID",
            ] + (rules == nil ? [] : ["rule", "preference"])
        let rows = cases.map { one in
            [
                one.isMissed(at: date) ? "MISSED" : "open", DateText.iso(min(one.task.deadline, maximumDate)),
                one.task.transactionId, one.transaction?.productId ?? "-", one.transaction?.type?.rawValue ?? "-",
                one.task.reason ?? "-", one.isDelivered.map { $0 ? "yes" : "no" } ?? "-",
                one.elapsedPercentage.map { "\($0) %" } ?? "-", money(one.lifetimePurchased),
                money(one.lifetimeRefunded), one.task.notificationUUID,
            ].map { Printable.text($0) } + preference(of: one, rules)
        }
        var lines = TextTable.lines([header] + rows)
        let missed = cases.count { $0.isMissed(at: date) }
        if missed > 0 {
            lines += [
                "", "Missed: \(missed). The App Store decided without your information. Remove a request from the list",
                "with: app-store consumption dismiss UUID",
            ]
        }
        return lines.joined(separator: "\n")
    }

    /// The place of the rule that holds, and its refund preference.
    private static func preference(of one: ConsumptionCase, _ rules: ConsumptionRules?) -> [String] {
        guard let rules else { return [] }
        guard let (place, rule) = rules.rule(for: one) else { return ["-", "-"] }
        return ["rules[\(place)]", rule.refundPreference?.rawValue ?? "-"]
    }

    /// The end of the year 9999, which dates as text go up to.
    private static let maximumDate: Int64 = 253_402_300_799_000

    private static func money(_ amounts: ConsumptionCase.Amounts) -> String {
        guard !amounts.isEmpty else { return "-" }
        return amounts.sorted { $0.key < $1.key }.map { currency, amount in
            let thousandths = String(amount % 1_000)
            let fraction = String(repeating: "0", count: 3 - thousandths.count) + thousandths
            return "\(amount / 1_000).\(fraction.hasSuffix("0") ? String(fraction.prefix(2)) : fraction) \(currency)"
        }.joined(separator: " + ")
    }
}
