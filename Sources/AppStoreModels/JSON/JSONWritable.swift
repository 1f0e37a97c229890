/// A model that can write itself as one JSON object without going through `Encodable`.
///
/// ``write(to:)`` produces the same members with the same values as `encode(to:)`. The tests compare the two for values in
/// which every field is set.
package protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}

extension JSONWriter {
    package mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }

    package mutating func member<Element: JSONWritable>(_ name: StaticString, _ value: [Element]?) {
        guard let value else { return }
        key(name)
        beginArray()
        for element in value { element.write(to: &self) }
        endArray()
    }

    package mutating func member<Value: OpenEnum>(_ name: StaticString, _ value: Value?)
    where Value.RawValue == String {
        member(name, value?.rawValue)
    }

    package mutating func member<Value: OpenEnum>(_ name: StaticString, _ value: Value?) where Value.RawValue == Int32 {
        member(name, value?.rawValue)
    }
}
