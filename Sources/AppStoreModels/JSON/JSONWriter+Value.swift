extension JSONWriter {
    /// Writes a JSON value that was read, with members in their order and numbers digit by digit.
    ///
    /// The recursion is as deep as the value, which is at most ``JSONReadingLimits/maximumDepth`` for a parsed value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let bool): boolean(bool)
        case .integer(let integer): self.integer(integer)
        case .number(let digits): raw(digits.utf8)
        case .string(let text): string(text)
        case .array(let values):
            beginArray()
            for element in values { self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.members {
                key(member.key)
                self.value(member.value)
            }
            endObject()
        }
    }
}

extension JSONObject {
    /// The object without the members with these names.
    package func removing(_ names: Set<String>) -> JSONObject {
        JSONObject(members: members.filter { !names.contains($0.key) })
    }

    /// The object with each member of this name changed.
    package func changing(_ name: String, _ change: (JSONValue) -> JSONValue) -> JSONObject {
        JSONObject(members: members.map { $0.key == name ? Member(key: name, value: change($0.value)) : $0 })
    }
}
