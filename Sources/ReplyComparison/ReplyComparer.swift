internal import AppStoreModels

/// Where a member stands.
struct MemberPlace {
    enum Scope {
        case top
        /// `receipt`: mirrors what was submitted.
        case receipt
        /// `in_app`: mirrors what was submitted.
        case inApp
        /// `latest_receipt_info`, `latest_expired_receipt_info`: comes from Apple's database.
        case latest
        /// `pending_renewal_info`.
        case renewal
    }

    let scope: Scope
    let rules: FieldRules
    /// The path with its last dot.
    let prefix: String
    /// For quoting.
    var transactionId: String?
    /// For looking up.
    var rawTransactionId: String?
    /// What Apple's reply says of the same transaction where it mirrors the submitted receipt.
    var mirrored: JSONObject?
}

/// Walks two replies along the rules.
struct ReplyComparer {
    let apples: JSONObject
    let ours: JSONObject
    let context: ComparisonContext
    let tally: ComparisonTally

    var facts: RequestFacts? { context.facts }

    func compare() {
        guard compareStatus() else { return }
        let appleReceipt = apples["receipt"]?.object
        let ourReceipt = ours["receipt"]?.object
        if let appleReceipt, let ourReceipt {
            guard Self.isApp(appleReceipt) == Self.isApp(ourReceipt) else {
                return report(.shape, "receipt", nil, apples["receipt"], ours["receipt"], isKnown: true)
            }
        } else if appleReceipt != nil || ourReceipt != nil {
            let rule: ComparisonRule = appleReceipt == nil ? .inventedField : .signedFieldMissing
            report(rule, "receipt", nil, apples["receipt"], ours["receipt"], isKnown: true)
        }
        if let receipt = appleReceipt ?? ourReceipt, !Self.isApp(receipt) {
            compareTransactionReply(appleReceipt, ourReceipt)
        } else {
            compareAppReply(appleReceipt, ourReceipt)
        }
    }

    /// `in_app` is in every app receipt reply, even when empty (V3.2).
    private static func isApp(_ receipt: JSONObject) -> Bool { receipt["in_app"] != nil || receipt["bundle_id"] != nil }

    private func compareAppReply(_ appleReceipt: JSONObject?, _ ourReceipt: JSONObject?) {
        members(
            apples, ours, MemberPlace(scope: .top, rules: .top, prefix: ""),
            without: ["status", "receipt", "latest_receipt", "latest_receipt_info", "pending_renewal_info"])
        if let appleReceipt, let ourReceipt {
            members(
                appleReceipt, ourReceipt, MemberPlace(scope: .receipt, rules: .appReceipt, prefix: "receipt."),
                without: ["in_app"])
            compareInApp(appleReceipt, ourReceipt)
        }
        compareLatestReceipt("latest_receipt")
        compareLatestInfo(appleReceipt)
        compareRenewals()
    }

    private func compareTransactionReply(_ appleReceipt: JSONObject?, _ ourReceipt: JSONObject?) {
        let sections = ["latest_receipt_info", "latest_expired_receipt_info"]
        members(
            apples, ours, MemberPlace(scope: .top, rules: .transactionTop, prefix: ""),
            without: ["status", "receipt", "latest_receipt", "latest_expired_receipt"] + sections)
        if let appleReceipt, let ourReceipt {
            let id = appleReceipt["transaction_id"]
            members(
                appleReceipt, ourReceipt,
                MemberPlace(
                    scope: .receipt, rules: .transactionReceipt, prefix: "receipt.", transactionId: Redaction.id(id),
                    rawTransactionId: id?.string), without: [])
        }
        compareLatestReceipt("latest_receipt")
        compareLatestReceipt("latest_expired_receipt")
        for name in sections { compareLatestObject(name, appleReceipt) }
    }

    // MARK: Members

    /// Compares the members of two objects that belong together.
    func members(_ one: JSONObject, _ other: JSONObject, _ place: MemberPlace, without left: [String]) {
        var seen = Set(left)
        for member in one.members where seen.insert(member.key).inserted {
            compare(member.key, one[member.key], other[member.key], place)
        }
        for member in other.members where seen.insert(member.key).inserted {
            compare(member.key, nil, other[member.key], place)
        }
    }

    private func compare(_ key: String, _ apples: JSONValue?, _ ours: JSONValue?, _ place: MemberPlace) {
        let rule = place.rules[key]
        let path = place.prefix + (rule == nil ? Redaction.key(key) : key)
        let judge = MemberJudge(key: key, rule: rule, place: place, context: context, request: requestDate)
        if let apples, let ours, apples == ours {
            return tally.countEqual(path, isDerivable: judge.isEqualDerivable)
        }
        guard let difference = judge.rule(apples, ours) else { return }
        tally.count(
            ReplyDifference(
                path: path, transactionId: place.transactionId, rule: difference,
                apples: apples.map { Redaction.text($0, of: key, isKnown: rule != nil) },
                ours: ours.map { Redaction.text($0, of: key, isKnown: rule != nil) }))
    }

    /// When Apple was asked; milliseconds since 1970-01-01T00:00:00Z.
    var requestDate: Int64? {
        apples["receipt"]?["request_date_ms"]?.string.flatMap { Int64($0) }
            ?? (context.isSameMoment ? context.now : nil)
    }

    func report(
        _ rule: ComparisonRule, _ path: String, _ id: String?, _ apples: JSONValue?, _ ours: JSONValue?, isKnown: Bool
    ) {
        let key = path.split(separator: ".").last.map(String.init) ?? path
        tally.count(
            ReplyDifference(
                path: path, transactionId: id, rule: rule,
                apples: apples.map { Redaction.text($0, of: key, isKnown: isKnown) },
                ours: ours.map { Redaction.text($0, of: key, isKnown: isKnown) }))
    }
}
