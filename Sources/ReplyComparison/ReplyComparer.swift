internal import AppStoreModels
internal import Purchases
internal import VerifyReceipt

/// The place of a member.
struct MemberPlace {
    enum Scope {
        case top
        /// `receipt`: mirrors the submitted receipt.
        case receipt
        /// `in_app`: mirrors the submitted receipt.
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
    /// The same transaction in the part of Apple's reply that mirrors the submitted receipt.
    var mirrored: JSONObject?
}

/// Compares two replies member by member, by the rules.
struct ReplyComparer {
    let apples: JSONObject
    let ours: JSONObject
    let context: ComparisonContext
    let purchases: ListedPurchases
    let tally: ComparisonTally

    var facts: RequestFacts? { context.facts }

    func compare() {
        guard compareStatus() else { return }
        let (one, other) = (apples["receipt"], ours["receipt"])
        let (appleReceipt, ourReceipt) = (one?.object, other?.object)
        if let appleReceipt, let ourReceipt {
            guard Self.isApp(appleReceipt) == Self.isApp(ourReceipt) else {
                return report(.shape, "receipt", one, other)
            }
        } else if appleReceipt != nil || ourReceipt != nil {
            report(appleReceipt == nil ? .inventedField : .signedFieldMissing, "receipt", one, other)
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
            let place = Self.place(.receipt, .transactionReceipt, "receipt.", appleReceipt["transaction_id"])
            members(appleReceipt, ourReceipt, place)
        }
        compareLatestReceipt("latest_receipt")
        compareLatestReceipt("latest_expired_receipt")
        for name in sections { compareLatestObject(name, appleReceipt) }
    }

    // MARK: Members

    /// Compares the members of two objects that belong together.
    func members(_ one: JSONObject, _ other: JSONObject, _ place: MemberPlace, without left: [String] = []) {
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
        let comparator = FieldComparator(key: key, rule: rule, place: place, context: context, request: requestDate)
        if let apples, let ours, apples == ours {
            return tally.countEqual(path, isDerivable: comparator.isEqualDerivable)
        }
        guard let difference = comparator.rule(apples, ours) else { return }
        report(difference, path, apples, ours, id: place.transactionId, isKnown: rule != nil)
    }

    /// The date of Apple's reply; milliseconds since 1970-01-01T00:00:00Z.
    var requestDate: Int64? {
        apples["receipt"]?["request_date_ms"]?.string.flatMap { Int64($0) }
            ?? (context.isSameMoment ? context.now : nil)
    }

    /// Counts a difference in a member, which is the last part of the path.
    private func report(
        _ rule: ComparisonRule, _ path: String, _ apples: JSONValue?, _ ours: JSONValue?, id: String? = nil,
        isKnown: Bool = true
    ) {
        let key = path.split(separator: ".").last.map(String.init) ?? path
        func text(_ value: JSONValue) -> String { Redaction.text(value, of: key, isKnown: isKnown) }
        tally.count(
            ReplyDifference(
                path: path, transactionId: id, rule: rule, apples: apples.map(text), ours: ours.map(text)))
    }

    /// Compares `status`. Returns whether to compare the rest, which requires the receipt in both replies.
    func compareStatus() -> Bool {
        let one = apples["status"]
        let other = ours["status"]
        guard let apple = ReplyStatus.number(apples), let our = other?.integer else {
            report(.shape, "status", one, other)
            return false
        }
        if apple == our {
            if one != other, one != nil {
                report(.numberOrString, "status", one, other)
            } else {
                tally.countEqual("status", isDerivable: true)
            }
            return true
        }
        report(statusRule(apple, our), "status", one, other)
        return [0, 21006].contains(apple) && [0, 21006].contains(our)
    }

    private func statusRule(_ apple: Int64, _ our: Int64) -> ComparisonRule {
        switch (apple, our) {
        case (0, 21006): .renewedOrRefunded
        case (21006, 0): purchases.areOursOver ? .status : .renewedOrRefunded
        case (21010, 0), (21010, 21006): .accountState
        // For a receipt that is not authentic, the documentation and older recordings have 21003, one observer of 2026
        // got 21002 (Reference.md C3). A wrong password gives either 21003 or 21004 (V1.4).
        case (21002, 21003), (21003, 21002), (21003, 21004), (21004, 21003): .refusalCode
        // Unreadable JSON had either (V1.4).
        case (21000, 21002), (21002, 21000): .refusalCode
        case (21005, _), (21009, _), (21100...21199, _), (500...599, _): .temporaryFailure
        // Apple answered 21002 to every request during an outage (Reference.md V2). These two cases cannot be
        // distinguished.
        case (21002, 0), (21002, 21006): .temporaryFailure
        default: .status
        }
    }

