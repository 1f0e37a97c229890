import AppStoreModels
import AppStoreSync

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
        return amounts.sorted { $0.key < $1.key }.map { "\($0.value.priceText) \($0.key)" }.joined(separator: " + ")
    }
}
