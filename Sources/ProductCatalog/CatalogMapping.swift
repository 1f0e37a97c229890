package import AppStoreModels
internal import Encodings

/// A mapping whose keys are taken one by one. The remaining keys are unknown keys.
package struct CatalogMapping {
    package let file: String
    package let element: String
    package let line: Int
    private var members: [String: YAMLNode.Member] = [:]
    /// The keys in the order of the file.
    package private(set) var keys: [String] = []

    package init(_ node: YAMLNode, file: String, element: String) throws(CatalogError) {
        self.file = file
        self.element = element
        line = node.line
        guard case .mapping(let pairs) = node.value else {
            let place = CatalogSource(file: file, line: node.line, element: element)
            throw CatalogError(.wrongType, at: place, "expected a mapping of keys to values")
        }
        for member in pairs {
            members[member.key] = member
            keys.append(member.key)
        }
    }

    package func place(_ key: String, line: Int) -> CatalogSource {
        CatalogSource(file: file, line: line, element: element.isEmpty ? key : "\(element).\(key)")
    }

    package mutating func take(_ key: String) -> YAMLNode.Member? {
        members.removeValue(forKey: key)
    }

    /// Throws for the first key that was not taken.
    package func requireAllTaken() throws(CatalogError) {
        guard let key = keys.first(where: { members[$0] != nil }), let member = members[key] else { return }
        let label = CatalogText.quoted(key)
        throw CatalogError(.unknownKey, at: place(key, line: member.line), "unknown key \(label)")
    }

    /// A value and its place, for checks by the caller.
    struct Text {
        let text: String
        let isPlain: Bool
        let place: CatalogSource
    }

    mutating func takeText(_ key: String) throws(CatalogError) -> Text? {
        guard let member = take(key) else { return nil }
        let place = place(key, line: member.line)
        guard case .scalar(let text, let isPlain) = member.node.value else {
            throw CatalogError(.wrongType, at: place, "\(key) must be one value, not a list or a mapping")
        }
        guard !text.isEmpty, !member.node.isNull else {
            throw CatalogError(.wrongType, at: place, "\(key) has no value; leave the key out instead")
        }
        guard text.utf8.count <= CatalogLimits.textBytes else {
            throw CatalogError(.tooLarge, at: place, "\(key) is longer than \(CatalogLimits.textBytes) bytes")
        }
        return Text(text: text, isPlain: isPlain, place: place)
    }

    package mutating func takeString(_ key: String) throws(CatalogError) -> String? {
        try takeText(key)?.text
    }

    /// A value that `read` understands. The error says what is wanted.
    private mutating func takeValue<Value>(
        _ key: String, _ wanted: String, else code: CatalogError.Code, _ read: (Text) -> Value?
    ) throws(CatalogError) -> Value? {
        guard let stated = try takeText(key) else { return nil }
        guard let value = read(stated) else {
            throw CatalogError(
                code, at: stated.place, "\(key) must be \(wanted), not \(CatalogText.quoted(stated.text))")
        }
        return value
    }

    mutating func takeBool(_ key: String) throws(CatalogError) -> Bool? {
        try takeValue(key, "true or false", else: .wrongType) { $0.isPlain ? Bool($0.text) : nil }
    }

    package mutating func takeInteger(_ key: String, in range: ClosedRange<Int64>) throws(CatalogError) -> Int64? {
        let place = members[key].map { self.place(key, line: $0.line) }
        let number = try takeValue(key, "a whole number", else: .wrongType) { $0.isPlain ? Int64($0.text) : nil }
        if let number, let place, !range.contains(number) {
            throw CatalogError(.badValue, at: place, "\(key) must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func takePeriod(_ key: String) throws(CatalogError) -> SubscriptionPeriod? {
        try takeValue(key, "a period like P7D, P1W, P1M or P1Y", else: .badPeriod) {
            SubscriptionPeriod(iso8601: $0.text)
        }
    }

    /// The start of a day such as 2026-03-01 in US Pacific time, in milliseconds since 1970. `addingDays` moves it by
    /// that many days.
    mutating func takeDay(_ key: String, addingDays days: Int64 = 0) throws(CatalogError) -> Int64? {
        let day = try takeValue(key, "a day like 2026-03-01", else: .badValue) { stated in
            CivilDay(iso8601: stated.text).flatMap { (1_970...9_998).contains($0.year) ? $0 : nil }
        }
        return day.map { PacificTime.instant(local: ($0.daysSince1970 + days) * .millisecondsPerDay) }
    }

    /// A value of an enumeration, given by its raw value.
    mutating func takeChoice<Choice: RawRepresentable & CaseIterable>(
        _ key: String
    ) throws(CatalogError) -> Choice? where Choice.RawValue == String {
        let known = Choice.allCases.map(\.rawValue).joined(separator: " or ")
        return try takeValue(key, known, else: .badValue) { Choice(rawValue: $0.text) }
    }

    /// A list of storefronts, ISO 3166-1 alpha-3 codes such as USA.
    mutating func takeStorefronts(_ key: String) throws(CatalogError) -> Set<String>? {
        guard let member = take(key) else { return nil }
        let place = place(key, line: member.line)
        guard case .sequence(let nodes) = member.node.value else {
            throw CatalogError(.wrongType, at: place, "\(key) must be a list of storefronts such as [USA, CAN]")
        }
        guard !nodes.isEmpty else {
            throw CatalogError(.missingValue, at: place, "\(key) is empty; leave the key out for all storefronts")
        }
        var codes: Set<String> = []
        for node in nodes {
            let place = self.place(key, line: node.line)
            guard case .scalar(let code, _) = node.value else {
                throw CatalogError(.wrongType, at: place, "a storefront must be text such as USA")
            }
            guard code.utf8.count == 3, code.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
            else {
                throw CatalogError(
                    .badValue, at: place,
                    "a storefront is three capital letters such as USA, not \(CatalogText.quoted(code))")
            }
            guard codes.insert(code).inserted else {
                throw CatalogError(.duplicate, at: place, "the storefront \(code) appears twice")
            }
        }
        return codes
    }

    /// The rules of a win-back offer, from the keys of the offer's mapping; nil if it has none of these keys. With
    /// any of them, `paidMonths` and `monthsSince` with its `minimum` are required.
    package mutating func takeWinBackRules() throws(CatalogError) -> WinBackRules? {
        guard Self.winBackKeys.contains(where: { members[$0] != nil }) else { return nil }
        let months = 0...Int64(WinBackRules.maximumMonths)
        func missing(_ key: String) -> CatalogError {
            CatalogError(.missingValue, at: place(key, line: line), "\(key) is missing")
        }
        guard let paid = try takeInteger("paidMonths", in: months) else { throw missing("paidMonths") }
        guard let member = take("monthsSince") else { throw missing("monthsSince") }
        var since = try CatalogMapping(member.node, file: file, element: "\(element).monthsSince")
        guard let minimum = try since.takeInteger("minimum", in: months) else { throw missing("monthsSince.minimum") }
        let maximum = try since.takeInteger("maximum", in: months)
        if let maximum, maximum <= minimum {
            throw CatalogError(
                .badValue, at: since.place("maximum", line: since.line), "maximum must be more than minimum")
        }
        try since.requireAllTaken()
        var rules = WinBackRules(
            minimumPaidMonths: Int(paid), minimumMonthsSince: Int(minimum), maximumMonthsSince: maximum.map { Int($0) })
        rules.monthsBetweenOffers = try takeInteger("monthsBetweenOffers", in: months).map { Int($0) }
        rules.waitScope = try takeChoice("waitScope") ?? rules.waitScope
        rules.startDate = try takeDay("startDate")
        let endPlace = members["endDate"].map { place("endDate", line: $0.line) }
        // The last day is part of the offer.
        rules.endDate = try takeDay("endDate", addingDays: 1)
        if let start = rules.startDate, let end = rules.endDate, let endPlace, end <= start {
            throw CatalogError(.badValue, at: endPlace, "endDate is before startDate")
        }
        rules.storefronts = try takeStorefronts("storefronts")
        rules.priority = try takeChoice("priority") ?? rules.priority
        return rules
    }

    private static let winBackKeys = [
        "paidMonths", "monthsSince", "monthsBetweenOffers", "waitScope", "startDate", "endDate", "storefronts",
        "priority",
    ]
}
