internal import VerifyReceipt

/// The coverage table of Documentation/Replies.md: each status and each member. Generated from the data of the endpoint and the
/// comparison.
package enum CoverageTable {
    /// Two Markdown tables with a line feed at the end.
    package static func markdown() -> String {
        var lines = ["| status | field | supported | source |", "|---|---|---|---|"]
        for row in StatusTable.rows where row.status.lowerBound != 0 {
            let members = row.members.map(Self.member).joined(separator: ", ")
            lines.append(
                line(
                    statusText(row.status), members.isEmpty ? "none except `status`" : members, row.support.rawValue,
                    row.meaning))
        }
        let sections: [(String, String, FieldRules)] = [
            ("0, app receipt", "", .top), ("0, app receipt", "receipt.", .appReceipt),
            ("0, app receipt", "receipt.in_app[].", .inApp), ("0, app receipt", "latest_receipt_info[].", .latestInfo),
            ("0, app receipt", "pending_renewal_info[].", .renewal), ("0 or 21006, iOS 6", "", .transactionTop),
            ("0 or 21006, iOS 6", "receipt.", .transactionReceipt),
        ]
        for (status, prefix, rules) in sections {
            for rule in rules.rules where rule.origin != .addition {
                lines.append(line(status, "`\(prefix)\(rule.title)`", rule.support.rawValue, rule.source))
            }
        }
        lines.append(
            line(
                "0 or 21006, iOS 6", "`latest_receipt_info.…`, `latest_expired_receipt_info.…`",
                FieldRule.Support.whereKnown.rawValue, "the same members as `receipt`, of the newest known transaction")
        )
        return lines.joined(separator: "\n") + "\n"
    }

    private static func statusText(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }

    /// The name of a member for the table. A name in parentheses is present only if its value is known.
    private static func member(_ name: String) -> String {
        guard name.hasPrefix("("), name.hasSuffix(")") else { return "`\(name)`" }
        return "`\(name.dropFirst().dropLast())` where known"
    }

    private static func line(_ status: String, _ field: String, _ supported: String, _ source: String) -> String {
        "| \(status) | \(field) | \(supported) | \(source) |"
    }
}
