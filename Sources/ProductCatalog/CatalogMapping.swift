/// A mapping of a catalogue whose keys are taken one by one, so that what is left over is known to be unknown.
package struct CatalogMapping {
    package struct Member {
        package let line: Int
        package let node: CatalogNode
    }

    package let file: String
    package let element: String
    package let line: Int
    private var members: [String: Member] = [:]
    /// The keys in the order of the file.
    package private(set) var keys: [String] = []

    package init(_ node: CatalogNode, file: String, element: String) throws(CatalogError) {
        self.file = file
        self.element = element
        line = node.line
        let place = CatalogSource(file: file, line: node.line, element: element)
        guard case .mapping(let pairs) = node.value else {
            throw CatalogError(.wrongType, at: place, "a mapping of keys to values is wanted here")
        }
        for (key, value) in pairs {
            let place = CatalogSource(file: file, line: key.line, element: element)
            guard case .scalar(let name, _) = key.value else {
                throw CatalogError(.wrongType, at: place, "a key has to be text")
            }
            if let first = members.updateValue(Member(line: key.line, node: value), forKey: name) {
                let firstPlace = CatalogSource(file: file, line: first.line, element: element)
                let label = CatalogText.quoted(name)
                throw CatalogError(.duplicate, at: place, and: firstPlace, "\(label) is there twice")
            }
            keys.append(name)
        }
    }

    package func place(_ key: String, line: Int) -> CatalogSource {
        CatalogSource(file: file, line: line, element: element.isEmpty ? key : "\(element).\(key)")
    }

    package mutating func take(_ key: String) -> Member? {
        members.removeValue(forKey: key)
    }

    /// Throws for the first key that nobody took.
    package func requireAllTaken() throws(CatalogError) {
        guard let key = keys.first(where: { members[$0] != nil }), let member = members[key] else { return }
        let label = CatalogText.quoted(key)
        throw CatalogError(.unknownKey, at: place(key, line: member.line), "the key \(label) is not known here")
    }

    /// A value with the place it stands at, for the caller's own checks.
    struct Text {
        let text: String
        let isPlain: Bool
        let place: CatalogSource
    }

    mutating func takeText(_ key: String) throws(CatalogError) -> Text? {
        guard let member = take(key) else { return nil }
        let place = place(key, line: member.line)
        guard case .scalar(let text, let isPlain) = member.node.value else {
            throw CatalogError(.wrongType, at: place, "\(key) has to be one value, not a list or a mapping")
        }
        guard !text.isEmpty, !(isPlain && ["null", "Null", "NULL", "~"].contains(text)) else {
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

    mutating func takeBool(_ key: String) throws(CatalogError) -> Bool? {
        guard let value = try takeText(key) else { return nil }
        switch (value.text, value.isPlain) {
        case ("true", true): return true
        case ("false", true): return false
        default:
            let shown = CatalogText.quoted(value.text)
            throw CatalogError(.wrongType, at: value.place, "\(key) has to be true or false, not \(shown)")
        }
    }

    package mutating func takeInteger(_ key: String, in range: ClosedRange<Int64>) throws(CatalogError) -> Int64? {
        guard let value = try takeText(key) else { return nil }
        guard let number = Int64(value.text), value.isPlain else {
            let shown = CatalogText.quoted(value.text)
            throw CatalogError(.wrongType, at: value.place, "\(key) has to be a whole number, not \(shown)")
        }
        guard range.contains(number) else {
            throw CatalogError(
                .badValue, at: value.place, "\(key) has to be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func takePeriod(_ key: String) throws(CatalogError) -> SubscriptionPeriod? {
        guard let value = try takeText(key) else { return nil }
        guard let period = SubscriptionPeriod(iso8601: value.text) else {
            let shown = CatalogText.quoted(value.text)
            throw CatalogError(
                .badPeriod, at: value.place, "\(key) has to be a period like P7D, P1W, P1M or P1Y, not \(shown)")
        }
        return period
    }
}
