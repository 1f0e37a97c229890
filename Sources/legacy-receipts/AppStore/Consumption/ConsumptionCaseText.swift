import AppStoreModels
import AppStoreSync

/// The cases of `app-store consumption pending` as text and JSON.
enum ConsumptionCaseText {
    /// The members of one case. Names are Apple's where Apple has one.
    static func write(
        _ one: ConsumptionCase, _ rules: ConsumptionRules?, at date: Int64, to writer: inout JSONWriter
    ) {
        let (task, transaction) = (one.task, one.transaction)
        writer.member("state", one.isMissed(at: date) ? "missed" : "open")
        writer.member("notificationUUID", task.notificationUUID)
        writer.member("environment", task.scope.environment.rawValue)
        writer.member("bundleId", task.scope.bundleId)
        writer.member("transactionId", task.transactionId)
        writer.member("originalTransactionId", task.originalTransactionId)
        writer.member("requestedDate", task.requestedDate)
        writer.member("deadline", task.deadline)
        writer.member("consumptionRequestReason", task.reason)
        writer.member("productId", transaction?.productId)
        writer.member("type", transaction?.type?.rawValue)
        writer.member("inAppOwnershipType", transaction?.inAppOwnershipType?.rawValue)
        writer.member("appAccountToken", transaction?.appAccountToken)
        writer.member("purchaseDate", transaction?.purchaseDate)
        writer.member("expiresDate", transaction?.expiresDate)
        writer.member("revocationDate", transaction?.revocationDate)
        writer.member("price", transaction?.price)
        writer.member("currency", transaction?.currency)
        writer.member("isDelivered", one.isDelivered)
        writer.member("elapsedPercentage", one.elapsedPercentage)
        write("lifetimePurchased", one.lifetimePurchased, to: &writer)
        write("lifetimeRefunded", one.lifetimeRefunded, to: &writer)
        writer.member("refunds", one.refunds)
        guard let (place, rule) = rules?.rule(for: one) else { return }
        writer.member("rule", place)
        writer.member("deliveryStatus", rule.deliveryStatus.rawValue)
        writer.member("refundPreference", rule.refundPreference?.rawValue)
    }

    private static func write(
        _ name: StaticString, _ amounts: ConsumptionCase.Amounts, to writer: inout JSONWriter
    ) {
        writer.object(name) { writer in
            for (currency, amount) in amounts.sorted(by: { $0.key < $1.key }) {
                writer.key(currency)
                writer.integer(amount)
            }
        }
    }

    /// One line for each case.
    static func text(_ cases: [ConsumptionCase], _ rules: ConsumptionRules?, at date: Int64) -> String {
        guard !cases.isEmpty else { return "No open consumption requests." }
        let header =
            [
                "state", "deadline", "transactionId", "productId", "type", "reason", "delivered", "elapsed",
                "purchased", "refunded", "notificationUUID",
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