    // MARK: in_app

    func compareInApp(_ appleReceipt: JSONObject, _ ourReceipt: JSONObject) {
        let path = "receipt.in_app"
        let (one, other) = (appleReceipt["in_app"], ourReceipt["in_app"])
        guard let apples = one?.array, let ours = other?.array else { return report(.shape, path, one, other) }
        let pairing = EntryPairing(apples, ours, id: "transaction_id")
        for (apple, our) in pairing.pairs {
            members(apple, our, Self.place(.inApp, .inApp, path + "[].", apple["transaction_id"]))
        }
        reportUnpaired(pairing, path, apples: { _ in .purchaseOfReceipt }, ours: { _ in .purchaseOfReceipt })
        guard pairing.pairs.count > 1 else { return }
        if pairing.isSameOrder {
            tally.countEqual(path + " (order)", isDerivable: true)
        } else {
            orderDifference(.encodedOrder, path, pairing)
        }
    }

    // MARK: latest_receipt_info of app receipts

    func compareLatestInfo(_ appleReceipt: JSONObject?) {
        let path = "latest_receipt_info"
        let (one, other) = (apples[path], ours[path])
        guard let apples = one?.array, let ours = other?.array else { return onlyOneList(path, one, other) }
        let mirrored = Self.byId(appleReceipt?["in_app"]?.array)
        let pairing = EntryPairing(apples, ours, id: "transaction_id")
        for (apple, our) in pairing.pairs {
            var place = Self.place(.latest, .latestInfo, path + "[].", apple["transaction_id"])
            place.mirrored = place.rawTransactionId.flatMap { mirrored[$0] }
            members(apple, our, place)
        }
        let listed = Set(pairing.pairs.compactMap { $0.0["original_transaction_id"]?.string })
        reportUnpaired(pairing, path) { entry in
            let isInReceipt = entry["transaction_id"]?.string.map { mirrored[$0] != nil } ?? false
            return isInReceipt ? .purchaseOfReceipt : .purchaseNotInReceipt
        } ours: { entry in
            let isOlderRenewal = entry["original_transaction_id"]?.string.map { listed.contains($0) } ?? false
            return facts?.excludesOldTransactions == true && isOlderRenewal
                ? .excludeOldTransactions : listingRule(.object(entry), otherwise: .purchaseNotListed)
        }
        if pairing.pairs.count > 1, !pairing.isSameOrder { orderDifference(.listOrder, path, pairing) }
    }

    /// Only one reply has the list, or one has a value of another kind.
    private func onlyOneList(_ path: String, _ one: JSONValue?, _ other: JSONValue?) {
        switch (one, other) {
        case (nil, nil): return
        case (let apples?, nil):
            let isEmpty = apples.isNull || apples.array?.isEmpty == true
            report(isEmpty ? .nullOrAbsent : missingListRule, path, apples, nil)
        case (nil, let ours?):
            let isEmpty = ours.isNull || ours.array?.isEmpty == true
            report(isEmpty ? .addition : listingRule(ours, otherwise: unlistedRule), path, nil, ours)
        default: report(.shape, path, one, other)
        }
    }

    private var missingListRule: ComparisonRule { hasAutoRenewable ? .missingList : .listWithoutSubscription }

    /// Apple's sandbox deletes purchases (V3.5), so its reply may lack purchases of the receipt.
    private var unlistedRule: ComparisonRule { hasAutoRenewable ? .purchaseNotListed : .listWithoutSubscription }

    /// ``ComparisonRule/activeNotListed`` if one of our entries is a running subscription, and Apple's reply has neither
    /// its transaction nor another running one of the subscription. Production deletes no purchases, so the subscription
    /// may belong to another customer.
    private func listingRule(_ ours: JSONValue, otherwise: ComparisonRule) -> ComparisonRule {
        guard isProduction else { return otherwise }
        let entries = ours.object.map { [$0] } ?? ours.array?.compactMap(\.object) ?? []
        return entries.contains { purchases.isUnknownToApple($0) } ? .activeNotListed : otherwise
    }

    /// iOS 6 replies have no environment (Reference.md V4).
    private var isProduction: Bool {
        guard let named = (apples["environment"] ?? ours["environment"])?.string else {
            return facts?.environment == .production
        }
        return named == EndpointEnvironment.production.rawValue
    }

    private var hasAutoRenewable: Bool {
        facts?.hasAutoRenewable ?? ReplyPurchases.receiptHasAutoRenewable(apples)
    }

