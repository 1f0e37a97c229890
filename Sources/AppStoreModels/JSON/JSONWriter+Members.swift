/// Members that are omitted if they have no value, because Apple's payloads have no `null`.
extension JSONWriter {
    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    package mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    package mutating func member(_ name: StaticString, _ value: Int32?) {
        guard let value else { return }
        key(name)
        integer(Int64(value))
    }

    package mutating func member(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    package mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        boolean(value)
    }

    package mutating func member<Value: OpenEnum>(_ name: StaticString, _ value: Value?)
    where Value.RawValue == String {
        member(name, value?.rawValue)
    }

    package mutating func member(_ name: StaticString, _ value: (some JSONModel)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }

    package mutating func member(_ name: StaticString, _ value: [String]?) {
        guard let value else { return }
        key(name)
        beginArray()
        for element in value { string(element) }
        endArray()
    }
}
