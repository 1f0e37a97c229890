extension JSONModel {
    /// Reads Apple's JSON. Unknown members are preserved, and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        do {
            self = try Self(json: value)
        } catch let error as DecodingError {
            throw error.inside(decoder.codingPath)
        }
    }

    package init(json value: JSONValue) throws {
        guard case .object(let object) = value else { throw value.mismatch([String: JSONValue].self) }
        self.init()
        var visitor = Decoding(object: object, keys: Self.keys)
        try visit(&visitor)
        unknownMembers = UnknownMembers(object.members.filter { !visitor.isKnown($0.key) })
    }

    /// Writes the members that are set, and the unknown members unchanged.
    public func encode(to encoder: any Encoder) throws {
        var visitor = Encoding(values: encoder.container(keyedBy: JSONKey.self), keys: Self.keys)
        var copy = self
        try copy.visit(&visitor)
        try unknownMembers.encode(to: encoder)
    }

    package mutating func write(to writer: inout JSONWriter) { writeMembers(to: &writer) }

    mutating func writeMembers(to writer: inout JSONWriter) {
        writer.beginObject()
        visit(&writer)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

extension JSONWriter: PayloadVisitor {
    @inline(__always)
    package mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) {
        guard value != nil else { return }
        key(name)
        value?.write(to: &self)
    }

    @inline(__always)
    package mutating func member<Value: OpenEnum>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) where Value.RawValue: PayloadValue {
        guard var raw = value?.rawValue else { return }
        key(name)
        raw.write(to: &self)
    }
}

private struct Decoding: PayloadVisitor {
    let object: JSONObject
    let keys: PayloadNames?
    /// The names in the table so far. Empty if there are `keys`.
    var visited: [String] = []

    func isKnown(_ name: String) -> Bool { keys?.contains(name) ?? visited.contains(name) }

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws {
        try read(name, field, &value) { try Value(json: $0) }
    }

    mutating func date(_ name: StaticString, _ field: some PayloadField, _ value: inout Int64?) throws {
        try read(name, field, &value) { try $0.milliseconds() }
    }

    private mutating func read<Value>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?, _ convert: (JSONValue) throws -> Value
    ) throws {
        let key = key(name, field)
        guard let json = object[key], !json.isNull else { return }
        do { value = try convert(json) } catch let error as DecodingError {
            throw error.inside([JSONKey(stringValue: key)])
        }
    }

    private mutating func key(_ name: StaticString, _ field: some PayloadField) -> String {
        if let keys { return keys.key(field) }
        visited.append(name.description)
        return name.description
    }
}

private struct Encoding: PayloadVisitor {
    var values: KeyedEncodingContainer<JSONKey>
    let keys: PayloadNames?

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) throws {
        let key = JSONKey(stringValue: keys?.key(field) ?? name.description)
        try values.encodeIfPresent(value, forKey: key)
    }
}