    func compareLatestReceipt(_ key: String) {
        let (one, other) = (apples[key], ours[key])
        switch (one, other) {
        case (nil, nil): return
        case (_?, _?) where one == other: tally.countEqual(key, isDerivable: false)
        case (_?, _?): report(.reissuedReceipt, key, one, other)
        case (_?, nil): report(missingListRule, key, one, nil)
        case (nil, _?): report(unlistedRule, key, nil, other)
        }
    }

    // MARK: iOS 6

    /// `latest_receipt_info` or `latest_expired_receipt_info` of an iOS 6 reply: one object (Reference.md V4).
    func compareLatestObject(_ path: String, _ appleReceipt: JSONObject?) {
        let (one, other) = (apples[path], ours[path])
        guard let apple = one?.object, let our = other?.object else { return onlyOneList(path, one, other) }
        let id = apple["transaction_id"]
        let isSubmitted = id != nil && id == appleReceipt?["transaction_id"]
        guard id == our["transaction_id"] else {
            // Another renewal: its members cannot be compared.
            let rule =
                isSubmitted ? .signedFieldDiffers : listingRule(.object(our), otherwise: .purchaseNotInReceipt)
            return report(rule, path + ".transaction_id", id, our["transaction_id"], id: Redaction.id(id))
        }
        var place = Self.place(.latest, .transactionReceipt, path + ".", id)
        place.mirrored = isSubmitted ? appleReceipt : nil
        members(apple, our, place)
    }

    // MARK: pending_renewal_info

    func compareRenewals() {
        let path = "pending_renewal_info"
        let (one, other) = (apples[path], ours[path])
        switch (one?.array, other?.array) {
        case (let apples?, let ours?):
            let id = "original_transaction_id"
            let pairing = EntryPairing(apples, ours, id: id)
            for (apple, our) in pairing.pairs {
                members(apple, our, Self.place(.renewal, .renewal, path + "[].", apple[id] ?? our[id]))
            }
            reportUnpaired(pairing, path, id: id, apples: { _ in .databaseField }, ours: { _ in .databaseField })
        case (nil, nil): return
        case (let apples?, nil) where other == nil:
            report(apples.isEmpty ? .nullOrAbsent : .databaseField, path, one, nil)
        case (nil, let ours?) where one == nil:
            report(ours.isEmpty ? .addition : .databaseField, path, nil, other)
        default: report(.shape, path, one, other)
        }
    }

    // MARK: Entries

    /// - Parameters:
    ///   - scope: the object that contains the members.
    ///   - rules: the rules of the members.
    ///   - prefix: the path with its last dot.
    ///   - id: the transaction that the members belong to.
    private static func place(
        _ scope: MemberPlace.Scope, _ rules: FieldRules, _ prefix: String, _ id: JSONValue?
    ) -> MemberPlace {
        MemberPlace(
            scope: scope, rules: rules, prefix: prefix, transactionId: Redaction.id(id), rawTransactionId: id?.string)
    }

    /// Reports the entries that only one of the two lists has, by a rule for each.
    private func reportUnpaired(
        _ pairing: EntryPairing, _ path: String, id: String = "transaction_id",
        apples: (JSONObject) -> ComparisonRule, ours: (JSONObject) -> ComparisonRule
    ) {
        func count(_ rule: ComparisonRule, _ entry: JSONObject, isApples: Bool) {
            let text = Redaction.id(entry["product_id"]) ?? "present"
            tally.count(
                ReplyDifference(
                    path: path + "[]", transactionId: Redaction.id(entry[id]), rule: rule,
                    apples: isApples ? text : nil, ours: isApples ? nil : text))
        }
        for entry in pairing.onlyApples { count(apples(entry), entry, isApples: true) }
        for entry in pairing.onlyOurs { count(ours(entry), entry, isApples: false) }
    }

    private func orderDifference(_ rule: ComparisonRule, _ path: String, _ pairing: EntryPairing) {
        let order = Self.order(pairing.pairs.map(\.0))
        report(rule, path + " (order)", .string(order), .string(pairing.orderOfOurs))
    }

    /// The order of transaction ids, in words.
    static func order(_ entries: [JSONObject]) -> String {
        let ids = entries.compactMap { $0["transaction_id"]?.string.flatMap { UInt64($0) } }
        guard ids.count == entries.count else { return "of another kind" }
        if zip(ids, ids.dropFirst()).allSatisfy({ $0 <= $1 }) { return "ascending ids" }
        return zip(ids, ids.dropFirst()).allSatisfy { $0 >= $1 }
            ? "descending ids" : "neither ascending nor descending ids"
    }

    private static func byId(_ entries: [JSONValue]?) -> [String: JSONObject] {
        var byId: [String: JSONObject] = [:]
        for entry in entries ?? [] {
            if let entry = entry.object, let id = entry["transaction_id"]?.string { byId[id] = entry }
        }
        return byId
    }
}
