package import AppStoreModels

/// A JSON object from a file or a request. Unknown members are errors.
package struct JSONMembers {
    /// What is wrong, and where.
    package struct Mistake: Error {
        package let message: String

        package init(message: String) { self.message = message }
    }

    package let object: JSONObject
    package let place: String

    package init(_ value: JSONValue, _ place: String, _ names: Set<String>) throws {
        guard let object = value.object else { throw Mistake(message: "\(place): expected an object.") }
        for member in object.members where !names.contains(member.key) {
            throw Mistake(
                message: """
                    \(place): unknown member '\(Printable.text(member.key))'. Known: \
                    \(names.sorted().joined(separator: ", ")).
                    """)
        }
        (self.object, self.place) = (object, place)
    }

    private func wrong(_ name: String, _ expected: String) -> Mistake {
        Mistake(message: "\(place).\(name): expected \(expected).")
    }

    package func text(_ name: String) throws -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string, !text.isEmpty else { throw wrong(name, "a text") }
        return text
    }

    package func boolean(_ name: String) throws -> Bool? {
        guard let value = object[name] else { return nil }
        guard let isTrue = value.bool else { throw wrong(name, "true or false") }
        return isTrue
    }

    package func integer(_ name: String, _ range: ClosedRange<Int64>) throws -> Int64? {
        guard let value = object[name] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw wrong(name, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    package func known<Value: OpenEnum>(_ name: String, as type: Value.Type) throws -> Value?
    where Value.RawValue == String {
        guard let text = try text(name) else { return nil }
        let value = Value(rawValue: text)
        guard value.isKnown else {
            throw wrong(name, "one of \(Value.knownValues.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }
}
