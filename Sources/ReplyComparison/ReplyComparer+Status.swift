internal import AppStoreModels

extension ReplyComparer {
    /// Compares `status`. Whether the rest is worth comparing: both replies show the receipt.
    func compareStatus() -> Bool {
        let one = apples["status"]
        let other = ours["status"]
        guard let apple = ReplyStatus.number(apples), let our = other?.integer else {
            report(.shape, "status", nil, one, other, isKnown: true)
            return false
        }
        if apple == our {
            if one != other, one != nil {
                report(.numberOrString, "status", nil, one, other, isKnown: true)
            } else {
                tally.countEqual("status", isDerivable: true)
            }
            return true
        }
        report(statusRule(apple, our), "status", nil, one, other, isKnown: true)
        return [0, 21006].contains(apple) && [0, 21006].contains(our)
    }

    private func statusRule(_ apple: Int64, _ our: Int64) -> ComparisonRule {
        switch (apple, our) {
        case (0, 21006): .renewedOrRefunded
        case (21006, 0): isExpiredByOurReply ? .status : .renewedOrRefunded
        case (21010, 0), (21010, 21006): .accountState
        // The documentation says 21003 for what cannot be authenticated, recordings 21002 (Reference.md
        // C3); a wrong password gives either 21003 or 21004 (V1.4).
        case (21002, 21003), (21003, 21002), (21003, 21004), (21004, 21003): .refusalCode
        // Unreadable JSON had either (V1.4).
        case (21000, 21002), (21002, 21000): .refusalCode
        case (21005, _), (21009, _), (21100...21199, _), (500...599, _): .temporaryFailure
        // Apple answered 21002 to everybody during an outage (2), and nothing tells the two apart.
        case (21002, 0), (21002, 21006): .temporaryFailure
        default: .status
        }
    }

    /// Whether the newest period that our reply shows is over.
    private var isExpiredByOurReply: Bool {
        guard let now = context.now else { return false }
        let dates = ["latest_receipt_info", "receipt"].compactMap {
            ours[$0]?["expires_date"]?.string.flatMap { Int64($0) }
        }
        return dates.max().map { $0 <= now } ?? false
    }
}
