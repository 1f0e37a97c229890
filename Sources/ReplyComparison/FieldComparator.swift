internal import AppStoreModels

/// Determines the cause of a difference in one member.
struct FieldComparator {
    let key: String
    let rule: FieldRule?
    let place: MemberPlace
    let context: ComparisonContext
    /// The date of Apple's reply; nil if unknown.
    let request: Int64?

    /// Whether an equal value comes from the receipt or the store. The signed members in our reply always do.
    var isEqualDerivable: Bool { isSigned || isDecidedByRequest }

    /// Whether the receipt or the store determines the value. Then our value must be equal.
    private func isDerivable(_ apples: JSONValue?) -> Bool {
        guard isSigned else { return isDecidedByRequest }
        return place.scope == .latest ? isDerivableInLatest(apples) : isDerivableInReceipt(apples)
    }

    private var isSigned: Bool { rule?.origin == .signed || rule?.origin == .signedWhereStated }

    private var isDecidedByRequest: Bool { rule?.origin == .answer || rule?.origin == .clock && context.isSameMoment }

    private func isDerivableInReceipt(_ apples: JSONValue?) -> Bool {
        guard rule?.origin == .signedWhereStated else { return true }
        // Replies had the ownership type a year before receipts (V3.5). The other members came to both at the same
        // time.
        return isStated ?? (key != "in_app_ownership_type")
    }

    /// In `latest_receipt_info` a value follows from the receipt if Apple's reply repeats it from there.
    private func isDerivableInLatest(_ apples: JSONValue?) -> Bool {
        if let mirrored = place.mirrored { return apples != nil && mirrored[key] == apples }
        // The purchase is only in the store. Its changeable members may be out of date.
        return rule?.origin == .signed && !key.hasPrefix("expires_date")
    }

    /// Whether the submitted receipt has the optional member; nil if the receipt is not at hand.
    private var isStated: Bool? {
        guard let facts = context.facts, let id = place.rawTransactionId else { return nil }
        return facts.stated[id].map { $0.contains(key) }
    }

    /// The rule of a difference; nil if there is none.
    func rule(_ apples: JSONValue?, _ ours: JSONValue?) -> ComparisonRule? {
        switch (apples, ours) {
        case (let apples?, let ours?):
            if apples.isNull { return rule(ours: ours, isNull: true) }
            if ours.isNull { return rule(apples: apples) }
            if let form = ValueForms.sameMeaning(apples, ours, key: key) { return form }
            guard isDerivable(apples) else { return otherwise(apples) }
            return isCarriedCreationDate(apples) ? .creationDateAttribute : .signedFieldDiffers
        case (let apples?, nil): return apples.isNull ? .nullOrAbsent : rule(apples: apples)
        case (nil, let ours?): return ours.isNull ? .nullOrAbsent : rule(ours: ours, isNull: false)
        case (nil, nil): return nil
        }
    }

    private func rule(apples: JSONValue) -> ComparisonRule {
        isDerivable(apples) ? .signedFieldMissing : otherwise(apples)
    }

    private func rule(ours: JSONValue, isNull: Bool) -> ComparisonRule {
        guard let rule else { return .inventedField }
        if let since = rule.since, let request, request < since { return .laterMember }
        switch rule.origin {
        case .addition, .undocumented: return .addition
        case .database, .reissued: return .databaseField
        case .signedWhereStated where place.scope == .latest:
            return place.mirrored?[key] != nil ? .changedSinceReceipt : .databaseField
        case .signedWhereStated: return isStated ?? !isPresumption(ours) ? .inventedField : .addition
        case .signed where place.scope == .latest && place.mirrored?[key] == ours: return .changedSinceReceipt
        // The download id is null in some replies to receipts that have one (V3.2).
        case .signed where isNull && key == "download_id": return .nullOrAbsent
        case .answer, .signed, .clock, .container: return .inventedField
        }
    }

    /// Defaults that clients require and old receipts do not contain.
    private func isPresumption(_ ours: JSONValue) -> Bool {
        switch key {
        case "in_app_ownership_type": ours.string == "PURCHASED"
        case "is_in_intro_offer_period": ours.string == "false"
        default: false
        }
    }

    /// The rule for a value of Apple's that does not follow from the receipt.
    private func otherwise(_ apples: JSONValue) -> ComparisonRule {
        switch rule?.origin {
        case nil: .unknownField
        case .clock: .requestDate
        case .addition, .undocumented: .undocumented
        case .reissued: .reissuedReceipt
        case .signed, .signedWhereStated:
            place.scope != .latest
                ? .notInReceipt : place.mirrored == nil ? .purchaseNotInReceipt : .changedSinceReceipt
        case .database, .answer, .container: .databaseField
        }
    }

    /// Reference.md V3.3 leaves open which attribute the reply to a re-issued receipt contains.
    private func isCarriedCreationDate(_ apples: JSONValue) -> Bool {
        guard key.hasPrefix("receipt_creation_date"), let carried = context.facts?.carriedCreationDate,
            let text = apples.string
        else { return false }
        if key == "receipt_creation_date_ms" { return Int64(text).map { $0 / 1000 == carried / 1000 } ?? false }
        // Minute and second are equal in all time zones of the formats.
        let parts = text.split(separator: " ")
        guard parts.count == 3 else { return false }
        let clock = parts[1].split(separator: ":")
        return clock.count == 3 && Int64(clock[1]) == carried / 60_000 % 60 && Int64(clock[2]) == carried / 1000 % 60
    }
}
