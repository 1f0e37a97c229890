package import AppStoreModels

/// A JSON object from a file or a request. Unknown members are errors.
package struct JSONMembers {
    /// The fault and its place.
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

    package func required<Value>(_ name: String, _ value: Value?) throws -> Value {
        guard let value else { throw Mistake(message: "\(place): \(name) is missing.") }
        return value
    }

    /// The value that `read` gives for a member; nil without the member.
    /// - Throws: ``Mistake`` with what is expected, if `read` gives nil.
    package func value<Value>(_ name: String, _ expected: String, _ read: (JSONValue) -> Value?) throws -> Value? {
        guard let value = object[name] else { return nil }
        guard let read = read(value) else { throw wrong(name, expected) }
        return read
    }

    package func text(_ name: String) throws -> String? {
        try value(name, "a text") { value in value.string.flatMap { $0.isEmpty ? nil : $0 } }
    }

    package func requiredText(_ name: String) throws -> String { try required(name, try text(name)) }

    package func boolean(_ name: String) throws -> Bool? { try value(name, "true or false") { $0.bool } }

    package func integer(_ name: String, _ range: ClosedRange<Int64>) throws -> Int64? {
        try value(name, "a number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
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
